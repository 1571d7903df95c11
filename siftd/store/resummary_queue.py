"""Summaries that wait for a better one: stand-ins for a backend that was away, and what a person wants told anew."""

from __future__ import annotations

import sqlite3

from siftd.store.summaries import NewSummary, RawEvent, find_event, insert_summary, supersede

ANY_BACKEND = "*"
"""What `waits_for` holds when a person wants a summary told anew, by whatever is configured."""

RETRY = "retry"
"""What it holds of an event of which a backend has said nothing usable three times: a person asks for another try."""


def list_waiting(connection: sqlite3.Connection, waits_for: str | None, limit: int) -> list[int]:
    """Return summaries that wait for a better one (None: whoever is to write it), newest events first."""
    sql = (
        f"SELECT id FROM summaries WHERE waits_for <> '{RETRY}' AND (?1 IS NULL OR waits_for = ?1)"  # noqa: S608
        " ORDER BY event_id DESC, id DESC LIMIT ?2"
    )
    return [int(row[0]) for row in connection.execute(sql, (waits_for, limit))]


def find_summarised(connection: sqlite3.Connection, summary_id: int) -> tuple[RawEvent, str] | None:
    """Return the event that a summary is of, and its scope."""
    row = connection.execute("SELECT event_id, scope FROM summaries WHERE id = ?", (summary_id,)).fetchone()
    event = None if row is None else find_event(connection, int(row[0]))
    return None if event is None else (event, str(row[1]))


def replace(connection: sqlite3.Connection, summary_id: int, better: NewSummary, now_ms: int) -> bool:
    """Store a better summary and hide the old one behind it; False when it says the same in the same name."""
    row = connection.execute("SELECT model, text FROM summaries WHERE id = ?", (summary_id,)).fetchone()
    if row is None or row == (better.model, better.text):
        return False
    supersede(connection, insert_summary(connection, better, now_ms), summary_id, None, now_ms)
    return True


def note_resummarised(connection: sqlite3.Connection, summary_id: int) -> None:
    """Let a summary wait no longer."""
    connection.execute("UPDATE summaries SET waits_for = NULL WHERE id = ?", (summary_id,))


def count_fallen_back(connection: sqlite3.Connection, event_id: int | None) -> int:
    """Return of how many events the built-in text stands in since nothing usable was said of them, of all or of one."""
    sql = "SELECT count(*) FROM summaries WHERE waits_for = ?1 AND (?2 IS NULL OR event_id = ?2)"
    return int(connection.execute(sql, (RETRY, event_id)).fetchone()[0])


def retry(connection: sqlite3.Connection, event_id: int | None) -> None:
    """Have these summaries written once more: of one event, or of all."""
    sql = "UPDATE summaries SET waits_for = ?3 WHERE waits_for = ?1 AND (?2 IS NULL OR event_id = ?2)"
    connection.execute(sql, (RETRY, event_id, ANY_BACKEND))


def mark_for_resummary(connection: sqlite3.Connection, since: int, until: int) -> int:
    """Have the live summaries of the events of a time written once more; return how many."""
    cursor = connection.execute(
        "UPDATE summaries SET waits_for = ?3 WHERE event_id IN (SELECT id FROM events WHERE ts BETWEEN ?1 AND ?2)"
        " AND NOT EXISTS (SELECT 1 FROM summary_supersedes x WHERE x.older_id = summaries.id)",
        (since, until, ANY_BACKEND),
    )
    return cursor.rowcount


def count_live(connection: sqlite3.Connection, since: int, until: int) -> int:
    """Return how many live summaries the events of a time have."""
    sql = (
        "SELECT count(*) FROM summaries s JOIN events e ON e.id = s.event_id WHERE e.ts BETWEEN ? AND ?"
        " AND NOT EXISTS (SELECT 1 FROM summary_supersedes x WHERE x.older_id = s.id)"
    )
    return int(connection.execute(sql, (since, until)).fetchone()[0])
