"""Embedding: live summaries, memories and chunks of documents without a vector of the current embedder get one, newest
first.

A model is asked in a thread of its own: searches wait for the reading thread, and a server may take a minute. What is
stored at once outlives a kill, so that whoever goes on begins with what is left.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import anyio.to_thread
import structlog

from siftd import ids
from siftd.consolidate.drain import Store
from siftd.crash_guard import CrashGuard
from siftd.embed.embedder import Embedder
from siftd.embed.words import index_words
from siftd.errors import SiftdError
from siftd.store import chunks, fact_candidates, graph_names, meta, vectors
from siftd.store.access import Database
from siftd.store.vectors import Mark

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = structlog.get_logger()

BATCH = 128
_PROBE = "What was done here before, and why?"
"""A text whose vector is kept for each model, to know the model again by it."""
_PROBE_COSINE = 0.99
"""Another processor or another batch changes the last digits; another model does not come near."""

_Waiting = list[tuple[int, str]]
_ListWaiting = Callable[[Database, str, int, int], _Waiting]
_InsertVectors = Callable[[Database, str, int, Sequence[tuple[int, bytes, str]]], None]


class _Owners(NamedTuple):
    """Those whose vectors are made."""

    list_waiting: _ListWaiting
    insert: _InsertVectors
    letter: str | None
    """By which they are cited; None: their making is told to nobody."""
    work: str = "embed"
    """As the crash guard calls it."""
    has_words: bool = True
    """Whether their index words are stored with the vector: half of the work."""


_FACTS = _Owners(fact_candidates.list_unembedded, fact_candidates.insert_vectors, ids.MEMORY)
_NAMES = _Owners(graph_names.list_unembedded, graph_names.insert_vectors, None, "embed-name")
_CHUNKS = _Owners(chunks.list_unembedded, chunks.insert_vectors, None, "embed-chunk", has_words=False)


class EmbeddingQueue:
    """Keeps the table of vectors complete for one embedder."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        crash_guard: CrashGuard | None = None,
        on_embedded: Callable[[str, Sequence[int]], object] = lambda _kind, _numbers: None,
        work: str = "embed",
    ) -> None:
        """`on_embedded` is told by which letter they are cited and the numbers of those that have just got a vector;
        `work` is what the crash guard calls summaries and memories of this store."""
        self._work = work
        self._store = store
        self._crash_guard = crash_guard or CrashGuard()
        self.embedder = embedder
        self._on_embedded = on_embedded
        self.last_error: str | None = None
        self._complete: Mark | None = None  # the last time that no live summary lacked a vector
        self._lowest = vectors.BOTTOM
        self._is_same_model = embedder.known_dim is not None  # the built-in one is named anew when it changes

    async def run(self, goes_on: Callable[[], bool], on_batch: Callable[[int], object] = lambda _: None) -> int:
        """Embed until nothing is left or `goes_on()` is false; return how many summaries got a vector.

        `on_batch` is told after each batch how many have one by then.
        """
        if self.embedder.known_dim is not None and goes_on():  # a question has asked it, if nothing else has
            await self._succeeds(self._check_model)
        await self.run_facts(goes_on)
        if self.embedder.known_dim is not None:
            await self._run(_NAMES, goes_on)
        embedded = await self._run(
            _Owners(self._list_summaries, vectors.insert_vectors, ids.SUMMARY), goes_on, on_batch
        )
        await self._run(_CHUNKS, goes_on)
        return embedded

    async def run_facts(self, goes_on: Callable[[], bool]) -> int:
        """Embed the memories only: there are few, and each is wanted at once."""
        return await self._run(_FACTS, goes_on)

    async def _run(
        self,
        owners: _Owners,
        goes_on: Callable[[], bool],
        on_batch: Callable[[int], object] = lambda _: None,
    ) -> int:
        """Go down from the newest; then look once more from there, for what was added meanwhile."""
        owners = owners._replace(work=self._work) if owners.work == "embed" else owners
        embedded, below = 0, vectors.TOP
        while goes_on():
            waiting = await self._store.read(lambda c, b=below: self._plan(owners, c, b))  # type: ignore[misc]
            if not waiting and below == vectors.TOP:
                break
            below = min((owner_id for owner_id, _ in waiting), default=vectors.TOP)
            if waiting:
                if not await self._succeeds(lambda w=waiting: self._embed(owners, w)):  # type: ignore[misc]
                    break
                embedded += len(waiting)
                on_batch(embedded)
        return embedded

    def _list_summaries(self, connection: Database, embedder: str, below: int, limit: int) -> _Waiting:
        """Look from the newest down to the lowest that may have come to lack a vector: every tick asks, also of a store
        with a million summaries of which the superseded ones lack theirs for ever."""
        now = vectors.mark(connection)
        if below == vectors.TOP:
            known = self._complete
            self._lowest = vectors.BOTTOM if known is None else vectors.lowest_since(connection, known)
        waiting = vectors.list_unembedded(connection, embedder, below, limit, lowest=self._lowest)
        if below == vectors.TOP and not waiting:
            self._complete = now
        return waiting

    async def _succeeds(self, work: Callable[[], Awaitable[None]]) -> bool:
        """Do what may fail as an embedder does; return whether it went well, and keep for `info` why it did not."""
        try:
            await work()
        except SiftdError as error:
            self.last_error = f"{error}; {error.hint}" if error.hint else str(error)
        except Exception as error:  # noqa: BLE001 - an embedder may fail in any way; summaries wait for their vectors
            self.last_error = f"the embedder failed ({type(error).__name__})"
        else:
            self.last_error = None
            return True
        return False

    def _plan(self, owners: _Owners, connection: Database, below: int) -> _Waiting:
        """Return what is embedded next: suspects alone, condemned ones never."""
        quarantined = self._crash_guard.count_quarantined(owners.work)
        texts = dict(owners.list_waiting(connection, self.embedder.name, below, BATCH + quarantined))
        for batch in self._crash_guard.split(owners.work, list(texts), BATCH):
            if not self._crash_guard.is_quarantined(owners.work, batch[0]):
                return [(owner_id, texts[owner_id]) for owner_id in batch]
        return []

    async def _embed(self, owners: _Owners, waiting: _Waiting) -> None:
        await self._check_model()
        with self._crash_guard.on(owners.work, [owner_id for owner_id, _ in waiting]):
            rows = await anyio.to_thread.run_sync(self._rows, waiting, owners.has_words, abandon_on_cancel=True)
        await self._store.write(lambda c: owners.insert(c, self.embedder.name, self.embedder.dim, rows))
        if owners.letter is not None:
            self._on_embedded(owners.letter, [owner_id for owner_id, _ in waiting])

    def _rows(self, waiting: _Waiting, has_words: bool) -> list[tuple[int, bytes, str]]:
        packed = self.embedder.embed([text for _, text in waiting]).astype("<f4", copy=False)
        words = [index_words(text) if has_words else "" for _, text in waiting]
        return [(owner_id, packed[row].tobytes(), words[row]) for row, (owner_id, _) in enumerate(waiting)]

    async def _check_model(self) -> None:
        """Once: take out the vectors that another model made under the same name. Nothing tells a server's models apart
        but what they answer."""
        if not self._is_same_model:
            rows = await anyio.to_thread.run_sync(self.embedder.embed, [_PROBE], abandon_on_cancel=True)
            await self._store.write(lambda connection: self._keep_one_model(connection, rows[0]))
            self._is_same_model = True

    def _keep_one_model(self, connection: Database, vector: NDArray[np.float32]) -> None:
        name, key = self.embedder.name, f"probe {self.embedder.name}"
        noted = meta.get(connection, key)
        if noted is None or not _is_near(vector, b64decode(noted)):
            meta.put(connection, key, b64encode(vector.astype("<f4").tobytes()).decode())
            if noted is not None:
                log.warning("embedder_changed", embedder=name, cleared=vectors.clear_space(connection, name))


def _is_near(vector: NDArray[np.float32], packed: bytes) -> bool:
    import numpy as np

    other = np.frombuffer(packed, "<f4")
    return len(other) == len(vector) and float(vector @ other) >= _PROBE_COSINE
