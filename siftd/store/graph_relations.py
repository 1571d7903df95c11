"""Relations as the sum of their evidence: since when they hold, until when, and by what they are known.

A relation holds while one piece of evidence does. What holds again after it had ended is a row of its own, so that
`valid_from <= t AND (valid_to IS NULL OR valid_to > t)` is what held at a time.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from siftd.graph.model import Way
from siftd.store.graph_names import canonical

_OPEN = "SELECT id FROM relations WHERE src = ? AND dst = ? AND type = ? AND valid_to IS NULL ORDER BY id LIMIT 1"
_AROUND = """
SELECT id FROM relations WHERE src = ?1 AND dst = ?2 AND type = ?3
AND (valid_from = ?4 OR (valid_from <= ?5 AND (valid_to IS NULL OR valid_to > ?4))) ORDER BY valid_from LIMIT 1
"""
_INSERT = """
INSERT INTO relations (src, dst, type, source, valid_from, valid_to) VALUES (?, ?, ?, ?, ?, ?) RETURNING id
"""
_WIDEN = """
UPDATE OR IGNORE relations SET valid_from = min(valid_from, ?2),
    valid_to = CASE WHEN valid_to IS NULL OR ?3 IS NULL THEN NULL ELSE max(valid_to, ?3) END
WHERE id = ?1 AND (valid_from > ?2 OR valid_to IS NOT CASE
    WHEN valid_to IS NULL OR ?3 IS NULL THEN NULL ELSE max(valid_to, ?3) END)
"""
_PUT = """
INSERT INTO relation_evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    line = excluded.line, count = excluded.count, until_ts = excluded.until_ts, way = excluded.way
"""
_MOVE = """
UPDATE relation_evidence SET line = ?6, count = ?7 WHERE relation_id = ?1 AND item = ?2 AND src_named = ?3
AND dst_named = ?4 AND ts = ?5 AND (line IS NOT ?6 OR count <> ?7)
"""
_OF_ITEM = """
SELECT e.relation_id, e.src_named, e.dst_named, r.type, e.line, e.count, e.ts, e.until_ts, e.way
FROM relation_evidence e JOIN relations r ON r.id = e.relation_id WHERE e.item = ?
"""
_OF_NAME = """
SELECT e.relation_id, e.item, e.src_named, e.dst_named, e.line, e.count, e.ts, e.until_ts, e.way, r.type
FROM relations r JOIN relation_evidence e ON e.relation_id = r.id
WHERE r.{end} = ?2 AND e.{end}_named = ?1 AND r.type <> 'RENAMED_TO' LIMIT ?3
"""
_OF_SOURCE, _OF_TARGET = (_OF_NAME.format(end=each) for each in ("src", "dst"))
"""Evidence that names an entity, found by where it counts: a relation has an index, its evidence needs none for it."""
_DELETE = """
DELETE FROM relation_evidence WHERE relation_id = ? AND item = ? AND src_named = ? AND dst_named = ? AND ts = ?
"""
_CLOSE = """
UPDATE relation_evidence SET until_ts = max(ts, ?5)
WHERE relation_id = ?1 AND item = ?2 AND src_named = ?3 AND dst_named = ?4 AND until_ts IS NULL
"""
_CLOSE_ALL = """
UPDATE relation_evidence SET until_ts = ?2
WHERE relation_id = ?1 AND (until_ts IS NULL OR until_ts > ?2) AND ts < ?2 AND item <> ?3
"""
_ENDS_OF_ITEM = "SELECT src_named, dst_named, type, ts FROM graph_ends WHERE item = ?"
_DROP_END = "DELETE FROM graph_ends WHERE src_named = ? AND dst_named = ? AND type = ? AND item = ?"
_PUT_END = "INSERT INTO graph_ends (src_named, dst_named, type, item, ts) VALUES (?, ?, ?, ?, ?)"
_ENDED_AT = """
SELECT min(ts) FROM graph_ends WHERE src_named = ? AND dst_named = ? AND type = ? AND ts > ? AND item <> ?
"""
_OF_MANIFESTS = """
SELECT e.relation_id, e.item, e.src_named, e.dst_named FROM relations r
JOIN relation_evidence e ON e.relation_id = r.id
WHERE r.src = ?1 AND (r.valid_to IS NULL OR r.valid_to > ?3)
AND e.src_named = ?2 AND e.way = 'manifest' AND (e.until_ts IS NULL OR e.until_ts > ?3) AND e.ts < ?3 AND e.item <> ?4
"""
_LATER_MANIFESTS = """
SELECT e.item, max(e.ts) AS at FROM relations r JOIN relation_evidence e ON e.relation_id = r.id
WHERE r.src = ?1 AND e.src_named = ?2 AND e.way = 'manifest' AND e.item <> ?3
GROUP BY e.item HAVING at > ?4 ORDER BY at LIMIT 100
"""
_NAMED_BY_MANIFEST = """
SELECT e.dst_named FROM relations r JOIN relation_evidence e ON e.relation_id = r.id
WHERE r.src = ?1 AND e.src_named = ?2 AND e.item = ?3 AND e.way = 'manifest'
"""
_CLOSE_AT = """
UPDATE relation_evidence SET until_ts = ?5
WHERE relation_id = ?1 AND item = ?2 AND src_named = ?3 AND dst_named = ?4
AND (until_ts IS NULL OR until_ts > ?5) AND ts < ?5
"""
_TRIPLE = "SELECT src, dst, type FROM relations WHERE id = ?"
_SPANS = "SELECT id, valid_from, valid_to FROM relations WHERE src = ? AND dst = ? AND type = ? ORDER BY valid_from, id"
_COPY = """
INSERT INTO relation_evidence SELECT ?2, item, src_named, dst_named, line, count, ts, until_ts, way
FROM relation_evidence WHERE relation_id = ?1 AND item = ?3 AND src_named = ?4 AND dst_named = ?5 AND ts = ?6
"""
_SPAN_EVIDENCE = """
SELECT relation_id, item, src_named, dst_named, ts, until_ts, way FROM relation_evidence
WHERE relation_id IN (SELECT id FROM relations WHERE src = ? AND dst = ? AND type = ?) ORDER BY ts, item
"""
_HAS_ENDED = "SELECT 1 FROM relation_evidence WHERE relation_id = ? AND until_ts IS NOT NULL LIMIT 1"
_SET_SPAN = "UPDATE relations SET valid_from = ?, valid_to = ? WHERE id = ?"
RENAMED_TO = "RENAMED_TO"


class Evidence(NamedTuple):
    """That an item says how two entities hang together."""

    relation_id: int
    src: int
    dst: int
    type: str
    line: int | None
    times: int
    """How often it says so."""
    ts: int
    until: int | None
    way: Way


def of_item(connection: sqlite3.Connection, item: str) -> list[Evidence]:
    """Return what an item says, or has said."""
    return [Evidence(*row) for row in connection.execute(_OF_ITEM, (item,))]


def put(connection: sqlite3.Connection, item: str, said: Evidence) -> None:
    """Keep that an item says something: with the relation that holds at that time, or with a new one.

    `said.relation_id` is not looked at.
    """
    src, dst = ends(connection, said.src, said.dst, said.type)
    relation_id = _ensure(connection, src, dst, said)
    connection.execute(
        _PUT, (relation_id, item, said.src, said.dst, said.line, said.times, said.ts, said.until, said.way)
    )
    connection.execute(_WIDEN, (relation_id, said.ts, said.until))
    if said.until is not None or len(connection.execute(_SPANS, (src, dst, said.type)).fetchall()) > 1:
        _respan(connection, src, dst, said.type)


def drop(connection: sqlite3.Connection, item: str, said: Evidence) -> None:
    """Let an item never have said something; a relation without evidence goes, by trigger."""
    connection.execute(_DELETE, (said.relation_id, item, said.src, said.dst, said.ts))
    _respan_of(connection, said.relation_id)


def move(connection: sqlite3.Connection, item: str, said: Evidence, line: int | None, count: int) -> None:
    """Let an item say something elsewhere, or more often, than it did."""
    connection.execute(_MOVE, (said.relation_id, item, said.src, said.dst, said.ts, line, count))


def close(connection: sqlite3.Connection, item: str, said: Evidence, ts: int) -> None:
    """Let an item say something no longer: it stays as history."""
    connection.execute(_CLOSE, (said.relation_id, item, said.src, said.dst, ts))
    _respan_of(connection, said.relation_id)


def put_ends(connection: sqlite3.Connection, item: str, ends_now: set[tuple[int, int, str]], ts: int) -> None:
    """Let an item say what holds no longer, in the place of what it said before: (source, target, type) of each.

    What other items said before has ended then. Said again later, it begins anew.
    """
    before = {(src, dst, kind): at for src, dst, kind, at in connection.execute(_ENDS_OF_ITEM, (item,)).fetchall()}
    connection.executemany(_DROP_END, [(*key, item) for key in before.keys() - ends_now])
    for src, dst, kind in ends_now - before.keys():
        connection.execute(_PUT_END, (src, dst, kind, item, ts))
        source, target = ends(connection, src, dst, kind)
        for relation_id, since, _ in connection.execute(_SPANS, (source, target, kind)).fetchall():
            if since < ts:
                connection.execute(_CLOSE_ALL, (relation_id, ts, item))
        _respan(connection, source, target, kind)


def ended_at(connection: sqlite3.Connection, said: Evidence, item: str) -> int | None:
    """Return when another item says that something ended which was said at a time; None where none does."""
    row = connection.execute(_ENDED_AT, (said.src, said.dst, said.type, said.ts, item)).fetchone()
    return None if row[0] is None else int(row[0])


def end_others(connection: sqlite3.Connection, src: int, named: set[int], *, item: str, ts: int) -> None:
    """End what manifests before `item` say that an entity depends on, but for what that one names."""
    for relation_id, other, _, dst in connection.execute(
        _OF_MANIFESTS, (canonical(connection, src), src, ts, item)
    ).fetchall():
        if dst not in named:
            connection.execute(_CLOSE_AT, (relation_id, other, src, dst, ts))
            _respan_of(connection, relation_id)


def later_manifests(
    connection: sqlite3.Connection, src: int, *, item: str, ts: int
) -> list[tuple[int, frozenset[int]]]:
    """Return when manifests after `item` said what an entity depends on, and on what, in order: what is read late, as
    everything is after a rebuild, ends with the first of them that does not name it."""
    belongs = canonical(connection, src)
    found: list[tuple[int, frozenset[int]]] = []
    for later, at in connection.execute(_LATER_MANIFESTS, (belongs, src, item, ts)).fetchall():
        named = connection.execute(_NAMED_BY_MANIFEST, (belongs, src, later))
        found.append((int(at), frozenset(int(each[0]) for each in named)))
    return found


def reattach(connection: sqlite3.Connection, named: int, counted_at: int, limit: int) -> int:
    """Have evidence that names an entity count for where it belongs by now, and no longer for `counted_at`; return how
    much there was, `limit` at most."""
    moved = 0
    for sql in (_OF_SOURCE, _OF_TARGET):
        for relation_id, item, src, dst, line, count, ts, until, way, kind in connection.execute(
            sql, (named, counted_at, limit - moved)
        ).fetchall():
            said = Evidence(relation_id, src, dst, kind, line, count, ts, until, way)
            put(connection, item, said)
            drop(connection, item, said)
            moved += 1
    return moved


def ends(connection: sqlite3.Connection, src: int, dst: int, relation: str) -> tuple[int, int]:
    """Return between which entities a relation counts. That something was renamed stays between the two names."""
    if relation == RENAMED_TO:
        return src, dst
    return canonical(connection, src), canonical(connection, dst)


def _ensure(connection: sqlite3.Connection, src: int, dst: int, said: Evidence) -> int:
    until = said.until
    row = connection.execute(_OPEN, (src, dst, said.type)).fetchone() if until is None else None
    if row is None:
        upto = said.ts if until is None else until
        row = connection.execute(_AROUND, (src, dst, said.type, said.ts, upto)).fetchone()
    if row is None:
        row = connection.execute(_INSERT, (src, dst, said.type, said.way, said.ts, until)).fetchone()
    return int(row[0])


def _respan_of(connection: sqlite3.Connection, relation_id: int) -> None:
    row = connection.execute(_TRIPLE, (relation_id,)).fetchone()
    if row is not None:
        _respan(connection, *row)


def _respan(connection: sqlite3.Connection, src: int, dst: int, kind: str) -> None:
    """Have a relation hold in the spans that its evidence covers together: a row for each, and the evidence with it.

    So the order in which items are read leaves no trace.
    """
    rows = connection.execute(_SPANS, (src, dst, kind)).fetchall()
    if len(rows) == 1 and connection.execute(_HAS_ENDED, (rows[0][0],)).fetchone() is None:
        return  # one span, and nothing of it has ended: the triggers keep it
    evidence = connection.execute(_SPAN_EVIDENCE, (src, dst, kind)).fetchall()
    spans: list[tuple[int, int | None, list[tuple[int, str, int, int, int]]]] = []
    for relation_id, item, src_named, dst_named, ts, until, _ in evidence:
        since, upto, held = spans[-1] if spans else (0, 0, [])
        key = relation_id, item, src_named, dst_named, ts
        if spans and (upto is None or ts < upto or ts == since):
            spans[-1] = since, None if upto is None or until is None else max(upto, until), [*held, key]
        else:
            spans.append((ts, until, [key]))
    if not spans or (
        [row[1:] for row in rows] == [span[:2] for span in spans]
        and all(key[0] == row[0] for row, span in zip(rows, spans, strict=True) for key in span[2])
    ):
        return
    numbers = [row[0] for row in rows]
    for at in range(len(rows), len(spans)):
        way = evidence[0][6]
        numbers.append(connection.execute(_INSERT, (src, dst, kind, way, -1 - at, None)).fetchone()[0])
    for number, span in zip(numbers, spans, strict=False):
        for relation_id, *rest in span[2]:
            if relation_id != number:
                connection.execute(_COPY, (relation_id, number, *rest))
    for number, span in zip(numbers, spans, strict=False):
        for relation_id, *rest in span[2]:
            if relation_id != number:
                connection.execute(_DELETE, (relation_id, *rest))
    for place, (number, _) in enumerate(zip(numbers, spans, strict=False)):  # out of each other's way first
        connection.execute(_SET_SPAN, (-1_000_000 - place, None, number))
    for number, (since, until, _) in zip(numbers, spans, strict=False):
        connection.execute(_SET_SPAN, (since, until, number))
