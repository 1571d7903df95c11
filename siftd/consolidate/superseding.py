"""Superseding: the newer of two summaries that say the same hides the older.

Only new vectors are compared, against live ones of the same embedder. Newer means the later `events.ts`, then the
higher event id; never the higher summary id, because a backfill may arrive later than it happened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from siftd.clock import Clock
from siftd.consolidate.drain import Store
from siftd.consolidate.equivalence import says_the_same
from siftd.embed.errors import EmbedderUnavailable
from siftd.store import meta, search_reads, summaries, vectors
from siftd.store.access import Database
from siftd.store.summaries import LiveSummary

if TYPE_CHECKING:
    from siftd.search.vectors import VectorIndex

WATERMARK = "superseded_upto_change"
"""An entry of the journal of vector changes, not a summary's id: an old summary may get its vector late."""
_SLICE_MIN = 16
_SLICE_MAX = 128
"""New summaries that are compared at once: the more, the fewer live ones there are, at the same work in a turn. What
they hide is written in one transaction, which a capture may have to wait for."""
_NEAR_MAX = 32
"""Neighbours of one summary that are looked at. A repeat is among the nearest."""
ROWS = 32_768
"""Vectors that new ones are compared with in one turn of the reading thread: some 10 ms."""
_READING_SECONDS = 0.2
"""Of reading vectors at a stretch: searches wait for the same thread."""

_Pair = tuple[int, int, float]
"""Two summaries, and their cosine."""


class Superseder:
    """Finds near-duplicates among new summaries."""

    def __init__(self, store: Store, index: Callable[[], VectorIndex], clock: Clock, *, cosine: float) -> None:
        self._store = store
        self._index = index
        self._clock = clock
        self._cosine = cosine

    async def run(self, goes_on: Callable[[], bool]) -> int:
        """Compare what is new; return how many summaries are hidden by it."""
        hidden = 0
        while goes_on():
            pairs, watermark, is_done = await self.find_pairs()
            hidden += await self._store.write(lambda c, p=pairs, w=watermark: self._hide(c, p, w))  # type: ignore[misc]
            if is_done:
                break
        return hidden

    async def find_pairs(self) -> tuple[list[_Pair], int, bool]:
        """Return what the next new summaries repeat, the journal's entry up to which that is, and whether it is all.

        In short turns: between two of them a search is answered. A vector that moves meanwhile, because another one
        was deleted, may be missed; then a repeat stays visible.
        """
        asked, count, watermark, is_done = await self._store.read(self._list_new)
        near: dict[int, list[tuple[int, float]]] = {each: [] for each in asked}
        for start in range(0, count, ROWS):
            for each, found in (await self._store.read(lambda _, s=start: self._alike(asked, s))).items():  # type: ignore[misc]
                near[each] += found
        return await self._store.read(lambda c: self._repeats(c, near)), watermark, is_done

    def _list_new(self, connection: Database) -> tuple[list[int], int, int, bool]:
        """Return what is compared next, with how many rows, the watermark when that is done, and whether it is all."""
        watermark = meta.number(connection, WATERMARK)
        if not search_reads.has_summaries(connection):
            return [], 0, watermark, True  # the index would load numpy: 20 MB that an idle daemon has no use for
        try:
            index = self._index()
        except EmbedderUnavailable:  # nothing new has a vector
            return [], 0, watermark, True
        index.refresh(connection, seconds=_READING_SECONDS)
        if not index.is_whole:
            return [], 0, watermark, False
        most = max(_SLICE_MIN, min(_SLICE_MIN * ROWS // max(1, len(index)), _SLICE_MAX))
        new = search_reads.vector_changes_after(connection, watermark, most)
        asked = list(dict.fromkeys(summary_id for _, summary_id in new))
        return asked, len(index) if asked else 0, new[-1][0] if new else watermark, len(new) < most

    def _alike(self, asked: list[int], start: int) -> dict[int, list[tuple[int, float]]]:
        return self._index().alike(asked, self._cosine, _NEAR_MAX, range(start, start + ROWS))

    def _repeats(self, connection: Database, near: dict[int, list[tuple[int, float]]]) -> list[_Pair]:
        pairs = []
        for summary_id, others in near.items():
            nearest = sorted(others, key=lambda one: (-one[1], -one[0]))[:_NEAR_MAX]
            live = summaries.find_live(connection, [summary_id, *(other for other, _ in nearest)]) if nearest else {}
            if summary_id in live:
                pairs += [
                    (summary_id, other, cosine)
                    for other, cosine in nearest
                    if other in live and self._is_repeat(connection, live[summary_id], live[other])
                ]
        return pairs

    def _is_repeat(self, connection: Database, a: LiveSummary, b: LiveSummary) -> bool:
        newer, older = (a, b) if _age(a) > _age(b) else (b, a)
        return (
            a.event_id != b.event_id
            and a.outcome == b.outcome
            and not summaries.are_held_apart(connection, a.event_id, b.event_id)
            and not summaries.was_brought_back(connection, older.event_id)
            and says_the_same(newer.text, older.text)
        )

    def _hide(self, connection: Database, pairs: list[_Pair], watermark: int) -> int:
        """Write the pairs, looking again: an earlier pair may have hidden one of the two."""
        hidden = 0
        now_ms = self._clock.now_ms()
        for a_id, b_id, cosine in pairs:
            live = summaries.find_live(connection, [a_id, b_id])
            if len(live) == 2:
                older, newer = sorted(live.values(), key=_age)
                summaries.supersede(connection, newer.id, older.id, round(cosine, 6), now_ms)
                hidden += 1
        meta.put(connection, WATERMARK, str(watermark))
        vectors.trim_vector_changes(connection, watermark)
        return hidden


def _age(summary: LiveSummary) -> tuple[int, int]:
    return summary.event_ts, summary.event_id
