"""Connections of whoever takes too long: to ask, or to read what was answered. Both are cut.

uvicorn bounds neither. A connection over which nothing is ever asked, or whose answer nobody reads, would hold its
place and its memory for as long as the other end likes.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.wsproto_impl import WSProtocol

ASK_SECONDS = 30.0
"""For a request's headers."""
BODY_SECONDS = 120.0
"""For its body: 4 MB in that time is 280 kbit/s."""
READ_SECONDS = 30.0
"""For as long as nothing of an answer is taken."""


class HttpConnection(H11Protocol):
    """A connection over which HTTP is asked."""

    _asking: asyncio.TimerHandle | None = None
    _part: Any = None
    """What of a request is waited for, as h11 has it; None while it is answered."""
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for(h11.IDLE)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        part = self.conn.their_state
        is_awaited = part in (h11.IDLE, h11.SEND_BODY) and self.transport.get_protocol() is self
        self._wait_for(part if is_awaited else None)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(READ_SECONDS, _cut, self.transport)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_for(None)
        super().connection_lost(exc)
        if self._unread is not None:
            self._unread.cancel()

    def _wait_for(self, part: Any) -> None:
        """Cut the connection where this part does not come in its time; what has begun goes on with its own."""
        if part is self._part:
            return
        self._part = part
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None
        if part is not None:
            seconds = ASK_SECONDS if part is h11.IDLE else BODY_SECONDS
            self._asking = self.loop.call_later(seconds, _cut, self.transport)


class SocketConnection(WSProtocol):
    """A connection that has become a websocket."""

    _unread: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(READ_SECONDS, _cut, self.transport)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._unread is not None:
            self._unread.cancel()


def _cut(transport: asyncio.Transport) -> None:
    """End a connection now: what the kernel still holds of an answer that nobody reads goes too."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
