"""The replica as the daemon keeps it: one writing connection in a thread of its own, so that nobody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from siftd.clock import Clock
from siftd.embed.words import index_words
from siftd.errors import StoreError
from siftd.store import erasing, team_replica
from siftd.store.access import Database, DatabaseError
from siftd.store.connection import is_damage, translate
from siftd.store.team_replica import Cursor, Placed
from siftd.team.protocol import Changed
from siftd.team_sync.others_items import believed, named

T = TypeVar("T")


class Replica:
    """The replica of one project. It is made when it is first written."""

    def __init__(self, path: str, clock: Clock, redact: Callable[[str], str]) -> None:
        """`redact` takes out of a text what this workspace's rules find: what others tell may hold a secret."""
        self._path = path
        self._redact = redact
        self._clock = clock
        self._project = ""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="team")
        self._connection: Database | None = None

    def choose(self, project: str) -> None:
        """Say whose replica it is; what the file holds of another project goes."""
        self._project = project

    async def cursor(self) -> Cursor:
        """Return how far it has come."""
        return await self.write(team_replica.read_cursor)

    async def last_number(self) -> int | None:
        """Return the last number that it gave; None for one that is made anew."""
        return await self.write(team_replica.last_number)

    async def restart(self, epoch: str) -> None:
        """Begin from 0 in another epoch."""
        await self.write(lambda c: team_replica.restart(c, epoch))

    async def apply(
        self,
        changes: Sequence[Changed],
        gone: Collection[str],
        own: Collection[str],
        *,
        after: Cursor,
        seq: int,
        is_head: bool,
        numbers_after: int,
    ) -> bool:
        """Apply a page of the feed; `own` are the items that the workspace's own store has. False where it comes too
        late: another has moved the cursor."""

        def work(connection: Database) -> bool:
            placed = [self._placed(each, own) for each in changes]
            return team_replica.apply(
                connection, placed, gone, after=after, seq=seq, is_head=is_head, numbers_after=numbers_after
            )

        return await self.write(work)

    def _placed(self, change: Changed, own: Collection[str]) -> Placed:
        if str(change.item.id) in own:
            return Placed(change, "", is_own=True)
        item, author = believed(change.item, self._redact), named(change.author, self._redact)
        return Placed(msgspec.structs.replace(change, item=item, author=author), index_words(item.text), is_own=False)

    async def claim(self, items: Collection[str]) -> None:
        """Note that the own store has these items too."""
        await self.write(lambda c: team_replica.claim(c, items))

    async def find_hashes(self, items: Iterable[str]) -> dict[str, tuple[int, str]]:
        """Return (rev, hash) of what it has of these items."""
        wanted = list(items)
        return await self.write(lambda c: team_replica.find_hashes(c, wanted))

    async def count_pieces(self, source: str, ref: str) -> int:
        """Return in how many pieces it has something of another program."""
        return await self.write(lambda c: team_replica.count_pieces(c, source, ref))

    async def count(self) -> dict[str, tuple[int, int]]:
        """Return by source how many items it has, and how many of them the own store has; nothing while there is
        none."""
        return await self.write(team_replica.count_by_source) if Path(self._path).exists() else {}

    def size_bytes(self) -> int:
        """Return how large its file is."""
        try:
            return Path(self._path).stat().st_size
        except OSError:
            return 0

    async def clean(self) -> bool:
        """Leave nothing of what went in the file's pages; False while a reader holds it."""

        def work(connection: Database) -> bool:
            team_replica.merge_full_text(connection)
            return erasing.clean_pages(connection, self._path)

        return await self.write(work)

    async def erase(self) -> None:
        """Remove it with everything in it."""

        def work() -> None:
            self._close()
            team_replica.erase(self._path)

        await asyncio.get_running_loop().run_in_executor(self._thread, work)

    # As a store for the queue of vectors

    async def read(self, work: Callable[[Database], T]) -> T:
        """As `write`: there is one connection."""
        return await self.write(work)

    async def write(self, work: Callable[[Database], T]) -> T:
        """Run `work` with the writing connection. Raises StoreError."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, work)

    def _run(self, work: Callable[[Database], T]) -> T:
        try:
            if self._connection is not None and not Path(self._path).exists():
                self._close()  # somebody has deleted it: it is pulled again
            if self._connection is None:
                assert self._project, "whose it is is said first: another project's is removed"
                self._connection = team_replica.open_replica(self._path, self._project, self._clock.now_ms())
            return work(self._connection)
        except DatabaseError as error:
            if is_damage(error):
                self._close()
                team_replica.erase(self._path)
                raise StoreError("the copy of the team's items was damaged", hint="it is pulled again") from error
            raise translate(error) from error

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def close(self) -> None:
        """Let go of the file, once and for all; a page that is being applied is finished."""
        with suppress(RuntimeError):  # closed before
            self._thread.submit(self._close)
        self._thread.shutdown(wait=True)
