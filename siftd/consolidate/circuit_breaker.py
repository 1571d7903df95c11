"""A backend's circuit: after a failure that concerns no single event it is left alone for a while."""

from __future__ import annotations

import random
from collections.abc import Callable

from siftd.clock import Clock

FIRST_WAIT_SECONDS = 5.0
LONGEST_WAIT_SECONDS = 600.0
JITTER = 0.5
"""Each wait is drawn from within a quarter around its length: daemons of many workspaces ask one server."""


class Circuit:
    """Closed while the backend works. Each failure in a row doubles the wait; one success closes it.

    When the wait is over it is probing: closed, and the first call that fails opens it for twice as long.
    """

    def __init__(
        self, clock: Clock, *, away_since_ms: int | None = None, draw: Callable[[], float] = random.random
    ) -> None:
        """Begin closed; `away_since_ms` is since when the backend is known to be away, by an earlier daemon."""
        self._clock = clock
        self._draw = draw
        self.open_until = 0.0
        self._failures = 0
        self.away_since_ms = away_since_ms
        self.last_error: str | None = None

    @property
    def is_closed(self) -> bool:
        """Whether the backend may be asked."""
        return self._clock.monotonic() >= self.open_until

    def away_ms(self) -> int:
        """Return for how long the backend has not worked, 0 when it does."""
        return 0 if self.away_since_ms is None else max(0, self._clock.now_ms() - self.away_since_ms)

    def open(self, reason: str, after_seconds: float | None) -> None:
        """Leave the backend alone: as long as it asked for, else longer with each failure in a row. One that asks for
        no time at all, and fails, would be asked without end."""
        self._failures += 1
        wait = min(FIRST_WAIT_SECONDS * 2 ** min(self._failures - 1, 10), LONGEST_WAIT_SECONDS)
        wait *= 1 + JITTER * (self._draw() - 0.5)
        self.open_until = self._clock.monotonic() + (after_seconds or wait)
        if self.away_since_ms is None:
            self.away_since_ms = self._clock.now_ms()
        self.last_error = reason

    def close(self) -> None:
        """The backend works."""
        self._failures = 0
        self.open_until = 0.0
        self.away_since_ms = None
        self.last_error = None

    def probe(self) -> None:
        """Let the next question through whatever the wait (a person asked to drain now)."""
        self.open_until = 0.0
