"""The reading thread: one read-only connection and the vector index, off the event loop, used by one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import structlog

from siftd.daemon.group_commit import Committer, start_thread
from siftd.embed.embedder import Embedder
from siftd.embed.errors import EmbedderUnavailable
from siftd.errors import StoreClosed, StoreError
from siftd.file_identity import FileIdentity, identify
from siftd.store import facts, team_replica
from siftd.store.access import Database, DatabaseError
from siftd.store.clients import KnownClients
from siftd.store.connection import is_damage, open_reader, translate
from siftd.store.migrate import check_complete
from siftd.store.type_repair import mend_types

if TYPE_CHECKING:
    from siftd.search.vectors import VectorIndex

log = structlog.get_logger()

T = TypeVar("T")


class StoreAccess:
    """The store for everything but capture: reads in the reading thread, writes through the committer."""

    def __init__(
        self,
        database: str,
        committer: Committer,
        embedder: Embedder,
        *,
        shared: str | None = None,
        team: str,
    ) -> None:
        """`shared` is the database of the memories for every project, `team` the replica of what a team shares: neither
        need be there."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reader")
        start_thread(self._thread)
        self._connection = open_reader(database)
        self._committer = committer
        self._embedder = embedder
        self._index: VectorIndex | None = None
        self._is_closed = False
        self.everywhere = SharedReader(shared, facts.shows_waiting)
        self.team = ReplicaReader(team)
        self.clients = KnownClients()

    @property
    def connection(self) -> Database:
        return self._connection

    def index(self) -> VectorIndex:
        """Return the index of the current embedder; numpy is imported at the first call. Reading thread only.

        Raises EmbedderUnavailable while a model has not answered yet: the length of its vectors is not known.
        """
        if self._index is None:
            self._index = self.new_index()
        return self._index

    def new_index(self) -> VectorIndex:
        """Return an empty index of the current embedder, for another store. Raises EmbedderUnavailable."""
        from siftd.search.vectors import VectorIndex

        if self._embedder.known_dim is None:
            raise EmbedderUnavailable(f"{self._embedder.name} has not answered yet", hint="`mem info` tells why")
        return VectorIndex(self._embedder.name, self._embedder.known_dim)

    async def read(self, work: Callable[[Database], T]) -> T:
        """Run `work` in the reading thread. Raises StoreError when the database refuses, StoreClosed after the end.

        Where it meets a value of another type than its column's, which a person has typed, this is mended first.
        """
        try:
            return await self._in_thread(work)
        except (TypeError, ValueError, OverflowError):
            if not await self.write(mend_types):
                raise
            return await self._in_thread(work)

    async def _in_thread(self, work: Callable[[Database], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._guarded, work)
        except RuntimeError as error:
            if self._is_closed:
                raise StoreClosed("the store is closed") from error
            raise

    def repeat(self, work: Callable[[Database], bool]) -> None:
        """Run `work` in the reading thread, between whatever else is wanted there, until it returns False or fails."""

        def once() -> None:
            if work(self._connection):
                self._thread.submit(once)

        with suppress(RuntimeError):  # the daemon ends
            self._thread.submit(once)

    async def write(self, work: Callable[[Database], T]) -> T:
        """Run `work` in one transaction of the writing connection."""
        return await self._committer.run(work)

    def close(self) -> None:
        self._is_closed = True
        self._thread.shutdown(wait=True)
        self._connection.close()
        self.everywhere.close()
        self.team.close()

    def _guarded(self, work: Callable[[Database], T]) -> T:
        try:
            return work(self._connection)
        except DatabaseError as error:
            raise translate(error) from error


def _is_complete(connection: Database) -> bool:
    """Whether a store is of this siftd's schema. Raises DatabaseError."""
    try:
        check_complete(connection)
    except StoreError:
        return False
    return True


class SharedReader:
    """A read-only connection to another store, opened when that is there. For the reading thread."""

    def __init__(self, database: str | None, is_fit: Callable[[Database], bool]) -> None:
        """`is_fit` says whether whoever keeps that store has brought it up to date: until then it is not read."""
        self._database = database
        self._is_fit = is_fit
        self._connection: Database | None = None
        self._file: FileIdentity | None = None

    def connection(self) -> Database | None:
        """Return the connection; None while there is no database, or none that can be read."""
        if self._database is None:
            return None
        file = identify(self._database)
        if file is None:
            self.close()
            return None
        if file != self._file:  # it was rebuilt
            self.close()
            try:
                self._connection = self._open(self._database)
            except (StoreError, DatabaseError) as error:
                self._file = file if is_damage(error) else None  # one that is being made can be read in a moment
                self.note(error)
            else:
                self._file = file if self._connection is not None else None
        return self._connection

    def _open(self, database: str) -> Database | None:
        connection = open_reader(database)
        try:
            if self._is_fit(connection):
                return connection
        except BaseException:
            connection.close()
            raise
        connection.close()
        return None

    def note(self, error: StoreError | DatabaseError) -> None:
        """Note that it could not be read."""

    def close(self) -> None:
        self._file = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class ReplicaReader(SharedReader):
    """Reads the replica of a team's items. It is derived: one that is damaged is removed, and pulled again."""

    def __init__(self, database: str) -> None:
        super().__init__(database, _is_complete)
        self._path = database

    def find(self, read: Callable[[Database], T]) -> T | None:
        """Return what `read` finds; None where there is no replica, or none that can be read."""
        connection = self.connection()
        if connection is None:
            return None
        try:
            return read(connection)
        except DatabaseError as error:
            self.note(error)
            return None

    def note(self, error: StoreError | DatabaseError) -> None:
        """Note that it could not be read: one that is damaged goes."""
        if is_damage(error):
            self.close()
            team_replica.erase(self._path)
            log.warning("team_replica_damaged", hint="it is pulled again")
