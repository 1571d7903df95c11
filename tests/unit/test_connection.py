"""What one connection may hold of the daemon's memory."""

from __future__ import annotations

import asyncio
import os
import struct
from typing import Any

from siftd.daemon.connection import IN_FLIGHT_BYTES, Answer, Connection
from siftd.wire.frames import encode_frame

MB = 1024 * 1024


class HeldTransport(asyncio.Transport):
    """Stands for a client's socket; notes whether the daemon reads from it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_reading = True
        self.written = 0

    def set_write_buffer_limits(self, high: int) -> None:
        self.high = high

    def get_extra_info(self, name: str) -> Any:
        return self

    def getsockopt(self, *_: int) -> bytes:
        return struct.pack("3i", os.getpid(), os.getuid(), os.getgid())

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True

    def write(self, data: bytes) -> None:
        self.written += 1


async def test_requests_in_flight_are_bounded_by_their_bytes_too() -> None:
    held: list[Answer] = []
    connection = Connection(lambda _, answer: held.append(answer), set(), most=1)
    transport = HeldTransport()
    connection.connection_made(transport)  # type: ignore[arg-type]
    frame = encode_frame(b"{" + b" " * (8 * MB))
    connection.data_received(frame * 6)
    assert len(held) == IN_FLIGHT_BYTES // (8 * MB) == 4
    assert not transport.is_reading
    for answer in held[:2]:
        answer.send(b"{}")
    assert transport.is_reading
    connection.take(b"")
    assert len(held) == 6
    for answer in held[2:]:
        answer.send(b"{}")
    assert (transport.written, connection.is_answering, connection.in_flight_bytes) == (6, False, 0)


class ClosingTransport(HeldTransport):
    """One that is told to close."""

    def __init__(self) -> None:
        super().__init__()
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


async def test_a_stream_that_is_refused_ends_without_the_answers_that_are_missing() -> None:
    held: list[Answer] = []
    connection = Connection(lambda _, answer: held.append(answer), set(), most=1)
    transport = ClosingTransport()
    connection.connection_made(transport)  # type: ignore[arg-type]
    connection.data_received(encode_frame(b"{}") * 3)
    held[0].send(b"{}")
    held[1].refuse_stream()
    assert (transport.written, transport.is_closed) == (1, True)
    held[2].send(b"{}")
    connection.data_received(encode_frame(b"{}"))
    assert (transport.written, len(held)) == (1, 3)


class AbortedTransport(HeldTransport):
    """One whose connection is torn down; the loop tells of it later."""

    def __init__(self) -> None:
        super().__init__()
        self.is_aborted = False

    def abort(self) -> None:
        self.is_aborted = True


async def test_one_that_was_turned_away_makes_no_room_for_the_next() -> None:
    connections: set[Connection] = set()

    def come() -> tuple[Connection, AbortedTransport]:
        transport = AbortedTransport()
        connection = Connection(lambda *_: None, connections, most=1)
        connection.connection_made(transport)  # type: ignore[arg-type]
        return connection, transport

    served, _ = come()
    served.data_received(encode_frame(b"{}")[:1])
    assert [come()[1].is_aborted for _ in range(3)] == [True, True, True]
    assert connections == {served}
