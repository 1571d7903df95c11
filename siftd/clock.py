"""Time as a value that is passed in, so that tests can turn it."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """The two times siftd needs: what happened when, and how long something took."""

    def now_ms(self) -> int:
        """Return milliseconds since the epoch, UTC. May jump back."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back; only differences mean anything."""
        ...


def uptime_ms(clock: Clock) -> int:
    """Return the time that no one can set, in milliseconds. On Linux and macOS it counts from the machine's start, so
    that another process's differs by what has passed, and by less after a restart of the machine."""
    return int(clock.monotonic() * 1000)


class SystemClock:
    """The machine's own clock."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()
