"""What the event loop itself cannot do: a line in the log, where asyncio would print a traceback each time."""

from __future__ import annotations

import asyncio
from typing import Any

import structlog

from siftd.clock import Clock

log = structlog.get_logger()

LOOP_ERROR_SECONDS = 60.0


class LoopErrors:
    """Says what the event loop cannot do, once a minute for each kind: out of descriptors it fails to accept a hundred
    times a second, and a full pipe at standard error would hold up everything."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._said_at: dict[str, float] = {}

    def __call__(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        reason = type(context.get("exception")).__name__
        now = self._clock.monotonic()
        if now - self._said_at.get(reason, -LOOP_ERROR_SECONDS) >= LOOP_ERROR_SECONDS:
            self._said_at[reason] = now
            log.error("loop_failed", error=reason)
