"""Telling whoever watches what happens, as it does: captures, vectors, drains, what was forgotten.

Nobody is waited for: what happens goes into a ring, which costs a capture about a microsecond, and each watcher takes
from it what it has not seen, some of it at a time. One that reads too slowly finds that it has missed something.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from siftd import ids
from siftd.capture.redacted import RedactedEvent
from siftd.clock import Clock
from siftd.daemon.connection import Answer
from siftd.errors import RequestInvalid
from siftd.wire.requests import Watch, progress
from siftd.wire.ring import Ring

WATCHERS_MAX = 16
GATHER_SECONDS = 0.1
"""How long what happens is gathered before it is sent: a person sees no difference, a burst becomes few messages."""
ALIVE_SECONDS = 5.0
SOURCES = {ids.SUMMARY: "summary", ids.MEMORY: "memory"}


class Live:
    """What happens in one workspace."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ring = Ring()
        self._watchers = 0
        self._happened = asyncio.Event()
        self._is_closed = False

    def note(self, kind: str, **data: Any) -> None:
        """Something happened."""
        self._ring.add(kind, data)
        if self._watchers:
            self._happened.set()

    def note_captured(self, event: RedactedEvent, event_id: int) -> None:
        """An event was stored."""
        self.note(
            "captured",
            id=ids.cite(ids.EVENT, event_id),
            sessionId=event.session_id,
            eventKind=event.event_kind,
            tool=event.tool,
            ts=event.ts,
        )

    def note_embedded(self, kind: str, numbers: Sequence[int]) -> None:
        """Summaries or memories got their vectors: from now on they are found by meaning."""
        embedded_at = self._clock.now_ms()
        for number in numbers:
            self.note("memory:indexed", id=ids.cite(kind, number), source=SOURCES[kind], embeddedAt=embedded_at)

    def note_forgotten(self, matched: int, by_kind: dict[str, int]) -> None:
        """Something was forgotten: what is held here may be of it, and goes too."""
        self._ring.forget()
        self.note("forgotten", matched=matched, byKind=by_kind)

    async def watch(self, request: Watch, answer: Answer) -> None:
        """Send what happens until nobody is there any more, or this daemon ends. Raises RequestInvalid for one too
        many."""
        if self._watchers >= WATCHERS_MAX:
            raise RequestInvalid("enough watch already", hint="close a page")
        self._watchers += 1
        try:
            await self._send_on(request, answer)
        finally:
            self._watchers -= 1

    def close(self) -> None:
        """Let the watchers go."""
        self._is_closed = True
        self._happened.set()

    async def _send_on(self, request: Watch, answer: Answer) -> None:
        is_ours = request.epoch == self._ring.epoch
        seen = request.after if is_ours else self._ring.last
        is_reset = request.epoch is not None and (not is_ours or self._ring.since(seen) is None)
        seen = self._ring.last if is_reset else seen
        self._say_place(answer, seen, is_reset=is_reset)
        while not self._is_closed and answer.is_wanted_now():
            news = self._ring.since(seen) if answer.is_read else []
            if news is None:
                seen = self._ring.last
                self._say_place(answer, seen, is_reset=True)
            elif news:
                seen = news[-1].seq
                answer.progress(progress(happened=news))
            if not await self._wait(seen):
                answer.progress(progress(alive=True))

    def _say_place(self, answer: Answer, seen: int, *, is_reset: bool) -> None:
        answer.progress(progress(epoch=self._ring.epoch, seq=seen, reset=is_reset))

    async def _wait(self, seen: int) -> bool:
        """Wait for something new, and a moment longer for what comes with it; false where nothing has come."""
        self._happened.clear()
        if self._ring.last == seen and not self._is_closed:
            try:
                await asyncio.wait_for(self._happened.wait(), ALIVE_SECONDS)
            except TimeoutError:
                return False
        await asyncio.sleep(GATHER_SECONDS)
        return True
