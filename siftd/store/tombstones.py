"""Tombstones: what was forgotten, without a word of it, so that no way in brings it back.

They are made by `forget` records and obeyed by whoever keeps an event: live captures, couriers that come late,
backfill, import, replay, rebuild. Names are hashes keyed by the workspace's secret: nobody can test a guess.

    kind       key                                    detail
    uid        an event's natural uid                 its input key
    frame      the frame it came in
    native     native key:input key                   so that a fork's copy in a transcript is known
    equal      hash of session and input hash         for transcripts' events without any id
    id         the id of a row without a uid
    memory     a memory's uid                         its id
    record     the seq of any other record
    aged       a `uid` or `memory` that its age alone took away: a team keeps what it has of it
    session    hash of a session's id                 } everything of theirs from `since` to `until`, the time at
    file       hash of a file's path                  } which it was forgotten; in `detail` the seq of that record
    time                                              }
    title      hash of a session's id: what it was called, as a conversation   } up to `until`; the rest of what
    folder     hash of the folder that a session was in                        } holds them stays
    pod        hash of a pod's type and external id
    document   hash of what a document is known by: what was kept of it before that record; it may be read in anew
    note       hash of what an entry of the notes says     the seq of that record; it goes when no file holds the entry

A time may have been taken from a clock that was wrong: "everything until 2037". Therefore it covers of the log and the
rows only what came before its own record, and of what arrives as it happens only what is before the end of it. What is
told later (a transcript, an export) has nothing but its time.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from siftd.log.record import Record
from siftd.store.documents import Source
from siftd.store.payload import find_object

FORGOTTEN = 0
"""What stands for the id of an event that is forgotten: no event has it."""
PATH_FIELDS = ("file_path", "notebook_path", "path")
_INSERT = "INSERT OR IGNORE INTO tombstones (kind, key, detail) VALUES (?, ?, ?)"
_INSERT_SPAN = "INSERT OR REPLACE INTO tombstones (kind, key, since, until, detail) VALUES (?, ?, ?, ?, ?)"
_NUMBER = """
UPDATE tombstones SET detail = (SELECT max(seq) FROM forgets) WHERE until IS NOT NULL AND detail IS NULL
"""
_WISHED = "NOT EXISTS (SELECT 1 FROM tombstones a WHERE a.kind = 'aged' AND a.key = t.key)"
_EVENTS = f"""
SELECT iif(kind = 'uid', key, NULL), iif(kind = 'id', CAST(key AS INTEGER), 0) FROM tombstones t
WHERE kind IN ('uid', 'id') AND {_WISHED}
"""  # noqa: S608 - constants only
_FACTS = f"""
SELECT key FROM tombstones t WHERE kind = 'memory' AND key IN (SELECT value FROM json_each(?)) AND {_WISHED}
"""  # noqa: S608 - constants only
_NAMES = ("uid", "frame", "native", "equal", "id", "memory", "record")
_NOT_ASKED = (
    "capture session forget retry resummarise undo opt-out opt-in spend scoring document_removed team_join team_leave"
).split()
"""Kinds of records that hold no statement of a person's or an agent's."""


class Span(NamedTuple):
    """A time, of a session, a file or everything, that is forgotten."""

    since: int
    until: int
    seq: int
    """Of the record that forgets it."""


@dataclass(frozen=True, slots=True)
class Buried:
    """What was stored under a uid."""

    input_key: str | None
    event_id: int = FORGOTTEN


class Keys:
    """Hashes of names, keyed by the workspace's secret."""

    def __init__(self, secret: bytes) -> None:
        self._keyed = hashlib.blake2b(key=secret, digest_size=16, person=b"forgotten")

    def session(self, session_id: str) -> str:
        return self._hash("session", session_id)

    def file(self, path: str) -> str:
        return self._hash("file", path)

    def title(self, session_id: str) -> str:
        return self._hash("title", session_id)

    def folder(self, path: str) -> str:
        return self._hash("folder", path)

    def pod(self, kind: str, external_id: str) -> str:
        return self._hash("pod", kind, external_id)

    def document(self, source: Source) -> str:
        return self._hash("document", *source.name)

    def note(self, said: str) -> str:
        """Of an entry of the notes (`siftd.notes.entries.said`)."""
        return self._hash("note", said)

    def equal(self, session_id: str, input_hash: str) -> str:
        return self._hash("equal", session_id, input_hash)

    def _hash(self, *parts: str) -> str:
        keyed = self._keyed.copy()
        keyed.update(msgspec.json.encode(parts))
        return keyed.hexdigest()


HELD_MAX = 2_000
"""Up to so many are held in memory: a whole log is asked about, three times a record (20 s of 25,000 otherwise)."""


class Tombstones:
    """The tombstones of one store, asked through one connection. `is_empty` makes the usual case free."""

    def __init__(self, connection: sqlite3.Connection, secret: bytes) -> None:
        self._connection = connection
        self._keys = Keys(secret)
        self.is_empty = True
        self.reload()

    def reload(self) -> None:
        """See what was forgotten since."""
        self.is_empty = self._connection.execute("SELECT 1 FROM tombstones LIMIT 1").fetchone() is None
        rows = self._connection.execute(
            "SELECT kind, key, since, until, detail FROM tombstones WHERE until IS NOT NULL"
        )
        self._spans: dict[tuple[str, str], list[Span]] = {}
        for kind, key, since, until, seq in rows.fetchall():
            self._spans.setdefault((kind, key), []).append(Span(since, until, int(seq)))
        self._has_files = any(kind == "file" for kind, _ in self._spans)
        self._has_documents = any(kind == "document" for kind, _ in self._spans)
        self._has_folders = any(kind == "folder" for kind, _ in self._spans)
        named = self._connection.execute("SELECT kind, key FROM tombstones LIMIT ?", (HELD_MAX + 1,)).fetchall()
        self._held = frozenset(named) if len(named) <= HELD_MAX else None

    def find_frame(self, frame_uid: str) -> int | None:
        """Return FORGOTTEN for a frame whose event is."""
        return self._find("frame", frame_uid)

    def find_uid(self, uid: str) -> Buried | None:
        row = self._connection.execute(
            "SELECT detail FROM tombstones WHERE kind = 'uid' AND key = ?", (uid,)
        ).fetchone()
        return Buried(row[0]) if row else None

    def find_copied(
        self, native_key: str | None, input_key: str | None, session_id: str, input_hash: str
    ) -> int | None:
        """Return FORGOTTEN for a transcript's event that repeats a forgotten one."""
        if native_key is None:
            return self._find("equal", self._keys.equal(session_id, input_hash))
        return None if input_key is None else self._find("native", f"{native_key}:{input_key}")

    def find_memory(self, payload_json: bytes) -> int | None:
        """Return FORGOTTEN for a memory that is told again, by an import for instance."""
        uid = (find_object(payload_json.decode()) or {}).get("uid")
        return self._find("memory", uid) if isinstance(uid, str) else None

    def find_title(self, payload_json: bytes) -> int | None:
        """Return FORGOTTEN for a title that is told again, by an import."""
        payload = find_object(payload_json.decode()) or {}
        session_id, ts = payload.get("id"), payload.get("ts")
        is_complete = isinstance(session_id, str) and isinstance(ts, int)
        return FORGOTTEN if is_complete and self.has_title(session_id, ts) else None  # type: ignore[arg-type]

    def find_pod(self, payload_json: bytes) -> int | None:
        """Return FORGOTTEN for a pod that is told again, by an import."""
        kind, external_id, ts = _pod_of(payload_json)
        if self.has_pod(kind, external_id, ts):
            return FORGOTTEN
        return self.find_arriving(external_id if kind == "session" else "", ts)

    def find_document(self, payload_json: bytes) -> int | None:
        """Return FORGOTTEN for a document of before that is told again, by an import."""
        payload = find_object(payload_json.decode()) or {}
        ts = payload.get("ts")
        return FORGOTTEN if isinstance(ts, int) and self.has_document(Source.of(payload), ts) else None

    def find_arriving(
        self, session_id: str, ts: int, payload_json: bytes = b"{}", *, now_ms: int | None = None
    ) -> int | None:
        """Return FORGOTTEN for what falls into a session, a time or a file that was forgotten.

        With `now_ms` it arrives as it happens: a time that this clock has not come to the end of does not cover it.
        """
        return self._find_scope(session_id, ts, payload_json, lambda span: now_ms is None or span.until <= now_ms)

    def find_stored(self, session_id: str, ts: int, seq: int, payload_json: bytes = b"{}") -> int | None:
        """Return FORGOTTEN for what was kept under `seq` and falls into what was forgotten after it."""
        return self._find_scope(session_id, ts, payload_json, lambda span: span.seq > seq)

    def _find_scope(self, session_id: str, ts: int, payload_json: bytes, counts: Callable[[Span], bool]) -> int | None:
        if not self._spans:
            return None
        names = [("time", ""), ("session", self._keys.session(session_id))]
        if self._has_files:
            names += [("file", self._keys.file(each)) for path in paths_of(payload_json) for each in tails(path)]
        spans = (span for name in names for span in self._spans.get(name, ()))
        is_within = any(span.since <= ts <= span.until and counts(span) for span in spans)
        return FORGOTTEN if is_within else None

    def covers(self, record: Record) -> bool:
        """Whether a record of the log is of something that is forgotten."""
        if self._find("record", str(record.seq)) is not None:
            return True
        if record.kind in ("session", "conversation"):
            return self._covers_time(record, record.ts)
        if record.kind == "pod":
            return self._covers_pod(record)
        if record.kind == "document":
            return self._covers_document(record)
        if record.kind == "outcome":
            return self._covers_what_names_an_event(record)
        if record.kind in ("summary", "injection"):
            return self._covers_what_names_an_event(record) or self._covers_memory(record)
        if record.kind != "capture":
            return record.kind not in _NOT_ASKED and self._covers_memory(record)
        return (
            (record.uid is not None and self._find("uid", record.uid) is not None)
            or (record.frame_uid is not None and self._find("frame", record.frame_uid) is not None)
            or self._covers_time(record, record.ts)
        )

    def iter_left(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the records that are not forgotten, minding those among them that forget."""
        for record in records:
            left = record if self.is_empty else self.left_of(record)
            if left is not None:
                yield left
            if record.kind == "forget":
                self.reload()

    def left_of(self, record: Record) -> Record | None:
        """Return what may stay of a record of the log: itself, itself without its folder, or nothing."""
        if self.covers(record):
            return None
        if record.cwd is not None and self._find_folder(record.cwd, lambda span: span.seq > record.seq):
            return msgspec.structs.replace(record, cwd=None)
        return record

    def has_folder(self, path: str, ts: int) -> bool:
        """Whether the folder of a session that began at this time is forgotten."""
        return self._find_folder(path, lambda span: ts <= span.until)

    def has_title(self, session_id: str, ts: int) -> bool:
        """Whether what a session was called at this time is forgotten."""
        return any(ts <= span.until for span in self._spans.get(("title", self._keys.title(session_id)), ()))

    def has_pod(self, kind: str, external_id: str, ts: int) -> bool:
        """Whether a pod that was made at this time is forgotten."""
        return any(ts <= span.until for span in self._spans.get(("pod", self._keys.pod(kind, external_id)), ()))

    def has_document(self, source: Source, ts: int) -> bool:
        """Whether a document that was read in at this time is forgotten."""
        return any(ts <= span.until for span in self._spans.get(("document", self._keys.document(source)), ()))

    def _covers_document(self, record: Record) -> bool:
        """Whether a document is forgotten by a record that came later."""
        if not self._has_documents:
            return False
        source = Source.of(find_object(bytes(record.payload).decode()) or {})
        spans = self._spans.get(("document", self._keys.document(source)), ())
        return any(span.seq > record.seq for span in spans)

    def _find_folder(self, path: str, counts: Callable[[Span], bool]) -> bool:
        return self._has_folders and any(map(counts, self._spans.get(("folder", self._keys.folder(path)), ())))

    def spans_of(self, session_id: str) -> list[Span]:
        """Return the times for which a session is forgotten as a whole."""
        return self._spans.get(("session", self._keys.session(session_id)), [])

    def times(self) -> list[Span]:
        """Return the times that are forgotten."""
        return self._spans.get(("time", ""), [])

    def _covers_what_names_an_event(self, record: Record) -> bool:
        """An imported summary, that an agent was given it, and how a call ended go with their event."""
        payload = find_object(bytes(record.payload).decode()) or {}
        is_named = self._find("uid", str(payload.get("uid"))) is not None
        return is_named or self._covers_time(record, payload.get("eventTs", record.ts))

    def _covers_pod(self, record: Record) -> bool:
        """Whether a pod is forgotten by its name, with its session, or by its time."""
        kind, external_id, ts = _pod_of(bytes(record.payload), record.ts)
        session_id = external_id if kind == "session" else ""
        return self.has_pod(kind, external_id, ts) or self.find_stored(session_id, ts, record.seq) is not None

    def _covers_time(self, record: Record, ts: int) -> bool:
        """Whether what was forgotten after a record was kept covers it by its time."""
        payload = bytes(record.payload) if record.kind == "capture" else b"{}"
        return self.find_stored(record.session_id, ts, record.seq, payload) is not None

    def _covers_memory(self, record: Record) -> bool:
        payload = find_object(bytes(record.payload).decode()) or {}
        uid = payload.get("uid")
        number = next((payload[name] for name in ("id", "memory", "fact") if name in payload), None)
        if isinstance(uid, str) and self._find("memory", uid) is not None:
            return True
        sql = "SELECT 1 FROM tombstones WHERE kind = 'memory' AND detail = ?"
        return self._connection.execute(sql, (str(number),)).fetchone() is not None

    def _find(self, kind: str, key: str) -> int | None:
        if self._held is not None:
            return FORGOTTEN if (kind, key) in self._held else None
        row = self._connection.execute("SELECT 1 FROM tombstones WHERE kind = ? AND key = ?", (kind, key)).fetchone()
        return FORGOTTEN if row else None


def bury(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    """Set the tombstones of a `forget` record. Rows and files are erased next, by whoever sees `pending_seq`."""
    for kind in _NAMES:
        rows = ([*each, None][:2] if isinstance(each, list) else (each, None) for each in payload.get(kind, ()))
        connection.executemany(_INSERT, [(kind, str(key), detail) for key, detail in rows])
    connection.executemany(_INSERT, [("note", key, str(record.seq)) for key in payload.get("note", ())])
    if payload.get("aged"):
        aged = [*payload.get("uid", ()), *(key for key, _ in payload.get("memory", ()))]
        connection.executemany(_INSERT, [("aged", key, None) for key in aged])
    since, until = payload.get("since", 0), payload.get("until", record.ts)
    for kind in ("session", "file", "title", "folder", "pod", "document"):
        spans = [(kind, key, since, until, str(record.seq)) for key in payload.get(kind, ())]
        connection.executemany(_INSERT_SPAN, spans)
    if payload.get("time"):
        # A longer time swallows the shorter ones in it: `store.keepDays` forgets every day.
        within = "DELETE FROM tombstones WHERE kind = 'time' AND since >= ? AND until <= ?"
        connection.execute(within, (since, until))
        connection.execute(_INSERT_SPAN, ("time", "", since, until, str(record.seq)))
    for event_id in payload.get("retell", ()):
        summarise_again(connection, event_id)
    connection.execute("INSERT OR IGNORE INTO forgets VALUES (?, ?, NULL)", (record.seq, record.ts))


def number_spans(connection: sqlite3.Connection) -> None:
    """Say of times that an earlier version forgot that they cover what came before the newest `forget` record: it did
    not note which was theirs, and what comes from now on is not of then."""
    if connection.execute("SELECT 1 FROM tombstones WHERE until IS NOT NULL AND detail IS NULL").fetchone():
        connection.execute(_NUMBER)


def summarise_again(connection: sqlite3.Connection, event_id: int) -> None:
    """Let an event be summarised anew: what its summary tells came from something that is forgotten."""
    connection.execute("DELETE FROM summaries WHERE event_id = ?", (event_id,))
    connection.execute("UPDATE events SET status = 'raw', attempts = 0 WHERE id = ?", (event_id,))


def pending_seq(connection: sqlite3.Connection) -> int | None:
    """Return the newest `forget` record of whose matter something may still be in a file of ours."""
    row = connection.execute("SELECT max(seq) FROM forgets WHERE done_ts IS NULL").fetchone()
    return None if row[0] is None else int(row[0])


def first_pending_seq(connection: sqlite3.Connection) -> int | None:
    """Return the oldest such record."""
    row = connection.execute("SELECT min(seq) FROM forgets WHERE done_ts IS NULL").fetchone()
    return None if row[0] is None else int(row[0])


def note_done(connection: sqlite3.Connection, seq: int, now_ms: int) -> None:
    """Nothing that was forgotten up to record `seq` is in any file of ours any more."""
    connection.execute("UPDATE forgets SET done_ts = ? WHERE seq <= ? AND done_ts IS NULL", (now_ms, seq))
    connection.execute("DELETE FROM tombstones WHERE kind = 'note' AND CAST(detail AS INTEGER) <= ?", (seq,))


def notes_to_go(connection: sqlite3.Connection) -> frozenset[str]:
    """Return the keys of the entries that notes may still hold. Nobody is kept from writing one again later."""
    return frozenset(str(row[0]) for row in connection.execute("SELECT key FROM tombstones WHERE kind = 'note'"))


def list_events(connection: sqlite3.Connection) -> list[tuple[str | None, int]]:
    """Return (uid, 0) or (None, id) of the events that were forgotten at somebody's wish, and not for their age."""
    return [(uid, number) for uid, number in connection.execute(_EVENTS)]


def list_facts(connection: sqlite3.Connection, names: Iterable[str]) -> set[str]:
    """Return those of these facts, by uid or as `id:12`, that were forgotten at somebody's wish."""
    return {str(row[0]) for row in connection.execute(_FACTS, (msgspec.json.encode(list(names)).decode(),))}


def _pod_of(payload_json: bytes, otherwise_ts: int = 0) -> tuple[str, str, int]:
    """Return a `pod` record's type, external id and time."""
    payload = find_object(payload_json.decode()) or {}
    ts = payload.get("ts", otherwise_ts)
    return str(payload.get("type")), str(payload.get("externalId", "")), ts if isinstance(ts, int) else otherwise_ts


def paths_of(payload_json: bytes) -> list[str]:
    """Return the files that a tool call was about."""
    payload = find_object(payload_json.decode())
    tool_input = payload.get("tool_input") if payload else None
    if not isinstance(tool_input, dict):
        return []
    return [path for field in PATH_FIELDS if isinstance(path := tool_input.get(field), str) and path]


def tails(path: str) -> list[str]:
    """Return a path and every shorter way to name its file: `/a/b.py`, `a/b.py`, `b.py`."""
    parts = path.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts)) if parts[start:] != [""]]
