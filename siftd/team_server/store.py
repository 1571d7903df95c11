"""A team's store, as a server sees it: one method for each function of PostgreSQL that its role may execute.

Every one but `hello` and `join` takes the digest of the caller's token and a project, and PostgreSQL decides what is
theirs. Whatever is refused, or cannot be done now, is a `Refused` with a status of HTTP.
"""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Sequence

import msgspec

from siftd.team.items import Put, Source
from siftd.team.protocol import ITEMS_MAX, Changes, Ignored, Join, Joined, Leave, Left, Members, Push, Pushed, Renew
from siftd.team_server import feed, pushing
from siftd.team_server.pool import Pool
from siftd.team_server.refusals import BadArgument, Behind, ReadOnly, TooMuch


class Greeting(msgspec.Struct, frozen=True):
    """What a store is."""

    epoch: uuid.UUID
    schema: int
    vectors: bool


class Forgotten(msgspec.Struct, frozen=True):
    """What was forgotten, and what is another's."""

    head: int
    forgotten: list[uuid.UUID]
    not_yours: list[uuid.UUID]


def token_digest(token: str) -> bytes:
    """Return what is kept of a token, and of an invitation: SHA-256 of its bytes."""
    return hashlib.sha256(token.encode()).digest()


class TeamStore:
    """The store behind one DSN; reads may go to a replica of it."""

    def __init__(self, dsn: str, *, read_dsn: str | None = None, connections: int = 8) -> None:
        self._primary = Pool(dsn, connections=connections)
        self._reads = Pool(read_dsn, connections=connections) if read_dsn else self._primary
        self._vectors: bool | None = None

    async def open(self) -> None:
        """Begin to connect. PostgreSQL may be away: then each call says so until it is there."""
        await self._primary.open()
        if self._reads is not self._primary:
            await self._reads.open()

    async def close(self) -> None:
        await self._primary.close()
        if self._reads is not self._primary:
            await self._reads.close()

    async def hello(self) -> Greeting:
        """Return the epoch, the number of the schema, and whether there are vectors."""
        row = await self._primary.row("SELECT * FROM siftd.hello()")
        self._vectors = row["vectors"]
        return Greeting(row["epoch"], row["schema"], row["vectors"])

    async def join(self, asked: Join) -> Joined:
        """Turn an invitation into a device with a token, which is told this once."""
        token = secrets.token_urlsafe(32)
        row = await self._primary.row(
            'SELECT siftd."join"(%s::bytea, %s::bytea, %s::text, %s::uuid) AS answer',
            (token_digest(asked.invite), token_digest(token), asked.device, asked.store),
        )
        return msgspec.convert({**row["answer"], "token": token}, Joined)

    async def renew(self, digest: bytes, project: uuid.UUID, asked: Renew) -> Joined:
        """Make another device of the caller's person: their home was copied."""
        token = secrets.token_urlsafe(32)
        row = await self._primary.row(
            "SELECT siftd.renew(%s::bytea, %s::uuid, %s::bytea, %s::text, %s::uuid) AS answer",
            (digest, project, token_digest(token), asked.device, asked.store),
        )
        return msgspec.convert({**row["answer"], "token": token}, Joined)

    async def push(self, digest: bytes, project: uuid.UUID, pushed: Push) -> Pushed:
        """Take items; each that is not taken is named with the reason, and none of those holds up another.

        Telling the same again changes nothing. A reader's items are all ignored.
        """
        if len(pushed.items) > ITEMS_MAX:
            raise TooMuch(413, "too_much", f"more than {ITEMS_MAX} items", hint="send less at once")
        puts, gone, ignored = pushing.check(project, pushed.items)
        try:
            done = await self._push(digest, project, pushed.epoch, puts, gone)
        except ReadOnly:
            rows = await self._primary.rows(feed.CHANGES, (digest, project, 0, 1, 0))
            every = [Ignored(id=each.id, why="reader") for each in pushed.items]
            return Pushed(head=rows[-1]["head"], put=0, forgotten=0, ignored=every)
        return msgspec.structs.replace(done, ignored=ignored + done.ignored)

    async def _push(
        self, digest: bytes, project: uuid.UUID, epoch: uuid.UUID, puts: Sequence[Put], gone: Sequence[uuid.UUID]
    ) -> Pushed:
        columns = pushing.columns(puts, with_vectors=await self.has_vectors())
        has_any = any(each is not None for each in columns[-1])
        query = pushing.PUSH_VECTORS if has_any else pushing.PUSH_BARE
        try:
            row = await self._primary.row(query, (digest, project, epoch, list(gone), *columns))
        except BadArgument as error:
            if error.code != "malformed":
                raise
            return await self._push_halves(digest, project, epoch, puts, gone)
        return msgspec.convert(row, Pushed)

    async def _push_halves(
        self, digest: bytes, project: uuid.UUID, epoch: uuid.UUID, puts: Sequence[Put], gone: Sequence[uuid.UUID]
    ) -> Pushed:
        """Find the item that PostgreSQL cannot keep for a reason that was not foreseen: the others go on."""
        if len(puts) <= 1:
            done = await self._push(digest, project, epoch, [], gone)
            bad = [Ignored(id=each.id, why="malformed") for each in puts]
            return msgspec.structs.replace(done, ignored=[*done.ignored, *bad])
        middle = len(puts) // 2
        first = await self._push(digest, project, epoch, puts[:middle], gone)
        second = await self._push(digest, project, epoch, puts[middle:], [])
        return Pushed(
            head=second.head,
            put=first.put + second.put,
            forgotten=first.forgotten,
            ignored=first.ignored + second.ignored,
        )

    async def changes(
        self, digest: bytes, project: uuid.UUID, after: int, limit: int = ITEMS_MAX, applied: int | None = None
    ) -> Changes:
        """Return what is new after a place, and keep how far the caller's device has applied the feed."""
        values = (digest, project, after, limit, feed.PAGE_BYTES)
        rows = await self._reads.rows(feed.CHANGES, values)
        if self._reads is not self._primary and rows[-1]["head"] < after:
            rows = await self._primary.rows(feed.CHANGES, values)  # the replica is behind its caller
        if applied is not None:
            await self._primary.rows(
                "SELECT siftd.applied(%s::bytea, %s::uuid, %s::bigint)", (digest, project, applied)
            )
        return feed.changes(rows)

    async def check_seen(self, digest: bytes, project: uuid.UUID, min_seq: int) -> None:
        """Raise Behind where the store that answers reads has not seen a place yet."""
        rows = await self._reads.rows(feed.CHANGES, (digest, project, min_seq, 1, 0))
        if rows[-1]["head"] < min_seq:
            raise Behind(409, "behind", "this replica is behind", hint="ask the primary")

    async def members(self, digest: bytes, project: uuid.UUID) -> Members:
        """Return who is in the project, and which device has applied what."""
        row = await self._reads.row("SELECT siftd.members_json(%s::bytea, %s::uuid) AS answer", (digest, project))
        return msgspec.convert(row["answer"], Members)

    async def leave(self, digest: bytes, project: uuid.UUID, asked: Leave) -> Left:
        """Let the caller's device go, and with the last one its person."""
        row = await self._primary.row(
            'SELECT siftd."leave"(%s::bytea, %s::uuid, %s::boolean) AS went', (digest, project, asked.forget_shared)
        )
        return Left(forgotten=row["went"])

    async def expel(self, digest: bytes, project: uuid.UUID, person: uuid.UUID, *, forget_shared: bool = False) -> Left:
        """Take a person out; for admins."""
        row = await self._primary.row(
            "SELECT siftd.expel(%s::bytea, %s::uuid, %s::uuid, %s::boolean) AS went",
            (digest, project, person, forget_shared),
        )
        return Left(forgotten=row["went"])

    async def forget(
        self,
        digest: bytes,
        project: uuid.UUID,
        *,
        ids: Sequence[uuid.UUID] | None = None,
        source: Source | None = None,
        session: str | None = None,
    ) -> Forgotten:
        """Forget items for good: by ids, or all of a source or of a session that are the caller's (an admin's: all)."""
        row = await self._primary.row(
            "SELECT * FROM siftd.forget(%s::bytea, %s::uuid, %s::uuid[], %s::text, %s::text)",
            (digest, project, None if ids is None else list(ids), source, session),
        )
        return Forgotten(row["head"], row["forgotten"], row["not_yours"])

    async def has_vectors(self) -> bool:
        """Whether the store keeps vectors."""
        if self._vectors is None:
            await self.hello()
        return bool(self._vectors)
