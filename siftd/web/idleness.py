"""When the process may end: nobody has asked anything for a while, and nobody listens."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send


class Idleness:
    """Counts what is open. A stream is open for as long as its page is."""

    def __init__(self, now: Callable[[], float], seconds: float) -> None:
        self._now = now
        self._seconds = seconds
        self._open = 0
        self._used_at = now()

    def note_use(self) -> None:
        """Somebody is there."""
        self._used_at = self._now()

    @property
    def left_seconds(self) -> float:
        """How long it takes at least until it is over."""
        return self._seconds if self._open else self._used_at + self._seconds - self._now()

    @property
    def is_over(self) -> bool:
        """Whether nobody has asked for so long."""
        return self.left_seconds <= 0

    def watching(self, app: ASGIApp) -> ASGIApp:
        """Return an application whose requests count as use. One that is refused does not: anybody may send it."""

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await app(scope, receive, send)
                return
            self._open += 1
            used_at = self._used_at
            try:
                await app(scope, receive, send)
            finally:
                self._open -= 1
                self._used_at = self._now() if scope.get("siftd.principal") else used_at

        return watched
