"""What a team's store costs, on real PostgreSQL 16 and 18: each row a ratio to a yardstick in the same database and run.

What both sides of a ratio have in common (the driver, the connection's kind, the warm-up) is the same; they take turns.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, LiteralString

import msgspec
import numpy as np
import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

import bench_team_capture
import bench_team_questions
from postgres import VERSIONS, Postgres, running
from team_members import StoreWire, Team, team_on
from team_rows import (
    COPY,
    DIMENSIONS,
    INSERT,
    MODEL,
    TYPES,
    Language,
    Passages,
    Recorded,
    Texts,
    copy_rows,
    encoded,
    half,
    know_vectors,
    puts,
    row_of,
)

from siftd.team.items import Put, Vector
from siftd.team.protocol import Push
from siftd.team.searching import SearchAsked, Strategy
from siftd.team_server.maintaining import maintain

Figure = dict[str, Any]
Connection = psycopg.AsyncConnection[tuple[Any, ...]]
SIZES = (500, 5_000, 15_000, 40_000)
INDEXED = int(os.environ.get("SIFTD_BENCH_INDEXED", "100000"))
"""Rows of the project whose vectors are indexed, most of what the row takes: minutes."""
PASSAGES = os.environ.get("SIFTD_BENCH_PASSAGES", "")
"""A file of real passages, one a line, whose vectors are indexed too: made-up ones are the worst case."""
ASKED = 200
QUICK = 20
"""By which everything is divided for a quick run."""
CONF = {"shared_buffers": "512MB", "max_wal_size": "4GB", "maintenance_work_mem": "512MB", "fsync": "on"}
ROUNDS = 20
"""Of pushes of each size."""
CAPTURES = 1_500
NEAREST = "SELECT id FROM siftd.memories WHERE project_id = %s AND embedding_model = %s ORDER BY vector <=> %s LIMIT 50"
ONE_WORD = "SELECT id FROM siftd.memories WHERE project_id = %s AND text_search @@ %s::tsquery LIMIT 50"
FUNCTION = "SELECT * FROM siftd.search(%s::bytea, %s::uuid, 'keyword', %s::text, '', '{}', NULL, 10, NULL, NULL, NULL, NULL, false)"
RANKED = (
    "SELECT id FROM siftd.memories WHERE project_id = %s AND text_search @@ %s::tsquery"
    " ORDER BY ts_rank_cd(text_search, %s::tsquery) DESC LIMIT 50"
)
Act = Callable[[], Awaitable[object]]


@dataclass
class Filled:
    """A project with made-up rows, and how it is reached."""

    wire: StoreWire
    person: uuid.UUID
    device: uuid.UUID
    epoch: uuid.UUID
    texts: Texts | Passages
    taken: int = 0
    """Rows that yardsticks have put in."""

    @property
    def project(self) -> uuid.UUID:
        return self.wire.project


def figures(*, quick: bool) -> Iterator[Figure]:
    """Yield the rows of both versions, each as it is measured."""
    for version in VERSIONS:
        with running(version, conf=CONF) as postgres, asyncio.Runner() as runner:
            rows = _measured(postgres, QUICK if quick else 1)
            while (row := runner.run(anext(rows, None))) is not None:
                yield row | {"what": f"PostgreSQL {version}: {row['what']}"}


async def _measured(postgres: Postgres, divisor: int) -> AsyncGenerator[Figure, None]:
    language = Language()
    asked = max(20, ASKED // divisor)
    async with team_on(postgres, projects=()) as team, _owning(team) as owner:
        filled = {size: await _filled(team, language, f"of {size}", size // divisor) for size in SIZES}
        _tidy(team)
        for measured in (
            _legs(team, owner, filled, asked),
            _words(team, owner, filled[40_000], asked),
            _pushes(team, owner, language, divisor),
            asyncio.to_thread(bench_team_capture.figures, team.database, CAPTURES // divisor),
            bench_team_questions.figures(team, _questions()),
            _index(team, owner, language, INDEXED // divisor, asked, of="made-up"),
        ):
            for row in await measured:
                yield row
        if PASSAGES:
            recorded = Recorded(Path(PASSAGES), [each / "queries.jsonl" for each in _questions()])
            for row in await _index(team, owner, recorded, INDEXED // divisor, asked, of="real"):
                yield row


def _questions() -> list[Path]:
    """Return the data sets of recorded questions: none is in this repository."""
    return [Path(each) for each in os.environ.get("SIFTD_BENCH_QUESTIONS", "").split(":") if each]


@asynccontextmanager
async def _owning(team: Team) -> AsyncIterator[Connection]:
    """Give a connection that no policy holds up, for the yardsticks."""
    async with await psycopg.AsyncConnection.connect(team.database.superuser, autocommit=True) as connection:
        await connection.execute("SET search_path = siftd_vector, public")
        row = await (await connection.execute("SELECT 'halfvec'::regtype::oid")).fetchone()
        assert row is not None
        know_vectors(connection, int(row[0]))
        yield connection


# Filling


async def _filled(team: Team, language: Language | Recorded, name: str, count: int) -> Filled:
    """Fill a project by COPY: what pushing costs is measured elsewhere."""
    joined, wire = await team.join("ana", name, f"{name} laptop", role="admin")
    texts = language.texts(count)
    rows = (
        row_of(wire.project, put, number, joined.person.id, joined.device, texts.vectors[number - 1])
        for number, put in enumerate(puts(wire.project, texts), start=1)
    )
    with psycopg.connect(team.database.superuser) as connection:
        copy_rows(connection, rows)
        connection.execute(
            "UPDATE siftd.projects SET head = %s, dimensions = %s WHERE id = %s", (count, DIMENSIONS, wire.project)
        )
        connection.execute("SET LOCAL search_path = siftd, pg_temp")
        connection.execute("SELECT siftd.remake_terms(%s, 1000000)", (wire.project,))
    return Filled(wire, joined.person.id, joined.device, joined.epoch, texts)


def _tidy(team: Team) -> None:
    """Do what the autovacuum of a store that has stood for a minute has done."""
    with psycopg.connect(team.database.superuser, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE siftd.memories")


# Searching


async def _legs(team: Team, owner: Connection, filled: dict[int, Filled], asked: int) -> list[Figure]:
    five, few, middle = filled[5_000], filled[500], filled[15_000]
    larger, smaller = await _in_turns(
        [
            (partial(_nearest, owner, five, a), partial(_nearest, owner, few, b))
            for (_, a), (_, b) in zip(five.texts.questions(asked), few.texts.questions(asked), strict=True)
        ]
    )
    whole, alone = await _in_turns(
        [
            (partial(_search, team, middle, text, vector), partial(_nearest, owner, middle, vector))
            for text, vector in middle.texts.questions(asked)
        ]
    )
    spread = statistics.quantiles(whole, n=100)[98] / statistics.median(whole)
    return [
        {"what": "exact leg, a project of 5,000 rows ÷ one of 500", "goal": "≤ 15 ×", **_ratio(larger, smaller)},
        {"what": "whole search, 15,000 rows ÷ the exact leg alone", "goal": "≤ 3 ×", **_ratio(whole, alone)},
        {"what": "the same search, p99 ÷ p50", "goal": "≤ 3 ×", "ratio": spread},
    ]


async def _words(team: Team, owner: Connection, project: Filled, asked: int) -> list[Figure]:
    assert isinstance(project.texts, Texts), "of real ones it is not known which words are rare"
    by_words = partial(_search, team, project, vector=None, strategy="keyword")
    async with await psycopg.AsyncConnection.connect(team.database.app, autocommit=True) as app:
        rare, as_owner = await _in_turns(
            [
                (
                    partial(_run, app, FUNCTION, project.wire.digest, project.project, word),
                    partial(_run, owner, ONE_WORD, project.project, f"'{word}'"),
                )
                for word in project.texts.rare_words(asked, rows_max=3)
            ]
        )
    tried: list[tuple[Act, Act]] = []
    for text, _ in project.texts.questions(asked):
        any_of = " | ".join(f"'{each}'" for each in text.split())
        tried.append((partial(by_words, text=text), partial(_run, owner, RANKED, project.project, any_of, any_of)))
    ours, plain = await _in_turns(tried)
    return [
        {"what": "a rare word through the function ÷ as owner", "goal": "≤ 3 ×", **_ratio(rare, as_owner)},
        {"what": "words by BM25 ÷ OR-ed ts_rank_cd, 40,000 rows", "goal": "≤ 0.5 ×", **_ratio(ours, plain)},
    ]


async def _run(owner: Connection, query: LiteralString, *values: object) -> None:
    await (await owner.execute(query, values)).fetchall()


async def _nearest(owner: Connection, project: Filled, vector: np.ndarray) -> list[uuid.UUID]:
    """Return the fifty nearest, by one scan of the project."""
    rows = await owner.execute(NEAREST, (project.project, MODEL, half(vector)))
    return [row[0] for row in await rows.fetchall()]


async def _search(
    team: Team, project: Filled, text: str, vector: np.ndarray | None, strategy: Strategy = "hybrid"
) -> list[uuid.UUID]:
    vectors = [] if vector is None else [Vector(model=MODEL, data=encoded(vector))]
    asked = SearchAsked(question=text, vectors=vectors, strategy=strategy)
    told = await team.store.search(project.wire.digest, project.project, asked)
    return [each.item.id for each in told.hits]


# Pushing


async def _pushes(team: Team, owner: Connection, language: Language, divisor: int) -> list[Figure]:
    project = await _filled(team, language, "pushed to", 5_000 // divisor)
    rounds = max(5, ROUNDS // divisor)
    found = []
    goals: list[tuple[int, Callable[..., Awaitable[None]], str]] = [
        (1, _insert, "≥ 0.7 ×"), (100, _copy, "≥ 0.12 ×"), (500, _copy, "≥ 0.15 ×"),
    ]  # fmt: skip
    for size, yardstick, goal in goals:
        made = language.texts(size * 2 * (rounds + 1))
        items = list(puts(project.project, made, first=10**6 * size))
        tried: list[tuple[Act, Act]] = []
        for begin in range(0, len(made), size * 2):
            ours, theirs = range(begin, begin + size), range(begin + size, begin + size * 2)
            mine = partial(_push, team, project, made, items, ours)
            tried.append((mine, partial(yardstick, owner, project, made, items, theirs)))
        taken, other = await _in_turns(tried)
        named = "a single-row INSERT" if size == 1 else "binary COPY"
        ratio = statistics.median(other) / statistics.median(taken)
        rate = size / statistics.median(taken)
        what = f"push of {size} ÷ {named} into the same table and indexes, rows a second"
        found.append({"what": what, "goal": goal, "ratio": ratio, "rate": rate, "yardstick_rate": rate / ratio})
    return found


async def _push(team: Team, project: Filled, made: Texts, items: Sequence[Put], rows: range) -> None:
    told = [
        msgspec.structs.replace(items[row], vector=Vector(model=MODEL, data=encoded(made.vectors[row]))) for row in rows
    ]
    push = Push(epoch=project.epoch, items=[*told])
    pushed = await team.store.push(project.wire.digest, project.project, push)
    if pushed.put != len(rows):
        raise SystemExit(f"{pushed.put} of {len(rows)} were taken: {pushed.ignored[:3]}")


async def _insert(owner: Connection, project: Filled, made: Texts, items: Sequence[Put], rows: range) -> None:
    for row in rows:
        await owner.execute(INSERT, _next_row(project, made, items, row))


async def _copy(owner: Connection, project: Filled, made: Texts, items: Sequence[Put], rows: range) -> None:
    async with owner.cursor().copy(COPY) as copy:
        copy.set_types(TYPES)
        for row in rows:
            await copy.write_row(_next_row(project, made, items, row))


def _next_row(project: Filled, made: Texts, items: Sequence[Put], row: int) -> tuple[object, ...]:
    """Return a row at a place of the feed that no push takes."""
    project.taken += 1
    return row_of(project.project, items[row], 10**9 + project.taken, project.person, project.device, made.vectors[row])


# The index


async def _index(
    team: Team, owner: Connection, language: Language | Recorded, count: int, asked: int, *, of: str
) -> list[Figure]:
    project = await _filled(team, language, f"indexed, {of}", count)
    _tidy(team)
    questions = project.texts.questions(asked)
    exact = [(await _nearest(owner, project, vector))[:10] for _, vector in questions]
    before, took_before = await _nearest_by_server(team, project, questions)
    started = time.perf_counter()
    done = await asyncio.to_thread(maintain, team.database.operator, exact_max=count // 2, recall_min=0.0)
    built = time.perf_counter() - started
    after, took_after = await _nearest_by_server(team, project, questions)
    (own,) = [each.recall for each in done.indexes if each.vectors == count and each.project.endswith(of)]
    what = f"{count:,} {of} rows"
    return [
        {
            "what": f"recall@10 of the exact leg, {what}", "goal": "1.0",
            "recall": _overlap(before, exact), "ms": statistics.median(took_before) * 1000,
        },
        {
            "what": f"recall@10 of the indexed leg, {what}", "goal": "≥ .98", "recall": _overlap(after, exact),
            "ms": statistics.median(took_after) * 1000, "seconds": built, "recall_of_own_rows": own,
        },
    ]  # fmt: skip


async def _nearest_by_server(
    team: Team, project: Filled, questions: Sequence[tuple[str, np.ndarray]]
) -> tuple[list[list[uuid.UUID]], list[float]]:
    took, found = [], []
    for text, vector in questions:
        begun = time.perf_counter()
        found.append(await _search(team, project, text, vector, strategy="semantic"))
        took.append(time.perf_counter() - begun)
    return found, took


def _overlap(found: Sequence[Sequence[uuid.UUID]], exact: Sequence[Sequence[uuid.UUID]]) -> float:
    return statistics.mean(len(set(a) & set(b)) / len(b) for a, b in zip(found, exact, strict=True))


# Timing


async def _in_turns(tried: Sequence[tuple[Act, Act]]) -> tuple[list[float], list[float]]:
    """Return the seconds of ours and of the yardstick; the first pair warms up and does not count."""
    ours: list[float] = []
    yardstick: list[float] = []
    for mine, other in tried:
        for act, took in ((other, yardstick), (mine, ours)):
            started = time.perf_counter()
            await act()
            took.append(time.perf_counter() - started)
    return ours[1:], yardstick[1:]


def _ratio(ours: Sequence[float], yardstick: Sequence[float]) -> Figure:
    mine, other = statistics.median(ours), statistics.median(yardstick)
    return {"ratio": mine / other, "ms": mine * 1000, "yardstick_ms": other * 1000}
