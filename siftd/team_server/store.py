"""A team's store, as a server sees it: one method for each function of PostgreSQL that its role may execute.

Every one but `hello` and `join` takes the digest of the caller's token and a project, and PostgreSQL decides what is
theirs. Whatever is refused, or cannot be done now, is a `Refused` with a status of HTTP.
"""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Sequence
from contextlib import suppress

import msgspec
import numpy as np
from numpy.typing import NDArray

from siftd.team.items import Put, Source
from siftd.team.protocol import (
    ITEMS_MAX,
    Changes,
    Ignored,
    Join,
    Joined,
    Leave,
    Left,
    Members,
    Person,
    Push,
    Pushed,
    Renew,
)  # fmt: skip
from siftd.team.searching import (
    Audit,
    Audited,
    Listed,
    ReindexBatch,
    SearchAsked,
    SearchFound,
    Stored,
    Unembedded,
    Verdict,
)  # fmt: skip
from siftd.team_server import feed, finding, pushing
from siftd.team_server.pool import Pool
from siftd.team_server.refusals import BadArgument, Behind, NotThere, ReadOnly, TooMuch, Unavailable
from siftd.team_server.vectors import from_numbers


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


class Embedded(msgspec.Struct, frozen=True):
    """A vector that was made of an item's text; `hash` is the item's, `vector` a row of numbers."""

    id: uuid.UUID
    hash: str
    vector: NDArray[np.float32]


class _Pushed(msgspec.Struct, frozen=True):
    """As `Pushed`; `terms_stale`: so much has changed that the words are to be counted anew."""

    head: int
    put: int
    forgotten: int
    ignored: list[Ignored]
    terms_stale: bool


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
        if done.terms_stale:
            with suppress(
                Unavailable
            ):  # the items are in: a store that is too busy counts its words after another push
                await self._primary.rows("SELECT siftd.refresh_terms(%s::bytea, %s::uuid)", (digest, project))
        return Pushed(head=done.head, put=done.put, forgotten=done.forgotten, ignored=ignored + done.ignored)

    async def _push(
        self, digest: bytes, project: uuid.UUID, epoch: uuid.UUID, puts: Sequence[Put], gone: Sequence[uuid.UUID]
    ) -> _Pushed:
        columns = pushing.columns(puts, with_vectors=await self.has_vectors())
        has_any = any(each is not None for each in columns[-1])
        query = pushing.PUSH_VECTORS if has_any else pushing.PUSH_BARE
        try:
            row = await self._primary.row(
                query, (digest, project, epoch, list(gone), pushing.firsts(project, puts), *columns)
            )
        except BadArgument as error:
            if error.code != "malformed":
                raise
            return await self._push_halves(digest, project, epoch, puts, gone)
        ignored = msgspec.convert(row["ignored"], list[Ignored])
        return _Pushed(row["head"], row["put"], row["forgotten"], ignored, row["terms_stale"])

    async def _push_halves(
        self, digest: bytes, project: uuid.UUID, epoch: uuid.UUID, puts: Sequence[Put], gone: Sequence[uuid.UUID]
    ) -> _Pushed:
        """Find the item that PostgreSQL cannot keep for a reason that was not foreseen: the others go on."""
        if len(puts) <= 1:
            done = await self._push(digest, project, epoch, [], gone)
            bad = [Ignored(id=each.id, why="malformed") for each in puts]
            return msgspec.structs.replace(done, ignored=[*done.ignored, *bad])
        middle = len(puts) // 2
        first = await self._push(digest, project, epoch, puts[:middle], gone)
        second = await self._push(digest, project, epoch, puts[middle:], [])
        return _Pushed(
            second.head, first.put + second.put, first.forgotten, first.ignored + second.ignored, second.terms_stale
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

    async def search(self, digest: bytes, project: uuid.UUID, asked: SearchAsked) -> SearchFound:
        """Find items: by words, by vectors, or both by their ranks; what is missing for it is named in `degraded`."""
        models, vectors = finding.question_vectors(asked.vectors if await self.has_vectors() else [])
        strategy, degraded = finding.strategy_of(asked, vectors)
        query = finding.SEARCH_VECTORS if vectors else finding.SEARCH_BARE
        values = finding.values(asked, strategy, models, vectors)
        rows = await self._reads.rows(query, (digest, project, *values))
        ids = [row["id"] for row in rows[1:]]
        items = await self._reads.rows(finding.ITEMS, (digest, project, ids)) if ids else []
        return finding.found(asked, strategy, degraded, rows, items)

    async def get(self, digest: bytes, project: uuid.UUID, item: uuid.UUID) -> Stored:
        """Return an item. Raises NotThere."""
        rows = await self._reads.rows(finding.ITEMS, (digest, project, [item]))
        if not rows:
            raise NotThere(404, "not_found", "there is no such item")
        return finding.stored(rows[0])

    async def list_items(
        self,
        digest: bytes,
        project: uuid.UUID,
        source: Source | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> Listed:
        """Return the latest items, below a place of the feed."""
        query = "SELECT siftd.latest(%s::bytea, %s::uuid, %s::text, %s::bigint, %s::integer) AS ids"
        row = await self._reads.row(query, (digest, project, source, before, limit))
        rows = await self._reads.rows(finding.ITEMS, (digest, project, row["ids"])) if row["ids"] else []
        items = [finding.stored(each) for each in rows]
        is_all = len(row["ids"]) < limit and len(items) == len(row["ids"])
        return Listed(items=items, before=None if is_all or not items else items[-1].seq)

    async def feedback(
        self, digest: bytes, project: uuid.UUID, item: uuid.UUID, verdict: Verdict, evidence: str = ""
    ) -> None:
        """Keep a member's word on an item. Raises NotThere."""
        query = "SELECT siftd.give_feedback(%s::bytea, %s::uuid, %s::uuid, %s::text, %s::text)"
        await self._primary.rows(query, (digest, project, item, verdict, evidence.replace("\0", " ")))

    async def audit(self, digest: bytes, project: uuid.UUID, before: int | None = None, limit: int = 100) -> Audit:
        """Return what was done, the latest first; for admins."""
        query = "SELECT * FROM siftd.read_audit(%s::bytea, %s::uuid, %s::bigint, %s::integer)"
        entries = [
            Audited(
                number=row["number"],
                at=row["at"],
                what=row["what"],
                id=row["id"],
                person=Person(id=row["person"], name=row["person_name"]) if row["person_name"] else None,
            )
            for row in await self._reads.rows(query, (digest, project, before, limit))
        ]
        return Audit(entries=entries, before=entries[-1].number if len(entries) >= limit else None)

    async def embedders(self, digest: bytes, project: uuid.UUID) -> list[str]:
        """Return the model of a project's vectors, and while they are made anew the one before too."""
        row = await self._reads.row("SELECT siftd.embedders(%s::bytea, %s::uuid) AS names", (digest, project))
        names: list[str] = row["names"]
        return names

    async def embedder(self, digest: bytes, project: uuid.UUID) -> str:
        """Return the model that makes a project's vectors."""
        return (await self.embedders(digest, project))[0]

    async def set_embedder(self, digest: bytes, project: uuid.UUID, name: str) -> None:
        """Have another model make the vectors from now on; the rows of the one before are searched meanwhile."""
        await self._primary.rows("SELECT siftd.set_embedder(%s::bytea, %s::uuid, %s::text)", (digest, project, name))

    async def reindex_next(
        self, digest: bytes, project: uuid.UUID, model: str, n: int, before: int | None = None
    ) -> ReindexBatch:
        """Return items that lack a vector of the model, the latest first, of those that the caller sees; `before` is
        the batch's before this one, and without it they are counted."""
        if not await self.has_vectors():
            return ReindexBatch([], 0, None)
        query = "SELECT * FROM siftd.reindex_next(%s::bytea, %s::uuid, %s::text, %s::integer, %s::bigint)"
        rows = await self._primary.rows(query, (digest, project, model, n, before))
        items = [Unembedded(row["id"], row["hash"], row["text"], row["source"], row["visibility"]) for row in rows[1:]]
        return ReindexBatch(items, rows[0]["missing"], rows[-1]["seq"])

    async def reindex_put(self, digest: bytes, project: uuid.UUID, model: str, made: Sequence[Embedded]) -> int:
        """Keep vectors of items whose text is still the same; return how many that were."""
        if not made or not await self.has_vectors():
            return 0
        query = "SELECT siftd.reindex_put(%s::bytea, %s::uuid, %s::text, %s::uuid[], %s::bytea[], %b) AS went"
        columns = (
            [each.id for each in made],
            [bytes.fromhex(each.hash) for each in made],
            [from_numbers(each.vector) for each in made],
        )
        row = await self._primary.row(query, (digest, project, model, *columns))
        return int(row["went"])

    async def notify(self, channel: str, payload: str) -> None:
        """Tell whoever listens on a channel."""
        await self._primary.rows("SELECT pg_notify(%s, %s)", (channel, payload))

    async def has_vectors(self) -> bool:
        """Whether the store keeps vectors."""
        if self._vectors is None:
            await self.hello()
        return bool(self._vectors)
