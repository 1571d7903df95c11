"""A blocking client of the daemon's socket, for `mem` and the MCP server.

It imports next to nothing: an agent waits for `mem search`, and the `socket` module alone would cost it 5 ms.
"""

from __future__ import annotations

import json
import os
import time
from _socket import AF_UNIX, SHUT_RDWR, SOCK_STREAM, socket
from collections.abc import Callable, Iterator
from contextlib import suppress

from siftd.errors import DaemonTimedOut, DaemonUnreachable, ProtocolError, RequestRefused
from siftd.wire.asking import message_of
from siftd.wire.frames import FrameBuffer, encode_hook, encode_json
from siftd.workspace.paths import WorkspacePaths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from siftd.wire.requests import Request

    A = TypeVar("A")

CONNECT_SECONDS = 2.0
ADDRESS_BYTES = 100
"""From here on a path is too long for a unix address (104 bytes on macOS, 108 on Linux)."""

_BACKLOG_PAUSE_SECONDS = 0.02
_READ_BYTES = 1 << 18


def connect(paths: WorkspacePaths, *, timeout: float = CONNECT_SECONDS) -> Client:
    """Return a client of the workspace's daemon.

    Raises DaemonUnreachable when nobody listens, DaemonTimedOut when the daemon takes no connection in time.
    """
    deadline = time.monotonic() + timeout
    while True:
        conn = socket(AF_UNIX, SOCK_STREAM)
        try:
            conn.settimeout(timeout)
            _connect(conn, paths.socket)
        except (BlockingIOError, TimeoutError) as error:  # its backlog is full
            conn.close()
            if time.monotonic() > deadline:
                raise DaemonTimedOut("the daemon takes no connection", hint="see `mem doctor`") from error
            time.sleep(_BACKLOG_PAUSE_SECONDS)
        except OSError as error:
            conn.close()
            raise DaemonUnreachable("no daemon runs for this workspace", hint="run `mem start`") from error
        else:
            return Client(conn)


class Client:
    """One connection to the daemon; requests are answered one after the other."""

    def __init__(self, connection: socket) -> None:
        self._connection = connection
        self._messages = self._iter_messages()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def request(
        self,
        request: Request[A],
        *,
        timeout: float,
        on_progress: Callable[[dict[str, Any]], object] | None = None,
    ) -> A:
        """Send a request and return its answer, without `ok`; `timeout` is the longest silence.

        Raises RequestRefused with the daemon's own words, DaemonTimedOut after a silence, DaemonUnreachable when
        the daemon ended instead. After the last two the connection is of no use.
        """
        answer: Any = self._exchange(encode_json(message_of(request)), timeout, on_progress)
        return answer  # type: ignore[no-any-return]  # it is what stands beside the request

    def send_hook(self, header: dict[str, Any], raw: bytes, *, timeout: float) -> dict[str, Any]:
        """Send what a client's hook would, and return the answer; raises as `request` does."""
        return self._exchange(encode_hook(json.dumps(header).encode(), raw), timeout, None)

    def _exchange(
        self, frame: bytes, timeout: float, on_progress: Callable[[dict[str, Any]], object] | None
    ) -> dict[str, Any]:
        try:
            self._connection.settimeout(timeout)
            self._connection.sendall(frame)
            while True:
                answer = json.loads(next(self._messages))
                if "progress" not in answer:
                    return _unpack(answer)
                if on_progress is not None:
                    on_progress(answer["progress"])
        except TimeoutError as error:
            raise DaemonTimedOut(
                f"the daemon did not answer within {timeout:g} s", hint="see `mem doctor` and `mem logs`"
            ) from error
        except (OSError, StopIteration) as error:
            raise DaemonUnreachable("the daemon ended before it answered", hint="run the command again") from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ProtocolError("what listens there does not speak siftd's protocol") from error

    def close(self) -> None:
        self._connection.close()

    def hang_up(self) -> None:
        """End the connection from another thread: whoever waits for its answer gets DaemonUnreachable at once."""
        with suppress(OSError):
            self._connection.shutdown(SHUT_RDWR)

    def _iter_messages(self) -> Iterator[bytes]:
        buffer = FrameBuffer()
        while data := self._connection.recv(_READ_BYTES):
            yield from buffer.feed(data)


def _unpack(answer: dict[str, Any]) -> dict[str, Any]:
    if answer.pop("ok"):
        return answer
    error = answer["error"]
    raise RequestRefused(
        error["code"], error["message"], hint=error.get("hint") or "", retry=bool(answer.get("retry", False))
    )


def _connect(conn: socket, path: str) -> None:
    """Connect; a path too long for an address is reached from within its folder."""
    if len(os.fsencode(path)) < ADDRESS_BYTES:
        conn.connect(path)
        return
    folder, _, name = path.rpartition("/")
    back = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.chdir(folder)
        conn.connect(name)
    finally:
        os.fchdir(back)
        os.close(back)
