"""Erasing from the database what tombstones cover, down to the free pages.

A connection of its own does it, so that the writer goes on with the log alone meanwhile and catches up. Everything
may be done again: a crash between any two steps leaves `forgets.done_ts` empty, and the next start begins anew.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from siftd.store import graph_merges, meta, slack
from siftd.store.access import Database
from siftd.store.connection import open_writer, translate
from siftd.store.documents import Source
from siftd.store.forget_reach import Reach
from siftd.store.tombstones import Tombstones, summarise_again

BUSY_MS = 5_000
"""How long the eraser waits for groups that are being committed, or for a person's lock."""
FREE_SHARE = 4
"""A database of which more than one page in so many is free is written anew."""
OVERWRITE_TRIES = 20
OVERWRITE_SECONDS = 120
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
INSERT OR IGNORE INTO erased
SELECT id FROM events WHERE ts BETWEEN ?1 AND ?2 AND id < ?3 AND (?4 IS NULL OR session_id = ?4)
"""
_SUMMARISED_BY = f"""
SELECT DISTINCT src_id FROM provenance_edges
WHERE src_kind = 'event' AND dst_kind = 'event' AND dst_id IN ({_GONE}) AND src_id NOT IN ({_GONE})
UNION SELECT s.event_id FROM provenance_edges p JOIN summaries s ON s.id = p.src_id
WHERE p.src_kind = 'summary' AND p.dst_kind = 'event' AND p.dst_id IN ({_GONE}) AND s.event_id NOT IN ({_GONE})
"""  # noqa: S608 - constants only
_SUMMARY_COUNTS = f"""
SELECT count(*), count(*) FILTER (WHERE status = 'summarized' AND NOT EXISTS (
    SELECT 1 FROM summaries s WHERE s.event_id = e.id)) FROM events e WHERE id IN ({_GONE})
"""  # noqa: S608 - constants only
_TEXTS = f"""
INSERT OR IGNORE INTO erased_texts SELECT text FROM summaries WHERE event_id IN ({_GONE})
OR event_id IN (SELECT src_id FROM provenance_edges
    WHERE src_kind = 'event' AND dst_kind = 'event' AND dst_id IN ({_GONE}))
OR event_id IN (SELECT s.event_id FROM provenance_edges p JOIN summaries s ON s.id = p.src_id
    WHERE p.src_kind = 'summary' AND p.dst_kind = 'event' AND p.dst_id IN ({_GONE}))
"""  # noqa: S608 - constants only
_FORGOTTEN_FACTS = """
DELETE FROM facts WHERE uid IN (SELECT key FROM tombstones WHERE kind = 'memory')
OR (uid IS NULL AND id IN (SELECT CAST(detail AS INTEGER) FROM tombstones WHERE kind = 'memory'))
"""
_EMPTY_SESSIONS = """
DELETE FROM sessions WHERE session_id = ?1 AND NOT EXISTS (SELECT 1 FROM events e WHERE e.session_id = ?1)
"""
_FULL_TEXT = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%USING fts5 %'"


TEXT_TABLES = {
    "events": "by tombstone",
    "sessions": "when nothing of one is left; its folder by tombstone",
    "summaries": "with their event",
    "summary_embeddings": "with their summary",
    "summary_cache": "when no summary says it any more",
    "facts": "by tombstone",
    "fact_history": "with the fact",
    "embeddings": "with the fact, by trigger",
    "conversations": "by tombstone, or with their session",
    "pods": "by tombstone, or with their session",
    "event_words": "with their event",
    "event_facets": "with their event",
    "injections": "with their event, their fact, or their session",
    "opt_outs": "with their session's name",
    "documents": "by tombstone",
    "document_texts": "with their document",
    "chunks": "with their document",
    "chunk_embeddings": "with their chunk",
    "meta": "the workspace's own path stays, and is told",
    "backfill_progress": "with any sweep",
    "notes": "with any sweep: made again of their files",
    "notes_fts": "with `notes`, and merged",
    "chunks_fts": "with `chunks`, and merged",
    "entities": "with the last item that names one, by trigger",
    "entity_aliases": "with the item that says so, by trigger",
    "graph_unread": "with their document",
    "relations": "with the last item that says so, by trigger",
    "entities_fts": "with `entities`, and merged",
    "events_fts": "with `event_words`, and merged",
    "summaries_fts": "with `summaries`, and merged",
    "summaries_trigrams": "with `summaries`, and merged",
    "facts_fts": "with `facts`, and merged",
    "facts_trigrams": "with `facts`, and merged",
    "team_links": "stays while the team is joined, and is told",
    "team_items": "of a replica alone, which goes whole",
}
"""Tables that hold somebody's words, or what is made of them, and how these go. A new one is to be put here, and to be
reached by `erase_rows`; `siftd.store.scrubbing` reads every column of text by itself."""
TEXTLESS_TABLES = {
    "summary_supersedes": "ids",
    "kept_apart": "ids",
    "muted_events": "ids and times; with their event",
    "muted_items": "ids and times",
    "provenance_edges": "ids",
    "fact_links": "ids, and a relation's name of ours",
    "fact_reads": "counts",
    "fact_sources": "ids",
    "fact_uses": "counts",
    "pod_members": "ids, and a role's name of ours",
    "tombstones": "keyed hashes",
    "forgets": "times",
    "counters": "names of ours",
    "rejections": "reasons of ours",
    "token_spend": "names of backends",
    "transcript_cursors": "keyed hashes",
    "vector_changes": "ids",
    "migrations": "names of our files",
    "note_files": "names of projects and of our files, times",
    "mentions": "ids",
    "relation_evidence": "ids, times, and names of ours",
    "entity_merges": "keyed hashes",
    "graph_queue": "ids",
    "graph_documents": "keyed hashes",
    "graph_ends": "ids, times, and names of ours",
    "team_dirty": "ids and times, and words of the protocol",
    "team_shared": "ids, hashes, and names of ours",
    "team_forgets": "places in the feed, and counts",
}
"""The other tables, and what they hold."""


def open_eraser(database: str) -> Database:
    """Open a writing connection that overwrites what it deletes. For one thread."""
    connection = open_writer(database)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


@contextmanager
def erasing(database: str) -> Iterator[Database]:
    """Give a connection of `open_eraser` for a moment. Raises StoreError, or StoreCorrupt for a damaged database."""
    try:
        with closing(open_eraser(database)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise translate(error) from error


def erase_rows(connection: sqlite3.Connection, tombstones: Tombstones, reach: Reach, now_ms: int) -> int:
    """Delete what the tombstones cover and all that was derived from it; return how many events that were.

    A conversation has no seq, so a time of which `now_ms` is not the end leaves it.

    One transaction. The full-text tables are merged into one piece each, or rebuilt: a deleted row's words stay in
    their pages otherwise. `reach` is what was asked for since the last time.
    """
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS erased (id INTEGER PRIMARY KEY)")
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("DELETE FROM erased")
        connection.execute(_BY_NAME)
        sessions = [str(row[0]) for row in connection.execute("SELECT session_id FROM sessions")]
        spans: list[tuple[int, int, int, str | None]] = [(*span, None) for span in tombstones.times()]
        spans += [(*span, each) for each in sessions for span in tombstones.spans_of(each)]
        connection.executemany(_BY_SPAN, spans)
        _note_texts(connection)
        for (event_id,) in connection.execute(_SUMMARISED_BY).fetchall():
            summarise_again(connection, event_id)
        touched = [
            row[0]
            for row in connection.execute(
                f"SELECT DISTINCT session_id FROM events WHERE id IN ({_GONE})"  # noqa: S608 - constants only
            )
        ]
        is_narrow = reach.is_narrow and _are_all_there(connection, reach)
        count = connection.execute(f"DELETE FROM events WHERE id IN ({_GONE})").rowcount  # noqa: S608 - as above
        connection.execute(_FORGOTTEN_FACTS)
        connection.executemany(_EMPTY_SESSIONS, [(each,) for each in {*touched, *_wholly(sessions, tombstones)}])
        named = connection.execute("SELECT session_id, ts FROM conversations").fetchall()
        gone = [
            (each, ts)
            for each, ts in named
            if tombstones.has_title(each, ts) or tombstones.find_arriving(each, ts, now_ms=now_ms) is not None
        ]
        connection.executemany("DELETE FROM conversations WHERE session_id = ? AND ts = ?", gone)
        _forget_pods(connection, tombstones)
        _forget_documents(connection, tombstones)
        _forget_folders(connection, tombstones)
        while graph_merges.settle_queued(connection):
            pass
        if is_narrow:
            _sweep_after_few(connection)
        else:
            sweep(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return count


def has_tool(connection: sqlite3.Connection, tool: str) -> bool:
    """Whether an event of a tool is left, or the name is ours, for a session's change."""
    if tool.startswith("session_"):
        return True
    return connection.execute("SELECT 1 FROM events WHERE tool = ? LIMIT 1", (tool,)).fetchone() is not None


def has_session(connection: sqlite3.Connection, session_id: str) -> bool:
    """Whether anything of a session is left."""
    return connection.execute("SELECT 1 FROM sessions WHERE session_id = ?", (session_id,)).fetchone() is not None


def clean_pages(connection: sqlite3.Connection, database: str) -> bool:
    """Leave nothing of what was deleted in the database's pages nor in SQLite's own log; False while a reader holds it.

    Pages are looked through and overwritten where they lie (`siftd.store.slack`). VACUUM, which takes ten times as
    long, is left for a database of which a good part is free, and for one that is not understood.
    """
    free, pages = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count"))
    if free * FREE_SHARE > pages:
        connection.execute("VACUUM")
    with closing(open_eraser(database)) as own:  # a fresh one: its cache holds no page as it was
        for _ in range(OVERWRITE_TRIES):
            if not empty_wal(own):
                return False
            own.execute("BEGIN IMMEDIATE")
            if not _size(f"{database}-wal"):
                is_done = _overwrite(database)
                # Whoever has pages in memory, with what was in them, has to read them again before it writes one.
                meta.put(own, "overwritten", str(int(meta.get(own, "overwritten") or 0) + 1))
                own.execute("COMMIT")
                if not is_done:
                    connection.execute("VACUUM")
                return is_done or empty_wal(connection)
            own.execute("ROLLBACK")  # somebody has written meanwhile
    return False


def _overwrite(database: str) -> bool:
    """Overwrite what is free in the pages; the caller holds the write lock, and SQLite's log is empty."""
    try:
        command = [sys.executable, "-I", "-S", slack.__file__, database]
        done = subprocess.run(command, capture_output=True, timeout=OVERWRITE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


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


def _are_all_there(connection: sqlite3.Connection, reach: Reach) -> bool:
    """Whether every event that was named is there, and so are the summaries of those that have one: nobody has deleted
    any by hand, whose texts nothing else leads to."""
    with_summary, without_summary = connection.execute(_SUMMARY_COUNTS).fetchone()
    return bool(without_summary == 0 and with_summary >= reach.events)


def _note_texts(connection: sqlite3.Connection) -> None:
    """Note what the summaries say that go with their events."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS erased_texts (text TEXT PRIMARY KEY) WITHOUT ROWID")
    connection.execute("DELETE FROM erased_texts")
    connection.execute(_TEXTS)


def _sweep_after_few(connection: sqlite3.Connection) -> None:
    """Do what `sweep` does, in as long as it takes to read the cache and to merge full text."""
    _sweep_sessions(connection)
    connection.execute("DELETE FROM summary_cache WHERE text IN (SELECT text FROM erased_texts)")
    _order_full_text(connection, "optimize")


def _sweep_sessions(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM injections WHERE session_id NOT IN (SELECT session_id FROM sessions)")
    connection.execute("DELETE FROM backfill_progress")


def _forget_folders(connection: sqlite3.Connection, tombstones: Tombstones) -> None:
    with_summary = connection.execute(
        "SELECT session_id, cwd, started_ts FROM sessions WHERE cwd IS NOT NULL"
    ).fetchall()
    gone = [(each,) for each, cwd, started_ts in with_summary if tombstones.has_folder(cwd, started_ts)]
    connection.executemany("UPDATE sessions SET cwd = NULL WHERE session_id = ?", gone)


def _forget_pods(connection: sqlite3.Connection, tombstones: Tombstones) -> None:
    rows = connection.execute("SELECT id, type, external_id, ts FROM pods").fetchall()
    gone = [
        (pod_id,)
        for pod_id, kind, external_id, ts in rows
        if tombstones.has_pod(kind, external_id, ts)
        or tombstones.find_stored(external_id if kind == "session" else "", ts, pod_id) is not None
    ]
    connection.executemany("DELETE FROM pods WHERE id = ?", gone)


def _forget_documents(connection: sqlite3.Connection, tombstones: Tombstones) -> None:
    rows = connection.execute("SELECT id, path, url, title, ingested_ts FROM documents").fetchall()
    gone = [(number,) for number, *source, ts in rows if tombstones.has_document(Source(*source), ts)]
    connection.executemany("DELETE FROM documents WHERE id = ?", gone)


def _wholly(sessions: list[str], tombstones: Tombstones) -> list[str]:
    return [each for each in sessions if tombstones.spans_of(each)]


def sweep(connection: sqlite3.Connection) -> None:
    """Take away what a text, or a session's id, may linger in without hanging on a row."""
    _sweep_sessions(connection)
    _sweep_cache(connection)
    _order_full_text(connection, "rebuild")


def sweep_changed(connection: sqlite3.Connection) -> None:
    """Do the same after rows were changed or deleted by statements, of which full text knows what is to go."""
    _sweep_sessions(connection)
    _sweep_cache(connection)
    _order_full_text(connection, "optimize")


def _sweep_cache(connection: sqlite3.Connection) -> None:
    """Delete what no summary says any more. Compared here: SQLite sorts every text for it, which takes five times as
    long."""
    said = {hash(text) for (text,) in connection.execute("SELECT text FROM summaries")}
    rows = connection.execute("SELECT rowid, text FROM summary_cache")
    gone = [(number,) for number, text in rows if hash(text) not in said]
    connection.executemany("DELETE FROM summary_cache WHERE rowid = ?", gone)


def _order_full_text(connection: sqlite3.Connection, what: str) -> None:
    for (table,) in connection.execute(_FULL_TEXT).fetchall():
        connection.execute(f"INSERT INTO {table} ({table}) VALUES (?)", (what,))  # noqa: S608 - names of our tables
