"""The daemon's life: one per workspace, a socket of its own, an orderly end, and a log that tells what arrived."""

from __future__ import annotations

import contextlib
import gzip
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import Place, RawClient, tool_call, wait_until

import siftd
from siftd.daemon.main import EXIT_ALREADY_RUNNING, EXIT_FAILED
from siftd.errors import DaemonUnreachable, RequestRefused
from siftd.wire.frames import PROTOCOL, encode_json
from siftd.workspace.home import ensure_workspace
from siftd.workspace.secret import ensure_secret

pytestmark = pytest.mark.slow


def ended(daemon: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Wait until a daemon has ended; return its exit status and what it said."""
    _, said = daemon.communicate(timeout=10)
    return daemon.returncode, said.decode()


def test_hello_tells_who_answers(place: Place) -> None:
    daemon = place.start()
    hello = place.ask("hello")
    assert hello["version"] == siftd.__version__
    assert hello["protocol"] == PROTOCOL
    assert hello["workspace"] == {"root": str(place.folder), "key": place.paths.key}
    assert hello["pid"] == daemon.pid
    assert 0 <= hello["uptimeMs"] < 60_000


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_the_rules_of_redaction_are_there_before_the_first_event(place: Place) -> None:
    daemon = place.start()
    maps = Path(f"/proc/{daemon.pid}/maps")
    wait_until("the library that searches for them is loaded", lambda: "/_re2." in maps.read_text())


def test_a_daemon_reads_neither_what_draws_nor_what_erases_before_it_is_asked(place: Place, tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-X", "importtime", "-m", "siftd", "run", "--folder", str(place.folder)]
    with (tmp_path / "imports").open("w") as imports:  # more than a pipe holds
        daemon = subprocess.Popen(command, env=place.env, stderr=imports, cwd="/")
    wait_until("it answers", lambda: Path(place.paths.socket).exists() and place.pid() == daemon.pid)
    place.ask("stop")
    assert daemon.wait(timeout=60) == 0
    lines = (tmp_path / "imports").read_text().splitlines()
    read = [line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")]
    assert "structlog" in read
    assert not [each for each in read if each.startswith("rich.")]  # structlog takes it wherever it is
    assert "siftd.daemon.erasure.purge_files" not in read[: read.index("siftd.daemon.server")]


def test_a_second_daemon_ends_with_its_own_status_and_leaves_the_first_alone(place: Place) -> None:
    first = place.start()
    inode = Path(place.paths.socket).stat().st_ino
    status, said = ended(place.spawn())
    assert status == EXIT_ALREADY_RUNNING
    assert said == "another daemon serves this workspace\n"
    assert place.pid() == first.pid
    assert Path(place.paths.socket).stat().st_ino == inode


def test_of_many_daemons_started_at_once_one_serves(place: Place) -> None:
    daemons = [place.spawn() for _ in range(5)]
    pid = wait_until("one answers", lambda: place.pid() if Path(place.paths.socket).exists() else None)
    others = [daemon for daemon in daemons if daemon.pid != pid]
    assert [ended(daemon)[0] for daemon in others] == [EXIT_ALREADY_RUNNING] * 4
    assert place.pid() == pid


def test_a_stale_socket_is_no_obstacle_and_nothing_acknowledged_is_lost(place: Place) -> None:
    place.start()
    event_ids = [place.capture(number)["eventId"] for number in range(5)]
    place.kill()
    assert Path(place.paths.socket).is_socket()
    with pytest.raises(DaemonUnreachable):
        place.client()
    place.start()
    assert [row[0] for row in place.rows("SELECT id FROM events ORDER BY id")] == event_ids
    place.stop()  # with its socket


def test_a_strangers_file_at_the_sockets_path_is_refused_and_left(place: Place) -> None:
    ensure_workspace(place.paths)
    stranger = Path(place.paths.socket)
    stranger.write_text("not ours")
    status, said = ended(place.spawn())
    assert status == EXIT_FAILED
    assert "is not a socket of ours" in said
    assert "move it away" in said
    assert stranger.read_text() == "not ours"
    stranger.unlink()


def test_a_file_that_takes_the_sockets_place_meanwhile_stays(place: Place) -> None:
    daemon = place.start()
    path = Path(place.paths.socket)
    path.unlink()
    path.write_text("not ours")
    daemon.send_signal(signal.SIGTERM)
    assert ended(daemon)[0] == 0
    assert path.read_text() == "not ours"
    path.unlink()


@pytest.fixture
def deep_place() -> Iterator[Place]:
    made = Place("/".join(["d" * 48] * 4))
    yield made
    made.end()


def test_a_home_on_a_long_path_is_entered(deep_place: Place) -> None:
    assert len(deep_place.paths.socket) > 200
    assert deep_place.hook(tool_call(0)).is_silent
    assert deep_place.settle() == 1
    assert deep_place.hook(tool_call(1)).is_silent
    assert deep_place.count_events() == 2
    assert len(deep_place.log_lines("daemon_started")) == 1
    deep_place.stop()
    assert not Path(deep_place.paths.socket).exists()


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_modes_are_private_whatever_the_umask(place: Place, umask: int) -> None:
    place.start(umask=umask)
    place.capture()
    place.ask("drain")
    made = [place.home, *place.home.rglob("*")]
    assert {oct(path.stat().st_mode & 0o777) for path in made if path.is_dir()} == {"0o700"}
    assert {oct(path.stat().st_mode & 0o777) for path in made if not path.is_dir()} == {"0o600"}


@pytest.mark.parametrize("which", ["home", "namespace"])
def test_a_home_that_others_can_write_to_is_refused_by_name(place: Place, which: str) -> None:
    ensure_workspace(place.paths)
    folder = Path(place.home if which == "home" else place.paths.home.folder)
    folder.chmod(0o777)
    status, said = ended(place.spawn())
    assert status == EXIT_FAILED
    assert f"{folder} can be written by others. chmod 700" in said


@pytest.mark.parametrize("planted", ["lock", "home"])
def test_what_stands_in_the_way_is_told_in_one_line(place: Place, planted: str) -> None:
    if planted == "lock":
        ensure_workspace(place.paths)
        Path(place.paths.lock).symlink_to("/dev/null")
    else:
        place.home.write_text("a file")
    status, said = ended(place.spawn())
    assert status == EXIT_FAILED
    assert said.count("\n") == 1
    assert str(place.home) in said


def test_an_idle_daemon_ends_by_itself_and_a_connected_client_keeps_it(place: Place) -> None:
    daemon = place.spawn("--set", "daemon.idleExitMs=300")
    wait_until("the socket is there", Path(place.paths.socket).exists)
    with place.client() as client:  # before it could be idle, however busy the machine is
        client.request({"kind": "hello"}, timeout=30)
        with pytest.raises(subprocess.TimeoutExpired):
            daemon.wait(0.8)
        client.request({"kind": "hello"}, timeout=30)
    assert ended(daemon)[0] == 0
    assert [line["event"] for line in place.log_lines()][-2:] == ["idle_exit", "daemon_stopped"]
    assert not Path(place.paths.socket).exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(place: Place, number: int) -> None:
    daemon = place.start()
    place.capture()
    daemon.send_signal(number)
    status, said = ended(daemon)
    assert status == 0
    assert "Traceback" not in said
    assert place.count_events() == 1
    assert not Path(place.paths.socket).exists()
    assert not Path(place.paths.hold).exists()


def test_a_stop_answers_what_is_in_flight_and_summarises_nothing_more(place: Place) -> None:
    place.start("--set", "memory.consolidator.tickMs=3600000")
    place.ask("drain")  # the tick at the start is over
    captures = [
        encode_json(
            {"kind": "capture", "sessionId": "s", "tool": "Bash", "payload": {"tool_input": {"n": n}}, "ts": 1000 + n}
        )
        for n in range(200)
    ]
    with RawClient(place.paths) as client:
        client.send(b"".join([*captures, encode_json({"kind": "stop", "hold": False})]))
        answers = [client.answer() for _ in range(201)]
        assert all(answer is not None and answer["ok"] for answer in answers)
        assert client.answer() is None
    wait_until("the daemon has ended", lambda: not place.processes())
    assert place.rows("SELECT status, count(*) FROM events GROUP BY status") == [("raw", 200)]
    assert not Path(place.paths.hold).exists()


def test_a_daemon_that_is_ended_while_it_starts_leaves_no_socket(place: Place) -> None:
    ensure_workspace(place.paths)
    ensure_secret(place.paths)
    os.mkfifo(Path(place.paths.folder) / "wal-1.ndjson.gz")  # the replay blocks on it
    daemon = place.spawn()
    wait_until("the socket is there", Path(place.paths.socket).exists)
    daemon.terminate()
    assert daemon.wait(10) == 0
    assert not Path(place.paths.socket).exists()


def test_clients_may_connect_while_the_log_is_still_replayed(place: Place) -> None:
    """Whoever comes while a long log is read waits in the backlog instead of starting another daemon."""
    ensure_workspace(place.paths)
    ensure_secret(place.paths)  # a log without the secret that it was made with is refused
    segment = Path(place.paths.folder) / "wal-1.ndjson.gz"
    os.mkfifo(segment)  # the replay blocks on it until somebody writes
    daemon = place.spawn()
    wait_until("the socket is there", Path(place.paths.socket).exists)
    with RawClient(place.paths) as client:
        client.send(encode_json({"kind": "hello"}))
        client.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            client.answer()
        client.socket.settimeout(10)
        segment.write_bytes(gzip.compress(b""))
        segment.unlink()
        answer = client.answer()
    assert answer is not None
    assert answer["pid"] == daemon.pid


def test_a_persons_open_lock_on_the_database_delays_no_start_for_good(place: Place) -> None:
    """Where the log is ahead of the database, a daemon does not serve before both have the same."""
    import sqlite3

    place.start()
    place.capture(1)
    with contextlib.closing(sqlite3.connect(place.paths.database, isolation_level=None)) as person:
        person.execute("BEGIN IMMEDIATE")
        place.capture(2)
        place.kill()
        status, said = ended(place.spawn())
        person.execute("ROLLBACK")
    assert status == EXIT_FAILED
    assert said.count("\n") == 1
    place.start()
    assert place.count_events() == 2


def test_every_arrival_leaves_one_line_without_text(place: Place) -> None:
    place.start()
    text = "zebra-crossing-" * 3
    accepted = place.capture(payload={"tool_input": {"command": text}, "tool_response": {"stdout": text}})
    with pytest.raises(RequestRefused):
        place.capture(tool="", payload={"tool_input": {"command": text}})
    with pytest.raises(RequestRefused):
        place.ask("capture", sessionId=5, payload=text)
    place.hook(b'{"session_id":"", "prompt":"' + text.encode() + b'"}')
    (line,) = place.log_lines("capture_accepted")
    assert (line["event_id"], line["tool"], line["session"]) == (accepted["eventId"], "Bash", "by-socket")
    assert line["bytes"] > len(text)
    assert line["ms"] >= 0
    assert [line["reason"] for line in place.log_lines("capture_rejected")] == ["bad_name", "bad_request", "no_session"]
    counted = {"bad_name": 1, "bad_request": 1, "no_session": 1}
    wait_until("what was refused is counted, after it was answered", lambda: place.rejections() == counted)
    assert "zebra" not in Path(place.paths.daemon_log).read_text()


def test_info_tells_of_a_bad_configuration_file_and_the_last_good_one_holds(place: Place) -> None:
    ensure_workspace(place.paths)
    Path(place.paths.home.config).write_text('{"memory.consolidator.tickMs": 5000}')
    place.start()
    assert place.ask("info")["config"]["problem"] is None
    place.stop()
    Path(place.paths.home.config).write_text('{"memory.consolidator.tickMs": ')
    place.start()
    assert "the last good configuration holds" in place.ask("info")["config"]["problem"]
    assert place.ask("hello")["pid"] == place.pid()


def test_a_wrong_flag_ends_the_start_by_name(place: Place) -> None:
    status, said = ended(place.spawn("--set", "memory.bakend=extractive"))
    assert status == EXIT_FAILED
    assert "memory.bakend" in said
    assert "memory.backend" in said
    assert not Path(place.paths.socket).exists()


def test_a_daemon_that_cannot_be_loaded_whole_says_why_and_is_backed_off_from(place: Place) -> None:
    daemon = place.spawn(patches={"siftd.daemon.server.load_services": None})
    assert daemon.wait(20) == 1
    assert daemon.stderr is not None
    assert daemon.stderr.read().endswith(b"siftd cannot be loaded (TypeError). install it again\n")
    failures, _, reason = Path(place.paths.start).read_text().split(" ", 2)
    assert (failures, reason) == ("1", "siftd cannot be loaded (TypeError)\n")


def test_an_excluded_workspace_gets_no_daemon_and_no_spool(place: Place) -> None:
    place.configure(capture__exclude=[str(place.root)])
    status, said = ended(place.spawn())
    assert status == 6
    assert "excludes this workspace" in said
    assert place.hook(tool_call()).is_silent
    place.wait_for_couriers()
    assert place.spool_files() == []
    assert place.dropped() == 0


def test_another_users_process_is_turned_away(place: Place) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become somebody else")
    place.start()
    program = (
        "import os, socket, sys\n"
        "os.setgid(65534)\n"
        "conn = socket.socket(socket.AF_UNIX)\n"
        "os.chdir(sys.argv[1]); os.setuid(65534)\n"
        "try:\n    conn.connect(sys.argv[2])\nexcept PermissionError:\n    sys.exit(7)\n"
    )
    folder, _, name = place.paths.socket.rpartition("/")
    done = subprocess.run(["python3", "-I", "-c", program, folder, name], check=False)
    assert done.returncode == 7, "the socket's own mode keeps others out"
    os.chmod(place.paths.socket, 0o666)
    for each in (place.root, place.home, Path(place.paths.home.folder), Path(folder)):
        each.chmod(0o755)
    with contextlib.suppress(RequestRefused):
        done = subprocess.run(
            ["python3", "-I", "-c", program + "print(conn.recv(1))\n", folder, name], capture_output=True, check=False
        )
    assert b"b''" in done.stdout or b"ConnectionResetError" in done.stderr
    assert [line["reason"] for line in place.log_lines("connection_refused")] == ["another_user"]


def test_the_daemon_that_hooks_start_has_no_core_dumps_and_an_own_session(place: Place) -> None:
    place.hook(tool_call())
    pid = wait_until("the daemon answers", place.pid)
    assert pid is not None
    wait_until("it has let go of whoever started it", lambda: place.log_lines("daemon_started"))
    assert os.getsid(pid) == pid
    limits = Path(f"/proc/{pid}/limits").read_text().splitlines()
    assert next(line for line in limits if line.startswith("Max core file size")).split()[4:6] == ["0", "0"]
    assert {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in (0, 1, 2)} == {"/dev/null"}


def test_a_socket_that_listens_but_is_nobodys_lock_is_replaced(place: Place) -> None:
    """The lock is the only sign of life: whoever holds it owns the path."""
    ensure_workspace(place.paths)
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as other:
        other.bind(place.paths.socket)
        other.listen(1)
        daemon = place.spawn()
        wait_until("it serves", lambda: place.log_lines("daemon_started"))
        assert place.pid() == daemon.pid


def test_a_daemon_starts_without_what_reads_documents_and_words_for_the_graph() -> None:
    """Their patterns alone take a fifth of a start; a tick that has something to read loads them."""
    heavy = (
        "siftd.graph.prose",
        "siftd.graph.manifests",
        "siftd.documents.splitting",
        "siftd.documents.sections",
        "httpx",
    )
    program = (
        "import sys, siftd.daemon.services, siftd.daemon.handlers.router\n"
        f"print([name for name in {heavy!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]"]
