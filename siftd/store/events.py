"""Events and sessions: what the log's records become.

`id` is the record's seq. `meta.applied_seq` moves in the same transaction as the rows, contiguously, so that
replay knows where to begin.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from siftd.capture.admission import KEY_CHARS
from siftd.clients.older import kind_and_action, said_by
from siftd.errors import is_transient
from siftd.log.record import Record
from siftd.store import meta
from siftd.store.event_columns import AS_RECORDED, COLUMNS
from siftd.store.ids import last_id
from siftd.store.intents import apply_intent, apply_summaries

_INSERT = f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608
_as_recorded = attrgetter(*AS_RECORDED)
_TOUCH_SESSION = """
INSERT INTO sessions (session_id, cwd, started_ts, last_ts, ended_ts, source, compacted_ts)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, CASE WHEN ?7 = 'compact' THEN ?4 END)
ON CONFLICT (session_id) DO UPDATE SET
    cwd = coalesce(cwd, excluded.cwd), source = coalesce(source, excluded.source),
    started_ts = min(started_ts, excluded.started_ts), last_ts = max(last_ts, excluded.last_ts),
    ended_ts = CASE WHEN ?7 = 'end' THEN ?4 WHEN ?7 = 'start' AND ?3 >= ended_ts THEN NULL ELSE ended_ts END,
    compacted_ts = coalesce(max(compacted_ts, excluded.compacted_ts), excluded.compacted_ts, compacted_ts)
"""
_REDACTED = b"[REDACTED:"
_PLACEHOLDER = re.compile(rb"\[REDACTED:([a-z0-9-]{1,40})(?::[0-9a-f]{4})?\]")
_COUNT = "INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value"
_REJECT = """
INSERT INTO rejections VALUES (?, 1, ?)
ON CONFLICT (reason) DO UPDATE SET count = count + 1, last_ts = excluded.last_ts
"""
# By the index of uids, which begin like their native key: an index of its own cost 15 % of each insert.
_FIND_ORIGINAL = """
SELECT id FROM events WHERE uid BETWEEN ?2 AND ?2 || 'g' AND native_key = ?1 AND session_id <> ?3 AND input_key IS ?4
"""
_COUNT_OCCURRENCES = "SELECT count(*) FROM events WHERE uid BETWEEN ?2 AND ?2 || 'g' AND native_key = ?1"

_LIST_READ = (
    "SELECT uid, id FROM events WHERE uid BETWEEN ?2 AND ?2 || 'g' AND native_key = ?1"
    " AND frame_uid IS NULL AND ts BETWEEN ?3 AND ?4 ORDER BY ts, id LIMIT 100"
)


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored under a uid."""

    event_id: int
    input_key: str | None


def find_by_uid(connection: sqlite3.Connection, uid: str) -> Stored | None:
    row = connection.execute("SELECT id, input_key FROM events WHERE uid = ?", (uid,)).fetchone()
    return Stored(*row) if row else None


def find_by_frame(connection: sqlite3.Connection, frame_uid: str) -> int | None:
    """Return the id of the event that this frame became."""
    row = connection.execute("SELECT id FROM events WHERE frame_uid = ?", (frame_uid,)).fetchone()
    return int(row[0]) if row else None


def find_original(
    connection: sqlite3.Connection, native_key: str, session_id: str, input_key: str | None
) -> int | None:
    """Return the event of another session that has this client's id and input: what a fork's copy is a copy of."""
    row = connection.execute(_FIND_ORIGINAL, (native_key, native_key[:KEY_CHARS], session_id, input_key)).fetchone()
    return int(row[0]) if row else None


def find_equal(connection: sqlite3.Connection, session_id: str, input_hash: str) -> int | None:
    """Return an event of the session with the same payload."""
    row = connection.execute(
        "SELECT id FROM events WHERE session_id = ? AND input_hash = ?", (session_id, input_hash)
    ).fetchone()
    return int(row[0]) if row else None


def count_occurrences(connection: sqlite3.Connection, native_key: str) -> int:
    row = connection.execute(_COUNT_OCCURRENCES, (native_key, native_key[:KEY_CHARS])).fetchone()
    return int(row[0])


def list_read(connection: sqlite3.Connection, native_key: str, since: int, until: int) -> list[tuple[str, int]]:
    """Return (uid, id) of the facts with this key that a session's file told first, in a span of time, by time."""
    values = native_key, native_key[:KEY_CHARS], since, until
    return [(uid, int(event_id)) for uid, event_id in connection.execute(_LIST_READ, values)]


def applied_seq(connection: sqlite3.Connection) -> int:
    """Return the seq up to which every record is in the database."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'applied_seq'").fetchone()
    return int(row[0]) if row else 0


def note_lost_log(connection: sqlite3.Connection, now_ms: int) -> None:
    """Note that the log was lost: up to the seq that is applied now, records are in this database alone."""
    meta.put(connection, "log_lost_ts", str(now_ms))
    note_alone(connection)


def note_alone(connection: sqlite3.Connection) -> None:
    """Note that up to the seq that is applied now this database alone has what was kept: it is copied at a tick."""
    meta.put(connection, "log_lost_seq", str(applied_seq(connection)))


def apply_records(connection: sqlite3.Connection, records: Sequence[Record]) -> None:
    """Make the records' rows and move `applied_seq`. Records are in seq order, and nobody has taken their seqs:
    the caller's transaction began before they were given.
    """
    if not records:
        return
    for kind, run in groupby(records, key=lambda record: record.kind):
        if kind == "capture":
            _apply_captures(connection, list(run))
        elif kind == "summary":
            apply_summaries(connection, run)
        else:
            for record in run:
                _apply_rest(connection, record)
    _count_redactions(connection, records)
    meta.put(connection, "applied_seq", str(records[-1].seq))


def replay_records(
    connection: sqlite3.Connection, records: Iterable[Record], leave_out: Callable[[Record, Exception], None]
) -> int:
    """Apply records of the log that may partly be in the database already; return how many events were added.

    Within the caller's transaction. A record that no table takes is passed over, whole, and given to `leave_out`; what
    is the fault of a lock, a disk or a damaged database is raised.
    """
    added = 0
    for record in records:
        connection.execute("SAVEPOINT record")
        try:
            added += _replay(connection, record)
        except Exception as error:
            connection.execute("ROLLBACK TO record")
            if not _is_own_fault(error):
                raise
            meta.put(connection, "applied_seq", str(record.seq))
            leave_out(record, error)
        connection.execute("RELEASE record")
    return added


def _replay(connection: sqlite3.Connection, record: Record) -> bool:
    """Apply one record; return whether it was an event that was not there."""
    if record.kind == "capture" and not _is_stored(connection, record):
        _make_way(connection, record.seq)
        apply_records(connection, [record])
        return True
    _apply_rest(connection, record)
    meta.put(connection, "applied_seq", str(record.seq))
    return False


def _is_own_fault(error: Exception) -> bool:
    """Whether an exception is due to the record that was applied: a number beyond 64 bits, a field that is missing."""
    if isinstance(error, sqlite3.Error):
        return isinstance(error, sqlite3.IntegrityError | sqlite3.DataError | sqlite3.ProgrammingError)
    return not is_transient(error)


def _apply_captures(connection: sqlite3.Connection, records: list[Record]) -> None:
    connection.executemany(_INSERT, [_row(record) for record in records])
    by_session: dict[str, list[Record]] = {}
    for record in records:
        by_session.setdefault(record.session_id, []).append(record)
    for same in by_session.values():
        cwd = next((record.cwd for record in same if record.cwd), None)
        times = [record.ts for record in same]
        _touch_session(connection, same[0], cwd, min(times), max(times))


def _count_redactions(connection: sqlite3.Connection, records: Sequence[Record]) -> None:
    """Count the placeholders of what is kept, whoever made them: the daemon, a courier, a backfill, an import."""
    found: Counter[bytes] = Counter()
    for record in records:
        payload = bytes(record.payload)
        if _REDACTED in payload:
            found.update(_PLACEHOLDER.findall(payload))
    for name, number in found.items():
        count(connection, f"redacted:{name.decode()}", number)


def _apply_rest(connection: sqlite3.Connection, record: Record) -> None:
    """Do what a record asks for besides an event's row."""
    if record.kind in ("capture", "session"):
        _touch_session(connection, record, record.cwd, record.ts, record.ts)
    else:
        apply_intent(connection, record)


def _is_stored(connection: sqlite3.Connection, record: Record) -> bool:
    row = connection.execute(
        "SELECT 1 FROM events WHERE uid = ? OR (frame_uid = ? AND frame_uid IS NOT NULL)",
        (record.uid, record.frame_uid),
    ).fetchone()
    return row is not None


def _row(record: Record) -> tuple[object, ...]:
    kind, action = kind_and_action(record.event_kind, record.action, record.tool)
    is_hooked, is_native = record.frame_uid is not None, record.native_key is not None
    whose = said_by(record.said_by, record.tool, is_hooked=is_hooked, is_native=is_native)
    return record.seq, bytes(record.payload).decode(), kind, action, whose, *_as_recorded(record)


def _make_way(connection: sqlite3.Connection, seq: int) -> None:
    """Give a row that a person inserted under this id another one: the log's seq is not to be changed.

    Only possible for rows made while the writer went on with the log alone.
    """
    if connection.execute("SELECT 1 FROM events WHERE id = ?", (seq,)).fetchone() is None:
        return
    free = max(last_id(connection), seq) + 1
    connection.execute("PRAGMA defer_foreign_keys = ON")
    for table in ("summaries", "event_words", "event_facets", "injections"):
        connection.execute(f"UPDATE {table} SET event_id = ? WHERE event_id = ?", (free, seq))  # noqa: S608
    connection.execute("UPDATE events SET id = ? WHERE id = ?", (free, seq))
    # An update does not count as an id given.
    connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'events'", (free,))


def _touch_session(
    connection: sqlite3.Connection, record: Record, cwd: str | None, first_ts: int, last_ts: int
) -> None:
    """Note that the record's session was active."""
    ended = record.ts if record.change == "end" else None
    connection.execute(
        _TOUCH_SESSION, (record.session_id, cwd, first_ts, last_ts, ended, record.client, record.change or "")
    )


def count(connection: sqlite3.Connection, name: str, by: int = 1) -> None:
    """Add to a counter that outlives the daemon."""
    connection.execute(_COUNT, (name, by))


def count_rejection(connection: sqlite3.Connection, reason: str, now_ms: int) -> None:
    connection.execute(_REJECT, (reason, now_ms))
    count(connection, "rejected")
