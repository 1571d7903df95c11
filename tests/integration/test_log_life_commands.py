"""`mem forget`, `scrub`, `prune`, `backup` and `rebuild` against a real daemon on a throw-away home."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from siftd.cli import DONE, FAILED, MISUSED, run
from siftd.wire.launch import ensure_daemon
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home, WorkspacePaths
from siftd.workspaces.stopping import stop_and_hold


class Told(NamedTuple):
    """What one run of `mem` left."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Mem = Callable[..., Told]


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkspacePaths]:
    folder = tmp_path / "workspace"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith(("SIFTD_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SIFTD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.chdir(folder)
    found = Home(str(tmp_path / "home")).for_workspace(find_workspace(str(folder)).key)
    with ensure_daemon(found, str(folder), os.environ) as client:
        for number, word in enumerate(("zanzibar", "madrid", "oslo")):
            payload = {"tool_input": {"command": f"echo {word}"}, "tool_response": {"stdout": word}}
            message = {"kind": "capture", "sessionId": "first", "tool": "Bash", "payload": payload}
            client.request(message | {"ts": 1_760_000_000_000 + number, "uid": word}, timeout=5)
    yield found
    stop_and_hold(found)


@pytest.fixture
def mem(paths: WorkspacePaths, capsys: pytest.CaptureFixture[str]) -> Mem:
    def call(*arguments: str) -> Told:
        status = run(arguments)
        return Told(status, *capsys.readouterr())

    return call


@pytest.mark.slow
def test_forgetting_asks_first_and_says_what_went(mem: Mem, paths: WorkspacePaths) -> None:
    would = mem("forget", "--query", "Zanzibar", "--dry-run", "--json")
    assert (would.status, would.json["matched"], would.json["byKind"]["tool"]) == (DONE, 1, 1)
    refused = mem("forget", "--query", "zanzibar")
    assert (refused.status, refused.out) == (FAILED, "")
    assert "--yes" in refused.err
    done = mem("forget", "--query", "zanzibar", "--yes")
    assert done.status == DONE
    assert done.out.startswith("1 tool call")
    assert mem("forget", "--query", "zanzibar", "--yes").status == FAILED
    for each in Path(paths.home.root).rglob("*"):
        assert not each.is_file() or b"zanzibar" not in each.read_bytes()
    assert mem("forget").status == MISUSED
    assert mem("forget", "e2", "--query", "x").status in (FAILED, MISUSED)


@pytest.mark.slow
def test_a_rebuild_keeps_every_event_and_sets_the_old_database_aside(mem: Mem, paths: WorkspacePaths) -> None:
    mem("drain")
    rebuilt = mem("rebuild", "--json")
    assert (rebuilt.status, rebuilt.json["counts"]["events"]) == (DONE, 3)
    assert len(list(Path(paths.folder).glob("db.sqlite.damaged-*[0-9]"))) == 1
    assert not Path(paths.rebuild).exists()
    assert json.loads(mem("show", "e2", "--json").out)["payload"]["tool_response"]["stdout"] == "madrid"


@pytest.mark.slow
def test_a_backup_is_made_where_one_stands_and_never_over_another_file(mem: Mem) -> None:
    made = mem("backup", "--json")
    assert made.status == DONE
    [file] = Path.cwd().glob("siftd-*.sqlite")
    assert made.json["path"] == str(file)
    with sqlite3.connect(file) as copy:
        assert copy.execute("SELECT count(*) FROM events").fetchone() == (3,)
    copy.close()
    assert mem("backup").status != DONE


@pytest.mark.slow
def test_pruning_without_a_limit_is_refused(mem: Mem) -> None:
    refused = mem("prune")
    assert refused.status != DONE
    assert "store.keepDays" in refused.err


@pytest.mark.slow
def test_scrubbing_takes_up_a_rule_that_was_written_while_the_daemon_runs(mem: Mem, paths: WorkspacePaths) -> None:
    mem("drain")  # its summary repeats the word, and is told anew: nothing to count
    rule = {"name": "place", "pattern": "zanzibar", "example": "zanzibar"}
    Path(paths.home.config).write_text(json.dumps({"redact.rules": [rule]}))
    would = mem("scrub", "--dry-run", "--json")
    assert (would.status, would.json["changed"]["events"], would.json["byRule"]) == (DONE, 1, {"place": 2})
    done = mem("scrub")
    assert done.status == DONE
    assert done.out.startswith("1 event")
    assert "place  2 secrets" in done.out
    for each in Path(paths.home.folder, "workspaces").rglob("*"):
        assert not each.is_file() or b"zanzibar" not in each.read_bytes()
    assert mem("scrub").out.startswith("nothing changed")
    Path(paths.home.config).write_text(json.dumps({"redact.rules": [rule | {"pattern": "zan.*"}]}))
    refused = mem("scrub")
    assert refused.status != DONE
    assert "upper bound" in refused.err


def test_redact_shows_place_rule_and_surroundings_and_never_the_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No daemon runs, and none is started; nothing is made."""
    token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for name in [name for name in os.environ if name.startswith(("SIFTD_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SIFTD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    Path(".env").write_text("DB_PASSWORD=tr0ub4dor&3horse\n")
    Path("notes.txt").write_text(f"first\nuse {token} here\nlog: xtr0ub4dor&3horsex <private>a\nb</private>\n")
    assert run(["redact", "notes.txt"]) == DONE
    shown = capsys.readouterr()
    lines = [line.split(maxsplit=2) for line in shown.out.splitlines()]
    assert lines == [
        ["2:5", "github-token", "use [REDACTED:github-token] here"],
        ["3:7", "env-value", "log: x[REDACTED:env-value]x"],
        ["3:25", "private", "x [REDACTED:private]"],
    ]
    assert "3 secrets" in shown.err
    assert run(["redact", "notes.txt", "--json"]) == DONE
    told = json.loads(capsys.readouterr().out)
    first = told["findings"][0]
    assert (first["rule"], first["line"], first["characters"]) == ("github-token", 2, 40)
    assert token not in json.dumps(told)
    assert run(["redact", "missing.txt"]) == MISUSED
    assert not (tmp_path / "home").exists()


def test_a_rebuild_tells_what_only_the_old_database_had(paths: WorkspacePaths, mem: Mem) -> None:
    """And so do `mem info` and `mem doctor`: a log that loses lines is a disk, or a person, to be looked at."""
    mem("stop")
    for each in Path(paths.folder).glob("wal*ndjson*"):
        each.unlink()
    Path(paths.hold).unlink()
    rebuilt = mem("rebuild")
    told = "the log had lost 3 events and 0 other rows"
    assert rebuilt.out.startswith("rebuilt: 3 events")
    assert told in rebuilt.out
    assert told in mem("info").out
    assert told in mem("doctor").out
