"""The guard refuses what would be written into Claude Code's auto memory, and nothing else: whatever fails passes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from claude_home import encode_project_dir

from siftd import instructions

HOOKS = Path(__file__).resolve().parents[2] / "hooks"
GUARD = HOOKS / "guard.py"
LINES_MAX = 60
"""The script is compiled at each run; what it looks at is in auto_memory.py."""


class Person:
    """A home with Claude Code's folder, a project, and the guard as its client runs it there."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = root / "project"
        self.claude = self.home / ".claude"
        self.of_the_project = self.claude / "projects" / encode_project_dir(str(self.project))
        self.memory = self.of_the_project / "memory"
        for folder in (self.memory, self.project / "docs" / "memory"):
            folder.mkdir(parents=True)
        self.env = {"HOME": str(self.home), "CLAUDE_PROJECT_DIR": str(self.project)}

    def set_up(self, file: str, **values: Any) -> None:
        path = self.home.parent / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))

    def run(self, raw: bytes, env: Mapping[str, str] | None = None, **how: Any) -> subprocess.CompletedProcess[bytes]:
        given: dict[str, Any] = {} if "stdin" in how else {"input": raw}
        return subprocess.run(
            [sys.executable, "-I", "-S", str(GUARD)],
            env=self.env if env is None else dict(env),
            cwd=self.project,
            capture_output=True,
            timeout=10,
            check=False,
            **(given | how),
        )

    def reason(self, path: object, tool: str = "Write", **changes: Any) -> str | None:
        """Return why a write is refused; None where it passes."""
        place = "notebook_path" if tool == "NotebookEdit" else "file_path"
        call = {
            "session_id": "s",
            "transcript_path": f"{self.of_the_project}/s.jsonl",
            "cwd": str(self.project),
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_input": {place: path, "content": "…"},
        }
        done = self.run(json.dumps(call | changes).encode())
        assert (done.returncode, done.stderr) == (0, b"")
        if not done.stdout:
            return None
        said = json.loads(done.stdout)["hookSpecificOutput"]
        assert (said["hookEventName"], said["permissionDecision"]) == ("PreToolUse", "deny")
        return str(said["permissionDecisionReason"])

    def path(self, named: str) -> str:
        """Return a path of a table, whose places stand in braces."""
        return named.format(
            home=self.home, claude=self.claude, project=self.project, memory=self.memory, root=self.home.parent
        )


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path.resolve())


AUTO_MEMORY = [
    "{memory}/MEMORY.md",
    "{memory}/topics/build.md",
    "{claude}/projects/-another-project/memory/MEMORY.md",
    "{claude}/projects/-not-there-yet/memory/new.md",
    "~/.claude/projects/-x/memory/MEMORY.md",
    " {memory}/MEMORY.md ",
    "{project}/../home/.claude/projects/-x/memory/MEMORY.md",
    "{memory}/../memory/./MEMORY.md",
    "{memory}//MEMORY.md",
    "../home/.claude/projects/-x/memory/MEMORY.md",
]
NEAR_MISSES = [
    "{project}/MEMORY.md",
    "{project}/memory/MEMORY.md",
    "{project}/docs/memory/MEMORY.md",
    "{project}/.claude/projects/x/memory/MEMORY.md",
    "{project}/.claude/memory/MEMORY.md",
    "{project}/projects/x/memory/MEMORY.md",
    "{project}/.memory/state.md",
    "MEMORY.md",
    "docs/memory/MEMORY.md",
    "{memory}",
    "{memory}/",
    "{memory}.md",
    "{memory}-of-mine/MEMORY.md",
    "{memory}/../MEMORY.md",
    "{memory}/../../MEMORY.md",
    "{memory}/../notes/MEMORY.md",
    "{claude}/MEMORY.md",
    "{claude}/CLAUDE.md",
    "{claude}/memory/MEMORY.md",
    "{claude}/projects/MEMORY.md",
    "{claude}/projects/memory/MEMORY.md",
    "{claude}/projects/x/y/memory/MEMORY.md",
    "{claude}/projects/x/Memory.md",
    "{claude}/projects-of-mine/x/memory/MEMORY.md",
    "{claude}/skills/memory/SKILL.md",
    "{claude}/agent-memory/reviewer/MEMORY.md",
    "{project}/.claude/agent-memory/reviewer/MEMORY.md",
    "{project}/.claude/agent-memory-local/reviewer/MEMORY.md",
    "{home}/.claude-of-another/projects/x/memory/MEMORY.md",
    "{home}/projects/x/memory/MEMORY.md",
    "{home}/memory/MEMORY.md",
    "~/MEMORY.md",
    "~other/.claude/projects/x/memory/MEMORY.md",
    "/x{memory}/MEMORY.md",
    "/",
    "/MEMORY.md",
    ".",
    "..",
    "../../../../../../../../../..",
]


@pytest.mark.parametrize("path", AUTO_MEMORY)
def test_a_file_of_auto_memory_is_refused(person: Person, path: str) -> None:
    reason = person.reason(person.path(path))
    assert reason is not None
    assert "`remember`" in reason


@pytest.mark.parametrize("path", NEAR_MISSES)
def test_no_other_path_is_refused(person: Person, path: str) -> None:
    assert person.reason(person.path(path)) is None


@pytest.mark.parametrize("tool", ["Edit", "Write", "MultiEdit", "NotebookEdit"])
def test_each_tool_that_edits_is_refused_and_no_other(person: Person, tool: str) -> None:
    path = str(person.memory / "MEMORY.md")
    assert person.reason(path, tool)
    assert person.reason(path, tool, hook_event_name="PostToolUse") is None
    assert person.reason(path, "Read") is None
    assert person.reason(path, "mcp__files__Write") is None


def test_the_reason_is_made_of_the_lines_that_the_agent_is_told_elsewhere(person: Person) -> None:
    assert person.reason(str(person.memory / "MEMORY.md")) == instructions.GUARD


# ---- folders that are elsewhere -----------------------------------------------------------------------------------


def test_a_client_whose_folder_is_elsewhere_keeps_its_memory_there(person: Person, tmp_path: Path) -> None:
    person.env["CLAUDE_CONFIG_DIR"] = str(tmp_path / "elsewhere")
    assert person.reason(f"{tmp_path}/elsewhere/projects/-x/memory/MEMORY.md")
    assert person.reason(str(person.memory / "MEMORY.md")) is None, "that is another client's"


@pytest.mark.parametrize("file", ["home/.claude/settings.json", "project/.claude/settings.local.json"])
@pytest.mark.parametrize("named", ["{root}/vault/claude", "~/vault/../vault/claude/", "{root}/home/vault/claude"])
def test_a_folder_that_settings_name_is_auto_memory_too(person: Person, file: str, named: str) -> None:
    person.set_up(file, autoMemoryDirectory=person.path(named))
    folder = person.path(named).replace("~", str(person.home))
    assert person.reason(f"{folder}/MEMORY.md")
    assert person.reason(f"{folder}/topics/x.md")
    assert person.reason(f"{os.path.normpath(folder)}-of-mine/MEMORY.md") is None
    assert person.reason(f"{os.path.dirname(os.path.normpath(folder))}/MEMORY.md") is None
    assert person.reason(f"{person.project}/src/x.py") is None


@pytest.mark.parametrize("named", ["{project}", "{root}", "/", "~/", "{claude}", "{home}", "vault", "", "~", "../x"])
def test_a_folder_that_holds_the_project_the_home_or_the_clients_own_is_none(person: Person, named: str) -> None:
    person.set_up("home/.claude/settings.json", autoMemoryDirectory=person.path(named))
    for path in ("{project}/MEMORY.md", "{project}/src/x.py", "{home}/x.md", "{claude}/settings.json", "{root}/x"):
        assert person.reason(person.path(path)) is None


def test_a_checkout_does_not_choose_what_of_it_can_be_edited(person: Person) -> None:
    for file in ("settings.json", "settings.local.json"):
        person.set_up(f"project/.claude/{file}", autoMemoryDirectory=str(person.project / "src"))
    assert person.reason(f"{person.project}/src/x.py") is None
    person.set_up("home/.claude/settings.json", autoMemoryDirectory=str(person.project / "src"))
    assert person.reason(f"{person.project}/src/x.py"), "the person does"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"autoMemoryDirectory": 3}', "\udcff{}", "{}{}", "[" * 100_000]
)
def test_settings_that_cannot_be_read_name_no_folder(person: Person, text: str) -> None:
    (person.claude / "settings.json").write_text(text, errors="surrogateescape")
    assert person.reason(f"{person.project}/x.md") is None
    assert person.reason(str(person.memory / "MEMORY.md"))


def test_a_pipe_in_the_place_of_settings_is_not_waited_for(person: Person) -> None:
    (person.project / ".claude").mkdir()
    os.mkfifo(person.project / ".claude" / "settings.json")
    os.mkfifo(person.claude / "settings.json")
    assert person.reason(f"{person.project}/x.md") is None
    assert person.reason(str(person.memory / "MEMORY.md"))


# ---- links --------------------------------------------------------------------------------------------------------


def test_a_link_into_auto_memory_is_auto_memory(person: Person) -> None:
    (person.project / "notes").symlink_to(person.memory)
    (person.project / "note.md").symlink_to(person.memory / "MEMORY.md")
    (person.project / "second.md").symlink_to("note.md")
    for path in ("notes/MEMORY.md", "notes/new.md", "note.md", "second.md"):
        assert person.reason(str(person.project / path)), path


def test_a_home_behind_a_link_is_the_home(person: Person, tmp_path: Path) -> None:
    (tmp_path / "short").symlink_to(person.home)
    assert person.reason(f"{tmp_path}/short/.claude/projects/-x/memory/MEMORY.md")
    person.env["HOME"] = f"{tmp_path}/short"
    assert person.reason(str(person.memory / "MEMORY.md"))
    assert person.reason(f"{tmp_path}/short/.claude/projects/-x/memory/MEMORY.md")
    assert person.reason(f"{tmp_path}/short/MEMORY.md") is None


def test_a_memory_folder_that_a_person_has_moved_behind_a_link_is_refused_by_its_name(person: Person) -> None:
    person.memory.rmdir()
    (person.home / "vault").mkdir()
    person.memory.symlink_to(person.home / "vault")
    assert person.reason(str(person.memory / "MEMORY.md"))


def test_links_in_a_circle_pass(person: Person) -> None:
    (person.project / "a").symlink_to("b")
    (person.project / "b").symlink_to("a")
    for path in ("a", "b", "a/MEMORY.md"):
        assert person.reason(str(person.project / path)) is None


# ---- what fails, passes -------------------------------------------------------------------------------------------


def a_call(path: str) -> bytes:
    call = {"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": path}}
    return json.dumps(call).encode()


def is_silent(done: subprocess.CompletedProcess[bytes]) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"\x00", b"garbage", b"\xff\xfe", b"[]", b"null", b'"x"', b"{" * 100_000, b"[" * 1_000_000, b"{}",
        b'{"hook_event_name":"PreToolUse","tool_name":"Write"}',
        b'{"hook_event_name":"PreToolUse","tool_name":["Write"],"tool_input":{}}',
        b'{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":[]}',
    ],
    ids=lambda raw: f"{len(raw)} {raw[:12]!r}",
)  # fmt: skip
def test_any_input_passes_in_silence(person: Person, raw: bytes) -> None:
    assert is_silent(person.run(raw))


@pytest.mark.parametrize("path", [None, 3, [], {}, "", " ", "\x00", "/x\x00y", "\ud800", "/" + "a" * 300, "/a" * 9_000])
def test_an_odd_path_passes(person: Person, path: object) -> None:
    assert person.reason(path) is None


def test_half_a_call_passes(person: Person) -> None:
    whole = a_call(str(person.memory / "MEMORY.md"))
    assert not is_silent(person.run(whole))
    for end in range(0, len(whole), 13):
        assert is_silent(person.run(whole[:end]))


def test_a_call_that_is_larger_than_a_capture_passes(person: Person) -> None:
    call = json.loads(a_call(str(person.memory / "MEMORY.md")))
    call["tool_input"]["content"] = "x" * (16 << 20)
    assert is_silent(person.run(json.dumps(call).encode()))


@pytest.mark.parametrize("change", [{"HOME": None}, {"HOME": "relative"}, {"HOME": "/dev/null"}, {"HOME": ""}])
def test_any_environment_passes(person: Person, change: dict[str, str | None]) -> None:
    env = {name: value for name, value in {**person.env, **change}.items() if value is not None}
    assert is_silent(person.run(a_call(f"{person.project}/MEMORY.md"), env))


def test_a_session_without_siftd_keeps_its_own_memory(person: Person) -> None:
    raw = a_call(str(person.memory / "MEMORY.md"))
    assert is_silent(person.run(raw, person.env | {"SIFTD_OFF": "1"}))


@pytest.mark.parametrize("closed", [(0,), (1, 2), (0, 1, 2)], ids=["input", "outputs", "all"])
def test_closed_streams_pass(person: Person, closed: tuple[int, ...]) -> None:
    closing = " ".join(f"{fd}{'<' if fd == 0 else '>'}&-" for fd in closed)
    command = ["/bin/sh", "-c", f"'{sys.executable}' -I -S '{GUARD}' {closing}"]
    raw = a_call(str(person.memory / "MEMORY.md"))
    done = subprocess.run(command, env=person.env, cwd=person.project, input=raw, capture_output=True, check=False)
    assert is_silent(done)


def test_a_guard_without_its_other_half_passes(person: Person, tmp_path: Path) -> None:
    alone = tmp_path / "guard.py"
    alone.write_bytes(GUARD.read_bytes())
    command = [sys.executable, "-I", "-S", str(alone)]
    raw = a_call(str(person.memory / "MEMORY.md"))
    assert is_silent(subprocess.run(command, env=person.env, input=raw, capture_output=True, check=False))


@pytest.mark.slow
def test_an_input_that_never_ends_passes_after_two_seconds(person: Person) -> None:
    reader, writer = os.pipe()
    try:
        os.write(writer, a_call(str(person.memory / "MEMORY.md")))
        assert is_silent(person.run(b"", stdin=reader))
    finally:
        os.close(reader)
        os.close(writer)


def test_a_project_that_is_gone_passes(person: Person) -> None:
    env = person.env | {"CLAUDE_PROJECT_DIR": "/no/such/folder"}
    assert is_silent(person.run(a_call("/no/such/folder/MEMORY.md"), env))
    assert not is_silent(person.run(a_call(str(person.memory / "MEMORY.md")), env))


# ---- what it costs ------------------------------------------------------------------------------------------------


def test_it_imports_c_modules_only(person: Person) -> None:
    def imported(*program: str) -> set[str]:
        command = [sys.executable, "-I", "-S", "-X", "importtime", *program]
        done = subprocess.run(
            command, env=person.env, input=a_call(f"{person.project}/x.py"), capture_output=True, check=True
        )
        lines = done.stderr.decode().splitlines()
        return {re.sub(r".*\|\s*", "", line) for line in lines if line.startswith("import time:")} - {
            "imported package"
        }

    assert imported(str(GUARD)) - imported("-c", "pass") <= {"_signal", "_json", "auto_memory"}


def test_the_script_that_every_edit_compiles_is_short() -> None:
    assert len(GUARD.read_bytes().splitlines()) <= LINES_MAX


def test_it_writes_nothing(person: Person, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    person.reason(str(person.memory / "MEMORY.md"))
    person.reason(f"{person.project}/x.py")
    assert sorted(tmp_path.rglob("*")) == before
