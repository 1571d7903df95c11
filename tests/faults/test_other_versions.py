"""An old hook and a new daemon, a new hook and an old daemon: nothing is lost, nobody fails, nothing is said."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from daemons import Place, RawClient, session_start, tool_call

from siftd.wire.frames import FrameBuffer, encode_hook, encode_json
from siftd.workspace.home import ensure_workspace

pytestmark = pytest.mark.slow
FRAMES = Path(__file__).parents[1] / "golden" / "frames-1.jsonl"
"""What hooks and clients of protocol 1 send, the first line of 0.1.0 as it was first written; only lines are added."""
REFUSED = b'{"ok":false,"retry":false,"error":{"code":"bad_request","message":"unknown","hint":""}}'


def frames_of_1() -> list[bytes]:
    """Return the kept frames: of a hook (its mark, header and raw bytes), or of a client."""
    found = []
    for line in FRAMES.read_text().splitlines():
        told = json.loads(line)
        if "request" in told:
            found.append(encode_json(told["request"]))
        else:
            frame = encode_hook(json.dumps(told["header"]).encode(), told["raw"].encode())
            found.append(frame[:4] + bytes([told["mark"]]) + frame[5:])
    return found


def test_a_daemon_takes_every_frame_that_earlier_hooks_and_clients_send(place: Place) -> None:
    place.start()
    frames = frames_of_1()
    with RawClient(place.paths) as client:
        for frame in frames:
            client.send(frame)
            while "progress" in (answer := client.answer() or {}) or "more" in answer:
                continue
            assert answer["ok"], answer["error"]
    assert place.count_events() == 4


def test_a_daemon_takes_what_a_newer_hook_says_besides_and_refuses_only_what_it_does_not_know(place: Place) -> None:
    place.start()
    header = {"client": "claude-code", "frameUid": "a" * 32, "root": str(place.folder), "ts": 1, "protocol": 2, "x": {}}
    unknown = encode_hook(json.dumps(header).encode(), b"{}")
    with RawClient(place.paths) as client:
        client.send(encode_hook(json.dumps(header).encode(), json.dumps(tool_call(1) | {"new_field": [1]}).encode()))
        client.send(encode_json({"kind": "hello", "protocol": 2}))
        client.send(encode_json({"kind": "prophesy"}))
        client.send(unknown[:4] + b"\x7f" + unknown[5:])
        client.send(encode_json({"kind": "hello"}))
        answers = [client.answer() for _ in range(5)]
    assert [answer and answer["ok"] for answer in answers] == [True, True, False, False, True]
    assert [answer["retry"] for answer in answers if answer and not answer["ok"]] == [False, False]
    assert place.count_events() == 1


@contextmanager
def listening(place: Place, *, accepted: bytes) -> Iterator[list[bytes]]:
    """Answer as a daemon of another version: hook frames with `accepted`; what is not known there is refused."""
    ensure_workspace(place.paths)
    taken: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place.paths.socket)
        listener.listen()

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    buffer = FrameBuffer()
                    while data := connection.recv(1 << 16):
                        for message in buffer.feed(data):
                            taken.append(message)
                            answer = accepted if message[0] == 1 else REFUSED
                            connection.sendall(len(answer).to_bytes(4, "big") + answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield taken
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
    Path(place.paths.socket).unlink()


@pytest.mark.parametrize(
    "accepted",
    [b'{"ok":true,"id":"e1","eventId":1,"tokensEst":9}', b'{"ok":true,"protocol":9,"eventIds":["e1"]}'],
    ids=["older", "newer"],
)
def test_a_hook_is_content_with_a_daemon_of_another_version(place: Place, accepted: bytes) -> None:
    """One that knows nothing of what an agent is told; or one whose answers say more."""
    with listening(place, accepted=accepted) as taken:
        assert place.hook(tool_call(1)).is_silent
        assert place.hook(session_start()).is_silent
        assert place.couriers() == [], "nothing is left to deliver"
    marks = [message[0] for message in taken]
    assert marks == [1, 1, 2]
    assert place.spool_files() == []
    assert tool_call(1)["tool_name"].encode() in taken[0]


def test_a_person_is_told_what_the_daemon_does_not_know(place: Place) -> None:
    with listening(place, accepted=b"{}"):
        mem = str(Path(sys.executable).with_name("mem"))
        done = subprocess.run(
            [mem, "search", "x"], env=place.env, cwd=place.folder, capture_output=True, text=True, check=False
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown" in done.stderr
