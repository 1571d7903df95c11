"""Walking the graph: breadth first by a recursive query, each entity once a step, so that a circle ends.

Nothing here is as large as the graph. A step goes on from an entity along its most mentioned relations alone (`FAN`), a
walk ends after so many entities: what was left out is told, never silent. Whoever asks may stop it at any moment.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from siftd.errors import RequestInvalid

DEPTH_MAX = 6
LIMIT_MAX = 100
FAN = 64
"""Relations of one entity and direction that a walk between two follows; of what is listed, as many as are asked for.
One with more is a hub. Arbitrary: hardly any module, service or person has so many."""
ROWS_OF_A_PATH = 2_000
"""Entities that are met from either end. Three steps at ten relations each are 1,100."""
_STEPS_BETWEEN_LOOKS = 20_000
"""Of SQLite's machine: below a millisecond."""

HOLDS = """
(:history OR (r.valid_from <= :at AND (r.valid_to IS NULL OR r.valid_to > :at)))
AND (:type IS NULL OR r.type = :type)
"""
_WALK = f"""
WITH RECURSIVE walk (id, depth) AS (
    SELECT :start, 0
    UNION
    SELECT CASE WHEN r.src = w.id THEN r.dst ELSE r.src END, w.depth + 1
    FROM walk w CROSS JOIN relations r ON r.id IN (
        SELECT id FROM (
            SELECT r.id FROM relations r WHERE r.src = w.id AND :outward AND {HOLDS}
            ORDER BY r.mention_count DESC LIMIT :fan)
        UNION ALL
        SELECT id FROM (
            SELECT r.id FROM relations r WHERE r.dst = w.id AND :inward AND {HOLDS}
            ORDER BY r.mention_count DESC LIMIT :fan))
    WHERE w.depth < :depth
    ORDER BY 2 LIMIT :rows)
SELECT w.id, min(w.depth) AS depth, e.mention_count FROM walk w JOIN entities e ON e.id = w.id
GROUP BY w.id ORDER BY depth, e.mention_count DESC, w.id
"""  # noqa: S608 - constants only
_WALK_ALONG_ONE_TYPE = _WALK.replace(":type IS NULL OR ", "").replace("BY r.mention_count", "BY +r.mention_count")
"""Out of the indexes that know the type: of a hub's relations there may be many of others."""
_BETWEEN = f"""
SELECT j.value AS id, r.id AS relation, r.mention_count, j.key FROM json_each(:nearer) j
CROSS JOIN relations r ON r.src = j.value AND r.dst = :id AND :outward AND {HOLDS}
UNION ALL
SELECT j.value, r.id, r.mention_count, j.key FROM json_each(:nearer) j
CROSS JOIN relations r ON r.src = :id AND r.dst = j.value AND :inward AND {HOLDS}
"""  # noqa: S608 - constants only
_MOST_MENTIONED = f"{_BETWEEN} ORDER BY 3 DESC, 2 LIMIT 1"
_FIRST = f"{_BETWEEN} ORDER BY 4, 2 LIMIT 1"
_HAS_MORE = f"""
SELECT (SELECT count(*) FROM (
        SELECT 1 FROM relations r WHERE r.src = :id AND :outward AND {HOLDS} LIMIT :fan + 1)) > :fan
    OR (SELECT count(*) FROM (
        SELECT 1 FROM relations r WHERE r.dst = :id AND :inward AND {HOLDS} LIMIT :fan + 1)) > :fan
"""  # noqa: S608 - constants only


_MAY_HAVE_MORE = """
SELECT j.value FROM json_each(:ids) j
WHERE EXISTS (SELECT 1 FROM relations r WHERE r.src = j.value LIMIT 1 OFFSET :fan)
OR EXISTS (SELECT 1 FROM relations r WHERE r.dst = j.value LIMIT 1 OFFSET :fan)
"""
"""Out of the indexes alone."""


@dataclass(frozen=True, slots=True)
class Along:
    """Which relations a walk follows."""

    at: int
    """The moment at which they hold."""
    type: str | None = None
    outward: bool = True
    inward: bool = True
    history: bool = False
    """Also those that do not hold then."""

    @property
    def back(self) -> Along:
        """The same, from the other end."""
        return Along(self.at, self.type, self.inward, self.outward, self.history)

    @property
    def values(self) -> dict[str, object]:
        return {
            "at": self.at, "type": self.type, "outward": self.outward, "inward": self.inward, "history": self.history,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Met:
    """An entity that a walk came to: in how many steps, from which one, by which relation."""

    id: int
    depth: int
    parent: int
    relation: int


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk came to, nearest first, and whether there is more than was looked at."""

    met: list[Met]
    is_whole: bool


@contextmanager
def interruptible(connection: sqlite3.Connection, is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Let queries end when nobody wants their answer any more. Raises RequestInvalid then."""
    connection.set_progress_handler(lambda: not is_wanted(), _STEPS_BETWEEN_LOOKS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        raise RequestInvalid("the walk took too long", hint="fewer steps (maxDepth), or one relationType") from None
    finally:
        connection.set_progress_handler(None, 0)


def neighbours(connection: sqlite3.Connection, start: int, along: Along, depth: int, limit: int) -> Walked:
    """Return the entities up to `depth` steps away, nearest first, of one step the most mentioned ones first."""
    depth, limit = _clamped(depth, DEPTH_MAX), _clamped(limit, LIMIT_MAX)
    rows = 8 * (limit + 1) * (depth + 1)
    depths = _walk(connection, start, along, depth, fan=limit + 1, rows=rows)
    found = [(each, steps) for each, steps in depths.items() if steps]
    by_step: dict[int, list[int]] = {0: [start]}
    for each, steps in found:
        by_step.setdefault(steps, []).append(each)
    met = [_met(connection, each, steps, by_step[steps - 1], along) for each, steps in found[:limit]]
    inner = [start, *(each for each, steps in found[:limit] if steps < depth)]
    return Walked(met, len(found) <= limit and not _with_more(connection, inner, along, limit + 1))


def path(connection: sqlite3.Connection, start: int, target: int, along: Along, depth: int) -> Walked:
    """Return the steps of a shortest way from one entity to another; none where there is none of at most `depth`.

    It is looked for from both ends. A hub is not walked through to all that hangs on it: whether it leads on to what
    the other end has met is asked of that. Where nothing is found and a hub was met, there may still be a way.
    """
    depth = _clamped(depth, DEPTH_MAX)
    if start == target:
        return Walked([], is_whole=True)
    half = (depth + 1) // 2
    there = _walk(connection, start, along, half, fan=FAN, rows=ROWS_OF_A_PATH)
    back = _walk(connection, target, along.back, depth - half, fan=FAN, rows=ROWS_OF_A_PATH)
    hubs = (_hubs(connection, there, half, along), _hubs(connection, back, depth - half, along.back))
    is_whole = not any(hubs) and max(len(there), len(back)) < ROWS_OF_A_PATH // (half + 1)
    middle = _meeting(connection, there, back, hubs, along)
    if middle is None or there[middle[0]] + back[middle[1]] + (middle[0] != middle[1]) > depth:
        return Walked([], is_whole)
    first, second = middle
    ids = [*_chain(connection, first, there, along)[::-1], *_chain(connection, second, back, along.back)]
    ids = list(dict.fromkeys(ids))
    steps = [_met(connection, each, number, [ids[number - 1]], along) for number, each in enumerate(ids[1:], start=1)]
    return Walked(steps, is_whole)


def _walk(
    connection: sqlite3.Connection, start: int, along: Along, depth: int, *, fan: int, rows: int
) -> dict[int, int]:
    """Return the entities that are met, the start too, with their steps, nearest first."""
    values = {**along.values, "start": start, "depth": depth, "fan": fan, "rows": rows}
    sql = _WALK if along.type is None else _WALK_ALONG_ONE_TYPE
    return {row[0]: row[1] for row in connection.execute(sql, values)}


def _met(connection: sqlite3.Connection, id_: int, depth: int, nearer: Sequence[int], along: Along) -> Met:
    """Return an entity with the most mentioned relation by which one of the nearer ones leads to it."""
    values = {**along.values, "id": id_, "nearer": json.dumps(nearer)}
    parent, relation, *_ = connection.execute(_MOST_MENTIONED, values).fetchone()
    return Met(id_, depth, parent, relation)


def _hubs(connection: sqlite3.Connection, met: Mapping[int, int], depth: int, along: Along) -> list[int]:
    """Return the entities that a walk went on from along some of their relations alone."""
    return _with_more(connection, [each for each, steps in met.items() if steps < depth], along, FAN)


def _with_more(connection: sqlite3.Connection, ids: Sequence[int], along: Along, fan: int) -> list[int]:
    """Return the entities that have more relations in a direction than a walk followed."""
    candidates = connection.execute(_MAY_HAVE_MORE, {"ids": json.dumps(ids), "fan": fan}).fetchall()
    values = {**along.values, "fan": fan}
    return [each for (each,) in candidates if connection.execute(_HAS_MORE, {**values, "id": each}).fetchone()[0]]


def _meeting(
    connection: sqlite3.Connection,
    there: Mapping[int, int],
    back: Mapping[int, int],
    hubs: tuple[Sequence[int], Sequence[int]],
    along: Along,
) -> tuple[int, int] | None:
    """Return where the two ends meet, in the fewest steps: in one entity, or in two of which one is a hub."""
    found = [(there[each] + back[each], each, each) for each in there.keys() & back.keys()]
    for number, near, far, way in ((0, there, back, along), (1, back, there, along.back)):
        for hub in hubs[number]:
            values = {**way.back.values, "id": hub, "nearer": json.dumps(list(far))}
            row = connection.execute(_FIRST, values).fetchone()
            if row is not None:
                pair = (hub, row[0]) if number == 0 else (row[0], hub)
                found.append((near[hub] + far[row[0]] + 1, *pair))
    return None if not found else min(found)[1:]


def _chain(connection: sqlite3.Connection, end: int, met: Mapping[int, int], along: Along) -> list[int]:
    """Return the entities from one that was met back to where its walk began."""
    chain = [end]
    for steps in range(met[end] - 1, -1, -1):
        nearer = [each for each, theirs in met.items() if theirs == steps]
        chain.append(_met(connection, chain[-1], steps + 1, nearer, along).parent)
    return chain


def _clamped(number: int, most: int) -> int:
    return max(1, min(number, most))
