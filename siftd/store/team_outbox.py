"""What waits to be told to a team: markers of what has changed, the rows that they stand for, what the team has.

A marker goes with the `rev` that was told: what changed meanwhile has another and stays. A story's marker is called
`session:12` or `turn:12` by its event, a fact's by its uid; of one that a person inserted without, `m12`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from siftd.store.type_repair import read_moment

_FACT_UID = "coalesce(m.uid, 'm' || m.id)"
_STORY_UID = "s.scope || ':' || s.event_id"
_MARK_FACTS = f"""
INSERT INTO team_changes (uid, kind, op, ts) SELECT {_FACT_UID}, 'fact', 'put', ?1 FROM facts m
"""  # noqa: S608 - constants only
_MARK_STORIES = f"""
INSERT INTO team_changes (uid, kind, op, ts) SELECT DISTINCT {_STORY_UID}, 'summary', 'put', ?1
FROM summaries s WHERE s.scope <> 'event'
"""  # noqa: S608 - constants only
_MARK_AGAIN = """
INSERT INTO team_dirty SELECT uid, kind, rev, iif(is_gone, 'forget', 'put'), NULL, ?1 FROM team_shared WHERE true
ON CONFLICT (uid) DO NOTHING
"""
_MARK_ONE = "INSERT INTO team_changes (uid, kind, op, ts) VALUES (?, ?, ?, ?)"
_WAITING = """
SELECT d.uid, d.kind, d.rev, d.op, d.ts, s.id, s.source, s.rev, s.hash, coalesce(s.is_gone, 0)
FROM team_dirty d LEFT JOIN team_shared s ON s.uid = d.uid
WHERE d.parked IS NULL ORDER BY d.op = 'put', d.uid LIMIT ?
"""
_FACTS = f"""
SELECT {_FACT_UID}, m.id, m.uid IS NULL, m.ts, m.category, m.text, m.tags, m.importance, m.confidence,
    {read_moment("m.valid_from")}, {read_moment("m.valid_to")}, m.session_id, m.said_by, m.waits, m.status,
    m.scope, m.origin, m.topic, m.project, coalesce(n.uid, 'm' || n.id), n.uid IS NULL, n.origin, m.updated_ts,
    EXISTS (SELECT 1 FROM pod_members x JOIN pods p ON p.id = x.pod_id WHERE x.fact_id = m.id AND p.type = 'person')
FROM json_each(?) j CROSS JOIN facts m ON m.id = coalesce((SELECT f.id FROM facts f WHERE f.uid = j.value),
    CASE WHEN j.value GLOB 'm[0-9]*' THEN (
        SELECT f.id FROM facts f WHERE f.id = CAST(substr(j.value, 2) AS INTEGER) AND f.uid IS NULL) END)
LEFT JOIN facts n ON n.id = m.superseded_by
"""  # noqa: S608 - constants only
_FACT_UIDS = f"SELECT {_FACT_UID} FROM facts m WHERE {_FACT_UID} > ? ORDER BY 1 LIMIT ?"  # noqa: S608 - constants only
_STORY_UIDS = f"""
SELECT DISTINCT {_STORY_UID} FROM summaries s WHERE s.scope <> 'event' AND {_STORY_UID} > ? ORDER BY 1 LIMIT ?
"""  # noqa: S608 - constants only
_STORIES = """
SELECT s.scope || ':' || s.event_id, s.event_id, e.uid, s.scope, e.ts, s.text, s.said_by, s.confidence, e.session_id,
    EXISTS (SELECT 1 FROM muted_events x WHERE x.event_id = s.event_id),
    (SELECT title FROM conversations c WHERE c.session_id = e.session_id),
    n.scope, ne.uid, n.event_id, s.model
FROM json_each(?) j
JOIN summaries s ON s.event_id = CAST(substr(j.value, instr(j.value, ':') + 1) AS INTEGER)
    AND s.scope = substr(j.value, 1, instr(j.value, ':') - 1)
JOIN events e ON e.id = s.event_id
LEFT JOIN summary_supersedes x ON x.older_id = s.id LEFT JOIN summaries n ON n.id = x.newer_id
LEFT JOIN events ne ON ne.id = n.event_id
ORDER BY s.id, n.id
"""
_SHARED = """
INSERT OR REPLACE INTO team_shared VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_LET_GO = """
DELETE FROM team_shared WHERE uid IN (SELECT 'turn:' || value FROM json_each(?1)
    UNION ALL SELECT 'session:' || value FROM json_each(?1) UNION ALL SELECT value FROM json_each(?2))
"""
_COUNTS = """
SELECT count(*) FILTER (WHERE parked IS NULL), count(*) FILTER (WHERE parked IS NOT NULL),
    min(ts) FILTER (WHERE parked IS NULL) FROM team_dirty
"""
_COUNT_FORGETS = """
SELECT count(*) FROM team_dirty d JOIN team_shared s ON s.uid = d.uid WHERE d.op = 'forget' AND d.parked IS NULL
"""
_PARKED = """
SELECT CASE WHEN kind = 'summary' THEN 'e' || substr(uid, instr(uid, ':') + 1)
    ELSE coalesce((SELECT 'm' || f.id FROM facts f WHERE f.uid = team_dirty.uid), uid) END, kind, parked, ts
FROM team_dirty WHERE parked IS NOT NULL ORDER BY ts DESC, uid LIMIT ?
"""


class Waiting(NamedTuple):
    """A marker, and what the team has of what it stands for."""

    uid: str
    kind: str
    rev: int
    op: str
    ts: int
    item: str | None
    """The id under which it was told; None: it never was."""
    source: str | None
    shared_rev: int | None
    shared_hash: str | None
    is_gone: bool


class FactRow(NamedTuple):
    """A fact as it may be shared."""

    uid: str
    id: int
    is_by_hand: bool
    """A person inserted it: its uid says nothing outside of this store."""
    ts: int
    category: str
    text: str
    tags: str
    importance: Any
    confidence: Any
    valid_from: Any
    valid_to: Any
    session_id: str | None
    said_by: str
    waits: bool
    status: str
    scope: str
    origin: str
    topic: str | None
    label: str | None
    successor: str | None
    is_successor_by_hand: bool
    successor_origin: str | None
    updated_ts: int
    is_of_person: bool


class StoryRow(NamedTuple):
    """The story of a turn or a session as it may be shared."""

    uid: str
    event_id: int
    event_uid: str | None
    scope: str
    ts: int
    text: str
    said_by: str
    confidence: Any
    session_id: str
    is_muted: bool
    title: str | None
    successor_scope: str | None
    successor_uid: str | None
    successor_event: int | None
    model: str


class Shared(NamedTuple):
    """What was told, as the team has it."""

    uid: str
    kind: str
    item: str
    source: str
    rev: int
    hash: str
    is_gone: bool = False


# Marking


def mark_all(connection: sqlite3.Connection, now_ms: int) -> None:
    """Mark everything that may be shared; what the team has already is left out when its turn comes."""
    connection.execute(_MARK_FACTS, (now_ms,))
    connection.execute(_MARK_STORIES, (now_ms,))


def mark_all_again(connection: sqlite3.Connection, now_ms: int) -> None:
    """Mark what the team had once, under the same rev, and what it is to forget: it may have lost either."""
    connection.execute("UPDATE team_shared SET hash = '' WHERE NOT is_gone")
    connection.execute("UPDATE team_dirty SET parked = NULL")
    connection.execute(_MARK_AGAIN, (now_ms,))


def mark(connection: sqlite3.Connection, uid: str, kind: str, op: str, now_ms: int) -> None:
    """Mark one thing that no trigger sees."""
    connection.execute(_MARK_ONE, (uid, kind, op, now_ms))


def mark_forgotten(connection: sqlite3.Connection, forgotten: Iterable[Shared], now_ms: int) -> None:
    """Mark items of which nothing but their ids is known here any more, to be forgotten by the team."""
    for each in forgotten:
        note_shared(connection, [each])
        mark(connection, each.uid, each.kind, "forget", now_ms)


def unpark(connection: sqlite3.Connection) -> int:
    """Let what was parked be tried again; return how many."""
    return connection.execute("UPDATE team_dirty SET parked = NULL WHERE parked IS NOT NULL").rowcount


def park(connection: sqlite3.Connection, uid: str, rev: int, reason: str) -> None:
    """Leave a marker out until what it stands for changes."""
    connection.execute("UPDATE team_dirty SET parked = ? WHERE uid = ? AND rev = ?", (reason, uid, rev))


def outbid(connection: sqlite3.Connection, uid: str, theirs: int) -> None:
    """Let the next telling be later than theirs."""
    connection.execute("UPDATE team_dirty SET rev = max(rev, ?) WHERE uid = ?", (theirs + 1, uid))


def clear(connection: sqlite3.Connection, uid: str, rev: int) -> None:
    """Take a marker away, unless what it stands for has changed since."""
    connection.execute("DELETE FROM team_dirty WHERE uid = ? AND rev = ?", (uid, rev))


def let_go(connection: sqlite3.Connection, events: Iterable[int], facts: Iterable[str]) -> None:
    """Let the team keep what goes from here for its age alone: stories of these events, these facts."""
    connection.execute(_LET_GO, (json.dumps(list(events)), json.dumps(list(facts))))


# Reading


def list_waiting(connection: sqlite3.Connection, limit: int) -> list[Waiting]:
    """Return what waits, forgettings first."""
    return [Waiting(*row) for row in connection.execute(_WAITING, (limit,))]


def find_facts(connection: sqlite3.Connection, uids: Iterable[str]) -> dict[str, FactRow]:
    """Return the facts that are there, by their markers' names."""
    rows = connection.execute(_FACTS, (json.dumps(list(uids)),))
    return {str(row[0]): FactRow(*row) for row in rows}


def find_stories(connection: sqlite3.Connection, uids: Iterable[str]) -> dict[str, StoryRow]:
    """Return the stories that are there, the newest telling of each, by their markers' names."""
    rows = connection.execute(_STORIES, (json.dumps(list(uids)),))
    return {str(row[0]): StoryRow(*row) for row in rows}


def list_uids(connection: sqlite3.Connection, kind: str, after: str, limit: int) -> list[str]:
    """Return the names that markers of facts or stories would have, in order, whether they wait or not."""
    sql = {"fact": _FACT_UIDS, "summary": _STORY_UIDS}[kind]
    return [str(row[0]) for row in connection.execute(sql, (after, limit))]


def find_event(connection: sqlite3.Connection, event_id: int) -> tuple[str | None] | None:
    """Return (uid,) of a story's event while it is there: then its story went to be written again, and was not
    forgotten."""
    row = connection.execute("SELECT uid FROM events WHERE id = ?", (event_id,)).fetchone()
    return None if row is None else (row[0],)


def find_shared(connection: sqlite3.Connection, items: Iterable[str]) -> dict[str, Shared]:
    """Return what the team has of these items, by their ids."""
    sql = """
        SELECT uid, kind, id, source, rev, hash, is_gone FROM team_shared WHERE id IN (SELECT value FROM json_each(?))
    """
    return {str(row[2]): Shared(*row) for row in connection.execute(sql, (json.dumps(list(items)),))}


def list_shared(connection: sqlite3.Connection, kind: str) -> dict[str, Shared]:
    """Return what the team has of a kind, by the markers' names."""
    sql = "SELECT uid, kind, id, source, rev, hash, is_gone FROM team_shared WHERE kind = ?"
    return {str(row[0]): Shared(*row) for row in connection.execute(sql, (kind,))}


def own_among(connection: sqlite3.Connection, items: Iterable[str]) -> set[str]:
    """Return those of these items that this store has told: it has them itself."""
    sql = "SELECT id FROM team_shared WHERE NOT is_gone AND id IN (SELECT value FROM json_each(?))"
    return {str(row[0]) for row in connection.execute(sql, (json.dumps(list(items)),))}


def read_counts(connection: sqlite3.Connection) -> tuple[int, int, int | None]:
    """Return how much waits, how much is parked, and since when the first of it waits."""
    waiting, parked, since = connection.execute(_COUNTS).fetchone()
    return int(waiting), int(parked), since


def count_forgets_waiting(connection: sqlite3.Connection) -> int:
    """Return how many items of the team's wait to be forgotten: the server does not know of it yet."""
    return int(connection.execute(_COUNT_FORGETS).fetchone()[0])


def list_parked(connection: sqlite3.Connection, limit: int) -> list[tuple[str, str, str, int]]:
    """Return (as it is cited, kind, reason, since when) of what the server does not take, the newest first."""
    return [(str(uid), str(kind), str(why), int(ts)) for uid, kind, why, ts in connection.execute(_PARKED, (limit,))]


def count_shared(connection: sqlite3.Connection) -> dict[str, int]:
    """Return how many items of this store the team has, by source."""
    sql = "SELECT source, count(*) FROM team_shared WHERE NOT is_gone GROUP BY source ORDER BY source"
    return {str(source): int(count) for source, count in connection.execute(sql)}


# Noting


def note_shared(connection: sqlite3.Connection, shared: Sequence[Shared]) -> None:
    """Note what the team has now."""
    connection.executemany(_SHARED, shared)


def note_forgotten(connection: sqlite3.Connection, seq: int, items: int, now_ms: int) -> None:
    """Note a place in the feed that every device is to come to."""
    connection.execute(
        "INSERT INTO team_forgets VALUES (?, ?, ?) ON CONFLICT (seq) DO UPDATE SET items = items + excluded.items",
        (seq, items, now_ms),
    )


def list_forgets(connection: sqlite3.Connection) -> list[tuple[int, int, int]]:
    """Return (place in the feed, items, when) of forgettings that not every device is known to have applied."""
    rows = connection.execute("SELECT seq, items, ts FROM team_forgets ORDER BY seq")
    return [(int(seq), int(items), int(ts)) for seq, items, ts in rows]


def note_applied(connection: sqlite3.Connection, seq: int) -> None:
    """Note that every device has come to a place in the feed."""
    connection.execute("DELETE FROM team_forgets WHERE seq <= ?", (seq,))


def clear_forgets(connection: sqlite3.Connection) -> None:
    """Forget the places: they were those of another epoch."""
    connection.execute("DELETE FROM team_forgets")
