"""Erasing from the database what tombstones cover, down to the free pages.

A connection of its own does it, so that the writer goes on with the log alone meanwhile and catches up. Everything
may be done again: a crash between any two steps leaves `forgets.done_ts` empty, and the next start begins anew.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from siftd.store.connection import open_writer
from siftd.store.tombstones import Tombstones, retell

BUSY_MS = 5_000
"""How long the eraser waits for groups that are being committed, or for a person's lock."""
READER_MS = 500
"""How long it waits for a reader; nobody else can write to the database meanwhile."""
_GONE = "SELECT id FROM erased"
_BY_NAME = """
INSERT OR IGNORE INTO erased
SELECT e.id FROM tombstones t JOIN events e ON e.uid = t.key WHERE t.kind = 'uid'
UNION SELECT e.id FROM tombstones t JOIN events e ON e.frame_uid = t.key WHERE t.kind = 'frame'
UNION SELECT e.id FROM tombstones t JOIN events e ON e.id = CAST(t.key AS INTEGER) WHERE t.kind = 'id' AND e.uid IS NULL
"""
_BY_SPAN = """
INSERT OR IGNORE INTO erased SELECT id FROM events WHERE ts BETWEEN ?1 AND ?2 AND (?3 IS NULL OR session_id = ?3)
"""
_TOLD_BY = f"""
SELECT DISTINCT src_id FROM provenance_edges
WHERE src_kind = 'event' AND dst_kind = 'event' AND dst_id IN ({_GONE}) AND src_id NOT IN ({_GONE})
UNION SELECT s.event_id FROM provenance_edges p JOIN summaries s ON s.id = p.src_id
WHERE p.src_kind = 'summary' AND p.dst_kind = 'event' AND p.dst_id IN ({_GONE}) AND s.event_id NOT IN ({_GONE})
"""  # noqa: S608 - constants only
_FORGOTTEN_MEMORIES = """
DELETE FROM memories WHERE uid IN (SELECT key FROM tombstones WHERE kind = 'memory')
OR (uid IS NULL AND id IN (SELECT CAST(detail AS INTEGER) FROM tombstones WHERE kind = 'memory'))
"""
_EMPTY_SESSIONS = """
DELETE FROM sessions WHERE session_id = ?1 AND NOT EXISTS (SELECT 1 FROM events e WHERE e.session_id = ?1)
"""
_FULL_TEXT = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%USING fts5 %'"


def open_eraser(database: str) -> sqlite3.Connection:
    """Open a writing connection that overwrites what it deletes. For one thread."""
    connection = open_writer(database)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def erase_rows(connection: sqlite3.Connection, tombstones: Tombstones) -> int:
    """Delete what the tombstones cover and all that was derived from it; return how many events that were.

    One transaction. The full-text tables are rebuilt: a deleted row's words stay in their pages otherwise.
    """
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS erased (id INTEGER PRIMARY KEY)")
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("DELETE FROM erased")
        connection.execute(_BY_NAME)
        sessions = [str(row[0]) for row in connection.execute("SELECT session_id FROM sessions")]
        spans: list[tuple[int, int, str | None]] = [(*span, None) for span in tombstones.times()]
        spans += [(*span, each) for each in sessions for span in tombstones.spans_of(each)]
        connection.executemany(_BY_SPAN, spans)
        for (event_id,) in connection.execute(_TOLD_BY).fetchall():
            retell(connection, event_id)
        touched = [
            row[0]
            for row in connection.execute(
                f"SELECT DISTINCT session_id FROM events WHERE id IN ({_GONE})"  # noqa: S608 - constants only
            )
        ]
        count = connection.execute(f"DELETE FROM events WHERE id IN ({_GONE})").rowcount  # noqa: S608 - as above
        connection.execute(_FORGOTTEN_MEMORIES)
        connection.executemany(_EMPTY_SESSIONS, [(each,) for each in {*touched, *_wholly(sessions, tombstones)}])
        named = connection.execute("SELECT session_id, ts FROM conversations").fetchall()
        gone = [row for row in named if tombstones.find_scope(*row) is not None]
        connection.executemany("DELETE FROM conversations WHERE session_id = ? AND ts = ?", gone)
        sweep(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return count


def has_session(connection: sqlite3.Connection, session_id: str) -> bool:
    """Whether anything of a session is left."""
    return connection.execute("SELECT 1 FROM sessions WHERE session_id = ?", (session_id,)).fetchone() is not None


def compact(connection: sqlite3.Connection) -> None:
    """Write the database anew, so that no free page keeps what was in it."""
    connection.execute("VACUUM")


def empty_wal(connection: sqlite3.Connection) -> bool:
    """Move everything from SQLite's own log into the database; False while a reader holds it."""
    connection.execute(f"PRAGMA busy_timeout = {READER_MS}")
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def holders(database: str) -> list[str]:
    """Return the other programs that have the database open, as `name (pid)`, where the system tells (Linux)."""
    names = {os.path.realpath(f"{database}{suffix}") for suffix in ("", "-wal", "-shm")}
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        try:
            if any(str(each.readlink()) in names for each in (process / "fd").iterdir()):
                name = (process / "comm").read_text(encoding="utf-8", errors="replace").strip()
                found.append(f"{name} ({process.name})")
        except OSError:
            continue
    return sorted(found)


def _wholly(sessions: list[str], tombstones: Tombstones) -> list[str]:
    return [each for each in sessions if tombstones.spans_of(each)]


def sweep(connection: sqlite3.Connection) -> None:
    """Take away what a text, or a session's id, may linger in without hanging on a row."""
    connection.execute("DELETE FROM injections WHERE session_id NOT IN (SELECT session_id FROM sessions)")
    connection.execute("DELETE FROM summary_cache WHERE text NOT IN (SELECT text FROM summaries)")
    connection.execute("DELETE FROM backfill_progress")
    for (table,) in connection.execute(_FULL_TEXT).fetchall():
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")  # noqa: S608 - names of our tables
