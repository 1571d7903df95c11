"""A backend's circuit: after a failure that concerns no single event it is left alone for a while."""

from __future__ import annotations

from siftd.clock import Clock

FIRST_WAIT_SECONDS = 5.0
LONGEST_WAIT_SECONDS = 600.0


class Circuit:
    """Closed while the backend works. Each failure in a row doubles the wait; one success closes it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open_until = 0.0
        self._failures = 0
        self.last_error: str | None = None

    @property
    def is_closed(self) -> bool:
        return self._clock.monotonic() >= self._open_until

    def open(self, reason: str, after_seconds: float | None) -> None:
        """Leave the backend alone: as long as it asked for, else longer with each failure in a row."""
        self._failures += 1
        wait = min(FIRST_WAIT_SECONDS * 2 ** (self._failures - 1), LONGEST_WAIT_SECONDS)
        self._open_until = self._clock.monotonic() + (wait if after_seconds is None else after_seconds)
        self.last_error = reason

    def close(self) -> None:
        """The backend works."""
        self._failures = 0
        self._open_until = 0.0
        self.last_error = None

    def probe(self) -> None:
        """Let the next question through whatever the wait (a person asked to drain now)."""
        self._open_until = 0.0
