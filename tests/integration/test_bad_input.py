"""Whatever a client sends costs that client only: a clear error or a counted rejection, and the same daemon as before.

One daemon serves the whole module; each test ends by using it, and the last asserts that it is still the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from daemons import Place, RawClient, tool_call, wait_until

from siftd.wire.frames import MAX_MESSAGE_BYTES, encode_frame, encode_hook, encode_json

HEADER = {"client": "claude-code", "frameUid": "", "root": "/src/demo", "ts": 1_760_000_000_000}
ARRIVAL_SECONDS = 1.0
UNREAD_SECONDS = 1.0


@pytest.fixture(scope="module")
def served() -> Iterator[Place]:
    made = Place()
    patches = {
        "siftd.daemon.connection.FRAME_ARRIVAL_SECONDS": ARRIVAL_SECONDS,
        "siftd.daemon.connection.UNREAD_SECONDS": UNREAD_SECONDS,
    }
    made.start(patches=patches)
    yield made
    made.end()


@pytest.fixture
def place(served: Place) -> Iterator[Place]:
    """The module's daemon, with another client that must not notice the test; afterwards it still takes captures."""
    pid = served.pid()
    logged = len(served.log_lines())
    with RawClient(served.paths) as bystander:
        bystander.send(encode_json({"kind": "hello"}))
        assert (bystander.answer() or {})["pid"] == pid
        yield served
        bystander.send(encode_json({"kind": "hello"}))
        assert (bystander.answer() or {})["pid"] == pid
    kept = served.capture(payload={"tool_input": {"after": "the test"}})["eventId"]
    ((payload,),) = served.rows("SELECT payload_json FROM events WHERE id = ?", kept)
    assert json.loads(payload)["tool_input"] == {"after": "the test"}
    failures = [line for line in served.log_lines()[logged:] if line["level"] == "error"]
    assert failures == []


def reply(place: Place, *frames: bytes) -> dict[str, Any]:
    """Return the answer to frames of one client."""
    with RawClient(place.paths) as client:
        for frame in frames:
            client.send(frame)
        answer = client.answer()
    assert answer is not None, "the client was told nothing"
    return answer


def hook_frame(raw: bytes, **header: Any) -> bytes:
    uid = os.urandom(16).hex()
    return encode_hook(json.dumps(HEADER | {"frameUid": uid} | header).encode(), raw)


def capture_frame(payload: str, **fields: Any) -> bytes:
    """Return a `capture` whose payload is given as JSON text."""
    request = {"kind": "capture", "sessionId": "s", "tool": "Bash", "ts": 1000} | fields
    return encode_frame(f'{json.dumps(request)[:-1]}, "payload": {payload}}}'.encode("utf-8", "surrogatepass"))


@contextlib.contextmanager
def counted(place: Place, reason: str, times: int = 1) -> Iterator[None]:
    """Assert that something is rejected for `reason`, counted and logged, and that no row comes of it."""
    before, rows = place.rejections().get(reason, 0), place.count_events()
    lines = len(place.log_lines("capture_rejected"))
    yield
    wait_until("the rejection is counted", lambda: place.rejections().get(reason, 0) == before + times)
    assert [line["reason"] for line in place.log_lines("capture_rejected")[lines:]] == [reason] * times
    assert place.count_events() == rows


@pytest.mark.parametrize(
    "message",
    [
        b"hello?",
        b"{",
        b'{"kind":"hello"',
        b"\x00",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'"text"',
        b"{}",
        b'{"kind":"hello"} x',
    ],
)
def test_what_is_no_request_is_refused_with_a_reason(place: Place, message: bytes) -> None:
    with counted(place, "bad_request"):
        answer = reply(place, encode_frame(message))
    assert (answer["ok"], answer["retry"], answer["error"]["code"]) == (False, False, "bad_request")
    assert answer["error"]["message"]
    assert answer["error"]["hint"]


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ({"kind": "dance"}, "no known kind"),
        ({"kind": 7}, "no known kind"),
        ({"kind": "capture"}, "missing or wrong field"),
        ({"kind": "search", "query": 5}, "$.query"),
        ({"kind": "search", "query": "q", "k": "ten"}, "$.k"),
        ({"kind": "search", "query": "q", "filters": []}, "$.filters"),
        ({"kind": "backfill", "paths": "here"}, "$.paths"),
        ({"kind": "stop", "hold": "yes"}, "$.hold"),
        ({"kind": "capture", "sessionId": "s", "tool": "Bash", "ts": 1, "payload": []}, "$.payload"),
        ({"kind": "capture", "sessionId": None, "tool": "Bash", "ts": 1, "payload": {}}, "$.sessionId"),
        ({"kind": "show", "id": "y9"}, "invalid id"),
    ],
)
def test_unknown_kinds_and_wrong_types_are_named_and_never_quoted(
    place: Place, request_: dict[str, Any], told: str
) -> None:
    with RawClient(place.paths) as client:
        client.send(encode_json(request_))
        answer = client.answer()
        assert answer is not None
        assert answer["ok"] is False
        assert answer["error"]["code"] == "bad_request"
        assert told in answer["error"]["message"]
        client.send(encode_json({"kind": "hello"}))
        assert (client.answer() or {})["ok"] is True, "the connection goes on"


def test_an_id_that_nothing_has_is_named_as_such(place: Place) -> None:
    with RawClient(place.paths) as client:
        client.send(encode_json({"kind": "show", "id": "e999999"}))
        answer = client.answer()
        assert answer is not None
        assert answer["ok"] is False
        assert answer["error"]["code"] == "not_found"
        assert "nothing with this id" in answer["error"]["message"]


@pytest.mark.parametrize(
    "request_",
    [
        {"kind": "search", "query": "built", "k": 10**30},
        {"kind": "search", "query": "built", "k": -(10**30)},
        {"kind": "search", "query": "built", "filters": {"since": 10**30}},
        {"kind": "search", "query": "built", "filters": {"until": -(10**30)}},
        {"kind": "search", "query": "\x00 \" OR * NEAR( ' -- %"},
        {"kind": "search", "query": ""},
        {"kind": "search", "query": "word " * 100_000},
        {"kind": "timeline", "before": 10**30, "after": -(10**30)},
        {"kind": "sessions", "limit": 10**30},
        {"kind": "drain", "limit": -(10**30)},
        {"kind": "retry", "id": "e999999999999999999"},
        {"kind": "show", "id": "\x00"},
        {"kind": "backfill", "paths": ["\x00", "/dev/null", "/no/such/file"]},
    ],
    ids=lambda each: f"{each['kind']} {str(each)[-24:]}".replace("\x00", "NUL"),
)
def test_odd_values_of_the_right_type_are_answered_and_no_failure(place: Place, request_: dict[str, Any]) -> None:
    answer = reply(place, encode_json(request_))
    assert answer["ok"] or answer["error"]["code"] != "internal"


@pytest.mark.parametrize(
    "fields",
    [{"sessionId": ""}, {"tool": ""}, {"tool": "x" * 300}, {"ts": -1}, {"ts": 10**18}],
    ids=["no session", "no tool", "long tool", "before 1970", "after 9999"],
)
def test_a_capture_that_no_event_can_be_is_refused(place: Place, fields: dict[str, Any]) -> None:
    answer = reply(place, capture_frame("{}", **fields))
    assert answer["ok"] is False
    assert answer["error"]["message"]


@pytest.mark.parametrize("depth", [1_000, 100_000])
def test_deep_nesting_is_refused_to_a_client_and_counted_for_a_hook(place: Place, depth: int) -> None:
    deep = "[" * depth + "]" * depth
    assert reply(place, capture_frame(f'{{"tool_input": {deep}}}'))["ok"] is False
    raw = json.dumps(tool_call(1)).replace('"tool_input": ', f'"tool_input": {deep}, "x": ').encode()
    with counted(place, "too_deep"):
        assert reply(place, hook_frame(raw))["ok"] is False
    with counted(place, "too_deep"):
        assert place.hook(raw).is_silent


def test_a_lone_surrogate_is_replaced_in_a_hook_and_refused_to_a_client(place: Place) -> None:
    raw = json.dumps(tool_call(2, tool_use_id="toolu_surrogate", tool_response={"stdout": "a\ud800b"})).encode()
    answer = reply(place, hook_frame(raw))
    ((payload,),) = place.rows("SELECT payload_json FROM events WHERE id = ?", answer["eventId"])
    assert json.loads(payload)["tool_response"]["stdout"] == "a\ufffdb"
    refused = reply(place, capture_frame('{"tool_input": "\\ud800"}'))
    assert refused["ok"] is False


def test_a_nul_is_kept_in_the_payload_and_cuts_no_column(place: Place) -> None:
    answer = reply(place, capture_frame('{"tool_input": {"command": "a\\u0000b"}}'))
    ((payload,),) = place.rows("SELECT payload_json FROM events WHERE id = ?", answer["eventId"])
    assert json.loads(payload)["tool_input"] == {"command": "a\x00b"}
    named = tool_call(3, tool_use_id="toolu_nul", tool_name="Ba\x00sh")
    answer = reply(place, hook_frame(json.dumps(named).encode()))
    assert place.rows("SELECT tool, length(tool) FROM events WHERE id = ?", answer["eventId"]) == [("Ba\ufffdsh", 5)]


@pytest.mark.parametrize(
    ("raw", "header", "reason"),
    [
        (b"", {}, "not_json"),
        (b"\x00\xff", {}, "not_json"),
        (b"[]", {}, "bad_type"),
        (json.dumps(tool_call(session_id="")).encode(), {}, "no_session"),
        (b'{"hook_event_name":"PostToolUse"}', {}, "no_session"),
        (json.dumps(tool_call(session_id=5)).encode(), {}, "bad_type"),
        (json.dumps(tool_call(hook_event_name="Dance")).encode(), {}, "unhandled_event"),
        (json.dumps(tool_call()).encode(), {"client": "nobody"}, "unknown_client"),
        (json.dumps(tool_call()).encode(), {"ts": "now"}, "bad_request"),
        (json.dumps(tool_call(tool_use_id="toolu_early")).encode(), {"ts": -1}, "bad_time"),
        (b"", {"bytes": 20_000_000}, "payload_too_large"),
    ],
)
def test_a_hooks_bad_envelope_is_a_counted_reasoned_rejection(
    place: Place, raw: bytes, header: dict[str, Any], reason: str
) -> None:
    with counted(place, reason):
        answer = reply(place, hook_frame(raw, **header))
    assert (answer["ok"], answer["retry"]) == (False, False)


@pytest.mark.parametrize("message", [b"\x01", b"\x01\x00", b"\x01\xff\xff{}", b"\x01\x00\x05{}"])
def test_a_header_longer_than_its_frame_is_a_counted_rejection(place: Place, message: bytes) -> None:
    with counted(place, "protocol_error"):
        assert reply(place, encode_frame(message))["error"]["code"] == "protocol_error"


@pytest.mark.parametrize("length", [0xFFFFFFFF, MAX_MESSAGE_BYTES + 1, 20_000_000])
def test_a_frame_above_16_mib_is_refused_at_once(place: Place, length: int) -> None:
    with RawClient(place.paths) as client:
        client.send(length.to_bytes(4, "big"))
        answer = client.answer()
        assert answer is not None
        assert answer["error"]["code"] == "frame_too_large"
        assert client.answer() is None


def test_a_client_that_sends_20_mb_all_the_same_is_told_and_not_read(place: Place) -> None:
    answer = reply(place, (20_000_000).to_bytes(4, "big") + b"x" * 20_000_000)
    assert answer["error"]["code"] == "frame_too_large"


def test_an_empty_frame_ends_the_connection_with_a_reason(place: Place) -> None:
    with RawClient(place.paths) as client:
        client.send(encode_json({"kind": "hello"}) + bytes(4) + encode_json({"kind": "hello"}))
        assert (client.answer() or {})["ok"] is True, "what came before is answered"
        assert (client.answer() or {})["error"]["code"] == "protocol_error"
        assert client.answer() is None


@pytest.mark.slow
@pytest.mark.parametrize("begun", [b"\x00", b"\x00\x00\x00\x10", encode_json({"kind": "hello"})[:-1]])
def test_half_a_frame_and_then_silence_ends_that_connection(place: Place, begun: bytes) -> None:
    with RawClient(place.paths) as client:
        client.send(encode_json({"kind": "hello"}) + begun)
        assert (client.answer() or {})["ok"] is True
        assert client.answer() is None
    assert place.log_lines("connection_dropped")[-1]["reason"] == "frame_incomplete"


def test_a_silent_client_between_two_frames_is_left_alone(place: Place) -> None:
    with RawClient(place.paths) as client:
        client.socket.settimeout(ARRIVAL_SECONDS * 2)
        with pytest.raises(TimeoutError):
            client.answer()
        client.socket.settimeout(30)
        client.send(encode_json({"kind": "hello"}))
        assert (client.answer() or {})["ok"] is True


@pytest.mark.slow
def test_a_client_that_never_reads_is_dropped_within_bounded_memory(place: Place) -> None:
    pid = place.pid()
    place.ask("drain")
    place.ask("search", query="word")  # or numpy is imported meanwhile
    before = resident_bytes(pid)
    event_id = place.capture(payload={"tool_input": {"text": "word " * 40_000}})["eventId"]
    question = encode_json({"kind": "show", "id": f"e{event_id}"}) * 100
    drops = len([line for line in place.log_lines("connection_dropped") if line["reason"] == "answers_unread"])

    def is_dropped() -> bool:
        lines = place.log_lines("connection_dropped")
        return len([line for line in lines if line["reason"] == "answers_unread"]) > drops

    with RawClient(place.paths) as client:
        client.socket.settimeout(0.05)
        for _ in range(2000):
            if is_dropped():
                break
            with contextlib.suppress(TimeoutError, OSError):
                client.socket.send(question)
        assert is_dropped()
    assert resident_bytes(pid) - before < 96 * 1024 * 1024, "thrice what may be in flight, of gigabytes"


def test_pipelined_requests_are_answered_in_their_order(place: Place) -> None:
    """Quick and slow, small and large, good and bad ones: each answer stands in its request's place."""
    frames = []
    expected = []
    for number in range(40):
        match number % 4:
            case 0:
                frames.append(encode_json({"kind": "search", "query": "anything"}))
                expected.append("hits")
            case 1:
                size = 100_000 if number % 8 == 1 else 10
                frames.append(capture_frame(json.dumps({"tool_input": {"text": "w " * size, "number": number}})))
                expected.append("eventId")
            case 2:
                frames.append(encode_json({"kind": "dance"}))
                expected.append("error")
            case _:
                frames.append(encode_json({"kind": "hello"}))
                expected.append("version")
    with RawClient(place.paths) as client:
        client.send(b"".join(frames))
        answers = [client.answer() or {} for _ in frames]
    assert [
        next(name for name in ("hits", "eventId", "error", "version") if name in each) for each in answers
    ] == expected


def test_more_requests_than_may_be_in_flight_all_get_their_answer_even_if_the_client_sends_no_more(
    place: Place,
) -> None:
    with RawClient(place.paths) as client:
        client.send((encode_json({"kind": "hello"}) + capture_frame('{"tool_input": {}}')) * 600)
        client.socket.shutdown(socket.SHUT_WR)
        answers = [client.answer() or {} for _ in range(1200)]
        assert all("pid" in told and "eventId" in kept for told, kept in zip(answers[::2], answers[1::2], strict=True))
        assert client.answer() is None


def test_a_client_that_sends_no_more_still_gets_its_answers(place: Place) -> None:
    with RawClient(place.paths) as client:
        client.send(encode_json({"kind": "search", "query": "x"}) + encode_json({"kind": "hello"}))
        client.socket.shutdown(socket.SHUT_WR)
        assert "hits" in (client.answer() or {})
        assert "version" in (client.answer() or {})
        assert client.answer() is None


def test_a_connection_reset_in_the_middle_harms_nobody(place: Place) -> None:
    whole = capture_frame(json.dumps({"tool_input": {"text": "w " * 100_000}}))
    for end in (2, 4, 5, len(whole) // 2, len(whole)):
        with RawClient(place.paths) as client:
            client.send(encode_json({"kind": "search", "query": "x"}) * 3 + whole[:end])
    with RawClient(place.paths) as client:
        client.send(capture_frame('{"tool_input": {"acknowledged": "to nobody"}}'))
    wait_until(
        "what arrived whole is kept",
        lambda: place.rows("SELECT 1 FROM events WHERE payload_json LIKE '%to nobody%'"),
    )


def test_a_large_payload_is_shortened_and_said_so(place: Place) -> None:
    answer = reply(place, capture_frame(json.dumps({"tool_input": {"text": "word " * 1_000_000}})))
    ((size,),) = place.rows("SELECT length(payload_json) FROM events WHERE id = ?", answer["eventId"])
    assert size <= 262_144


def test_more_connections_than_are_served_are_turned_away_and_the_others_go_on(place: Place) -> None:
    """None of them is idle: each begins a frame before the next connects, so that none makes room for another."""
    hello = encode_json({"kind": "hello"})
    with contextlib.ExitStack() as stack:
        clients = []
        for _ in range(600):
            clients.append(stack.enter_context(RawClient(place.paths)))
            clients[-1].send(hello[:1])
        clients[-1].send(hello[1:])
        assert clients[-1].answer() is None
        clients[0].send(hello[1:])
        assert (clients[0].answer() or {})["ok"] is True

    def is_served_again() -> bool:
        with RawClient(place.paths) as client:
            client.send(encode_json({"kind": "hello"}))
            return client.answer() is not None

    wait_until("new clients are served again", is_served_again)


def test_after_all_of_this_it_is_the_same_daemon(served: Place) -> None:
    assert len(served.log_lines("daemon_started")) == 1
    assert served.ask("hello")["uptimeMs"] > 0
    hashes = served.rows("SELECT payload_json, input_hash FROM events")
    import hashlib

    assert all(hashlib.sha256(payload.encode()).hexdigest() == told for payload, told in hashes)
    assert served.rows("PRAGMA integrity_check") == [("ok",)]


def resident_bytes(pid: int | None) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
