"""An agent of one's own: `mem capture` and `mem backfill --client generic`, by the real commands and a real daemon."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from siftd.cli import MISUSED, run
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home
from siftd.workspaces.stopping import stop_and_hold

pytestmark = pytest.mark.slow

MOMENT = "2026-11-24T09:00:0"
KEY = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"


def session(folder: Path) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [
        {"kind": "start", "cwd": str(folder)},
        {"kind": "prompt", "text": "Why does the parser drop the last token?"},
        {"kind": "tool", "id": "c1", "tool": "shell", "input": {"command": "make test"}},
        {"kind": "result", "id": "c1", "error": f"1 failed: test_last_token {KEY}"},
        {"kind": "assistant_text", "text": "The lexer stops at the end of the file, because it looks one ahead."},
        {"kind": "tool", "id": "c2", "tool": "edit", "output": "ok",
         "input": {"file_path": f"{folder}/lexer.py", "old_string": "<", "new_string": "<="}},
        {"kind": "turn_end", "text": "The parser keeps the last token now, since the lexer reads to the end."},
    ]  # fmt: skip
    return [{"session": "own-1", "ts": f"{MOMENT}{at}Z", **each} for at, each in enumerate(lines)]


class Person:
    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = root / "project"
        self.folder.mkdir()
        monkeypatch.setenv("SIFTD_HOME", str(root / "home"))
        monkeypatch.chdir(self.folder)
        self.paths = Home(str(root / "home")).for_workspace(find_workspace(str(self.folder)).key)
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def mem(self, *arguments: str, lines: list[dict[str, Any]] | None = None) -> tuple[int, dict[str, Any]]:
        if lines is not None:
            told = "".join(f"{json.dumps(each)}\n" for each in lines).encode()
            self._monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(told)))
        status = run([*arguments, "--json"])
        return status, json.loads(self._capsys.readouterr().out)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.paths.database)) as connection:
            return connection.execute(sql).fetchall()


@pytest.fixture
def person(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    made = Person(tmp_path, capsys, monkeypatch)
    yield made
    stop_and_hold(made.paths)


KINDS = "SELECT kind, action, outcome, said_by FROM events ORDER BY id"


def test_what_is_piped_in_is_kept_found_and_redacted(person: Person) -> None:
    status, told = person.mem("capture", lines=session(person.folder))
    assert (status, told) == (0, {"captured": 6, "known": 0, "refused": [], "waiting": 0})
    assert person.rows(KINDS) == [
        ("prompt", None, None, "agent"),
        ("tool", "run", "failed", "output"),
        ("assistant_text", None, None, "agent"),
        ("tool", "edit", "ok", "output"),
        ("turn_end", None, None, "agent"),
    ]
    person.mem("drain")
    (hit, *_) = person.mem("search", "why", "last", "token", "dropped")[1]["hits"]
    assert "lexer" in json.dumps(hit)
    assert KEY.encode() not in Path(person.paths.database).read_bytes() + Path(person.paths.wal).read_bytes()


def test_a_second_time_and_a_file_of_the_same_add_nothing(person: Person) -> None:
    person.mem("capture", lines=session(person.folder))
    assert person.mem("capture", lines=session(person.folder))[1]["known"] == 5
    file = person.folder / "own.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in session(person.folder)))
    filled = person.mem("backfill", "--client", "generic", str(file))[1]
    assert (filled["source"], filled["scanned"], filled["captured"], filled["errors"]) == ("generic", 5, 0, 0)


def test_of_a_file_nobody_knows_who_wrote_it_unless_a_person_says_so(person: Person) -> None:
    file = person.folder / "own.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in session(person.folder)))
    person.mem("backfill", "--client", "generic", str(file))
    assert {said_by for *_, said_by in person.rows(KINDS)} == {"outside"}
    file.write_text(file.read_text().replace("own-1", "own-2"))
    person.mem("backfill", "--client", "generic", "--own", str(file))
    assert {row[0] for row in person.rows("SELECT said_by FROM events WHERE session_id = 'own-2'")} == {
        "agent", "output",
    }  # fmt: skip


def test_what_is_refused_is_named_and_the_rest_is_kept(person: Person) -> None:
    lines = [*session(person.folder)[:2], {"kind": "dance", "session": "s"}, {"kind": "prompt", "text": "no session"}]
    status, told = person.mem("capture", lines=lines)
    assert (status, told["captured"], len(told["refused"])) == (1, 2, 2)
    assert told["refused"][0].startswith("line 3: ")


def test_a_client_without_files_of_its_own_wants_them_named(person: Person) -> None:
    assert run(["backfill", "--client", "generic"]) == MISUSED
