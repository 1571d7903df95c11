"""What a database that was set aside has and log and snapshots no longer give, taken over into the one made anew.

The log is the truth as long as it is whole. Where a segment of it was deleted, cut short or damaged, the database that
was set aside is the last to have what was acknowledged. It may be damaged itself, so an event is taken only if its
payload still is what `input_hash` says, and whatever cannot be read is passed over. What was forgotten stays
forgotten. Events are summarised anew: only what no replay brings back is taken.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from siftd.errors import StoreError
from siftd.store import events, ids, meta, scrubbing, sqlite_checks
from siftd.store.connection import open_reader
from siftd.store.document_rescue import rescue_documents
from siftd.store.tombstones import Tombstones, number_spans

PIECE = 512
"""Rows that are read at once; where one cannot be read, it is looked for by halves."""
FAULTS_MAX = 10_000
"""So many unreadable places are looked around; a file that has more is no database any more."""
_DERIVED = ("status", "attempts", "last_error")
"""Of an event: whether it is summarised is for the consolidator to say."""
_COPIED_WHOLE = ("tombstones", "forgets")
_REST = (
    "conversations",
    "fact_links",
    "fact_reads",
    "fact_sources",
    "fact_history",
    "fact_uses",
    "pods",
    "pod_members",
    "kept_apart",
    "opt_outs",
    "entity_merges",
    "team_links",
    "team_shared",
    "team_dirty",
)
"""Tables that hold what was asked for besides events, sessions and facts."""
_BEFORE_FACTS = {"facts": "memories", "fact_links": "memory_links", "fact_reads": "memory_reads"}
"""What tables were called before migration 0007, and below their columns."""
_COLUMNS_BEFORE_FACTS = {"category": "type", "fact_id": "memory_id"}


@dataclass(slots=True)
class Rescued:
    """What was taken over, and what was left in the set-aside file because its hash does not hold."""

    events: int = 0
    rest: int = 0
    left: int = 0

    def add(self, other: Rescued) -> None:
        self.events += other.events
        self.rest += other.rest
        self.left += other.left

    def __bool__(self) -> bool:
        return bool(self.events or self.rest or self.left)


def rescue(connection: sqlite3.Connection, set_aside: str, tombstones: Tombstones) -> Rescued:
    """Take over what only the database `set_aside` has; one that cannot be read at all, or is foreign, has nothing.

    One transaction. Doing it again adds nothing.
    """
    rescued = Rescued()
    try:
        old = open_reader(set_aside)
    except StoreError:
        return rescued
    try:
        if not _is_ours(connection, old):
            return rescued
        connection.execute("BEGIN IMMEDIATE")
        _Rescue(connection, old, tombstones, rescued).run()
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        old.close()
        tombstones.reload()
    return rescued


def read_store(set_aside: str) -> str | None:
    """Return the store that a set-aside database is of; None for one that cannot say it."""
    try:
        old = open_reader(set_aside)
    except StoreError:
        return None
    try:
        return meta.get(old, "store")
    except sqlite3.Error:
        return None
    finally:
        old.close()


def _is_ours(connection: sqlite3.Connection, old: sqlite3.Connection) -> bool:
    """Whether the set-aside database is of this store and has seen every scrub: an older one's rows are not clean."""
    try:
        is_other = any(
            None not in (found := (meta.get(connection, key), meta.get(old, key))) and found[0] != found[1]
            for key in ("store", "secret")
        )
        scrubbed = int(meta.get(old, scrubbing.DONE) or 0)
    except (sqlite3.Error, ValueError):
        return False  # whose it is cannot be read
    return not is_other and scrubbed >= int(meta.get(connection, scrubbing.DONE) or 0)


class _Rescue:
    """One set-aside database, read as far as it can be."""

    def __init__(
        self, connection: sqlite3.Connection, old: sqlite3.Connection, tombstones: Tombstones, rescued: Rescued
    ) -> None:
        self._connection = connection
        self._old = old
        self._tombstones = tombstones
        self._rescued = rescued
        self._faults = 0

    def run(self) -> None:
        if sqlite_checks.is_whole(self._old):  # a damaged tombstone could forget anything
            for table in _COPIED_WHOLE:
                self._copy(table)
            number_spans(self._connection)  # it may be of an earlier siftd
            self._tombstones.reload()
        self._take_events()
        self._take_sessions()
        self._take_facts()
        for table in _REST:
            self._rescued.rest += self._copy(table)
        self._rescued.rest += rescue_documents(self._connection, self._old, self._tombstones)
        self._keep_numbers()

    def _take_events(self) -> None:
        columns = [each for each in self._shared_columns("events") if each not in _DERIVED]
        find = f"SELECT {', '.join(columns)} FROM events NOT INDEXED WHERE id = ?"  # noqa: S608 - names of our own
        for event_id, uid in self._iter_rows("events", ["id", "uid"]):
            if self._is_stored(event_id, uid):
                continue
            try:
                row = self._old.execute(find, (event_id,)).fetchone()
            except sqlite3.Error:
                row = None
            if row is not None:
                self._take_event(dict(zip(columns, row, strict=True)))

    def _take_event(self, event: dict[str, Any]) -> None:
        if _hash(event["payload_json"]) != event["input_hash"]:
            self._rescued.left += 1
        elif not self._is_forgotten(event) and not self._has_another_name(event):
            if self._is_taken("events", event["id"]):
                event["id"] = ids.last_id(self._connection) + 1
            self._rescued.events += self._insert("events", event)

    def _is_stored(self, event_id: int, uid: str | None) -> bool:
        by = ("uid = ?", uid) if uid is not None else ("uid IS NULL AND id = ?", event_id)
        return self._connection.execute(f"SELECT 1 FROM events WHERE {by[0]}", by[1:]).fetchone() is not None  # noqa: S608

    def _has_another_name(self, event: dict[str, Any]) -> bool:
        """Whether the event is here under its id, with its time and words: one flipped bit makes a uid another."""
        sql = "SELECT 1 FROM events WHERE id = ? AND ts = ? AND session_id = ? AND input_hash = ?"
        found = event["id"], event["ts"], event["session_id"], event["input_hash"]
        return self._connection.execute(sql, found).fetchone() is not None

    def _is_taken(self, table: str, number: int) -> bool:
        return self._connection.execute(f"SELECT 1 FROM {table} WHERE id = ?", (number,)).fetchone() is not None  # noqa: S608

    def _is_forgotten(self, event: dict[str, Any]) -> bool:
        found = self._tombstones
        if found.is_empty:
            return False
        uid, frame = event["uid"], event["frame_uid"]
        return (
            (uid is not None and found.find_uid(uid) is not None)
            or (frame is not None and found.find_frame(frame) is not None)
            or (uid is None and self._is_buried("id", str(event["id"])))
            or found.find_stored(event["session_id"], event["ts"], event["id"], event["payload_json"].encode())
            is not None
        )

    def _is_buried(self, kind: str, key: str) -> bool:
        sql = "SELECT 1 FROM tombstones WHERE kind = ? AND key = ?"
        return self._connection.execute(sql, (kind, key)).fetchone() is not None

    def _take_sessions(self) -> None:
        columns = self._shared_columns("sessions")
        for row in self._iter_rows("sessions", columns):
            session = dict(zip(columns, row, strict=True))
            name, begun = session["session_id"], session["started_ts"]
            if self._tombstones.find_arriving(name, begun) is None or self._has_events(name):
                self._insert("sessions", session)

    def _has_events(self, session_id: str) -> bool:
        sql = "SELECT 1 FROM events WHERE session_id = ? LIMIT 1"
        return self._connection.execute(sql, (session_id,)).fetchone() is not None

    def _take_facts(self) -> None:
        """Facts that are missing, and the newer text of those whose change is."""
        columns = self._shared_columns("facts")
        successors: list[tuple[int, str]] = []
        for row in self._iter_rows("facts", columns):
            fact = dict(zip(columns, row, strict=True))
            uid = fact["uid"]
            known = self._connection.execute("SELECT id, updated_ts FROM facts WHERE uid = ?", (uid,)).fetchone()
            if uid is None or self._is_buried("memory", uid):
                continue
            if (successor := fact.pop("superseded_by", None)) is not None:  # it may come later
                successors.append((successor, uid))
            if known is None:
                if self._is_same_fact(fact):
                    continue
                if self._is_taken("facts", fact["id"]):
                    fact["id"] = ids.last_id(self._connection) + 1
                self._rescued.rest += self._insert("facts", fact)
            elif fact["updated_ts"] > known[1]:
                self._rescued.rest += self._update_fact(known[0], fact)
        self._connection.executemany(
            "UPDATE OR IGNORE facts SET superseded_by = (SELECT id FROM facts n WHERE n.id = ?1)"
            " WHERE uid = ?2 AND status <> 'active'",
            successors,
        )

    def _is_same_fact(self, fact: dict[str, Any]) -> bool:
        """As `_has_another_name`."""
        sql = "SELECT 1 FROM facts WHERE id = ? AND ts = ? AND text = ?"
        return self._connection.execute(sql, (fact["id"], fact["ts"], fact["text"])).fetchone() is not None

    def _update_fact(self, number: int, fact: dict[str, Any]) -> int:
        found = {name: value for name, value in fact.items() if name != "id"}
        assigned = ", ".join(f"{name} = ?" for name in found)
        sql = f"UPDATE facts SET {assigned} WHERE id = ?"  # noqa: S608 - names of our own
        return self._connection.execute(sql, (*found.values(), number)).rowcount

    def _copy(self, table: str) -> int:
        """Insert what is missing of a table; return how many rows."""
        columns = self._shared_columns(table)
        rows = (dict(zip(columns, row, strict=True)) for row in self._iter_rows(table, columns))
        return sum(self._insert(table, row) for row in rows if table != "conversations" or not self._is_covered(row))

    def _is_covered(self, row: dict[str, Any]) -> bool:
        return self._tombstones.find_arriving(row["session_id"], row["ts"]) is not None

    def _keep_numbers(self) -> None:
        """See to it that no id or seq is given twice."""
        try:
            applied, last = events.applied_seq(self._old), ids.last_id(self._old)
        except (sqlite3.Error, ValueError):
            return
        if applied > events.applied_seq(self._connection):
            meta.put(self._connection, "applied_seq", str(applied))
        if last > ids.last_id(self._connection):
            self._connection.execute("DELETE FROM sqlite_sequence WHERE name = 'events'")
            self._connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('events', ?)", (last,))

    def _insert(self, table: str, row: dict[str, Any]) -> int:
        names, holes = ", ".join(row), ", ".join("?" * len(row))
        sql = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({holes})"  # noqa: S608 - names of our own
        try:
            return self._connection.execute(sql, tuple(row.values())).rowcount
        except sqlite3.IntegrityError:  # what it belongs to is gone
            return 0

    def _shared_columns(self, table: str) -> list[str]:
        """Return the columns that both databases have: the set-aside one may be of an earlier siftd."""
        name, then = self._called_then(table)
        theirs = set(_columns(self._old, name))
        return [each for each in _columns(self._connection, table) if then.get(each, each) in theirs]

    def _called_then(self, table: str) -> tuple[str, dict[str, str]]:
        """Return what the set-aside database calls a table, and those of its columns that have another name now."""
        if table in _BEFORE_FACTS and not _columns(self._old, table):
            return _BEFORE_FACTS[table], _COLUMNS_BEFORE_FACTS
        return table, {}

    def _iter_rows(self, table: str, columns: list[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table that can be read, a piece at a time."""
        if not columns:
            return
        is_numbered = table in ("events", "facts")
        name, then = self._called_then(table)
        chosen = ", ".join(then.get(each, each) for each in columns)
        sql = f"SELECT {chosen} FROM {name} NOT INDEXED"  # noqa: S608 - names of our own
        if not is_numbered:
            try:
                yield from self._old.execute(sql).fetchall()
            except sqlite3.Error:
                self._faults += 1
            return
        after, newest = 0, self._newest(name)
        while after < newest and self._faults < FAULTS_MAX:
            try:
                rows = self._old.execute(f"{sql} WHERE id > ? ORDER BY id LIMIT {PIECE}", (after,)).fetchall()
                after = rows[-1][0] if rows else newest
            except sqlite3.Error:
                rows = self._read(f"{sql} WHERE id > ? AND id <= ? ORDER BY id", after, after + PIECE)
                after += PIECE
            yield from rows

    def _newest(self, table: str) -> int:
        for sql in (f"SELECT max(id) FROM {table}", "SELECT max(seq) FROM sqlite_sequence"):  # noqa: S608 - as above
            try:
                return int(self._old.execute(sql).fetchone()[0] or 0)
            except (sqlite3.Error, ValueError):
                continue
        return 0

    def _read(self, sql: str, after: int, upto: int) -> list[tuple[Any, ...]]:
        """Return the rows of a span of ids; around what cannot be read it is halved."""
        try:
            return self._old.execute(sql, (after, upto)).fetchall()
        except sqlite3.Error:
            self._faults += 1
        middle = (after + upto) // 2
        if middle == after or self._faults >= FAULTS_MAX:
            return []
        return self._read(sql, after, middle) + self._read(sql, middle, upto)


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns of a table; none where there is none, or it cannot be read."""
    try:
        return [row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    except sqlite3.Error:
        return []


def _hash(payload: Any) -> str:
    return hashlib.sha256(payload.encode("utf-8", "surrogatepass") if isinstance(payload, str) else b"").hexdigest()
