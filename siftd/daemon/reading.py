"""The reading thread: one read-only connection and the vector index, off the event loop, used by one at a time."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from siftd.daemon.commit import Committer
from siftd.embed.embedder import Embedder
from siftd.store.connection import open_reader, translate

if TYPE_CHECKING:
    from siftd.search.vectors import VectorIndex

T = TypeVar("T")


class StoreAccess:
    """The store for everything but capture: reads in the reading thread, writes through the committer."""

    def __init__(self, database: str, committer: Committer, embedder: Embedder) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reader")
        self._connection = open_reader(database)
        self._committer = committer
        self._embedder = embedder
        self._index: VectorIndex | None = None

    @property
    def connection(self) -> sqlite3.Connection:
        return self._connection

    def index(self) -> VectorIndex:
        """Return the index of the current embedder; numpy is imported at the first call. Reading thread only."""
        if self._index is None:
            from siftd.search.vectors import VectorIndex

            self._index = VectorIndex(self._embedder.name, self._embedder.dim)
        return self._index

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in the reading thread. Raises StoreError when the database refuses."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._guarded, work)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in one transaction of the writing connection."""
        return await self._committer.run(work)

    def close(self) -> None:
        self._thread.shutdown(wait=True)
        self._connection.close()

    def _guarded(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return work(self._connection)
        except sqlite3.Error as error:
            raise translate(error) from error
