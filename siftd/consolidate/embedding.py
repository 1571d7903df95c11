"""Embedding: live summaries and memories without a vector of the current embedder get one, newest first."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from siftd.at_work import AtWork
from siftd.consolidate.drain import Store
from siftd.embed.embedder import Embedder
from siftd.embed.words import index_words
from siftd.errors import SiftdError
from siftd.store import memories, summaries

BATCH = 128

_ListWaiting = Callable[[sqlite3.Connection, str, int], list[tuple[int, str]]]
_InsertVectors = Callable[[sqlite3.Connection, str, int, Sequence[tuple[int, bytes, str]]], None]


class EmbeddingQueue:
    """Keeps the table of vectors complete for one embedder."""

    def __init__(self, store: Store, embedder: Embedder, at_work: AtWork | None = None) -> None:
        self._store = store
        self._at_work = at_work or AtWork()
        self.embedder = embedder
        self.last_error: str | None = None

    async def run(self, goes_on: Callable[[], bool]) -> int:
        """Embed until nothing is left or `goes_on()` is false; return how many summaries got a vector."""
        await self.run_memories(goes_on)
        return await self._run(summaries.list_unembedded, summaries.insert_vectors, goes_on)

    async def run_memories(self, goes_on: Callable[[], bool]) -> int:
        """Embed the memories only: there are few, and each is wanted at once."""
        return await self._run(memories.list_unembedded, memories.insert_vectors, goes_on)

    async def _run(self, list_waiting: _ListWaiting, insert: _InsertVectors, goes_on: Callable[[], bool]) -> int:
        embedded = 0
        while goes_on():
            name = self.embedder.name
            waiting = await self._store.read(lambda c, n=name: self._plan(list_waiting, c, n))  # type: ignore[misc]
            if not waiting:
                break
            try:
                with self._at_work.on("embed", [owner_id for owner_id, _ in waiting]):
                    rows = await self._store.read(lambda _, w=waiting: self._embed(w))  # type: ignore[misc]
            except SiftdError as error:
                self.last_error = f"{error}; {error.hint}" if error.hint else str(error)
                break
            except Exception as error:  # noqa: BLE001 - an embedder may fail in any way; summaries wait for their vectors
                self.last_error = f"the embedder failed ({type(error).__name__})"
                break
            await self._store.write(lambda c, r=rows, n=name: insert(c, n, self.embedder.dim, r))  # type: ignore[misc]
            self.last_error = None
            embedded += len(rows)
        return embedded

    def _plan(self, list_waiting: _ListWaiting, connection: sqlite3.Connection, name: str) -> list[tuple[int, str]]:
        """Return what is embedded next: suspects alone, condemned ones never."""
        condemned = self._at_work.count_condemned("embed")
        texts = dict(list_waiting(connection, name, BATCH + condemned))
        for batch in self._at_work.split("embed", list(texts), BATCH):
            if not self._at_work.is_condemned("embed", batch[0]):
                return [(owner_id, texts[owner_id]) for owner_id in batch]
        return []

    def _embed(self, waiting: Sequence[tuple[int, str]]) -> list[tuple[int, bytes, str]]:
        vectors = self.embedder.embed([text for _, text in waiting])
        packed = vectors.astype("<f4", copy=False)
        return [(owner_id, packed[row].tobytes(), index_words(text)) for row, (owner_id, text) in enumerate(waiting)]


def pending(connection: sqlite3.Connection, embedder: str) -> bool:
    """Whether any summary waits for its vector."""
    return bool(summaries.list_unembedded(connection, embedder, 1))
