"""The life of `mem web`: it starts once, says where, brings a browser in, and ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from daemons import Place, is_alive, wait_until
from web_page import EventStream, free_port, serving

from siftd.errors import DaemonUnreachable
from siftd.web.launch import find_serving


def mem_web(place: Place, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("mem")), "web", *arguments]
    return subprocess.run(
        command, cwd=place.folder, env=place.env | (env or {}), capture_output=True, text=True, check=False
    )


def opened(place: Place, *arguments: str) -> dict[str, Any]:
    done = mem_web(place, "--json", "--no-open", *arguments)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@contextmanager
def browser(place: Place) -> Iterator[tuple[dict[str, str], Path]]:
    """Stand for a person's browser: a program that writes down what it is to open, and the file there."""
    program, seen = place.root / "browser", place.root / "seen"
    said = '{ echo "$1"; ls -l "$f" | cut -c1-10; cat "$f"; }'
    program.write_text(f'#!/bin/sh\nf="${{1#file://}}"\n{said} >{seen}.new\nmv {seen}.new {seen}\n')
    program.chmod(0o700)
    yield {"BROWSER": str(program)}, seen


def test_a_second_call_opens_the_one_that_runs(place: Place) -> None:
    first = opened(place)
    second = opened(place)
    assert (first["pid"], first["port"]) == (second["pid"], second["port"])
    assert first["code"] != second["code"]
    assert mem_web(place, "--stop").returncode == 0
    wait_until("it has ended", lambda: not is_alive(first["pid"]))


def test_two_calls_at_once_start_one(place: Place) -> None:
    command = [str(Path(sys.executable).with_name("mem")), "web", "--json", "--no-open"]
    calls = [
        subprocess.Popen(command, cwd=place.folder, env=place.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    answers = [json.loads(call.communicate()[0]) for call in calls]
    assert len({each["pid"] for each in answers}) == 1
    mem_web(place, "--stop")


def test_a_person_without_a_browser_is_told_the_address_and_a_code(place: Place) -> None:
    done = mem_web(place)
    address, code = done.stdout.splitlines()[0], done.stdout.split()[2]
    assert address.startswith("http://127.0.0.1:")
    assert "no browser" in done.stderr
    serving_ = find_serving(place.paths.home)
    assert serving_ is not None
    assert code not in address
    mem_web(place, "--stop")


def test_the_browser_gets_its_code_by_a_file_that_is_gone_once_it_was_used(place: Place) -> None:
    with browser(place) as (env, seen):
        done = mem_web(place, env=env)
        assert done.returncode == 0, done.stderr
        wait_until("the browser was opened", seen.exists)
        address, mode, text = seen.read_text().split("\n", 2)
    login = Path(place.paths.home.web_login)
    assert address == login.as_uri()
    assert mode == "-rw-------"
    code = done.stdout.split()[2]
    assert f'value="{code}"' in text
    assert stat.S_IMODE(login.stat().st_mode) == 0o600
    serving_ = find_serving(place.paths.home)
    assert serving_ is not None
    with socket.create_connection(("127.0.0.1", serving_.port)) as connection:
        body = f"code={code}"
        said = f"POST /login HTTP/1.1\r\nHost: 127.0.0.1:{serving_.port}\r\nOrigin: null\r\nConnection: close\r\n"
        said += f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        connection.sendall(said.encode())
        assert connection.makefile("rb").readline() == b"HTTP/1.1 200 OK\r\n"
    wait_until("the file is gone", lambda: not login.exists())
    mem_web(place, "--stop")


def test_a_port_that_is_taken_is_told_with_its_holder_and_another(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = mem_web(place, "--no-open", "--port", str(port))
        assert done.returncode == 3
        assert f"port {port} is taken" in done.stderr
        if sys.platform.startswith("linux"):
            assert f"(pid {os.getpid()})" in done.stderr
        offered = int(done.stderr.partition("--port ")[2].split("`")[0])
        assert port < offered < port + 50
    assert find_serving(place.paths.home) is None


def test_a_port_can_be_chosen_but_not_for_one_that_runs(place: Place) -> None:
    port = free_port()
    assert opened(place, "--port", str(port))["port"] == port
    done = mem_web(place, "--port", str(port + 1))
    assert done.returncode == 2
    assert "--stop" in done.stderr
    mem_web(place, "--stop")


@pytest.mark.parametrize("port", ["-1", "65536", "x", "٣"])
def test_what_is_no_port_is_refused(place: Place, port: str) -> None:
    assert mem_web(place, f"--port={port}").returncode == 2


def test_what_a_killed_process_left_is_no_obstacle(place: Place) -> None:
    first = opened(place)
    os.kill(first["pid"], 9)
    wait_until("it is dead", lambda: not is_alive(first["pid"]))
    assert Path(place.paths.home.web_state).exists()
    assert find_serving(place.paths.home) is None
    second = opened(place)
    assert second["pid"] != first["pid"]
    mem_web(place, "--stop")


def test_a_stranger_at_the_port_of_a_killed_process_is_asked_nothing(place: Place) -> None:
    first = opened(place)
    os.kill(first["pid"], 9)
    wait_until("it is dead", lambda: not is_alive(first["pid"]))
    with socket.create_server(("127.0.0.1", first["port"])) as stranger:
        second = opened(place)
        stranger.settimeout(0)
        with pytest.raises(BlockingIOError):
            stranger.accept()
    assert second["port"] != first["port"]
    mem_web(place, "--stop")


def test_more_streams_and_connections_than_a_person_has_pages_are_refused(place: Place) -> None:
    place.start()
    patches = {"siftd.web.live.STREAMS_MAX": 2, "siftd.web.process.CONNECTIONS_MAX": 5}
    with serving(place, patches=patches) as page, EventStream(page) as one, EventStream(page) as two:
        one.until("daemon")
        two.until("daemon")
        refused = page.ask("GET", f"/api/projects/{page.key}/events")
        assert (refused.status, refused.code) == (429, "too_often")
        with ExitStack() as held:
            for _ in range(3):
                held.enter_context(socket.create_connection(("127.0.0.1", page.port)))
            assert page.ask("GET", "/health").status == 503
        wait_until("there is room again", lambda: page.ask("GET", "/health").status == 200)


def test_it_ends_when_nobody_looks_and_leaves_nothing(place: Place) -> None:
    with serving(place, patches={"siftd.web.process.IDLE_SECONDS": 3.0}) as page:
        wait_until("it has ended", lambda: page.process.poll() is not None)
        assert page.process.returncode == 0
    home = place.paths.home
    assert [path for path in (home.web_state, home.web_token, home.web_login) if Path(path).exists()] == []


def test_a_signal_ends_it_in_good_order(place: Place) -> None:
    with serving(place) as page:
        page.process.terminate()
        wait_until("it has ended", lambda: page.process.poll() is not None)
        assert page.process.returncode == 0
    home = place.paths.home
    assert [path for path in (home.web_state, home.web_token, home.web_login) if Path(path).exists()] == []


def test_the_list_of_workspaces_starts_no_daemon_and_opening_one_starts_its(place: Place) -> None:
    place.start()
    place.capture(1)
    place.stop()
    with serving(place) as page:
        (project,) = page.ask("GET", "/api/projects").json["projects"]
        assert (project["id"], project["state"], project["events"]) == (page.key, "asleep", 1)
        assert place.pid() is None
        assert page.get("/timeline")["events"][0]["eventId"] == 1
        assert place.pid() is not None
        (project,) = page.ask("GET", "/api/projects").json["projects"]
        assert project["state"] == "running"


def test_a_daemon_that_is_held_down_is_told_with_its_remedy_and_answers_once_it_is_back(place: Place) -> None:
    place.start()
    place.capture(1)
    with serving(place) as page:
        place.stop(hold=True)
        away = page.ask("GET", f"/api/projects/{page.key}/info")
        assert (away.status, away.code) == (503, DaemonUnreachable.code)
        assert "mem start" in away.json["error"]["hint"]
        Path(place.paths.hold).unlink()
        assert page.get("/info")["counts"]["events"] == 1


def test_a_workspace_whose_folder_is_gone_is_told(place: Place) -> None:
    place.start()
    place.capture(1)
    place.stop()
    place.folder.rmdir()
    try:
        with serving(place) as page:
            (project,) = page.ask("GET", "/api/projects").json["projects"]
            assert project["state"] == "gone"
            gone = page.ask("GET", f"/api/projects/{page.key}/info")
            assert (gone.status, gone.code) == (410, "workspace_gone")
    finally:
        place.folder.mkdir()


@pytest.mark.parametrize("key", ["0" * 16, "..", "%2e%2e%2f", "_globa", "x" * 400, "%00" * 16])
def test_a_project_that_is_not_there_is_not_found(place: Place, key: str) -> None:
    with serving(place) as page:
        assert page.ask("GET", f"/api/projects/{key}/info").status == 404


def test_nobody_but_the_served_process_loads_what_serves() -> None:
    """Not the daemon, not `mem` itself, not `mem web`, which starts it."""
    others = ["siftd.daemon.server", "siftd.daemon.handlers.router", "siftd.cli", "siftd.cli.commands.web"]
    program = (
        "import sys, importlib\n"
        f"for name in {others!r}: importlib.import_module(name)\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('starlette', 'uvicorn', 'wsproto', 'h11')])\n"
        "print([name for name in sys.modules if name.startswith('siftd.web')])\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['siftd.web', 'siftd.web.launch']"]


def test_the_served_process_loads_nothing_of_a_daemon_s_work() -> None:
    """The rules of redaction alone would double the time until it listens."""
    heavy = ("siftd.redact", "siftd.log.record", "siftd.search", "siftd.daemon", "siftd.mcp", "numpy", "httpx", "mcp")
    program = f"import sys, siftd.web.process\nprint([name for name in {heavy!r} if name in sys.modules])\n"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]"]


def test_a_daemon_of_another_version_is_told_from_one_that_refuses(place: Place) -> None:
    place.start(patches={"siftd.__version__": "0.0.1"})
    place.capture(1)
    with serving(place) as page:
        (project,) = page.ask("GET", "/api/projects").json["projects"]
        assert (project["state"], project["version"]) == ("other_version", "0.0.1")
        assert page.get("/timeline")["events"], "what both know is answered"
        refused = page.ask("GET", f"/api/projects/{page.key}/items/e9")
        assert (refused.status, refused.code) == (409, "other_version")
        assert "mem stop" in refused.json["error"]["hint"]


def test_a_daemon_that_is_busy_is_told_and_answers_once_it_is_not(place: Place) -> None:
    daemon = place.start()
    place.capture(1)
    with serving(place, patches={"siftd.wire.workspace_client.ANSWER_SECONDS": 0.3}) as page:
        daemon.send_signal(signal.SIGSTOP)
        busy = page.ask("GET", f"/api/projects/{page.key}/timeline")
        assert (busy.status, busy.code) == (504, "daemon_timed_out")
        (project,) = page.ask("GET", "/api/projects").json["projects"]
        assert project["state"] == "busy"
        daemon.send_signal(signal.SIGCONT)
        assert wait_until("it answers", lambda: page.ask("GET", f"/api/projects/{page.key}/timeline").status == 200)
