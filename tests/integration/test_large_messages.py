"""Large messages are read by a process of their own: the daemon answers others meanwhile, whatever is in them."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from daemons import Place, RawClient, tool_call, wait_until

from siftd.wire.frames import MAX_MESSAGE_BYTES, encode_frame, encode_hook, encode_json

LARGE = 400_000


@pytest.fixture(scope="module")
def served() -> Iterator[Place]:
    made = Place()
    made.start()
    yield made
    made.end()


def hook_frame(place: Place, **fields: Any) -> bytes:
    header = {"client": "claude-code", "frameUid": os.urandom(16).hex(), "root": str(place.folder), "ts": 1}
    return encode_hook(json.dumps(header).encode(), json.dumps(tool_call(**fields)).encode())


def answer(place: Place, frame: bytes) -> dict[str, Any]:
    with RawClient(place.paths, timeout=120) as client:
        client.send(frame)
        told = client.answer()
    assert told is not None
    return told


def payload(place: Place, event_id: int) -> dict[str, Any]:
    ((text,),) = place.rows("SELECT payload_json FROM events WHERE id = ?", event_id)
    told: dict[str, Any] = json.loads(text)
    return told


@pytest.mark.parametrize("chars", [LARGE, MAX_MESSAGE_BYTES - 2_000])
def test_a_large_hook_frame_is_redacted_shortened_and_kept_once(served: Place, chars: int) -> None:
    secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ123456"
    text = f"begins {secret} " + "a" * (chars - 200) + f" ends {secret}"
    frame = hook_frame(served, number=chars, tool_response={"stdout": text, "stderr": "", "interrupted": False})
    told = answer(served, frame)
    again = answer(served, frame)
    assert (again["eventId"], again["duplicate"]) == (told["eventId"], True)
    kept = payload(served, told["eventId"])["tool_response"]["stdout"]
    assert secret not in kept
    assert kept.startswith("begins [REDACTED:github-token:")
    assert "bytes left out" in kept


def test_a_large_capture_request_is_kept_like_a_small_one(served: Place) -> None:
    request = {"kind": "capture", "sessionId": "s", "tool": "Bash", "ts": 1000, "source": "tests"}
    told = answer(served, encode_json(request | {"payload": {"tool_input": {"command": "x" * LARGE}}}))
    assert payload(served, told["eventId"])["_source"] == "tests"


def test_a_large_request_that_is_no_capture_is_answered_as_ever(served: Place) -> None:
    assert answer(served, encode_json({"kind": "search", "query": "word " * LARGE}))["hits"] == []
    refusal = answer(served, encode_json({"kind": "nothing", "query": "word " * LARGE}))
    assert (refusal["ok"], refusal["retry"], refusal["error"]["code"]) == (False, False, "bad_request")


def test_a_large_frame_that_is_none_is_a_counted_rejection(served: Place) -> None:
    before = served.rejections().get("not_json", 0)
    header = {"client": "claude-code", "frameUid": os.urandom(16).hex(), "root": str(served.folder), "ts": 1}
    refusal = answer(served, encode_hook(json.dumps(header).encode(), b"x" * LARGE))
    assert (refusal["ok"], refusal["retry"]) == (False, False)
    wait_until("it is counted", lambda: served.rejections().get("not_json", 0) == before + 1)


def test_a_large_prompt_with_the_word_for_it_opts_the_session_out(served: Place) -> None:
    before = served.count_events()
    prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "#siftd-off " + "word " * LARGE}
    session = {"session_id": "5e551011-0000-4000-8000-00000000000f"}
    assert answer(served, hook_frame(served, **prompt, **session))["ignored"]
    assert answer(served, hook_frame(served, number=3, **session))["eventId"] is None
    assert served.count_events() == before


def readers_of(daemon: int) -> list[int]:
    """Return the processes that read for a daemon. Linux."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            words = (each / "cmdline").read_bytes().split(b"\0")
            parent = int((each / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        if parent == daemon and b"admit" in words:
            found.append(int(each.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="it looks for the process in /proc")
def test_a_message_that_ends_its_reader_costs_nobody_else_anything(served: Place) -> None:
    """The kernel takes the largest process when memory ends: it is not the daemon's any more."""
    daemon = served.pid()
    assert daemon is not None
    before = served.rejections().get("internal", 0)
    lists = {"a": [[] for _ in range(MAX_MESSAGE_BYTES // 5)]}
    with RawClient(served.paths, timeout=120) as client, RawClient(served.paths) as other:
        client.send(hook_frame(served, number=4, tool_response=lists))
        for reader in wait_until("somebody reads it", lambda: readers_of(daemon)):
            os.kill(reader, signal.SIGSTOP)
            other.send(encode_frame(b'{"kind":"hello"}'))
            assert (other.answer() or {})["pid"] == daemon
            os.kill(reader, signal.SIGKILL)
        assert (client.answer() or {})["ok"] is False
    wait_until("it is counted", lambda: served.rejections().get("internal", 0) == before + 1)
    assert served.pid() == daemon
    assert not readers_of(daemon)


def test_what_a_large_message_teaches_is_hidden_in_its_session(served: Place) -> None:
    """And what its session was taught before is hidden in it."""
    session = {"session_id": "5e551011-0000-4000-8000-00000000000a"}
    first, second = "Tr0ub4dor&3777x", "c0rrect-h0rse-99"
    answer(served, hook_frame(served, number=10, tool_input={"command": f"export DB_PASSWORD='{first}'"}, **session))
    large = f"DB_PASSWORD='{second}'\nit was {first} before\n" + "a line of a build\n" * (LARGE // 10)
    told = answer(served, hook_frame(served, number=11, tool_response={"stdout": large}, **session))
    kept = payload(served, told["eventId"])["tool_response"]["stdout"]
    assert first not in kept
    assert second not in kept
    told = answer(served, hook_frame(served, number=12, tool_response={"stdout": f"using {second} now"}, **session))
    assert second not in payload(served, told["eventId"])["tool_response"]["stdout"]
