"""What a team shares, as it lies in the replica beside an opened workspace: told item by item, without a server."""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, TypeVar

from daemons import Place
from opened_memory import NOW, Memory

from siftd.config import Settings
from siftd.consolidate.embedding import EmbeddingQueue
from siftd.embed.embedder import Embedder, make_embedder
from siftd.store import team_replica
from siftd.store.access import Database
from siftd.store.team_replica import Placed
from siftd.team.items import Put, content_hash, document_id
from siftd.team.protocol import Changed, Person

T = TypeVar("T")
PROJECT = uuid.UUID("10000000-0000-4000-8000-000000000001")
ME = Person(id=uuid.UUID("20000000-0000-4000-8000-000000000001"), name="Mira")
ANA = Person(id=uuid.UUID("20000000-0000-4000-8000-000000000002"), name="Ana")
HERE = uuid.UUID("30000000-0000-4000-8000-000000000001")
ELSEWHERE = uuid.UUID("30000000-0000-4000-8000-000000000002")
# Nobody listens on that port, and a daemon that asks its team gets a refusal at once.
_JOIN = """
INSERT INTO team_links (project, name, url, device, person, person_name, epoch, share, ts)
VALUES (?, 'otters', 'http://127.0.0.1:9', ?, ?, ?, 'e', '[]', ?)
"""


def shared(ref: str, text: str, source: str = "memory", **fields: Any) -> Put:
    """Return an item as its author's device tells it; `metadata` as that has it."""
    fields = {"ts": NOW, "rev": 1, **fields}
    put = Put(
        id=document_id(PROJECT, source, ref),  # type: ignore[arg-type]
        hash="0" * 64,
        source=source,  # type: ignore[arg-type]
        source_ref=ref,
        text=text,
        **fields,
    )
    return Put(**{name: getattr(put, name) for name in put.__struct_fields__} | {"hash": content_hash(put)})


def noted(ref: str, text: str, said_by: str = "person", kind: str = "decision", **fields: Any) -> Put:
    """Return a memory that a person of the team, or an agent of theirs, kept on purpose."""
    metadata = {"type": kind, "saidBy": said_by, **fields.pop("metadata", {})}
    return shared(ref, text, "memory", metadata=metadata, **fields)


class Replica:
    """The replica of one workspace, written as the feed has it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seq = 0
        self._connection: Database | None = None

    @property
    def connection(self) -> Database:
        if self._connection is None:
            self._connection = team_replica.open_replica(self._path, str(PROJECT), NOW)
        return self._connection

    def publish(self, *items: Put, author: Person = ANA, is_own: bool = False) -> None:
        """Have items come by the feed."""
        placed = []
        for item in items:
            self._seq += 1
            changed = Changed(seq=self._seq, item=item, author=author, device=HERE if is_own else ELSEWHERE)
            placed.append(Placed(changed, "", is_own))
        self._apply(placed, ())

    def forget(self, *items: Put) -> None:
        self._seq += 1
        self._apply((), [str(each.id) for each in items])

    def _apply(self, placed: Sequence[Placed], gone: Sequence[str]) -> None:
        after = team_replica.read_cursor(self.connection)
        team_replica.apply(self.connection, placed, gone, after=after, seq=self._seq, is_head=True)

    async def embed(self, embedder: Embedder) -> None:
        """Make the vectors, as the workspace does for its own."""
        await EmbeddingQueue(self, embedder).run(lambda: True)

    async def read(self, work: Callable[[Database], T]) -> T:
        await asyncio.sleep(0)
        return work(self.connection)

    async def write(self, work: Callable[[Database], T]) -> T:
        return await self.read(work)

    def erase(self) -> None:
        """Take the file away: what is told next is told from the beginning."""
        self.close()
        team_replica.erase(self._path)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


async def join(memory: Memory, person: Person = ME) -> Replica:
    """Have a workspace be of the team, with nothing pulled yet."""
    await memory.by_hand(_JOIN, str(PROJECT), str(HERE), str(person.id), person.name, NOW)
    return Replica(memory.services.paths.team_replica)


def join_place(place: Place, person: Person = ME) -> Replica:
    """Have the workspace of a daemon be of the team; its store is there already, and its daemon does not run."""
    with closing(sqlite3.connect(place.paths.database, timeout=20)) as own, own:
        own.execute(_JOIN, (str(PROJECT), str(HERE), str(person.id), person.name, NOW))
    return Replica(place.paths.team_replica)


def publish_there(replica: Replica, *items: Put, **how: Any) -> None:
    """Have items come by the feed, and get vectors of the default embedder."""
    replica.publish(*items, **how)
    asyncio.run(replica.embed(make_embedder(Settings().memory_embedder)))


async def publish(memory: Memory, replica: Replica, *items: Put, **how: Any) -> None:
    """Have items come by the feed, and get their vectors."""
    replica.publish(*items, **how)
    await replica.embed(memory.services.embedder)
