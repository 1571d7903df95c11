"""What happens, as pages and programs are told it while it does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import Place, tool_call, wait_until
from web_page import EventStream, Page, Socket, serving

from siftd.wire.frames import encode_hook

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def page(place: Place) -> Iterator[Page]:
    place.start()
    with serving(place) as served:
        yield served


def program(page: Page) -> list[str]:
    return ["siftd.v1", f"token.{page.token}"]


def test_a_capture_arrives_and_says_nothing_of_what_was_captured(page: Page) -> None:
    with EventStream(page) as stream:
        assert stream.response.getheader("content-type") == "text/event-stream; charset=utf-8"
        assert stream.until("daemon") == {"isThere": True}
        page.place.capture(1, payload={"tool_input": {"command": HOSTILE}, "tool_response": {"stdout": HOSTILE}})
        captured = stream.until("captured")
        assert (captured["id"], captured["project"]) == ("e1", page.key)
        assert HOSTILE not in json.dumps(captured)


def test_what_waited_in_the_spool_arrives_too(page: Page) -> None:
    header = {"client": "claude-code", "frameUid": f"{7:032x}", "root": str(page.place.folder), "ts": 1}
    frame = encode_hook(json.dumps(header).encode(), json.dumps(tool_call(7)).encode())
    command = [sys.executable, "-I", "-m", "siftd", "spool", "--folder", str(page.place.folder)]
    with EventStream(page) as stream:
        stream.until("daemon")
        subprocess.run(command, input=frame, env=page.place.env, cwd="/", check=True)
        page.place.ask("drain")
        assert stream.until("captured")["id"] == "e1"


def test_a_page_that_comes_back_is_told_what_it_missed(page: Page) -> None:
    with EventStream(page) as stream:
        page.place.capture(1) if stream.until("daemon") else None
        stream.until("captured")
        last = stream.last
    for number in (2, 3):
        page.place.capture(number)
    with EventStream(page, last) as stream:
        assert [stream.until("captured")["id"] for _ in range(2)] == ["e2", "e3"]


def test_a_page_that_comes_back_to_another_process_goes_on_by_the_daemons_own_numbers(place: Place) -> None:
    place.start()
    with serving(place) as page, EventStream(page) as stream:
        stream.until("daemon")
        place.capture(1)
        stream.until("captured")
        last = stream.last
    place.capture(2)
    with serving(place) as page, EventStream(page, last) as stream:
        assert stream.until("captured")["id"] == "e2"


@pytest.mark.parametrize("last", ["0123456789abcdef.1", "0123456789abcdef.99999"])
def test_a_page_that_knows_another_daemons_numbers_begins_anew(page: Page, last: str) -> None:
    with EventStream(page, last) as stream:
        assert stream.until("reset") == {}
        page.place.capture(1)
        assert stream.until("captured")["id"] == "e1"


@pytest.mark.parametrize("last", ["nonsense", "a.b", "x" * 3_000, "..", "é.1"])
def test_what_is_no_place_begins_now(page: Page, last: str) -> None:
    with EventStream(page, last.encode().decode("latin-1")) as stream:
        stream.until("daemon")
        page.place.capture(1)
        assert stream.until("captured")["id"] == "e1"


def test_a_forget_is_told_and_what_came_before_is_told_to_nobody_any_more(page: Page) -> None:
    with EventStream(page) as stream:
        stream.until("daemon")
        page.place.capture(1)
        stream.until("captured")
        before = stream.last.rpartition(".")[0] + ".0"
        page.place.ask("forget", ids=["e1"], dryRun=False)
        assert stream.until("forgotten")["matched"] == 1
        with EventStream(page, before) as late:
            assert (late.event() or ("",))[0] == "reset"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone tells who is connected")
def test_all_pages_of_a_workspace_share_one_connection_to_its_daemon(page: Page) -> None:
    streams = [EventStream(page) for _ in range(5)]
    try:
        for stream in streams:
            stream.until("daemon")
        page.place.capture(1)
        assert [stream.until("captured")["id"] for stream in streams] == ["e1"] * 5
        assert connections_to(page.place) == 1
    finally:
        for stream in streams:
            stream.__exit__()


def connections_to(place: Place) -> int:
    """Return how many connections the daemon has (Linux tells it)."""
    lines = Path("/proc/net/unix").read_text().splitlines()
    return sum(f"{place.paths.key}.sock" in line and line.split()[5] == "03" for line in lines)  # bound as `.sock.new`


def test_a_daemon_that_ends_is_told_and_the_stream_goes_on_once_it_is_back(page: Page) -> None:
    with EventStream(page) as stream:
        assert stream.until("daemon") == {"isThere": True}
        page.place.stop(hold=True)
        away = stream.until("daemon")
        assert away["isThere"] is False
        assert (away["error"]["code"], "mem start" in away["error"]["hint"]) == ("daemon_unreachable", True)
        Path(page.place.paths.hold).unlink()
        page.place.start()
        assert stream.until("reset") == {}
        page.place.capture(1)
        assert stream.until("captured")["id"] == "e1"


def test_a_stream_of_what_is_not_there_is_refused(page: Page) -> None:
    with EventStream(page, key="0" * 16) as stream:
        assert stream.response.status == 404
    assert page.ask("HEAD", f"/api/projects/{page.key}/events").status == 200


def test_the_process_ends_at_once_however_many_listen(place: Place) -> None:
    place.start()
    with serving(place) as page, EventStream(page) as stream, Socket(page, f"?project={page.key}", program(page)) as ws:
        stream.until("daemon")
        page.ask("POST", "/api/end")
        while stream.event():
            pass
        assert ws.message() in (1012, 1013), "come again"
        wait_until("it has ended", lambda: page.process.poll() is not None)
        assert page.process.returncode == 0


def test_the_process_ends_after_its_last_page(place: Place) -> None:
    """That an open one keeps it is tried by a clock that is turned (tests/unit/test_web_limits.py)."""
    place.start()
    with serving(place, patches={"siftd.web.process.IDLE_SECONDS": 5.0}) as page:
        with EventStream(page) as stream:
            stream.until("daemon")
        wait_until("it has ended", lambda: page.process.poll() is not None)
        assert page.process.returncode == 0


# The websocket


def test_a_program_is_told_of_vectors_drains_and_what_was_forgotten(page: Page) -> None:
    with Socket(page, f"?project={page.key}", program(page)) as ws:
        assert ws.is_open
        assert ws.opening.subprotocol == "siftd.v1"
        page.place.capture(1)
        page.place.ask("drain")
        messages = [ws.message(), ws.message()]
        by_kind = {each["kind"]: each for each in messages if isinstance(each, dict)}
        indexed = by_kind["memory:indexed"]
        assert {"id", "project", "source", "embeddedAt"} <= set(indexed)
        assert (indexed["project"], indexed["source"]) == (page.key, "summary")
        assert by_kind["drain"]["processed"] == 1
        page.place.ask("forget", ids=["e1"], dryRun=False)
        forgotten = ws.message()
        assert isinstance(forgotten, dict)
        assert (forgotten["kind"], forgotten["matched"]) == ("forgotten", 1)
    with Socket(page, f"?project={page.key}&after={by_kind['drain']['seq']}", program(page)) as ws:
        again = ws.message()
        assert isinstance(again, dict)
        assert again["kind"] == "forgotten"


def test_a_program_hears_of_the_project_that_it_asked_for_and_of_no_other(page: Page) -> None:
    with Socket(page, "?project=_global", program(page)) as shared, EventStream(page) as stream:
        stream.until("daemon")
        page.place.ask("remember", text="The queue runs on Postgres")
        stream.until("memory:indexed")
        page.ask("POST", "/api/projects/_global/memory", {"text": "Prefer small commits"}, token=page.person())
        message = shared.message()
        assert isinstance(message, dict)
        assert message["project"] == "_global"


@pytest.mark.parametrize(
    ("protocols", "headers"),
    [
        ([], {}),
        (["siftd.v1"], {}),
        (["siftd.v1", "token.wrong"], {}),
        (None, {"host": "evil.example"}),
        (None, {"host": "[::1]:{port}"}),
        (None, {"origin": "http://evil.example"}),
        (None, {"origin": "null"}),
        (None, {"origin": "https://127.0.0.1:{port}"}),
    ],
    ids=str,
)
def test_a_socket_without_the_token_or_from_elsewhere_is_refused(
    page: Page, protocols: list[str] | None, headers: dict[str, str]
) -> None:
    said = {name: value.format(port=page.port) for name, value in headers.items()}
    with Socket(page, f"?project={page.key}", program(page) if protocols is None else protocols, said) as ws:
        assert not ws.is_open
        assert ws.opening.status_code == 403


def test_a_socket_for_what_is_not_there_is_closed(page: Page) -> None:
    with Socket(page, "?project=" + "0" * 16, program(page)) as ws:
        assert ws.message() == 4404
