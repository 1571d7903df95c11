"""What bounds a caller: a body's size, how often, how many streams at once."""

from __future__ import annotations

from collections.abc import Callable

from siftd.errors import HttpRefused

BODY_BYTES_MAX = 256 * 1024
"""Twice the longest text that a memory may have, in the most wasteful form of JSON."""
CONNECTIONS_MAX = 200
STREAMS_MAX = 64
"""Pages and programs that listen at once: each holds a connection for as long as it is open."""
READS = 1_000
WRITES = 400
ANYBODY = 600
LOGINS = 10
STRANGERS = 60
"""At once; what is let through for ever stands in `Limits`."""


class Bucket:
    """Lets `burst` through at once, and `per_second` for ever."""

    def __init__(self, per_second: float, burst: int, now: Callable[[], float]) -> None:
        self._per_second = per_second
        self._burst = float(burst)
        self._now = now
        self._left = self._burst
        self._at = now()

    def take(self, amount: int = 1) -> bool:
        """Take one, or several at once; false when there are not so many left for now."""
        now = self._now()
        self._left = min(self._burst, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < amount:
            return False
        self._left -= amount
        return True

    @property
    def wait_seconds(self) -> int:
        """After how many whole seconds there is one again."""
        return max(1, int((1 - self._left) / self._per_second + 0.999))


class Limits:
    """The buckets of one process: it serves one person, whose pages and programs share them."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.reads = Bucket(200, READS, now)
        self.writes = Bucket(20, WRITES, now)
        self.anybody = Bucket(100, ANYBODY, now)
        """What needs no token: another user of the machine may ask it, and must not use up what a token may."""
        self.logins = Bucket(10 / 60, LOGINS, now)
        """Codes that are wrong. A right one never waits for these."""
        self.strangers = Bucket(1, STRANGERS, now)
        """Requests with a wrong token. A right one never waits for these."""


def too_often(seconds: int) -> HttpRefused:
    """Return the refusal that says when to come again."""
    return HttpRefused(
        429, "too_often", "too many requests", hint=f"come again in {seconds} s", retry_after_seconds=seconds
    )
