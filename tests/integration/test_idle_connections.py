"""A connection that asks nothing ends: after a while, and at once where another one needs its place."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest
from daemons import Place, RawClient, tool_call, wait_until

from siftd.wire.frames import encode_hook, encode_json

HELLO = encode_json({"kind": "hello"})


@pytest.fixture
def place() -> Iterator[Place]:
    made = Place()
    yield made
    made.end()


def reasons(place: Place) -> list[str]:
    return [line["reason"] for line in place.log_lines("connection_dropped")]


def test_a_connection_that_asks_nothing_ends_and_one_that_waits_for_an_answer_does_not(place: Place) -> None:
    """Sampling waits for as long as a model takes, and an import for minutes."""
    place.start("--set", "memory.backend=sampling:any", patches={"siftd.daemon.connection.IDLE_SECONDS": 0.3})
    with RawClient(place.paths) as waiting, RawClient(place.paths) as idle:
        waiting.send(encode_json({"kind": "sampling"}))
        idle.send(HELLO)
        assert idle.answer() is not None
        assert idle.answer() is None  # the stream has ended
        wait_until("it is said", lambda: "idle" in reasons(place))
        with RawClient(place.paths) as other:
            other.send(HELLO)
            assert other.answer() is not None
            assert other.answer() is None
        assert reasons(place) == ["idle", "idle"]  # and not a third, which has been there for longest


def test_the_connection_that_is_idle_for_longest_makes_room_for_a_new_one(place: Place) -> None:
    """Without it 512 forgotten connections of one careless script would keep every hook out."""
    place.start(patches={"siftd.daemon.server.CONNECTIONS_MAX": 3, "siftd.daemon.connection.MAKES_ROOM_SECONDS": 0.0})
    clients = [RawClient(place.paths) for _ in range(3)]
    for client in clients:
        client.send(HELLO)
        assert client.answer() is not None
    clients[0].send(HELLO)
    assert clients[0].answer() is not None
    header = {"client": "claude-code", "frameUid": os.urandom(16).hex(), "root": str(place.folder), "ts": 1}
    with RawClient(place.paths) as hook:
        hook.send(encode_hook(json.dumps(header).encode(), json.dumps(tool_call()).encode()))
        assert (hook.answer() or {})["ok"]
    assert clients[1].answer() is None
    for client in (clients[0], clients[2]):
        client.send(HELLO)
        assert client.answer() is not None
    for client in clients:
        client.socket.close()
