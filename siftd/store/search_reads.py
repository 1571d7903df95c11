"""Candidates for search: rows with scores from one index each, and what has to be known of them.

Superseded summaries, and events all of whose summaries are superseded, are gone before any cut; so are rows that a
filter excludes. Fusion is not this room's matter.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from siftd.store.scope import Part, Scope


def live_summaries(connection: sqlite3.Connection, ids: Iterable[int], scope: Scope) -> list[int]:
    """Return those of the summaries `ids` that nothing hides, at the scope's time."""
    sql = f"SELECT s.id FROM json_each(?) j CROSS JOIN summaries s ON s.id = j.value WHERE {scope.live}"  # noqa: S608
    return [int(row[0]) for row in connection.execute(sql, (_array(ids),))]


def live_events(connection: sqlite3.Connection, ids: Iterable[int], scope: Scope) -> list[int]:
    """Return those of the events `ids` that have no summary, or one that nothing hides at the scope's time."""
    sql = f"SELECT e.id FROM json_each(?) j CROSS JOIN events e ON e.id = j.value WHERE {scope.shown}"  # noqa: S608
    return [int(row[0]) for row in connection.execute(sql, (_array(ids),))]


_SUMMARY_ROW = "SELECT s.id, s.event_id, coalesce(s.confidence, 0.5), d.sz FROM"
_EVENT_ROW = """
SELECT e.id, CAST(e.session_id AS BLOB), CAST(e.tool AS BLOB), CAST(e.kind AS BLOB), CAST(e.action AS BLOB), e.ts, d.sz
FROM"""
_SummaryRow = tuple[int, int, float, int]
EventRow = tuple[int, bytes, bytes, bytes, bytes | None, int, int]


def summary_rows(connection: sqlite3.Connection, ids: Iterable[int]) -> list[_SummaryRow]:
    """Return (summary id, event id, confidence, words that the index holds of it); unsure ones at 0.5."""
    sql = f"""
        {_SUMMARY_ROW} json_each(?) j CROSS JOIN summaries s ON s.id = j.value
        LEFT JOIN summaries_fts_docsize d ON d.id = s.id
    """
    return [(*row[:3], _size(row[3])) for row in connection.execute(sql, (_array(ids),))]


def summary_rows_before(connection: sqlite3.Connection, below: int, limit: int) -> list[_SummaryRow]:
    """Return the same of summaries before an id that the index holds, newest first."""
    sql = f"""
        {_SUMMARY_ROW} summaries s CROSS JOIN summaries_fts_docsize d ON d.id = s.id
        WHERE s.id < ? ORDER BY s.id DESC LIMIT ?
    """
    return [(*row[:3], _size(row[3])) for row in connection.execute(sql, (below, limit))]


def event_rows(connection: sqlite3.Connection, ids: Iterable[int]) -> list[EventRow]:
    """Return (event id, session, tool, kind, action, time, words that the index holds of it); texts as bytes."""
    sql = f"""
        {_EVENT_ROW} json_each(?) j CROSS JOIN events e ON e.id = j.value LEFT JOIN events_fts_docsize d ON d.id = e.id
    """
    return [(*row[:6], _size(row[6])) for row in connection.execute(sql, (_array(ids),))]


def event_rows_before(connection: sqlite3.Connection, ts: int, event_id: int, limit: int) -> list[EventRow]:
    """Return the same of events before a time and an id that the index holds, newest first, by an index alone."""
    sql = f"""
        {_EVENT_ROW} events e CROSS JOIN events_fts_docsize d ON d.id = e.id
        WHERE (e.ts, e.id) < (?, ?) ORDER BY e.ts DESC, e.id DESC LIMIT ?
    """
    return [(*row[:6], _size(row[6])) for row in connection.execute(sql, (ts, event_id, limit))]


@dataclass(frozen=True, slots=True)
class Supersedes:
    """What the table of superseding held at some moment: equal when nothing was added or taken away."""

    count: int
    last: int
    """The highest rowid; it is given again when its row was deleted."""
    pair: tuple[int, int] | None
    """Newer and older of that row."""


def supersedes(connection: sqlite3.Connection) -> Supersedes:
    """Return what the table of superseding holds."""
    count, last = connection.execute("SELECT count(*), coalesce(max(rowid), 0) FROM summary_supersedes").fetchone()
    return Supersedes(count, last, _pair(connection, last))


def still_holds(connection: sqlite3.Connection, known: Supersedes) -> bool:
    """Whether the last row that was known is there as it was."""
    return _pair(connection, known.last) == known.pair


def _pair(connection: sqlite3.Connection, rowid: int) -> tuple[int, int] | None:
    row = connection.execute("SELECT newer_id, older_id FROM summary_supersedes WHERE rowid = ?", (rowid,)).fetchone()
    return row and (int(row[0]), int(row[1]))


def superseded_after(connection: sqlite3.Connection, rowid: int) -> list[tuple[int, int]]:
    """Return (summary, the event that it tells of or 0) of what was superseded after a row of that table."""
    sql = """
        SELECT x.older_id, coalesce(s.event_id, 0) FROM summary_supersedes x LEFT JOIN summaries s ON s.id = x.older_id
        WHERE x.rowid > ?
    """
    return connection.execute(sql, (rowid,)).fetchall()


def _size(packed: bytes | None) -> int:
    """Return what FTS5's docsize table says: for each column a big-endian varint of seven bits a byte; 0 for None."""
    if not packed or packed.isascii():
        return sum(packed or b"")
    total = count = 0
    for byte in packed:
        count = count << 7 | byte & 0x7F
        if byte < 0x80:
            total += count
            count = 0
    return total


def first_events(connection: sqlite3.Connection, scope: Scope, limit: int) -> str:
    """Return the ids of at most `limit` events whose own rows are within the scope, joined by commas.

    By an index, so that few rows are found without reading every event; but for the kinds `summary`, `event` and
    `tool`, which are rarely few.
    """
    sql = f"""
        SELECT group_concat(id) FROM (SELECT e.id FROM events e WHERE {scope.own.sql} LIMIT ?)
    """  # noqa: S608 - constants and placeholders only
    return str(connection.execute(sql, (*scope.own.values, limit)).fetchone()[0] or "")


def listed_events(connection: sqlite3.Connection, listed: Part) -> str:
    """Return the ids that this selects, each once, ascending, joined by commas."""
    sql = f"SELECT group_concat(id) FROM (SELECT DISTINCT id FROM ({listed.sql}) ORDER BY id)"  # noqa: S608 - as above
    return str(connection.execute(sql, listed.values).fetchone()[0] or "")


def summarised_events(connection: sqlite3.Connection, ids: Iterable[int]) -> list[int]:
    """Return those of the events `ids` that have a summary."""
    sql = "SELECT j.value FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM summaries k WHERE k.event_id = j.value)"
    return [int(row[0]) for row in connection.execute(sql, (_array(ids),))]


def summary_ids(connection: sqlite3.Connection, event_ids: Iterable[int]) -> list[int]:
    """Return the ids of every summary of these events."""
    sql = "SELECT s.id FROM json_each(?) j CROSS JOIN summaries s ON s.event_id = j.value"
    return [int(row[0]) for row in connection.execute(sql, (_array(event_ids),))]


def by_trigrams(connection: sqlite3.Connection, match: str, limit: int) -> list[int]:
    """Return the summaries that match an FTS5 expression over trigrams, best first by bm25."""
    sql = """
        SELECT rowid FROM (SELECT rowid, bm25(summaries_trigrams) AS score FROM summaries_trigrams
        WHERE summaries_trigrams MATCH ? ORDER BY rowid DESC LIMIT ?) ORDER BY score, rowid DESC
    """
    return [int(row[0]) for row in connection.execute(sql, (match, limit))]


def latest(connection: sqlite3.Connection, scope: Scope, limit: int) -> list[tuple[int, int]]:
    """Return (event id, time) of the latest events within the scope, newest first."""
    sql = f"""
        SELECT e.id, e.ts FROM events e WHERE {scope.shown} AND {scope.whole.sql} ORDER BY e.ts DESC, e.id DESC LIMIT ?
    """  # noqa: S608 - constants and placeholders only
    return [(int(event_id), int(ts)) for event_id, ts in connection.execute(sql, (*scope.whole.values, limit))]


def newest_ts(connection: sqlite3.Connection, until: int) -> int | None:
    """Return the time of the newest event until a moment, None where there is none."""
    row = connection.execute("SELECT max(ts) FROM events WHERE ts <= ?", (until,)).fetchone()
    return None if row[0] is None else int(row[0])


def session_times(connection: sqlite3.Connection, sessions: Sequence[bytes]) -> list[tuple[int, int, int]]:
    """Return (place in `sessions`, when it began, when it was last seen) of those that are there."""
    sql = """
        SELECT j.key, s.started_ts, s.last_ts FROM json_each(?) j CROSS JOIN sessions s ON s.session_id = j.value
    """
    names = [session.decode(errors="replace") for session in sessions]
    return connection.execute(sql, (json.dumps(names, ensure_ascii=False),)).fetchall()


def _array(ids: Iterable[int]) -> str:
    return f"[{','.join(map(str, ids))}]"


# Vectors


def last_vector_change(connection: sqlite3.Connection) -> int:
    """Return the newest entry of the journal of vector changes."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'vector_changes'").fetchone()
    return int(row[0]) if row else 0


def vector_changes(connection: sqlite3.Connection, since: int) -> list[int]:
    """Return the summaries whose vector was added, changed or deleted after journal entry `since`."""
    rows = connection.execute("SELECT DISTINCT summary_id FROM vector_changes WHERE id > ?", (since,))
    return [int(row[0]) for row in rows]


def oldest_vector_change(connection: sqlite3.Connection) -> int:
    """Return the oldest entry that the journal still has; the next one that it will have when it is empty."""
    row = connection.execute("SELECT min(id) FROM vector_changes").fetchone()
    return last_vector_change(connection) + 1 if row[0] is None else int(row[0])


def find_vector(connection: sqlite3.Connection, embedder: str, dim: int, summary_id: int) -> bytes | None:
    """Return the packed vector of a summary in this embedder's space."""
    row = connection.execute(
        "SELECT vec FROM summary_embeddings WHERE summary_id = ? AND embedder = ? AND dim = ?",
        (summary_id, embedder, dim),
    ).fetchone()
    return bytes(row[0]) if row and len(row[0]) == 4 * dim else None


def vector_changes_after(connection: sqlite3.Connection, since: int, limit: int) -> list[tuple[int, int]]:
    """Return (journal entry, summary id) after entry `since`, in order."""
    rows = connection.execute(
        "SELECT id, summary_id FROM vector_changes WHERE id > ? ORDER BY id LIMIT ?", (since, limit)
    )
    return [(int(row[0]), int(row[1])) for row in rows]


def has_summaries(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM summaries LIMIT 1").fetchone() is not None


def list_vectors(
    connection: sqlite3.Connection, embedder: str, dim: int, below: int, limit: int
) -> list[tuple[int, bytes]]:
    """Return (summary id, packed vector) of one embedder's space below an id, newest first; wrong sizes left out."""
    rows = connection.execute(
        "SELECT summary_id, vec FROM summary_embeddings WHERE embedder = ? AND summary_id < ? AND dim = ?"
        " AND length(vec) = ? ORDER BY summary_id DESC LIMIT ?",
        (embedder, below, dim, 4 * dim, limit),
    )
    return [(int(summary_id), bytes(vector)) for summary_id, vector in rows]
