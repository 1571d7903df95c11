"""`mem backfill` over several agents' programs: what is there, all of it, and files that the configuration names."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from siftd.cli import DONE, MISUSED, run
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home
from siftd.workspaces.stopping import stop_and_hold

pytestmark = pytest.mark.slow

DAY_SECONDS = 1_760_000_000


class Person:
    """Somebody with one project, in which Claude Code and Qwen Code worked."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self.home, self.project = root, Home(str(root / "home")), root / "project"
        self.project.mkdir()
        self._capsys = capsys

    def mem(self, *arguments: str) -> tuple[int, str, str]:
        status = run(arguments)
        return (status, *self._capsys.readouterr())

    def claude(self, folder: Path, session: str, said: str, cwd: str) -> None:
        lines = [
            {"type": "user", "uuid": f"u-{session}", "message": {"role": "user", "content": "Why does it fail?"}},
            {
                "type": "assistant",
                "uuid": f"a-{session}",
                "message": {"role": "assistant", "content": [{"type": "text", "text": said}]},
            },
        ]
        common = {"sessionId": session, "cwd": cwd, "isSidechain": False, "version": "2.1.0"}
        self._write(folder / f"{session}.jsonl", [common | each for each in lines])

    def qwen(self, session: str, said: str) -> None:
        common = {"sessionId": session, "cwd": str(self.project), "version": "0.24.4"}
        asked = {"type": "user", "provenance": "real_user", "message": {"role": "user", "parts": [{"text": "Why?"}]}}
        told = {"type": "assistant", "message": {"role": "model", "parts": [{"text": said}]}}
        folder = self.root / "person" / ".qwen" / "projects" / "x" / "chats"
        lines = [{"uuid": f"{number}-{session}"} | each for number, each in enumerate((asked, told))]
        self._write(folder / f"{session}.jsonl", [common | each for each in lines])

    def _write(self, file: Path, lines: list[dict[str, Any]]) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        stamped = [{"timestamp": f"2026-02-1{number}T10:00:00.000Z", **each} for number, each in enumerate(lines)]
        file.write_text("".join(json.dumps(each) + "\n" for each in stamped))
        os.utime(file, (DAY_SECONDS, DAY_SECONDS))

    def configure(self, settings: dict[str, Any]) -> None:
        Path(self.home.folder).mkdir(parents=True, mode=0o700)
        Path(self.home.root).chmod(0o700)
        Path(self.home.config).write_text(json.dumps(settings))


@pytest.fixture
def person(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    made = Person(tmp_path, capsys)
    monkeypatch.setenv("SIFTD_HOME", made.home.root)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(made.project)
    made.claude(tmp_path / "person" / ".claude" / "projects" / "x", "aaaa", "The cache is stale.", str(made.project))
    made.qwen("bbbb", "The queue was full.")
    yield made
    stop_and_hold(made.home.for_workspace(find_workspace(str(made.project)).key))


def test_what_is_there_is_listed_and_nothing_is_read(person: Person) -> None:
    status, out, _ = person.mem("backfill", "--list")

    assert status == DONE
    assert out.splitlines() == [
        "Claude Code (claude-code): 1 session of 2025-10-09",
        "Qwen Code (qwen-code): 1 session of 2025-10-09",
    ]
    listed = json.loads(person.mem("backfill", "--list", "--client", "qwen-code", "--json")[1])["clients"]
    assert listed == {
        "qwen-code": {"sessions": 1, "firstTs": DAY_SECONDS * 1000, "lastTs": DAY_SECONDS * 1000},
    }
    assert not Path(person.home.workspaces).exists()


def test_every_clients_sessions_are_read_once(person: Person) -> None:
    status, out, err = person.mem("backfill", "--client", "all")
    assert status == DONE, err
    assert "Claude Code\n" in out
    assert "Qwen Code\n" in out
    told = person.mem("timeline")[1]
    assert "cache is stale" in told
    assert "queue was full" in told
    assert " · qwen-code " in told

    again = json.loads(person.mem("backfill", "--client", "all", "--json")[1])["clients"]
    assert {each["captured"] for each in again.values()} == {0}
    assert {name for name, each in again.items() if each["skippedDuplicate"]} == {"claude-code", "qwen-code"}


def test_files_are_of_one_client(person: Person) -> None:
    assert person.mem("backfill", "--client", "all", str(person.root))[0] == MISUSED
    assert person.mem("backfill", "--client", "emacs")[0] == MISUSED


def test_sources_of_the_configuration_are_read_into_their_workspace(person: Person) -> None:
    old = person.root / "old machine"
    person.claude(old / "a" / "b", "cccc", "The disk was full.", "/elsewhere/demo")
    person.claude(old, "dddd", "The fan was loud.", "/elsewhere/demo")
    root = str(person.project)
    person.configure({"backfill": {"sources": {root: [f"claude-code:{old}/**/*.jsonl"], "/other": [f"{old}/*"]}}})

    qwen = json.loads(person.mem("backfill", "--client", "qwen-code", "--json")[1])
    assert (qwen["sessions"], qwen["captured"]) == (1, 2)
    claude = json.loads(person.mem("backfill", "--json")[1])
    assert (claude["sessions"], claude["captured"], claude["errors"]) == (3, 6, 0)
    told = person.mem("timeline")[1]
    assert "disk was full" in told
    assert "fan was loud" in told


def test_sources_that_are_no_lists_are_refused_by_name(person: Person) -> None:
    person.configure({"backfill.sources": {"/src/demo": "x"}})

    assert "backfill.sources must be an object whose values are lists of texts" in person.mem("doctor")[1]
