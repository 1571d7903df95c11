"""The guard with a real Claude Code: its agent writes its memory nowhere but by `remember`, and every other file.

Where the client keeps its memory is read from what it says to the model itself.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from claude_code import TOOLS, ClaudeRun, require_claude, run_claude
from scripted_api import Script, call, say
from test_claude_code_end_to_end import Desk

from siftd import instructions

pytestmark = [pytest.mark.real_client, pytest.mark.slow]

REMEMBER = "mcp__siftd__remember"
STATEMENT = "The frobnicator reads its clock from NTP, because the board has no battery."
EARLIER = "- [clock](clock.md): an index of before the guard\n"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    require_claude()
    base = tmp_path_factory.mktemp("guard").resolve()
    made = Desk(base / "home", base / "project")
    made.home.mkdir()
    made.project.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=made.project, check=True)
    made.mem("install", "--client", "claude-code", "--guard-auto-memory")
    yield made
    stop(made)


def stop(desk: Desk) -> None:
    for workspace in ([], ["--workspace", "_global"]):
        with contextlib.suppress(AssertionError):
            desk.mem("stop", *workspace)


@dataclass
class Elsewhere(Desk):
    """The same person with Claude Code's folder at another place."""

    config: Path

    def environment(self) -> dict[str, str]:
        home = {"SIFTD_HOME": str(self.config.parent / "siftd"), "CLAUDE_CONFIG_DIR": str(self.config)}
        return super().environment() | home


@contextlib.contextmanager
def settings_with(desk: Desk, file: str, **values: Any) -> Iterator[None]:
    """Let a settings file say more, for a while."""
    settings = desk.home.parent / file
    settings.parent.mkdir(exist_ok=True)
    before = settings.read_text() if settings.exists() else None
    settings.write_text(json.dumps(json.loads(before or "{}") | values))
    try:
        yield
    finally:
        settings.unlink() if before is None else settings.write_text(before)


def work(desk: Desk, *turns: list[dict[str, Any]], tools: str = f"{TOOLS},{REMEMBER}", **subagents: Any) -> ClaudeRun:
    script = Script([*turns, [say("Done.")]], subagents)
    run = run_claude("go", script=script, home=desk.home, project=desk.project, env=desk.environment(), tools=tools)
    assert run.returncode == 0, run.stderr
    return run


def memory_folder(run: ClaudeRun) -> Path:
    """Return the folder that the client names to the model as its memory."""
    said = json.dumps([run.requests[0].get("system"), run.requests[0]["messages"]])
    (folder,) = {Path(found) for found in re.findall(r"`(/[^`\"]*)/`", said) if "memory" in found or "vault" in found}
    return folder


def results(run: ClaudeRun) -> list[tuple[bool, str]]:
    """Return what the model was answered, call by call: whether it is an error, and the words."""
    whole = max((each["messages"] for each in run.requests), key=len)
    blocks = [block for message in whole if isinstance(message["content"], list) for block in message["content"]]
    answers = [block for block in blocks if block.get("type") == "tool_result"]
    return [(bool(each.get("is_error")), json.dumps(each["content"], ensure_ascii=False)) for each in answers]


@pytest.fixture(scope="module")
def memory(desk: Desk) -> Path:
    folder = memory_folder(work(desk))
    (folder / "MEMORY.md").write_text(EARLIER)
    return folder


def test_the_agent_is_refused_its_own_memory_and_keeps_what_it_knows_by_remember(desk: Desk, memory: Path) -> None:
    index, other = memory / "MEMORY.md", desk.project / "MEMORY.md"
    run = work(
        desk,
        [call("Read", file_path=str(index))],
        [call("Edit", file_path=str(index), old_string="an index", new_string="the index")],
        [call("Write", file_path=str(memory / "clock.md"), content=STATEMENT)],
        [call("Write", file_path=str(other), content="# of the project\n")],
        [call(REMEMBER, text=STATEMENT, type="fact")],
    )
    (read, _), (edited, why), (wrote, why_too), (wrote_other, _), (kept, _) = results(run)
    assert (read, edited, wrote, wrote_other, kept) == (False, True, True, False, False)
    for reason in (why, why_too):
        assert instructions.GUARD in reason
    assert index.read_text() == EARLIER
    assert [file.name for file in memory.iterdir()] == ["MEMORY.md"]
    assert other.read_text() == "# of the project\n"
    assert STATEMENT in json.dumps(desk.mem("memories"))


def test_a_subagent_is_refused_too(desk: Desk, memory: Path) -> None:
    prompt = "Note the battery"
    run = work(
        desk,
        [call("Agent", description="note", prompt=prompt, subagent_type="general-purpose")],
        **{prompt: [[call("Write", file_path=str(memory / "battery.md"), content="none")], [say("Noted.")]]},
    )
    assert instructions.GUARD in json.dumps(run.requests, ensure_ascii=False)
    assert not (memory / "battery.md").exists()


@pytest.mark.parametrize("file", ["home/.claude/settings.json", "project/.claude/settings.local.json"])
def test_a_folder_that_settings_name_is_refused(desk: Desk, memory: Path, file: str) -> None:
    with settings_with(desk, file, autoMemoryDirectory="~/vault"):
        folder = memory_folder(work(desk))
        assert folder == desk.home / "vault"
        run = work(desk, [call("Write", file_path=str(folder / "MEMORY.md"), content="x")])
        ((is_error, why),) = results(run)
        assert is_error
        assert instructions.GUARD in why
        assert not (folder / "MEMORY.md").exists()


@pytest.mark.parametrize("file", ["home/.claude/settings.json", "project/.claude/settings.local.json"])
def test_switched_off_the_client_reads_no_memory_and_names_no_folder(desk: Desk, memory: Path, file: str) -> None:
    assert EARLIER.strip() in json.dumps(work(desk).requests[0], ensure_ascii=False), "it is on, and read"
    with settings_with(desk, file, autoMemoryEnabled=False):
        asked = json.dumps(work(desk).requests[0], ensure_ascii=False)
        assert EARLIER.strip() not in asked
        assert str(memory) not in asked
        (found,) = [each for each in desk.examined() if each["link"] == "memory"]
        assert "is off" in found["message"]


def test_a_client_whose_folder_is_elsewhere_is_guarded_there(desk: Desk, tmp_path: Path) -> None:
    elsewhere = Elsewhere(desk.home, desk.project, tmp_path / "claude")
    elsewhere.mem("install", "--client", "claude-code", "--guard-auto-memory")
    folder = memory_folder(work(elsewhere))
    assert folder.is_relative_to(elsewhere.config)
    run = work(elsewhere, [call("Write", file_path=str(folder / "MEMORY.md"), content="x")])
    ((is_error, why),) = results(run)
    assert is_error
    assert instructions.GUARD in why
    stop(elsewhere)
    elsewhere.mem("uninstall", "--client", "claude-code")
    assert not (elsewhere.config / "settings.json").exists()


def test_without_the_guard_the_client_keeps_its_memory_as_before(desk: Desk, memory: Path) -> None:
    """Last: it is taken out."""
    desk.mem("uninstall")
    run = work(desk, [call("Write", file_path=str(memory / "clock.md"), content=STATEMENT)], tools=TOOLS)
    ((is_error, _),) = results(run)
    assert not is_error
    assert (memory / "clock.md").read_text() == STATEMENT
