"""A TCP proxy on loopback that fails as networks do: it hangs, it cuts a connection in the middle, it is not there.

What it does to a connection is decided for each piece of bytes, so that a change meets connections that are open too:
a kept-alive one is cut where a new one would be.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Way = Literal["up", "down"]
"""Up is from the client to the server."""


class FaultyProxy:
    """Stands before a server; passes everything on until it is told not to."""

    def __init__(self) -> None:
        self.target = ("127.0.0.1", 0)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._changed = threading.Condition()
        self._hangs = False
        self._refuses = False
        self._left: dict[Way, int | None] = {"up": None, "down": None}
        self._open: list[socket.socket] = []
        self.passed: dict[Way, int] = {"up": 0, "down": 0}
        self.cuts = 0
        self.is_holding = False
        """Whether bytes wait here that somebody has sent."""
        self._threads: list[threading.Thread] = []
        self._spawn(self._accept)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    # What it does

    def heal(self) -> None:
        """Pass everything on again; what hung goes on."""
        with self._changed:
            self._hangs = self._refuses = False
            self._left = {"up": None, "down": None}
            self._changed.notify_all()

    def hang(self) -> None:
        """Take connections and bytes, and give none on: a machine that sleeps, a firewall that drops."""
        with self._changed:
            self._hangs = True

    def cut_after(self, count: int, way: Way) -> None:
        """Reset the connection once so many more bytes have passed one way: in the middle of a request or an answer."""
        with self._changed:
            self._left[way] = count

    def refuse(self) -> None:
        """Reset every connection, open or new, at once."""
        with self._changed:
            self._refuses = True
            cut, self._open = self._open, []
            self._changed.notify_all()
        for each in cut:
            _reset(each)

    def close(self) -> None:
        self.refuse()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in self._threads:
            each.join(10)

    # How

    def _spawn(self, work: object, *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads = [each for each in self._threads if each.is_alive()] + [thread]
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self.target, 10)
            except OSError:
                _reset(client)
                continue
            server.settimeout(None)
            with self._changed:
                refuses = self._refuses
                if not refuses:
                    self._open += [client, server]
            if refuses:
                _reset(client)
                _reset(server)
                continue
            self._spawn(self._carry, client, server, "up")
            self._spawn(self._carry, server, client, "down")

    def _carry(self, source: socket.socket, sink: socket.socket, way: Way) -> None:
        try:
            while data := source.recv(65536):
                allowed = self._allowed(data, way)
                sink.sendall(data[:allowed])
                if allowed < len(data):
                    self.cuts += 1
                    break
            else:
                with contextlib.suppress(OSError):
                    sink.shutdown(socket.SHUT_WR)
                return
        except OSError:
            pass
        _reset(source)
        _reset(sink)
        with self._changed:
            self._open = [each for each in self._open if each.fileno() >= 0]

    def _allowed(self, data: bytes, way: Way) -> int:
        """Return how many of the bytes go on, once they may; fewer than all: the connection is cut behind them."""
        with self._changed:
            self.is_holding = self._hangs
            self._changed.wait_for(lambda: not self._hangs or self._refuses)
            self.is_holding = False
            if self._refuses:
                return 0
            left = self._left[way]
            allowed = len(data) if left is None else min(left, len(data))
            if left is not None:
                self._left[way] = None if allowed < len(data) else left - allowed
            self.passed[way] += allowed
            return allowed


def _reset(end: socket.socket) -> None:
    """Close an end so that the other gets a reset and whoever reads from it here wakes up."""
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@contextmanager
def faulty_proxy() -> Iterator[FaultyProxy]:
    """Run a proxy; its `target` is set once the server that it stands before is there, and knows its port."""
    proxy = FaultyProxy()
    try:
        yield proxy
    finally:
        proxy.close()
