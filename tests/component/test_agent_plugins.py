"""What our plugins for agents in JavaScript tell, given what a real agent told one: run by node, with a hook that keeps
what it is given."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from daemons import wait_until

from siftd.clients.plugin_file import plugin_text

SUPPORT = Path(__file__).resolve().parents[1] / "support"
DATA = Path(__file__).resolve().parents[1] / "data"
HOOK = """#!/bin/sh
IFS= read -r report
printf '%s\\n' "$report" >> "{folder}/reports.jsonl"
case "$siftd_how$report" in
quiet*) ;;
*) echo '{{"text":"given"}}' ;;
esac
"""


class Run:
    """One agent's life: what was added to its conversations, and what its hook was given."""

    def __init__(self, folder: Path, plugin: str, recording: Path, *, hook: str | None = None) -> None:
        node = shutil.which("node")
        if node is None:
            pytest.skip(f"NO PLUGIN WAS TRIED: node is missing, which runs {plugin}")
        program = folder / "hook.sh"
        program.write_text(HOOK.format(folder=folder) if hook is None else hook)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        (folder / "plugin.mjs").write_text(plugin_text(plugin, f"'{program}'"))
        self._reports = folder / "reports.jsonl"
        replay = SUPPORT / f"{plugin.removesuffix('.js')}_replay.mjs"
        (folder / "recording.jsonl").write_text(recording.read_text().replace("/home/dev/project", str(folder)))
        command = [node, str(replay), str(folder / "plugin.mjs"), str(folder / "recording.jsonl")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        self.added = [json.loads(line) for line in done.stdout.splitlines()]

    def reports(self, ends: int) -> list[dict[str, Any]]:
        """Return the reports once `ends` lives have told their end."""

        def told() -> list[dict[str, Any]]:
            lines = self._reports.read_text().splitlines() if self._reports.exists() else []
            found = [json.loads(line) for line in lines]
            return found if sum(each["hook_event_name"] == "SessionEnd" for each in found) >= ends else []

        return wait_until("the sessions' ends are told", told)


def named(reports: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [each for each in reports if each["hook_event_name"] == name]


def test_pi_s_extension_tells_every_call_prompt_and_end(tmp_path: Path) -> None:
    run = Run(tmp_path, "pi.js", DATA / "pi" / "events.jsonl")
    reports = run.reports(3)
    assert [each["content"] for each in named(reports, "UserPromptSubmit")] == [
        "Expired tokens are accepted. Find out why and fix it.",
        "Does it pass now?",
        "What does README say",
        "Second session",
    ]
    calls = named(reports, "PostToolUse")
    tools = Counter({"read": 2, "bash": 4, "edit": 2, "write": 1, "no_such_tool": 1})
    assert Counter(each["tool"] for each in calls) == tools
    assert all(each["input"] for each in calls)
    assert len(named(reports, "Stop")) == 4
    assert len(named(reports, "PreCompact")) == 1
    assert [each["added"] for each in run.added] == [
        {
            "systemPrompt": "You are pi.\n\ngiven",
            "message": {"customType": "siftd", "content": "given", "display": False},
        }
    ] * 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "hook", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\nexec sleep 1\n", "no program at all", "#!/bin/sh\necho '{'\n"]
)
@pytest.mark.parametrize("plugin", ["pi.js", "opencode.js"])
def test_a_hook_that_fails_is_not_noticed(tmp_path: Path, plugin: str, hook: str) -> None:
    run = Run(tmp_path, plugin, DATA / plugin.removesuffix(".js") / "events.jsonl", hook=hook)
    assert "given" not in str(run.added)


def test_opencode_s_plugin_tells_every_call_prompt_and_end_once(tmp_path: Path) -> None:
    run = Run(tmp_path, "opencode.js", DATA / "opencode" / "events.jsonl")
    reports = run.reports(2)
    parts = [each["part"] for each in named(reports, "PostToolUse")]
    tools = Counter(
        {"read": 3, "bash": 3, "edit": 2, "write": 1, "mem_search": 1, "mem_broken": 1, "invalid": 1, "task": 1}
    )
    assert Counter(part["tool"] for part in parts) == tools
    assert len({part["id"] for part in parts}) == len(parts)
    [of_agent] = {each["agent_id"] for each in reports if "agent_id" in each}
    ends = named(reports, "Stop")
    assert Counter(each.get("agent_id") for each in ends) == {of_agent: 1, None: 2}
    assert {each["text"] for each in ends} == {
        "README.md says: demo",
        "Yes, it passes.",
        "Fixed: validate_token now compares exp with the clock; the test passes.",
    }
    said = ['"Expired tokens are accepted. Find out why and fix it."', '"Does it pass now?"']
    assert [each["parts"][0]["text"] for each in named(reports, "UserPromptSubmit")] == said
    assert len({each["session_id"] for each in reports}) == 1, "a subagent's reports are of the session"
    assert [each["text"] for each in named(reports, "AssistantText")] == ["I will read the code and run the test."]


def test_opencode_s_plugin_adds_what_is_printed_to_prompts_and_requests_of_a_person_alone(tmp_path: Path) -> None:
    run = Run(tmp_path, "opencode.js", DATA / "opencode" / "events.jsonl")
    added = [(each["hook"], each["added"]) for each in run.added]
    texts = [[part["text"] for part in parts] for hook, parts in added if hook == "chat.message"]
    assert texts == [["given"], [], ["given"]], "the second prompt is a subagent's"
    titles, *requests = [parts for hook, parts in added if hook.endswith("transform")]
    assert titles[0].startswith("You are a title generator")
    assert requests == [["given"]] * 2
