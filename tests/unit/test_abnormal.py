"""Every abnormal state shows in `mem info` and in `mem doctor`, each with its remedy: broken never looks like empty."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from siftd.cli import DONE, FAILED, run
from siftd.cli.diagnose.marker_files import read_marker_files
from siftd.cli.diagnose.states import find_abnormal
from siftd.store.connection import open_writer
from siftd.store.migrate import migrate
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home, WorkspacePaths

NOW_MS = time.time_ns() // 1_000_000


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkspacePaths:
    for name in ("SIFTD_NS", "SIFTD_WORKSPACE", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SIFTD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    found = Home(str(tmp_path / "home")).for_workspace(find_workspace(str(folder)).key)
    for each in (found.home.run, found.spool, found.quarantine, found.home.logs):
        Path(each).mkdir(parents=True, mode=0o700)
    return found


def database(paths: WorkspacePaths, *statements: str) -> None:
    with contextlib.closing(open_writer(paths.database)) as connection:
        migrate(connection, 1)
        for statement in statements:
            connection.execute(statement)


def held(paths: WorkspacePaths) -> None:
    Path(paths.hold).touch()


def start_failed(paths: WorkspacePaths) -> None:
    Path(paths.start).write_text(f"3 {NOW_MS} ended with status 1: no module named msgspec\n")


def slow(paths: WorkspacePaths) -> None:
    Path(paths.slow).touch()


def dropped(paths: WorkspacePaths) -> None:
    Path(paths.dropped).write_text(f"{NOW_MS}\n{NOW_MS}\n")


def spool_waits(paths: WorkspacePaths) -> None:
    Path(paths.spool, "1-a.json").touch()


def spool_unreadable(paths: WorkspacePaths) -> None:
    Path(paths.spool, "1-a.bad").touch()


def line_corrupt(paths: WorkspacePaths) -> None:
    Path(paths.quarantine, "corrupt-wal.ndjson-7").touch()


def record_condemned(paths: WorkspacePaths) -> None:
    Path(paths.quarantine, "condemned-7").touch()


def database_set_aside(paths: WorkspacePaths) -> None:
    for suffix in ("", "-wal"):
        Path(f"{paths.database}.damaged-17{suffix}").touch()


def database_damaged(paths: WorkspacePaths) -> None:
    Path(paths.database).write_bytes(b"no database at all" * 1000)


def database_missing(paths: WorkspacePaths) -> None:
    Path(paths.wal).touch()


def schema_newer(paths: WorkspacePaths) -> None:
    database(paths, "INSERT INTO migrations VALUES (999, '0999_later', '', 0)")


def forget_pending(paths: WorkspacePaths) -> None:
    database(paths, "INSERT INTO forgets VALUES (7, 1, NULL)")


def rejected(paths: WorkspacePaths) -> None:
    database(paths, f"INSERT INTO rejections (reason, count, last_ts) VALUES ('not_json', 2, {NOW_MS})")


def config_unreadable(paths: WorkspacePaths) -> None:
    Path(paths.home.config).write_text("{")


@pytest.mark.parametrize(
    ("make", "sentence", "remedy"),
    [
        (held, "stopped by `mem stop`", "run `mem start`"),
        (start_failed, "failed to start 3 times", "mend that and run `mem start`"),
        (slow, "the daemon let a hook wait", "see `mem logs`"),
        (dropped, "2 captures could not be kept at all", "make room"),
        (spool_waits, "1 capture waiting", "`mem drain` takes them in"),
        (spool_unreadable, "1 file in", "remove the *.bad files"),
        (line_corrupt, "1 corrupt line of the log set aside", "check the disk"),
        (record_condemned, "1 record of the log cannot be applied", "`mem rebuild` tries it again"),
        (database_set_aside, "1 damaged database set aside", "once you miss nothing"),
        (database_damaged, "the database is damaged", "it is set aside and rebuilt"),
        (database_missing, "db.sqlite is missing", "`mem start` builds it again"),
        (schema_newer, "the database has schema 999", "install the newer siftd"),
        (forget_pending, "not yet gone from every file", "close what holds it"),
        (rejected, "2 captures rejected (not_json)", "see `mem logs`"),
        (config_unreadable, "the last good configuration holds", "correct "),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_state_that_files_tell_is_in_info_and_doctor_with_its_remedy(
    paths: WorkspacePaths,
    capsys: pytest.CaptureFixture[str],
    make: Callable[[WorkspacePaths], None],
    sentence: str,
    remedy: str,
) -> None:
    run(["info"])
    assert sentence not in capsys.readouterr().out
    make(paths)
    assert run(["info"]) == DONE
    info = capsys.readouterr().out
    assert run(["doctor"]) == FAILED
    doctor = capsys.readouterr().out
    for told in (info, doctor):
        assert sentence in told
        assert remedy in told
    run(["info", "--json"])
    abnormal = json.loads(capsys.readouterr().out)["abnormal"]
    assert [each for each in abnormal if each["state"] == "problem" and sentence in each["message"] and each["remedy"]]


@pytest.mark.parametrize("reason", ["not_a_prompt", "internal_agent", "unhandled_event"])
def test_what_is_rejected_on_purpose_is_a_note_alone(
    paths: WorkspacePaths, capsys: pytest.CaptureFixture[str], reason: str
) -> None:
    """A subagent that ends in the background reports so in a prompt's place: each such session had a problem."""
    database(paths, f"INSERT INTO rejections (reason, count, last_ts) VALUES ('{reason}', 1, {NOW_MS})")
    run(["doctor", "--json"])
    (found,) = [each for each in json.loads(capsys.readouterr().out)["checks"] if each["link"] == "captures"]
    assert found["state"] == "note"
    assert f"1 capture rejected ({reason})" in found["message"]


def test_doctor_names_a_planted_link_and_a_folder_that_others_may_write_to(
    paths: WorkspacePaths, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(paths.wal).symlink_to(paths.home.root)
    run(["doctor"])
    assert f"{paths.wal} is a link, and siftd follows none" in capsys.readouterr().out
    Path(paths.wal).unlink()
    Path(paths.spool).chmod(0o777)
    run(["doctor"])
    told = capsys.readouterr().out
    assert f"{paths.spool} can be written by others" in told
    assert f"chmod 700 {paths.spool}" in told


WELL: dict[str, Any] = {
    "socket": "/h/default/run/k.sock",
    "database": "/h/default/workspaces/k/db.sqlite",
    "counts": {},
    "backend": {"name": "ollama:small", "state": "ready", "lastError": None},
    "backends": [{"name": "ollama", "remedy": "start ollama"}],
    "embedder": {"name": "hash-384", "state": "ready"},
    "log": {"behind": False, "refusing": None},
    "spool": {"files": 0},
    "rejections": [],
    "parked": [],
    "forget": {"pending": []},
    **read_marker_files(Home("/nowhere/at/all").for_workspace("k")),
}


@pytest.mark.parametrize(
    ("change", "link", "sentence"),
    [
        ({"log": {"refusing": "disk_full"}}, "log", "captures are refused (disk_full)"),
        ({"log": {"behind": True}}, "database", "locked by another program, or the disk is full"),
        ({"backend": WELL["backend"] | {"state": "waiting", "lastError": "refused"}}, "backend", "is waiting: refused"),
        ({"embedder": {"name": "e", "state": "away"}}, "embedder", "e: away"),
        ({"forget": {"pending": ["a reader of the database: sqlite3 (7)"]}}, "forget", "sqlite3 (7)"),
        ({"scrub": {"pending": ["a segment"]}}, "scrub", "not everything is scrubbed yet: a segment"),
        ({"parked": [{"status": "raw", "count": 2, "reason": "away"}]}, "summaries", "2 events raw: away"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_state_that_the_daemon_tells_has_a_remedy(change: dict[str, Any], link: str, sentence: str) -> None:
    [finding] = find_abnormal(WELL | change)
    assert (finding.link, finding.state) == (link, "problem")
    assert sentence in finding.message
    assert finding.remedy


def test_a_well_daemon_has_nothing_abnormal_and_history_is_no_problem() -> None:
    assert list(find_abnormal(WELL)) == []
    old = WELL | {"rejections": [{"reason": "not_json", "count": 1, "lastTs": 1}]}
    assert [finding.state for finding in find_abnormal(old)] == ["note"]
    [finding] = find_abnormal(WELL | {"recovery": {"databaseMadeAnewTs": NOW_MS}})
    assert (finding.link, finding.state) == ("database", "note")
    assert "rebuilt from the log" in finding.message
    assert list(find_abnormal(WELL | {"recovery": {"databaseMadeAnewTs": 1}})) == []
    [finding] = find_abnormal(WELL | {"recovery": {"logLostTs": NOW_MS}})
    assert (finding.link, finding.state) == ("log", "note")
    assert "is in the database" in finding.message
