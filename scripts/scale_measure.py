"""What one project takes on a real PostgreSQL, and in a laptop's replica: for `scale.py`.

Its rows are made up: words as frequent as in prose, vectors of no meaning. So the sizes hold, and the times of reading
and writing; what is found is measured elsewhere (`scripts/bench team`).
"""

from __future__ import annotations

import asyncio
import base64
import os
import platform
import sys
import tempfile
import uuid
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, LiteralString

import msgspec
import numpy as np
import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from postgres import TeamDatabase, make_team_database, running

from siftd.embed.words import index_words
from siftd.store import team_replica
from siftd.store.team_replica import Placed
from siftd.team.items import Put, Vector, content_hash, document_id
from siftd.team.protocol import ITEMS_MAX, Changed, Join, Joined, Person, Push
from siftd.team.searching import SearchAsked
from siftd.team_server.operator import as_owner, ensure_project, invite
from siftd.team_server.store import TeamStore, token_digest

VERSION = 18
MODEL = "hash-384"
DIMENSIONS = 384
VOCABULARY = 30_000
WORDS = 72
"""Of a text: as long as the story of a session, about 500 characters."""
CONF = {"shared_buffers": "1GB", "max_wal_size": "8GB", "maintenance_work_mem": "1GB", "fsync": "on"}
PUSHES = 100
SEARCHES = 30
INDEXED = 4_000
"""Items of which the index of vectors is made: that takes long, and its size grows as they do."""
IN_REPLICA = 3_000
WHERE = (
    "SELECT tableoid::regclass::text, (SELECT nspname FROM pg_namespace n JOIN pg_extension e ON e.extnamespace = n.oid"
    " WHERE extname = 'vector') FROM siftd.memories WHERE project_id = %s LIMIT 1"
)
INDEX = (
    "CREATE INDEX measured ON siftd.{partition} USING hnsw ((vector::{schema}.halfvec(384)) {schema}.halfvec_cosine_ops)"
    " WITH (m = 32, ef_construction = 256) WHERE embedding_model = 'hash-384'"
)


class Made:
    """Items without an end."""

    def __init__(self, project: uuid.UUID) -> None:
        self._project = project
        self._drawn = np.random.default_rng(1)
        frequency = 1 / np.arange(1, VOCABULARY + 1) ** 0.9
        self._chance = frequency / frequency.sum()
        self._count = 0

    def items(self, count: int) -> list[Put]:
        words = self._drawn.choice(VOCABULARY, size=(count, WORDS), p=self._chance)
        return [self._item(row, vector) for row, vector in zip(words, self.vectors(count), strict=True)]

    def vectors(self, count: int) -> np.ndarray:
        found = self._drawn.standard_normal((count, DIMENSIONS), dtype=np.float32)
        scaled: np.ndarray = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype("<f2")
        return scaled

    def question(self) -> str:
        return " ".join(_word(int(each)) for each in self._drawn.choice(VOCABULARY, 7, p=self._chance))

    def _item(self, row: np.ndarray, vector: np.ndarray) -> Put:
        self._count += 1
        text, ref = " ".join(_word(int(each)) for each in row), f"made-up-{self._count}"
        put = Put(
            id=document_id(self._project, "memory", ref), rev=1, hash="0" * 64, source="memory", source_ref=ref,
            text=text, ts=1_760_000_000_000 + self._count,
            metadata={"type": "fact", "tags": ["queue", "db"], "importance": 3, "saidBy": "agent"},
        )  # fmt: skip
        return msgspec.structs.replace(put, hash=content_hash(put), vector=_vector(vector))


def _word(number: int) -> str:
    letters = []
    for _ in range(5):
        number, rest = divmod(number, 20)
        letters.append("bcdfghjklmnpqrtvwxzu"[rest])
    return "".join(letters) + "q"


def measure(items: int) -> dict[str, Any]:
    """Return the figures of this machine, of a project of so many items."""
    with running(VERSION, conf=CONF) as server:
        database = make_team_database(server)
        figures = asyncio.run(_measured(database, items))
    figures["machine"] = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, PostgreSQL {VERSION}"
    figures["on"] = datetime.now(UTC).date().isoformat()
    return figures


async def _measured(database: TeamDatabase, items: int) -> dict[str, Any]:
    with as_owner(database.operator) as owner:
        project = ensure_project(owner, "measured", MODEL)
        code = invite(owner, project, "ana", "admin").code
    store = TeamStore(database.app, connections=2)
    await store.open()
    try:
        joined = await store.join(Join(invite=code, device="laptop", store=uuid.uuid4()))
        return await Project(database, store, joined).figures(items)
    finally:
        await store.close()


class Project:
    """The project that is filled and asked."""

    def __init__(self, database: TeamDatabase, store: TeamStore, joined: Joined) -> None:
        self._database = database
        self._store = store
        self._joined = joined
        self._digest, self._id = token_digest(joined.token), joined.project.id
        self._made = Made(self._id)

    async def figures(self, count: int) -> dict[str, Any]:
        self._as_superuser("UPDATE siftd.projects SET dimensions = %s", DIMENSIONS)
        # What is measured is work, not waiting: on a busy machine the server's own deadlines would end it.
        self._as_superuser("ALTER ROLE siftd_app SET statement_timeout = 0")
        before = _wal(self._database)
        of_500 = await self._push(INDEXED, ITEMS_MAX)
        vector_index, index_ms, indexed = await self._indexed()
        between = _wal(self._database)
        of_500 = await self._push(count - INDEXED, ITEMS_MAX)
        wal = (_wal(self._database) - between) / (count - INDEXED)
        assert between > before
        self._as_superuser("VACUUM ANALYZE siftd.memories")
        self._as_superuser("SELECT siftd.remake_terms(%s, 1000000000)", self._id)
        self._as_superuser("VACUUM ANALYZE siftd.terms")
        sizes = _sizes(self._database, count)
        words, vectors = await self._search("keyword"), await self._search("semantic")
        of_1 = await self._push(PUSHES, 1)
        pulled, wire = await self._pull()
        sizes |= {"vector_index": vector_index, "wal": wal, "wire": wire}
        sizes["replica"] = _replica_bytes(self._made, self._joined.person)
        return {
            "items": count,
            "bytes_an_item": {name: round(size) for name, size in sizes.items()},
            "push_ms": {"of_1": round(of_1, 2), "item_of_500": round(of_500, 3)},
            "pull_ms_an_item": round(pulled, 4),
            "search_ms": {"words": round(words, 1), "exact": round(vectors, 1), "indexed": round(indexed, 1)},
            "index_ms_an_item": round(index_ms, 2),
            "indexed": INDEXED,
        }

    async def _push(self, count: int, size: int) -> float:
        """Push so many items; return what PostgreSQL worked for one of them."""
        worked = 0.0
        for _ in range(count // size):
            items = self._made.items(size)
            before = _worked_ms(self._database)
            await self._store.push(self._digest, self._id, Push(epoch=self._joined.epoch, items=list(items)))
            worked += _worked_ms(self._database) - before
        return worked / count

    async def _search(self, strategy: Literal["keyword", "semantic"]) -> float:
        """Ask questions; return what PostgreSQL worked for one."""
        before = _worked_ms(self._database)
        for row in self._made.vectors(SEARCHES):
            asked = SearchAsked(question=self._made.question(), vectors=[_vector(row)], strategy=strategy)
            await self._store.search(self._digest, self._id, asked)
        return (_worked_ms(self._database) - before) / SEARCHES

    async def _pull(self) -> tuple[float, float]:
        """Read the feed's beginning; return what PostgreSQL worked for an item, and the item's bytes on the wire."""
        before, size = _worked_ms(self._database), 0
        for after in range(0, IN_REPLICA, ITEMS_MAX):
            page = await self._store.changes(self._digest, self._id, after, ITEMS_MAX, after)
            size += len(msgspec.json.encode(page))
        return (_worked_ms(self._database) - before) / IN_REPLICA, size / IN_REPLICA

    async def _indexed(self) -> tuple[float, float, float]:
        """Make the index of vectors over what is there, ask by it, and take it away again.

        Return its bytes an item, what PostgreSQL worked at it for an item, and for a question.
        """
        with psycopg.connect(self._database.superuser, autocommit=True) as connection:
            row = connection.execute(WHERE, (self._id,)).fetchone()
            assert row is not None
            before = _worked_ms(self._database)
            connection.execute(INDEX.format(partition=row[0].removeprefix("siftd."), schema=row[1]))
            worked = _worked_ms(self._database) - before
            connection.execute("UPDATE siftd.projects SET indexed_model = embedder WHERE id = %s", (self._id,))
            connection.execute("SELECT siftd.remake_terms(%s, 1000000000)", (self._id,))
            size = connection.execute("SELECT pg_relation_size('siftd.measured')").fetchone()
            assert size is not None
            asked = await self._search("semantic")
            connection.execute("UPDATE siftd.projects SET indexed_model = NULL WHERE id = %s", (self._id,))
            connection.execute("DROP INDEX siftd.measured")
        return int(size[0]) / INDEXED, worked / INDEXED, asked

    def _as_superuser(self, statement: LiteralString, *values: object) -> None:
        with psycopg.connect(self._database.superuser, autocommit=True) as connection:
            connection.execute(statement, values)


def _worked_ms(database: TeamDatabase) -> float:
    """Return the processor time of PostgreSQL's processes so far: on a busy machine the clock tells of others."""
    ticks, postmaster = 0, str(database.server.pid)
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if fields[1] == postmaster:
                ticks += int(fields[11]) + int(fields[12])
            elif folder.name == postmaster:
                ticks += sum(map(int, fields[11:15]))  # and of those that have ended
    return ticks * 1000 / os.sysconf("SC_CLK_TCK")


def _wal(database: TeamDatabase) -> int:
    with psycopg.connect(database.superuser) as connection:
        row = connection.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn").fetchone()
    assert row is not None
    return int(row[0])


def _sizes(database: TeamDatabase, count: int) -> dict[str, float]:
    """Return bytes an item of the table and of its indexes."""
    with psycopg.connect(database.superuser) as connection:
        rows = connection.execute(
            "SELECT c.relname, c.relkind, pg_relation_size(c.oid)"
            " + coalesce((SELECT pg_total_relation_size(t.oid) FROM pg_class t WHERE t.oid = c.reltoastrelid), 0)"
            " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = 'siftd' AND c.relname ~ '^memories_[0-9]'"
        ).fetchall()
        with_terms = connection.execute(
            "SELECT pg_total_relation_size('siftd.terms'), (SELECT count(*) FROM siftd.terms)"
        ).fetchone()
    assert with_terms is not None
    table = sum(int(size) for _, kind, size in rows if kind == "r")
    words = sum(int(size) for name, kind, size in rows if kind == "i" and "text" in name)
    keys = sum(int(size) for name, kind, size in rows if kind == "i" and "text" not in name)
    terms = int(with_terms[0]) if with_terms[1] else 0
    return {"table": table / count, "key_indexes": keys / count, "words_index": words / count, "terms": terms / count}


def _vector(row: np.ndarray) -> Vector:
    return Vector(model=MODEL, data=base64.b64encode(row.tobytes()).decode())


def _replica_bytes(made: Made, author: Person) -> float:
    """Return what an item takes in a laptop's replica, its words and its vector with it."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/team.db"
        replica = team_replica.open_replica(path, "measured", 1)
        device, seq = uuid.uuid4(), 0
        for _ in range(IN_REPLICA // ITEMS_MAX):
            placed = []
            for put in made.items(ITEMS_MAX):
                seq += 1
                changed = Changed(seq=seq, item=put, author=author, device=device)
                placed.append(Placed(changed, index_words(put.text), is_own=False))
            after = team_replica.read_cursor(replica)
            team_replica.apply(replica, placed, [], after=after, seq=seq, is_head=True)
        vectors = [(each, MODEL, DIMENSIONS, bytes(4 * DIMENSIONS)) for each in range(1, IN_REPLICA + 1)]
        replica.executemany("INSERT INTO embeddings VALUES ('memory', ?, ?, ?, ?)", vectors)
        replica.close()
        return Path(path).stat().st_size / IN_REPLICA
