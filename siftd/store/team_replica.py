"""The replica of a team's items: a store of its own beside the workspace's, which search reads like any other.

    an item of source    becomes
    summary              a `summaries` row (scope turn or session) on an `events` row that is empty, and its session
    every other          a `facts` row, labelled and tagged with its source; never pinned, and it waits for nobody

The rows' id is the item's number in `team_items`, from one sequence for both: `t12` is item 12. An item that the own
store has (`is_own`), one that was archived and a story that another superseded have a number and no row. The author's
words are never this person's: who said "person" there is `agent` here, and what another program told is `outside`.

Everything in it came from the server: deleting the file pulls it again from 0. How far it has come (epoch and seq) is
noted in the transaction that changes the rows.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from siftd.errors import MigrationFailed, SchemaTooNew, StoreCorrupt, StoreError
from siftd.facts.model import CATEGORIES
from siftd.store import meta
from siftd.store.access import Database
from siftd.store.connection import begin, commit, is_damage, open_reader, open_writer, rollback
from siftd.store.migrate import migrate
from siftd.team.items import NATURAL, Put, Source
from siftd.team.protocol import Changed

TAGS_MAX = 32
TAG_CHARS_MAX = 64
NAME_CHARS_MAX = 200
"""Of what the server says about an item; what is longer is cut."""
_EPOCH, _SEQ, _PROJECT, _RESTARTED = "team_epoch", "team_seq", "team_project", "team_restarted"
_MADE = "team_made"
_ITEM = """
INSERT INTO team_items (id, seq, rev, hash, source, source_ref, author, author_name, device, visibility, is_own,
    metadata, superseded_by, owner_kind, ts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, rev = excluded.rev, hash = excluded.hash, author = excluded.author,
    author_name = excluded.author_name, device = excluded.device, visibility = excluded.visibility,
    is_own = excluded.is_own, metadata = excluded.metadata, superseded_by = excluded.superseded_by, ts = excluded.ts
RETURNING number
"""
_FACT = """
INSERT INTO facts (id, ts, updated_ts, category, text, tags, importance, confidence, valid_from, valid_to, session_id,
    project, source, uid, words, said_by, status, topic)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'team', ?, ?, ?, ?, ?)
"""
_EVENT = """
INSERT INTO events (id, ts, session_id, tool, input_hash, payload_json, status, outcome, said_by, kind)
VALUES (?, ?, ?, 'team', '', '{}', 'summarized', 'ok', ?, 'turn_end')
"""
_SUMMARY = """
INSERT INTO summaries (id, event_id, ts, model, prompt_hash, text, confidence, words, scope, said_by)
VALUES (?, ?, ?, 'team', '', ?, ?, ?, ?, ?)
"""
_SESSION = """
INSERT INTO sessions (session_id, started_ts, last_ts) VALUES (?1, ?2, ?2) ON CONFLICT (session_id) DO UPDATE SET
    started_ts = min(started_ts, excluded.started_ts), last_ts = max(last_ts, excluded.last_ts)
"""
_EMPTY_SESSION = """
DELETE FROM sessions WHERE session_id = ?1 AND NOT EXISTS (SELECT 1 FROM events e WHERE e.session_id = ?1)
"""
_AUTHORED = """
SELECT number, id, source, source_ref, rev FROM team_items
WHERE author = ? AND number > ? AND source IN ('memory', 'fact', 'summary') ORDER BY number LIMIT ?
"""
_SUCCESSORS = """
UPDATE facts SET superseded_by = (
    SELECT n.number FROM team_items i JOIN team_items n ON n.id = i.superseded_by JOIN facts f ON f.id = n.number
    WHERE i.number = facts.id)
WHERE id IN (SELECT number FROM team_items WHERE superseded_by IN (SELECT value FROM json_each(?1))
    OR id IN (SELECT value FROM json_each(?1)))
"""


class Cursor(NamedTuple):
    """How far a replica has come."""

    epoch: str | None
    seq: int
    made: str
    """Which replica that is: one that was left, and joined or made anew, is another."""


class Authored(NamedTuple):
    """An item by its names."""

    number: int
    item: str
    source: Source
    source_ref: str
    rev: int


NUMBERS = "team_numbers"
"""Where the workspace's own store notes how many numbers were given, or may have been, by all of its replicas."""
_BEGIN_NUMBERS = """
INSERT INTO sqlite_sequence (name, seq)
SELECT 'team_items', ? WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'team_items')
"""


class Placed(NamedTuple):
    """A change of the feed, ready for its rows."""

    change: Changed
    words: str
    is_own: bool


# Making and opening


def open_replica(path: str, project: str, now_ms: int) -> Database:
    """Open the replica of a project for writing; one that is damaged, of another project or another siftd, is made
    anew. One that somebody holds, or a full disk, is no reason to lose it. Raises StoreError, sqlite3.Error."""
    connection = _find_usable(path, project, now_ms)
    if connection is None:
        erase(path)
        connection = _open(path, now_ms)
    if meta.get(connection, _MADE) is None:
        with _transaction(connection):
            meta.put(connection, _PROJECT, project)
            meta.put(connection, _MADE, str(uuid.uuid4()))
    return connection


def _find_usable(path: str, project: str, now_ms: int) -> Database | None:
    try:
        connection = _open(path, now_ms)
    except (StoreCorrupt, SchemaTooNew, MigrationFailed):
        return None
    except sqlite3.Error as error:
        if is_damage(error):
            return None
        raise
    try:
        if meta.get(connection, _PROJECT) in (None, project):
            return connection
    except sqlite3.Error as error:
        if not is_damage(error):
            connection.close()
            raise
    connection.close()
    return None


def _open(path: str, now_ms: int) -> Database:
    connection = open_writer(path)
    try:
        # What a page overwrites or deletes is gone from the file: another's wish to forget is not to be looked up here.
        connection.execute("PRAGMA secure_delete = ON")
        migrate(connection, now_ms)
        # The server is told how far it has come; a power cut must not take it back from there.
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def erase(path: str) -> None:
    """Remove a replica with everything in it. The database goes last: whoever misses it makes another at once, whose
    files are not to go with these."""
    for suffix in ("-journal", "-wal", "-shm", ""):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def merge_full_text(connection: sqlite3.Connection) -> None:
    """Leave nothing of deleted rows' words in the pages of full text."""
    for table in ("facts_fts", "facts_trigrams", "summaries_fts", "summaries_trigrams"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608 - constants


def claim(connection: sqlite3.Connection, items: Iterable[str]) -> None:
    """Note that the own store has these items too: their text goes here."""
    with _transaction(connection):
        for item in items:
            row = connection.execute("SELECT number FROM team_items WHERE id = ?", (item,)).fetchone()
            if row is not None:
                _clear_rows(connection, row[0])
                connection.execute("UPDATE team_items SET is_own = 1, metadata = '{}' WHERE number = ?", row)


def list_holding(path: str, holds: Callable[[str], bool]) -> list[int]:
    """Return the numbers of items whose text is of a kind; none where there is no replica, or none that can be read."""
    found: list[int] = []
    with suppress(StoreError, sqlite3.Error), closing(open_reader(path)) as connection:
        rows = connection.execute("SELECT id, text FROM facts UNION ALL SELECT id, text FROM summaries")
        found = sorted(int(number) for number, text in rows if holds(text))
    return found


# The cursor


def last_number(connection: sqlite3.Connection) -> int | None:
    """Return the last number that was given to an item, though it may be gone; None where none was."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'team_items'").fetchone()
    return None if row is None else int(row[0])


def read_cursor(connection: sqlite3.Connection) -> Cursor:
    """Return how far the replica has come; at the beginning without an epoch, at 0."""
    return Cursor(meta.get(connection, _EPOCH), meta.number(connection, _SEQ), meta.get(connection, _MADE) or "")


def restart(connection: sqlite3.Connection, epoch: str) -> None:
    """Begin from 0 in another epoch: what is there stays readable, under its numbers, until all is pulled again."""
    with _transaction(connection):
        meta.put(connection, _EPOCH, epoch)
        meta.put(connection, _SEQ, "0")
        if connection.execute("SELECT 1 FROM team_items LIMIT 1").fetchone():
            meta.put(connection, _RESTARTED, "1")
            connection.execute("UPDATE team_items SET seq = 0")


# Applying


def apply(
    connection: sqlite3.Connection,
    placed: Sequence[Placed],
    gone: Collection[str],
    *,
    after: Cursor,
    seq: int,
    is_head: bool,
    numbers_after: int = 0,
) -> bool:
    """Apply a page of the feed that begins after the cursor and move that to `seq`, in one transaction; False where the
    cursor has moved since: an older page would bring older texts, and one that comes after leaving another team's.

    `numbers_after`: a replica that is made anew numbers from there on, so that nobody's t12 becomes another item.
    `is_head`: there is no more for now, so what a pull from 0 has not met is no more there.
    """
    with _transaction(connection):
        if read_cursor(connection) != after:
            return False
        connection.execute(_BEGIN_NUMBERS, (numbers_after,))
        for each in gone:
            _remove(connection, each)
        for one in placed:
            _place(connection, one)
        ids = json.dumps([str(one.change.item.id) for one in placed])
        connection.execute(_SUCCESSORS, (ids,))
        if is_head and meta.get(connection, _RESTARTED) == "1":
            left = connection.execute("SELECT id FROM team_items WHERE seq = 0").fetchall()
            for (item,) in left:
                _remove(connection, item)
            meta.put(connection, _RESTARTED, "0")
        connection.execute("DELETE FROM graph_queue")  # no graph is made of a replica
        meta.put(connection, _SEQ, str(seq))
    return True


def _place(connection: sqlite3.Connection, placed: Placed) -> None:
    put, author = placed.change.item, placed.change.author
    kind = "summary" if put.source == "summary" else "fact"
    metadata = "{}" if placed.is_own else json.dumps(put.metadata, ensure_ascii=False)
    (number,) = connection.execute(
        _ITEM,
        (
            str(put.id),
            placed.change.seq,
            put.rev,
            put.hash,
            put.source,
            put.source_ref,
            str(author.id),
            author.name[:NAME_CHARS_MAX],
            str(placed.change.device),
            put.visibility,
            placed.is_own,
            metadata,
            None if put.superseded_by is None else str(put.superseded_by),
            kind,
            put.ts,
        ),
    ).fetchone()
    _clear_rows(connection, number)
    if placed.is_own:
        return
    if kind == "fact" and put.text:
        _place_fact(connection, number, put, placed.words)
    elif kind == "summary" and put.text and put.archived_at is None and put.superseded_by is None:
        _place_story(connection, number, put, placed.words)


def _place_fact(connection: sqlite3.Connection, number: int, put: Put, words: str) -> None:
    said = put.metadata
    category = said.get("type")
    tags = [put.source, *_texts(said.get("tags"))][:TAGS_MAX]
    status = "superseded" if put.superseded_by is not None else "archived" if put.archived_at is not None else "active"
    values = (
        number,
        put.ts,
        put.ts,
        category if category in CATEGORIES else "fact",
        put.text,
        json.dumps(tags, ensure_ascii=False),
        _number(said.get("importance"), 1, 5, 3),
        _share(said.get("confidence")),
        put.valid_from,
        put.valid_to,
        _name(said.get("session")),
        put.source,
        str(put.id),
        " ".join([words, *tags]).strip(),
        _said_by(put),
        status,
        _name(said.get("topic")),
    )
    connection.execute(_FACT, values)


def _place_story(connection: sqlite3.Connection, number: int, put: Put, words: str) -> None:
    session = _name(put.metadata.get("session")) or str(put.id)
    scope = "turn" if put.metadata.get("scope") == "turn" else "session"
    said_by = _said_by(put)
    connection.execute(_EVENT, (number, put.ts, session, said_by))
    connection.execute(
        _SUMMARY, (number, number, put.ts, put.text, _share(put.metadata.get("confidence")), words, scope, said_by)
    )
    connection.execute(_SESSION, (session, put.ts))


def _said_by(put: Put) -> str:
    """Return whose words an item is made of, as far as this workspace believes it."""
    if put.source in NATURAL:
        return "outside"
    said = put.metadata.get("saidBy")
    return "agent" if said in ("person", "agent") else "output" if said == "output" else "outside"


def _remove(connection: sqlite3.Connection, item: str) -> None:
    row = connection.execute("SELECT number FROM team_items WHERE id = ?", (item,)).fetchone()
    if row is not None:
        _clear_rows(connection, row[0])
        connection.execute("DELETE FROM team_items WHERE number = ?", (row[0],))


def _clear_rows(connection: sqlite3.Connection, number: int) -> None:
    """Take an item's text away, with all that hangs on it; foreign keys and triggers reach the rest."""
    connection.execute("DELETE FROM facts WHERE id = ?", (number,))
    found = connection.execute("SELECT session_id FROM events WHERE id = ?", (number,)).fetchone()
    if found is not None:
        connection.execute("DELETE FROM events WHERE id = ?", (number,))
        connection.execute(_EMPTY_SESSION, found)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it, or nothing."""
    begin(connection)
    try:
        yield
        commit(connection)
    except BaseException:
        rollback(connection)
        raise


def _texts(value: object) -> list[str]:
    texts = value if isinstance(value, list) else []
    return [each[:TAG_CHARS_MAX] for each in texts if isinstance(each, str) and each]


def _name(value: object) -> str | None:
    return value[:NAME_CHARS_MAX] if isinstance(value, str) and value else None


def _number(value: object, low: int, high: int, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high else otherwise


def _share(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1 else None


# Reading


def find_hashes(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, tuple[int, str]]:
    """Return (rev, hash) of items that the team has, by id, whoever told them."""
    rows = connection.execute(
        "SELECT id, rev, hash FROM team_items WHERE id IN (SELECT value FROM json_each(?)) AND seq > 0",
        (json.dumps(list(ids)),),
    )
    return {str(row[0]): (int(row[1]), str(row[2])) for row in rows}


def list_authored(connection: sqlite3.Connection, author: str, after: int, limit: int) -> list[Authored]:
    """Return a page of what a person has told of what was captured, behind an item's number."""
    rows = connection.execute(_AUTHORED, (author, after, limit))
    return [Authored(int(row[0]), str(row[1]), row[2], str(row[3]), int(row[4])) for row in rows]


def count_pieces(connection: sqlite3.Connection, source: str, ref: str) -> int:
    """Return in how many pieces something of another program is (`siftd.team.sources.pieces`); 0 where it is not."""
    row = connection.execute(
        "SELECT count(*) FROM team_items WHERE source = ?1 AND seq > 0"
        " AND (source_ref = ?2 OR (source_ref > ?2 || '#' AND source_ref < ?2 || '$'))",  # '$' is the sign behind '#'
        (source, ref),
    ).fetchone()
    return int(row[0])


def count_by_source(connection: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    """Return by source how many items there are, and how many of them the own store has."""
    rows = connection.execute("SELECT source, count(*), sum(is_own) FROM team_items GROUP BY source ORDER BY source")
    return {str(source): (int(count), int(own)) for source, count, own in rows}
