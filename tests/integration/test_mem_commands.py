"""`mem` against a real daemon on a throw-away home: from the first start to the purge."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from daemons import wait_until
from noted_project import put, register

from siftd.cli import DONE, FAILED, MISUSED, NO_DAEMON, run
from siftd.errors import DaemonUnreachable, SiftdError
from siftd.wire.client import connect
from siftd.wire.launch import ensure_daemon
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home, WorkspacePaths
from siftd.workspaces.stopping import stop_and_hold

HEAVY = ("msgspec", "anyio", "structlog", "rich", "numpy", "sqlite3", "subprocess", "pathlib", "typing", "inspect")
INFO_FIELDS = {
    "workspace": {"root", "key"},
    "daemon": {"running", "pid", "version", "uptimeMs", "rssBytes"},
    "counts": {"events", "raw", "summarized", "skipped", "summaries", "embeddings", "superseded"},
    "backend": {"name", "state", "lastError"},
    "embedder": {"name", "dim", "state"},
    "log": {"segments", "bytes", "appliedSeq"},
    "captures": {"accepted", "duplicates", "rejected", "spooled"},
}


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
    monkeypatch.setenv("HOME", str(tmp_path / "person"))  # clients are found there, and wired
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.chdir(folder)
    found = Home(str(tmp_path / "home")).for_workspace(find_workspace(str(folder)).key)
    yield found
    stop_and_hold(found)


@pytest.fixture
def mem(paths: WorkspacePaths, capsys: pytest.CaptureFixture[str]) -> Mem:
    def call(*arguments: str) -> Told:
        status = run(arguments)
        return Told(status, *capsys.readouterr())

    return call


def capture(paths: WorkspacePaths, *commands: str) -> None:
    """Hand tool calls to the daemon, as an agent's hook does."""
    with ensure_daemon(paths, str(Path.cwd()), os.environ) as client:
        client.request(
            {"kind": "drain"}, timeout=5
        )  # the tick with which a daemon begins is over: it summarises nothing here
        for number, command in enumerate(commands):
            payload = {"tool_input": {"command": command}, "tool_response": {"stdout": "1 passed", "stderr": ""}}
            message = {"kind": "capture", "sessionId": "first", "tool": "Bash", "payload": payload}
            client.request(message | {"ts": 1_760_000_000_000 + number * 60_000}, timeout=5)


def processes_of(paths: WorkspacePaths) -> list[int]:
    """Return the daemons of this test's workspace."""
    try:
        with connect(paths) as client:
            return [client.request({"kind": "hello"}, timeout=5)["pid"]]
    except DaemonUnreachable:
        return []


def test_info_and_doctor_never_start_a_daemon(mem: Mem, paths: WorkspacePaths) -> None:
    info = mem("info", "--json")
    assert info.status == DONE
    assert info.json["daemon"]["running"] is False
    assert set(info.json["counts"].values()) == {0}
    assert "no daemon runs" in mem("info").err
    doctor = mem("doctor", "--json")
    assert doctor.status == FAILED
    (found,) = [each for each in doctor.json["checks"] if each["message"] == "no daemon runs"]
    assert found["state"] == "note", "before anything was captured that is as it should be"
    for command in ("logs", "workspaces", "config"):
        assert mem(command).status == DONE
    assert not Path(paths.home.root).exists()


def test_info_has_the_same_fields_with_and_without_a_daemon(mem: Mem, paths: WorkspacePaths) -> None:
    capture(paths, "pytest -q tests/test_login.py")
    running = mem("info", "--json").json
    mem("stop")
    stopped = mem("info", "--json").json
    for info in (running, stopped):
        assert [name for name, fields in INFO_FIELDS.items() if not fields <= set(info[name])] == []
        assert info["counts"]["events"] == info["captures"]["accepted"] == info["log"]["appliedSeq"] == 1
        assert isinstance(info["backends"], list)
        assert (info["socket"], info["database"]) == (paths.socket, paths.database)
    assert (running["daemon"]["running"], stopped["daemon"]["running"]) == (True, False)


def test_a_note_is_found_shown_and_forgotten(mem: Mem, paths: WorkspacePaths) -> None:
    project = register(Path.cwd(), in_tree=True, home=paths.home)
    put(project, decisions="# Decisions\n\n- Okapis sleep in the red barn (m12)\n- The giraffe is tall\n")
    (Path.cwd() / ".git").mkdir()  # no repository, and git is not asked
    capture(paths, "make all")
    found = wait_until("the index", lambda: mem("search", "where", "okapis", "sleep", "--json").json["notes"])
    assert [each["id"] for each in found] == ["n:decisions.md:3"]
    line = mem("search", "where", "okapis", "sleep").out.splitlines()[-1]
    assert line == "n:decisions.md:3  note (Decisions)  - Okapis sleep in the red barn (m12)"
    shown = mem("show", "#n:decisions.md:3").out
    assert f"n:decisions.md:3  {project.file('decisions')}" in shown
    assert "said by        nobody: a file that people and siftd write" in shown
    assert "     3  - Okapis sleep in the red barn (m12)\n     4  - The giraffe is tall\n" in shown
    assert "notes       2 in 1 file" in mem("info").out
    refused = mem("forget", "n:decisions.md:3", "--yes")
    assert (refused.status, "the file is yours to edit" in refused.err) == (MISUSED, True)
    assert mem("forget", "--query", "okapis", "--dry-run").out == "1 entry of the notes would be forgotten\n"
    done = mem("forget", "--query", "okapis", "--yes")
    assert done.out == "1 entry of the notes forgotten\n"
    assert done.err == f"mem: it stays in what git has committed of {project.folder}, which is git's\n"
    assert Path(project.file("decisions")).read_text() == "# Decisions\n\n- The giraffe is tall\n"
    assert mem("search", "okapis", "--json").json["notes"] == []


def test_what_was_done_is_drained_found_and_shown(mem: Mem, paths: WorkspacePaths) -> None:
    capture(paths, "pytest -q tests/test_login.py", "cargo build --release")
    drained = mem("drain", "--json").json
    assert (drained["processed"], drained["errors"], drained["pending"]) == (2, 0, 0)
    assert {"backend", "firstError", "embedded"} <= set(drained)

    found = mem("search", "login", "tests", "-k", "1", "--json").json
    assert set(found) == {"hits", "notes", "documents", "degraded", "clients"}
    [hit] = found["hits"]
    assert {"id", "kind", "eventId", "sessionId", "tool", "ts", "score", "text", "why"} <= set(hit)
    assert (hit["eventId"], hit["tool"], hit["sessionId"]) == (1, "Bash", "first")

    line, why = mem("search", "login", "-k", "1", "--explain").out.splitlines()
    assert line.startswith(f"{hit['id']} ")
    assert "test_login.py" in line
    assert "found by" in why

    assert "test_login.py" in mem("show", "e1").out
    assert mem("show", "1", "--json").json["payload"]["tool_input"]["command"] == "pytest -q tests/test_login.py"
    assert "extractive" in mem("show", hit["id"]).out
    assert [each["eventId"] for each in mem("timeline", "--json").json["events"]] == [1, 2]
    assert "cargo build" in mem("timeline", "e1", "--before", "0").out
    assert mem("sessions", "--json").json["sessions"][0]["events"] == 2
    assert "first" in mem("sessions").out


def test_filters_reach_the_daemon(mem: Mem, paths: WorkspacePaths) -> None:
    capture(paths, "pytest -q tests/test_login.py", "pytest -q tests/test_logout.py")
    mem("drain")
    hits = mem("search", "pytest", "--json", "--since", "1760000030000", "--tool", "Bash").json["hits"]
    assert [hit["eventId"] for hit in hits] == [2]
    assert mem("search", "pytest", "--json", "--session", "other").json["hits"] == []


def test_nothing_found_says_why(mem: Mem, paths: WorkspacePaths) -> None:
    empty = mem("search", "anything")
    assert (empty.status, empty.out) == (DONE, "")
    assert "nothing is remembered yet" in empty.err
    capture(paths, "cargo build")
    mem("drain")
    assert "no match with these filters among 1 event" in mem("search", "cargo", "--session", "other").err
    assert "no match among 1 event" in mem("search", "zebra", "--json").err


def test_a_search_says_that_the_newest_captures_are_missing(mem: Mem, paths: WorkspacePaths) -> None:
    capture(paths, "cargo build")
    mem("drain")
    person = sqlite3.connect(paths.database, isolation_level=None)
    try:
        person.execute("BEGIN IMMEDIATE")
        with connect(paths) as client:
            payload = {"tool_input": {"command": "zebra"}, "tool_response": {}}
            message = {"kind": "capture", "sessionId": "first", "tool": "Bash", "payload": payload, "ts": 1}
            assert client.request(message, timeout=10)["eventId"], "the log alone has it"
        told = mem("search", "zebra")
        assert "without the newest captures" in told.err
        assert "the memory is not whole" in told.err
        assert "no match among" not in told.err
        assert "locked by another program" in mem("info").out
    finally:
        person.close()


def test_a_refusal_is_one_line_with_its_hint(mem: Mem, paths: WorkspacePaths) -> None:
    mem("start")
    told = mem("show", "e999")
    assert (told.status, told.out) == (MISUSED, "")
    assert told.err == "mem: there is nothing with this id; `mem timeline` lists ids\n"
    assert mem("undo", "s999").status == FAILED
    assert mem("retry", "--all", "--json").json == {"retried": 0}


def test_a_muted_piece_says_so_until_it_may_be_given_again(mem: Mem, paths: WorkspacePaths) -> None:
    mem("start")
    capture(paths, "make all")
    assert mem("mute", "e1").out == "nothing of e1 is given unasked any more; a search finds it as before\n"
    assert "given to no agent unasked" in mem("show", "e1").out
    assert mem("mute", "#e1", "--undo", "--json").json == {"event": "e1", "mutedSince": None}
    assert "unasked" not in mem("show", "e1").out
    assert mem("mute", "e9").status == MISUSED


def test_stop_holds_until_start(mem: Mem, paths: WorkspacePaths) -> None:
    assert mem("start").status == DONE
    assert mem("stop", "--json").json == {"stopped": True, "held": True}
    assert not Path(paths.socket).exists()
    refused = mem("search", "anything")
    assert (refused.status, refused.out) == (NO_DAEMON, "")
    assert refused.err == "mem: stopped by `mem stop`; run `mem start`\n"
    assert "stopped by `mem stop`" in mem("doctor").out
    assert mem("start", "--json").json["workspace"]["key"] == paths.key
    assert mem("search", "anything").status == DONE


def test_stop_without_a_daemon_holds_too(mem: Mem, paths: WorkspacePaths) -> None:
    told = mem("stop")
    assert told.status == DONE
    assert "no daemon runs" in told.out
    assert mem("drain").status == NO_DAEMON


def test_callers_at_the_same_time_start_one_daemon(paths: WorkspacePaths) -> None:
    folder, pids, errors = str(Path.cwd()), list[int](), list[SiftdError]()

    def ask() -> None:
        try:
            with ensure_daemon(paths, folder, os.environ) as client:
                pids.append(client.request({"kind": "hello"}, timeout=10)["pid"])
        except SiftdError as error:
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert errors == []
    assert len(pids) == 4
    assert len(set(pids)) == 1


def test_a_daemon_that_cannot_start_says_why_and_doctor_remembers(mem: Mem, paths: WorkspacePaths) -> None:
    Path(paths.home.folder).mkdir(parents=True, mode=0o700)
    Path(paths.home.config).write_text('{"memory.backend": "nonsense"}')
    told = mem("start")
    assert told.status == NO_DAEMON
    assert "nonsense" in told.err
    Path(paths.home.config).unlink()
    assert "failed to start 1 time," in mem("doctor").out
    assert mem("start").status == DONE
    assert "failed to start" not in mem("doctor").out


def test_an_earlier_failure_is_not_waited_for(mem: Mem, paths: WorkspacePaths) -> None:
    Path(paths.home.run).mkdir(parents=True, mode=0o700)
    Path(paths.start).write_text("9 99999999999999 ended with status 1: broken\n")
    assert mem("sessions").status == DONE


def test_a_home_that_cannot_be_is_told_and_nothing_crashes(
    mem: Mem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Path(tmp_path, "file").touch()
    monkeypatch.setenv("SIFTD_HOME", str(tmp_path / "file"))
    for command in ("start", "sessions"):
        told = mem(command)
        assert told.status == NO_DAEMON
        assert "set SIFTD_HOME to a folder of your own" in told.err
    assert mem("stop").status == FAILED
    assert mem("info").status == DONE
    assert mem("doctor").status == FAILED


def test_logs_tell_what_the_daemon_did(mem: Mem, paths: WorkspacePaths) -> None:
    capture(paths, "echo swordfish")
    told = mem("logs", "-n", "100")
    assert "daemon_started" in told.out
    assert "swordfish" not in told.out
    assert all("event" in json.loads(line) for line in mem("logs", "--json").out.splitlines())


def test_workspaces_are_listed_with_their_roots(mem: Mem, paths: WorkspacePaths) -> None:
    capture(paths, "cargo build")
    [known] = mem("workspaces", "--json").json["workspaces"]
    expected = {"key": paths.key, "root": str(Path.cwd()), "events": 1, "running": True, "problem": None}
    assert known == expected | {"rootCommit": None}
    assert paths.key in mem("workspaces").out


def test_config_tells_where_each_value_comes_from(mem: Mem, paths: WorkspacePaths, monkeypatch: Any) -> None:
    Path(paths.home.folder).mkdir(parents=True, mode=0o700)
    Path(paths.home.config).write_text('{"memory": {"consolidator": {"batchSize": 8, "tickMs": 500}}}')
    monkeypatch.setenv("SIFTD_MEMORY_CONSOLIDATOR_TICK_MS", "700")  # it decides nothing, and doctor says so
    settings = {each["key"]: each for each in mem("config", "--json").json["settings"]}
    assert (settings["memory.consolidator.batchSize"]["value"], settings["log.keepDays"]["value"]) == (8, 30)
    assert settings["memory.consolidator.batchSize"]["source"] == "file"
    assert settings["log.keepDays"]["source"] == "default"
    tick = settings["memory.consolidator.tickMs"]
    assert (tick["value"], tick["source"]) == (500, "file")
    assert mem("config", "memory.consolidator.tickMs").out == "500\n"
    assert "SIFTD_MEMORY_CONSOLIDATOR_TICK_MS in the environment decides nothing" in mem("doctor").out
    Path(paths.home.config).write_text("{")
    assert "the last good configuration holds" in mem("config").err
    assert "the last good configuration holds" in mem("doctor").out
    assert "the last good configuration holds" in mem("info").out


def test_install_makes_the_chain_whole_and_uninstall_takes_it_apart(mem: Mem, paths: WorkspacePaths) -> None:
    assert {each["what"] for each in mem("install", "--json").json["changes"]} == {"created"}
    assert {each["what"] for each in mem("install", "--json").json["changes"]} == {"unchanged"}
    mem("start")
    doctor = mem("doctor", "--json")
    assert doctor.json["ok"], doctor.out
    assert doctor.status == DONE
    assert {each["what"] for each in mem("uninstall", "--json").json["changes"]} == {"removed"}
    assert "not wired" in mem("doctor").out


def test_purge_stops_the_daemon_and_leaves_what_is_not_ours(
    mem: Mem, paths: WorkspacePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture(paths, "cargo build")
    mem("install")
    stranger = Path(paths.home.folder, "notes.txt")
    stranger.write_text("mine")
    with open(os.devnull) as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        assert mem("uninstall", "--purge").status == MISUSED
    assert Path(paths.database).exists()
    assert mem("uninstall", "--purge", "--yes").status == DONE
    assert processes_of(paths) == []
    assert list(Path(paths.home.folder).iterdir()) == [stranger]


def test_doctor_names_what_couriers_left(mem: Mem, paths: WorkspacePaths) -> None:
    capture(paths, "cargo build")
    Path(paths.dropped).write_text("1760000000000\n1760000000001\n")
    Path(paths.slow).touch()
    Path(paths.quarantine).mkdir()
    Path(paths.quarantine, "corrupt-wal.ndjson-7").touch()
    Path(paths.quarantine, "torn-wal.ndjson-9").touch()
    told = mem("doctor").out
    for sentence in (
        "2 captures could not be kept at all",
        "let a hook wait",
        "1 corrupt line of the log set aside",
        "1 torn tail of a crash",
    ):
        assert sentence in told
    assert mem("info", "--json").json["dropped"] == 2


def test_doctor_tells_a_daemon_that_hangs(mem: Mem, paths: WorkspacePaths, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(paths.home.run).mkdir(parents=True, mode=0o700)
    monkeypatch.setattr("siftd.cli.diagnose.check_daemon.HELLO_SECONDS", 0.05)
    monkeypatch.chdir(paths.home.run)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(Path(paths.socket).name)
        silent.listen()
        told = mem("doctor", "--workspace", str(Path(paths.home.root).parent / "workspace"))
    assert told.status == FAILED
    assert "the daemon hangs" in told.out


def test_doctor_and_info_name_a_damaged_database(mem: Mem, paths: WorkspacePaths) -> None:
    capture(paths, "cargo build")
    mem("stop")
    Path(paths.database).write_bytes(b"no database at all" * 1000)
    assert "the database is damaged" in mem("doctor").out
    info = mem("info", "--json")
    assert info.status == DONE
    assert "damaged" in info.json["problems"][0]


def test_slash_runs_what_was_typed(mem: Mem, paths: WorkspacePaths) -> None:
    capture(paths, "pytest -q tests/test_login.py")
    mem("drain")
    done = subprocess.run(
        [sys.executable, "-c", "from siftd.cli import main; main()", "slash"],
        input="search login $(reboot) 'quote\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "test_login.py" in done.stdout


def test_the_fast_path_imports_nothing_heavy(mem: Mem, paths: WorkspacePaths) -> None:
    capture(paths, "cargo build")
    code = (
        "import sys; before = set(sys.modules); from siftd.cli import run\n"
        "assert run(sys.argv[1:]) == 0\n"
        f"print(*sorted((set(sys.modules) - before) & set({HEAVY!r})), file=sys.stderr)"
    )
    for arguments in (["info"], ["info", "--json"], ["search", "cargo"], ["search", "cargo", "--explain"]):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
        assert done.stderr.split() == [], arguments


@pytest.mark.parametrize("unbuffered", [None, "1"], ids=["as a person has it", "unbuffered"])
def test_a_reader_that_has_seen_enough_is_no_failure_of_ours(unbuffered: str | None) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    if unbuffered is not None:
        environment["PYTHONUNBUFFERED"] = unbuffered
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", "from siftd.cli import main; main()", "--help"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=environment,
    )
    os.close(writer)
    assert done.stderr == ""
