"""Today's rules over everything the database holds: rows anew, what was derived from them gone, to be made again.

Works through chunks: one transaction each, so that the writer goes on between them. Everything may be done again: what
is clean stays as it is. The bytes go with `siftd.store.erasing`, whose connection overwrites what it deletes.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import compress, repeat
from typing import Any

from siftd.capture.admission import Admission
from siftd.store import graph_items, graph_merges, graph_writing
from siftd.store.connection import begin, commit, rollback
from siftd.store.tombstones import summarise_again

CHUNK = 256
_PLACEHOLDER = re.compile(r"\[REDACTED:([a-z0-9-]{1,40})(?::[0-9a-f]{4})?\]")
EVENT_COLUMNS = "id, session_id, tool, payload_json, prompt_id, agent_id, spawned_agent_id"
_EVENTS = f"SELECT {EVENT_COLUMNS} FROM events WHERE id > ? ORDER BY id LIMIT ?"  # noqa: S608 - constants only
_PAYLOADS = "SELECT id, payload_json FROM events WHERE id >= ? ORDER BY id LIMIT ?"
_REWRITE_EVENT = """
UPDATE events SET session_id = ?, tool = ?, payload_json = ?, input_hash = ?, tokens_est = ?,
    prompt_id = ?, agent_id = ?, spawned_agent_id = ? WHERE id = ?
"""
_SUMMARISED_BY = """
SELECT ?1 UNION SELECT src_id FROM provenance_edges
WHERE src_kind = 'event' AND dst_kind = 'event' AND dst_id = ?1
UNION SELECT s.event_id FROM provenance_edges p JOIN summaries s ON s.id = p.src_id
WHERE p.src_kind = 'summary' AND p.dst_kind = 'event' AND p.dst_id = ?1
"""
_OURS = frozenset(
    "status input_hash uid frame_uid outcome last_error native_key input_key words prompt_hash model embedder "
    "said_by owner_kind kind key detail relation edge src_kind dst_kind type name sha256 hook "
    "category status origin what who scope waits_for "
    "piece way src_mark dst_mark item content_hash".split()
)
"""Columns of text that hold nobody's words, or what is derived and goes. All others are scrubbed, in new tables too."""
_TABLES = """
SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN
    ('events', 'summary_cache', 'notes', 'note_files', 'entities', 'relations',
     'document_texts', 'chunks')
AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE 'CREATE VIRTUAL%' AND sql NOT LIKE '%WITHOUT ROWID%' ORDER BY name
"""
_WITHOUT_ROWID = {
    "opt_outs": (
        "SELECT DISTINCT session_id FROM opt_outs",
        "UPDATE OR REPLACE opt_outs SET session_id = ? WHERE session_id = ?",
    ),
    "meta": (
        "SELECT value FROM meta WHERE key = 'root'",
        "UPDATE meta SET value = ? WHERE key = 'root' AND value = ?",
    ),
}
"""What holds somebody's words in the tables of names and numbers. `backfill_progress` goes with the sweep, the index of
the notes before it."""
_SUMMARIES = "SELECT id, event_id FROM summaries"
_PENDING = "scrub_asked"
DONE = "scrub_done"


@dataclass
class Scrubbed:
    """What was, or would be, changed: rows by table, and placeholders by rule."""

    rows: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    events: set[int] = field(default_factory=set)
    """Ids of the events that were, or would be, changed."""

    def note(self, table: str, before: str, after: str) -> None:
        self.rows[table] += 1
        self.rules.update(count_placeholders(after) - count_placeholders(before))

    def add(self, other: Scrubbed) -> None:
        self.rows.update(other.rows)
        self.rules.update(other.rules)
        self.events |= other.events


def count_placeholders(text: str) -> Counter[str]:
    """Return how many placeholders of each rule a text holds."""
    return Counter(_PLACEHOLDER.findall(text) if "[REDACTED:" in text else ())


def scrub_rows(connection: sqlite3.Connection, admission: Admission, *, dry_run: bool) -> Scrubbed:
    """Apply today's rules to every row; an event that changes, and what was told of it, is summarised anew."""
    scrubbed = Scrubbed()
    last_id = 0
    to_resummarise: set[int] = set()
    while rows := connection.execute(_EVENTS, (last_id, CHUNK)).fetchall():
        last_id = rows[-1][0]
        to_resummarise |= scrub_events(connection, admission, rows, scrubbed, dry_run)
    gone = (
        {number for number, event in connection.execute(_SUMMARIES) if event in to_resummarise}
        if to_resummarise
        else set()
    )
    for table, columns in text_columns(connection).items():
        for chunk in _chunks(connection, table, columns):
            if table == "summaries":  # a trial's as well: what would be told anew is not changed by itself
                chunk = [row for row in chunk if row[0] not in gone]
            scrub_texts(connection, admission, table, columns, chunk, scrubbed, dry_run=dry_run)
    _scrub_graph(connection, admission, scrubbed, dry_run=dry_run)
    for table, (read, write) in _WITHOUT_ROWID.items():
        changed = [(new, old) for (old,) in connection.execute(read) if (new := admission.scrub_text(old)) != old]
        for new, old in changed:
            scrubbed.note(table, old, new)
        if changed and not dry_run:
            with transaction(connection):
                connection.executemany(write, changed)
    return scrubbed


def _scrub_graph(connection: sqlite3.Connection, admission: Admission, scrubbed: Scrubbed, *, dry_run: bool) -> None:
    """Take names out of the graph that would be written otherwise today, and all that a document said which has lost
    something: it is read again. What an event or a fact has said that was rewritten, triggers have taken out."""
    with transaction(connection) if not dry_run else nullcontext():
        for document_id in graph_items.list_rewritten(connection) if not dry_run else ():
            graph_writing.forget_item(connection, f"d{document_id}")
        for before, after in graph_writing.scrub(connection, admission.scrub_text, dry_run=dry_run):
            scrubbed.note("entities", before, after)
        if not dry_run:
            while graph_merges.settle_queued(connection):
                pass


def text_columns(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the columns that may hold somebody's words, by table; events, the cache and what documents say
    (`siftd.store.document_scrubbing`) are matters of their own."""
    tables = [str(row[0]) for row in connection.execute(_TABLES)]
    columns = {
        table: [
            str(name)
            for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})")
            if kind == "TEXT" and name not in _OURS
        ]
        for table in tables
    }
    return {table: names for table, names in columns.items() if names}


def ask(connection: sqlite3.Connection, seq: int) -> None:
    """Note that the record `seq` asked for a scrub; it is pending until `note_done`."""
    _set(connection, _PENDING, seq)


def pending_seq(connection: sqlite3.Connection) -> int | None:
    """Return the newest record that asked for a scrub which is not yet done."""
    noted = dict(connection.execute("SELECT key, value FROM meta WHERE key IN (?, ?)", (_PENDING, DONE)).fetchall())
    asked = int(noted.get(_PENDING, 0))
    return asked if asked > int(noted.get(DONE, 0)) else None


def note_done(connection: sqlite3.Connection, seq: int) -> None:
    """What was stored before record `seq` is clean by the rules of its time, in every file of ours."""
    _set(connection, DONE, seq)


def _set(connection: sqlite3.Connection, key: str, seq: int) -> None:
    connection.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, str(seq))
    )


def scrub_events(
    connection: sqlite3.Connection, admission: Admission, rows: list[Any], scrubbed: Scrubbed, dry_run: bool
) -> set[int]:
    """Change these events and have what was told of them told anew; return the events of what is to be told."""
    changed = []
    may = admission.may_scrub([row[1:] for row in rows])
    for (event_id, session_id, tool, payload_json, *ids), may_change in zip(rows, may, strict=True):
        if not may_change and not admission.hides(session_id):
            continue
        new = admission.scrub_event(session_id, tool, payload_json, ids, learns=not dry_run)
        if new is not None:
            changed.append((*new[:5], *new.ids, event_id))
            scrubbed.events.add(event_id)
            before = [session_id, tool, payload_json, *ids]
            scrubbed.note("events", " ".join(filter(None, before)), " ".join(filter(None, (*new[:3], *new.ids))))
    to_resummarise = {
        summary_of
        for *_, event_id in changed
        for (summary_of,) in connection.execute(_SUMMARISED_BY, (event_id,)).fetchall()
    }
    if changed and not dry_run:
        with transaction(connection):
            connection.executemany(_REWRITE_EVENT, changed)
            for summary_of in sorted(to_resummarise):
                summarise_again(connection, summary_of)
    return to_resummarise


class StoredPayloads:
    """The payloads of a database's events, for one who asks for them in the order of their ids."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._read_to = 0
        self._chunk: dict[int, str] = {}

    def of(self, event_id: int) -> str | None:
        """Return an event's payload; None where there is none, and for one who goes back."""
        if event_id > self._read_to:
            rows = self._connection.execute(_PAYLOADS, (event_id, CHUNK)).fetchall()
            self._chunk = dict(rows)
            self._read_to = rows[-1][0] if rows else event_id
        return self._chunk.get(event_id)


def _chunks(connection: sqlite3.Connection, table: str, columns: Sequence[str]) -> Iterator[list[Any]]:
    last = 0
    sql = f"SELECT rowid, {', '.join(columns)} FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT {CHUNK}"  # noqa: S608 - names of our own
    while rows := connection.execute(sql, (last,)).fetchall():
        last = rows[-1][0]
        yield rows


def scrub_texts(
    connection: sqlite3.Connection,
    admission: Admission,
    table: str,
    columns: Sequence[str],
    rows: list[Any],
    scrubbed: Scrubbed,
    *,
    session_id: str = "",
    dry_run: bool = False,
) -> None:
    """Change these texts: (rowid, text…). With a session they lose what that hides, too."""
    changed = []
    may = repeat(True) if session_id else admission.may_scrub_texts(row[1:] for row in rows)
    for number, *texts in compress(rows, may):
        new = [text if text is None else admission.scrub_text(text, session_id) for text in texts]
        if new != texts:
            changed.append((*new, number))
            scrubbed.note(table, " ".join(filter(None, texts)), " ".join(filter(None, new)))
    if not changed or dry_run:
        return
    # Index words are made again together with the vector.
    words = ", words = NULL" if table in ("summaries", "facts") else ""
    assigned = ", ".join(f"{column} = ?" for column in columns)
    with transaction(connection):
        # Two sessions' ids may become one: the second row of it goes.
        connection.executemany(f"UPDATE OR REPLACE {table} SET {assigned}{words} WHERE rowid = ?", changed)  # noqa: S608


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One short write transaction; nothing of it stays when it fails."""
    begin(connection)
    try:
        yield
        commit(connection)
    except BaseException:
        rollback(connection)
        raise
