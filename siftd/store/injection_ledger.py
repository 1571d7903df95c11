"""The ledger: what was given to an agent unasked, in which session, why, and whether the session then touched it.

A session touched a piece when it later worked on a file or symbol that the piece is about, or asked for the piece by
its id. That is worked out when somebody asks, from the events that followed.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from siftd.store import team_reading
from siftd.store.answers import as_rows
from siftd.wire.requests import finding

_STATE = "SELECT coalesce(compacted_ts, 0) FROM sessions WHERE session_id = ?"
_GIVEN = """
SELECT CASE WHEN piece GLOB 't*' THEN json_extract(why, '$.item') ELSE piece END, 'e' || event_id FROM injections
WHERE session_id = ? AND ts >= ?
"""
_INSERT = """
INSERT INTO injections (ts, session_id, hook, piece, event_id, fact_id, after_id, why)
VALUES (?, ?, ?, ?, ?, ?, (SELECT coalesce(max(id), 0) FROM events), ?)
"""
_LIST = """
SELECT i.id, i.ts, i.session_id, i.hook, i.piece, i.event_id, i.fact_id AS memory_id, i.after_id, i.why,
       coalesce(m.text, (SELECT s.text FROM summaries s
                         WHERE s.id = CAST(substr(i.piece, 2) AS INTEGER) AND s.event_id = i.event_id),
                (SELECT s.text FROM summaries s WHERE s.event_id = i.event_id ORDER BY s.id DESC LIMIT 1)) AS text
FROM injections i LEFT JOIN facts m ON m.id = i.fact_id
WHERE (?1 IS NULL OR i.piece = ?1 OR (i.piece GLOB 't*' AND json_extract(i.why, '$.item') = ?1))
AND (?2 IS NULL OR i.session_id GLOB ?2 || '*')
AND (?4 IS NULL OR i.id < ?4) ORDER BY i.id DESC LIMIT ?3
"""
_TOUCHING = """
SELECT min(e.id) FROM event_facets a
JOIN event_facets b ON b.facet = a.facet AND b.value = a.value
JOIN events e ON e.id = b.event_id WHERE a.event_id = ?1 AND a.facet <> 'ran' AND e.session_id = ?2 AND e.id > ?3
"""
_ASKING = r"""
SELECT min(id) FROM events WHERE session_id = ?1 AND id > ?2 AND tool LIKE 'mcp\_\_%siftd%' ESCAPE '\'
AND ltrim(lower(trim(json_extract(payload_json, '$.tool_input.id'))), '#') = ?3
"""
_FACETS_AFTER = """
SELECT f.value, min(e.id) FROM events e JOIN event_facets f ON f.event_id = e.id
WHERE e.session_id = ? AND e.id > ? AND f.facet <> 'ran' GROUP BY f.value ORDER BY 2
"""
_NAME_CHARS_MIN = 4
"""A file or symbol with a shorter name is in a text by chance."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """What a session still has before it: nothing that was told or done before its context was compacted."""

    compacted_ts: int
    given: frozenset[str]
    """The ids of what it was given, those of the events behind summaries too: a summary may be written anew. Of a
    team's items the ids that they have everywhere."""


@dataclass(frozen=True, slots=True)
class Injection:
    """One piece that is given, and why."""

    piece: str
    event_id: int | None
    why: dict[str, Any]


def session_state(connection: sqlite3.Connection, session_id: str) -> SessionState:
    row = connection.execute(_STATE, (session_id,)).fetchone()
    compacted_ts = int(row[0]) if row else 0
    rows = connection.execute(_GIVEN, (session_id, compacted_ts)).fetchall()
    return SessionState(compacted_ts, frozenset(each for row in rows for each in row if each))


def insert(connection: sqlite3.Connection, session_id: str, hook: str, given: Sequence[Injection], now_ms: int) -> None:
    """Note what a session is given."""
    for each in given:
        fact_id = int(each.piece[1:]) if each.piece[0] == "m" else None
        why = json.dumps(each.why, separators=(",", ":"), sort_keys=True)
        connection.execute(_INSERT, (now_ms, session_id, hook, each.piece, each.event_id, fact_id, why))


def find_event_of(connection: sqlite3.Connection, piece: str) -> int | None:
    """Return the event that a cited summary or event stands for; None for a memory."""
    number = int(piece[1:])
    if piece[0] != "s":
        return number if piece[0] == "e" else None
    row = connection.execute("SELECT event_id FROM summaries WHERE id = ?", (number,)).fetchone()
    return int(row[0]) if row else None


def list_injections(
    connection: sqlite3.Connection,
    piece: str | None,
    session: str | None,
    limit: int,
    *,
    before: int | None = None,
    everywhere: sqlite3.Connection | None = None,
    team: sqlite3.Connection | None = None,
) -> list[finding.Injection]:
    """Return what was given, newest first, or before one of them, with its text now and the event that touched it.

    `everywhere` is the store of the memories for every project, which are cited as g3, `team` the replica of what a
    team shares, cited as t12: by the number that an item has by now, whatever it had when it was given.
    """
    if piece is not None and piece[0] == "t":
        piece = None if team is None else team_reading.find_id(team, int(piece[1:]))
        if piece is None:
            return []
    rows = as_rows(connection.execute(_LIST, (piece, session, limit, before)), finding.Injection)
    for row in rows:
        if row["piece"][0] == "g" and everywhere is not None:
            found = everywhere.execute("SELECT text FROM facts WHERE id = ?", (row["piece"][1:],)).fetchone()
            row["text"] = found[0] if found else None
        row["why"] = json.loads(cast("str", row["why"]))
        if row["piece"][0] == "t":
            _update(row, team)
        row["touchedBy"] = touched_by(connection, row)
    return rows


def _update(row: finding.Injection, team: sqlite3.Connection | None) -> None:
    """Put to what was given of a team's its number and its text by now."""
    item = row["why"].get("item", "")
    number = None if team is None else team_reading.numbers_of(team, [item]).get(item)
    if team is not None and number is not None:
        row["piece"], row["text"] = f"t{number}", team_reading.find_text(team, number)


def count_since(connection: sqlite3.Connection, since: int) -> tuple[int, int]:
    """Return how many pieces were given from a moment on, and to how many sessions."""
    sql = "SELECT count(*), count(DISTINCT session_id) FROM injections WHERE ts >= ?"
    pieces, sessions = connection.execute(sql, (since,)).fetchone()
    return int(pieces), int(sessions)


def touched_by(connection: sqlite3.Connection, row: finding.Injection) -> int | None:
    """Return the event by which the session first worked on what it was given; None where it did not."""
    after = row["sessionId"], row["afterId"]
    asked = connection.execute(_ASKING, (*after, row["piece"])).fetchone()[0]
    if row["eventId"] is not None:
        touched = connection.execute(_TOUCHING, (row["eventId"], *after)).fetchone()[0]
    else:
        touched = first_named(row["text"] or "", connection.execute(_FACETS_AFTER, after).fetchall())
    return min((int(each) for each in (asked, touched) if each is not None), default=None)


def first_named(text: str, facets: Sequence[tuple[str, int]]) -> int | None:
    """Return the first event that worked on a file or a symbol that the text names."""
    for value, event_id in facets:
        name = value.rpartition("/")[2]
        if len(name) >= _NAME_CHARS_MIN and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            return event_id
    return None
