"""What a store needs once a night: words counted anew, and an index of vectors where comparing all of them is too slow.

Comparing all vectors of a project is exact and quick up to some 25,000. Above that an index (HNSW) is built for the
project's partition and model, without blocking anybody, and its recall is measured: how many of the ten nearest it
finds, over a sample of the project's own vectors. It is used where that is good enough, and the figure is told either
way.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import sql

from siftd.errors import StoreError

EXACT_MAX = 25_000
"""Vectors of a project that are compared one by one: about 12 ms."""
RECALL_MIN = 0.98
SAMPLE = 100
NEAREST = 10

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Measured:
    """An index of a project's vectors, and its recall."""

    project: str
    model: str
    vectors: int
    recall: float
    used: bool


@dataclass
class Maintained:
    """What was done."""

    counted: list[str] = field(default_factory=list)
    indexes: list[Measured] = field(default_factory=list)


def maintain(dsn: str, *, exact_max: int = EXACT_MAX, recall_min: float = RECALL_MIN) -> Maintained:
    """Do what is due. Raises StoreError; what was done until then stays done."""
    done = Maintained()
    try:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("SET ROLE siftd_owner")
            connection.execute("SET search_path = siftd, pg_temp")
            projects = connection.execute(
                "SELECT id, name, embedder, dimensions FROM projects ORDER BY name"
            ).fetchall()
            for project, name, model, dimensions in projects:
                row = connection.execute("SELECT remake_terms(%s, %s)", (project, 2**62)).fetchone()
                if row is not None and row[0]:
                    done.counted.append(name)
                vectors = _count(connection, project, model) if dimensions else 0
                if vectors > exact_max:
                    _ensure_index(connection, project, model, dimensions)
                    recall = measure(connection, project, model)
                    used = recall >= recall_min
                    _use(connection, project, model if used else None)
                    done.indexes.append(Measured(name, model, vectors, recall, used))
                else:
                    _use(connection, project, None)
    except psycopg.Error as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise StoreError(f"not all was done ({first})", hint="run it again") from error
    return done


def measure(connection: Connection, project: uuid.UUID, model: str) -> float:
    """Return the recall at ten of the index against comparing all, over a sample of the project's vectors."""
    row = connection.execute(
        """
        WITH asked AS MATERIALIZED (
            SELECT id, vector FROM memories WHERE project_id = %(p)s AND embedding_model = %(model)s
                AND visibility = 'project' ORDER BY md5(id::text) LIMIT %(sample)s
        ), exact AS MATERIALIZED (
            SELECT a.id AS asked, n.id FROM asked a, near(%(p)s, NULL, %(model)s, a.vector, %(n)s + 1, NULL, NULL, NULL,
                NULL, true) n WHERE n.id <> a.id
        ), indexed AS MATERIALIZED (
            SELECT a.id AS asked, n.id FROM asked a, near_indexed(%(p)s, NULL, %(model)s, a.vector, %(n)s + 1, NULL,
                NULL, NULL, NULL, true) n WHERE n.id <> a.id
        )
        SELECT count(i.id)::real / greatest(count(*), 1) FROM exact e LEFT JOIN indexed i USING (asked, id)
        """,
        {"p": project, "model": model, "sample": SAMPLE, "n": NEAREST},
    ).fetchone()
    return 0.0 if row is None else float(row[0])


def _count(connection: Connection, project: uuid.UUID, model: str) -> int:
    row = connection.execute(
        "SELECT count(*) FROM memories WHERE project_id = %s AND embedding_model = %s", (project, model)
    ).fetchone()
    return 0 if row is None else int(row[0])


def _ensure_index(connection: Connection, project: uuid.UUID, model: str, dimensions: int) -> None:
    """Build the index of a project's partition and a model, where it is missing or was left half built."""
    row = connection.execute(
        "SELECT tableoid::regclass::text, (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n"
        " ON n.oid = e.extnamespace WHERE e.extname = 'vector') FROM memories WHERE project_id = %s LIMIT 1",
        (project,),
    ).fetchone()
    assert row is not None
    partition, schema = row[0].split(".")[-1], row[1]
    name = f"{partition}_hnsw_{hashlib.sha256(model.encode()).hexdigest()[:12]}"
    state = connection.execute(
        "SELECT i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " WHERE c.relname = %s AND c.relnamespace = 'siftd'::regnamespace",
        (name,),
    ).fetchone()
    if state is not None and state[0]:
        return
    if state is not None:
        connection.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(sql.Identifier("siftd", name)))
    connection.execute(
        sql.SQL(
            "CREATE INDEX CONCURRENTLY {name} ON {table} USING hnsw ((vector::{schema}.halfvec({size}))"
            " {schema}.halfvec_cosine_ops) WITH (m = 32, ef_construction = 256) WHERE embedding_model = {model}"
        ).format(
            name=sql.Identifier(name), table=sql.Identifier("siftd", partition), schema=sql.Identifier(schema),
            size=sql.Literal(dimensions), model=sql.Literal(model),
        )
    )  # fmt: skip


def _use(connection: Connection, project: uuid.UUID, model: str | None) -> None:
    connection.execute(
        "UPDATE projects SET indexed_model = %s WHERE id = %s AND indexed_model IS DISTINCT FROM %s",
        (model, project, model),
    )
