"""How late it is, as far as anything but the clock can tell: what is too old is forgotten by this, never by the clock.

A machine whose battery is empty, or a virtual one that wakes up, says 2037 for a minute. Whoever believes it forgets
everything, and takes its own tombstone for a reason to drop what comes after. Known is when the newest events that were
there at the start happened, and how long this daemon has run since. That lags behind, by as long as nobody worked
before this start, until the next one; too little is forgotten then, and never too much.
"""

from __future__ import annotations

from siftd.clock import Clock


class KnownTime:
    """A time that no setting of the clock moves on."""

    def __init__(self, clock: Clock, newest_ms: int | None) -> None:
        """`newest_ms` is when the newest events happened; a store without any has nothing to lose by the clock."""
        self._clock = clock
        self._began = clock.monotonic()
        self._newest_ms = clock.now_ms() if newest_ms is None else newest_ms

    def now_ms(self) -> int:
        """Return how late it is at least: the clock's time, unless it is ahead of what is known."""
        return min(self._clock.now_ms(), self._newest_ms + int((self._clock.monotonic() - self._began) * 1000))
