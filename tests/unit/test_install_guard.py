"""`mem install --guard-auto-memory`: one hook more, asked for by name, and every byte given back."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from siftd.cli import DONE, FAILED, MISUSED, run
from siftd.clients.claude_code.guard import EVENT, MATCHER, is_guard
from siftd.clients.claude_code.settings import EVENTS, Wiring

ASKED = ("install", "--client", "claude-code", "--guard-auto-memory")
OF_A_PERSON = """{
\t"autoMemoryEnabled": true,\r
  "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}
}"""


class Person:
    """Somebody with a home and a project, and nothing on the PATH."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self.project = root / "home", root / "project"
        self.settings = self.home / ".claude" / "settings.json"
        self.of_the_project = self.project / ".claude" / "settings.local.json"
        for folder in (self.settings.parent, self.project):
            folder.mkdir(parents=True)
        self._capsys = capsys

    def mem(self, *arguments: str) -> tuple[int, str, str]:
        status = run(arguments)
        return (status, *self._capsys.readouterr())

    def groups(self, file: Path | None = None) -> list[dict[str, Any]]:
        """Return the groups of hooks that hold the guard."""
        hooks = json.loads((file or self.settings).read_bytes()).get("hooks", {})
        return [group for group in hooks.get(EVENT, []) if any(map(is_guard, group["hooks"]))]

    def finding(self) -> dict[str, str]:
        checks = json.loads(self.mem("doctor", "--json")[1])["checks"]
        (found,) = [each for each in checks if each["link"] == "memory"]
        return dict(found)

    def tree(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in sorted(self.home.parent.rglob("*")) if path.is_file()}


@pytest.fixture
def person(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Person:
    made = Person(tmp_path, capsys)
    for name in ("SIFTD_HOME", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_DISABLE_AUTO_MEMORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(made.project)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return made


def test_the_guard_stands_before_the_tools_that_edit_and_runs_beside_the_hook(person: Person) -> None:
    assert person.mem(*ASKED)[0] == DONE
    (group,) = person.groups()
    assert group["matcher"] == MATCHER
    (handler,) = group["hooks"]
    assert handler["timeout"] == 5
    call = {
        "hook_event_name": EVENT,
        "tool_name": "Write",
        "tool_input": {"file_path": f"{person.home}/.claude/projects/-x/memory/MEMORY.md"},
    }
    done = subprocess.run(
        ["/bin/sh", "-c", handler["command"]],
        input=json.dumps(call), env={"HOME": str(person.home)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "`remember`" in done.stdout


@pytest.mark.parametrize("missing", ["python", "guard.py"])
def test_a_guard_of_which_a_part_is_gone_says_nothing_and_ends_with_0(person: Person, missing: str) -> None:
    person.mem(*ASKED)
    command = person.groups()[0]["hooks"][0]["command"]
    command = command.replace(sys.executable if missing == "python" else "guard.py", "/no/such")
    done = subprocess.run(["/bin/sh", "-c", command], input="{}", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("before", [OF_A_PERSON, "{}", "", None])
def test_uninstalling_gives_every_byte_back(person: Person, before: str | None) -> None:
    if before is not None:
        person.settings.write_bytes(before.encode())
    whole = person.tree()
    assert person.mem(*ASKED)[0] == DONE
    assert person.mem("uninstall")[0] == DONE
    assert person.tree() == whole


def test_what_others_wrote_since_stays_and_exactly_the_guard_goes(person: Person) -> None:
    person.settings.write_text(OF_A_PERSON, newline="")
    person.mem(*ASKED)
    changed = person.settings.read_bytes().replace(b'"autoMemoryEnabled": true', b'"autoMemoryEnabled": false')
    person.settings.write_bytes(changed)
    person.mem("uninstall")
    assert person.settings.read_bytes().decode() == OF_A_PERSON.replace("true,\r", "false,\r")


def test_asking_twice_changes_nothing_the_second_time(person: Person) -> None:
    person.mem(*ASKED)
    whole = person.tree()
    status, out, _ = person.mem(*ASKED)
    assert status == DONE
    assert "changed" not in out.replace("unchanged", "")
    assert person.tree() == whole


def test_another_install_neither_adds_the_guard_nor_takes_it_out(person: Person) -> None:
    person.mem("install", "--client", "claude-code")
    assert EVENT not in json.loads(person.settings.read_bytes())["hooks"]
    person.mem(*ASKED)
    person.mem("install", "--client", "claude-code")
    assert len(person.groups()) == 1


def test_another_install_brings_the_guard_of_a_moved_siftd_up_to_date(person: Person) -> None:
    person.mem(*ASKED)
    wiring = Wiring.of_this_installation()
    person.settings.write_text(person.settings.read_text().replace(wiring.guard, "/old/hooks/guard.py"))
    found = person.finding()
    assert (found["state"], "/old/hooks/guard.py" in found["message"]) == ("problem", True)
    assert "--guard-auto-memory" in found["remedy"]
    person.mem("install", "--client", "claude-code")
    assert person.finding()["state"] == "ok"
    assert "/old" not in person.settings.read_text()


def test_beside_the_plugin_the_guard_comes_without_the_hooks(person: Person) -> None:
    status, out, _ = person.mem("install", "--plugin", "--guard-auto-memory", "--json")
    answer = json.loads(out)
    assert (status, len(answer["commands"])) == (DONE, 2)
    assert answer["changes"] == [{"client": "guard", "path": str(person.settings), "what": "created"}]
    hooks = json.loads(person.settings.read_bytes())["hooks"]
    assert set(hooks) & set(EVENTS) == set()
    assert len(person.groups()) == 1
    person.mem("uninstall")
    assert not person.settings.exists()


def test_a_project_has_a_guard_of_its_own(person: Person) -> None:
    assert person.mem(*ASKED, "--project")[0] == DONE
    assert len(person.groups(person.of_the_project)) == 1
    assert not person.settings.exists()
    person.mem("uninstall", "--project")
    assert not person.of_the_project.exists()


@pytest.mark.parametrize("bad", ["{", '{"hooks": []}', '{"hooks": {"PreToolUse": [{}]}}', "[]", b"\xff\xfe{\x00}\x00"])
@pytest.mark.parametrize("asked", [ASKED, ("install", "--plugin", "--guard-auto-memory")], ids=["hooks", "plugin"])
def test_settings_that_are_malformed_are_never_overwritten(
    person: Person, bad: str | bytes, asked: tuple[str, ...]
) -> None:
    data = bad.encode() if isinstance(bad, str) else bad
    person.settings.write_bytes(data)
    status, _, err = person.mem(*asked)
    assert status == FAILED
    assert "settings.json" in err
    assert person.settings.read_bytes() == data
    assert person.mem("uninstall", "--client", "claude-code")[0] in (DONE, FAILED)
    assert person.settings.read_bytes() == data


def test_without_claude_code_there_is_nothing_to_guard(person: Person) -> None:
    status, _, err = person.mem("install", "--client", "codex", "--guard-auto-memory")
    assert status == MISUSED
    assert "claude-code" in err
    assert not (person.home / ".codex").exists()


# ---- what doctor says ---------------------------------------------------------------------------------------------


def test_both_memories_at_once_are_a_note_with_the_two_ways_out(person: Person) -> None:
    person.mem("install", "--client", "claude-code")
    found = person.finding()
    assert (found["state"], "MEMORY.md" in found["message"]) == ("note", True)
    assert "mem install --guard-auto-memory" in found["remedy"]
    assert '"autoMemoryEnabled": false' in found["remedy"]


def test_a_guard_that_is_wired_is_told(person: Person) -> None:
    person.mem(*ASKED)
    found = person.finding()
    assert (found["state"], "the guard is wired" in found["message"]) == ("ok", True)


@pytest.mark.parametrize("user", [True, False, None])
@pytest.mark.parametrize("project", [True, False, None])
def test_the_settings_nearest_to_the_project_say_whether_auto_memory_is_on(
    person: Person, user: bool | None, project: bool | None
) -> None:
    for file, said in ((person.settings, user), (person.of_the_project, project)):
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({} if said is None else {"autoMemoryEnabled": said}))
    is_off = (user if project is None else project) is False
    assert ("is off" in person.finding()["message"]) == is_off


def test_a_variable_that_switches_auto_memory_off_counts(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    for value, is_off in (("1", True), ("true", True), ("0", False), ("", False)):
        monkeypatch.setenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY", value)
        assert ("is off" in person.finding()["message"]) == is_off


@pytest.mark.parametrize("hooks", [3, [], {EVENT: 3}, {EVENT: [3, {"hooks": 3}, {"hooks": [3, {"command": 3}]}]}])
def test_settings_of_another_shape_hold_no_guard(person: Person, hooks: object) -> None:
    person.settings.write_text(json.dumps({"hooks": hooks}))
    assert person.finding()["state"] == "note"
