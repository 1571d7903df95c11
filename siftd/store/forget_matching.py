"""What a wish to forget means: the events, facts and records it is about, as the payload of `forget` records.

Looked for in the database and in the log, because a row that a person deleted is still told there. Provenance is
followed: the closing words of a turn, and of a subagent, go with what they may tell of; facts go with the last of the
events that they were taken from (`siftd.store.fact_forgetting`); a summary that took a forgotten word from elsewhere
is written anew.
"""

from __future__ import annotations

import fnmatch
import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from hashlib import sha256
from operator import attrgetter
from typing import Any

import msgspec

from siftd.clients.older import kind_and_action
from siftd.log.record import Record
from siftd.normal_forms import normalized
from siftd.store import documents, meta, team_links
from siftd.store.documents import Source
from siftd.store.fact_forgetting import find_facts_of
from siftd.store.payload import find_object
from siftd.store.tombstones import Keys, paths_of

EVENTS_PER_RECORD = 500
"""What one `forget` record names at most: the writer sets its tombstones between two groups of captures."""
_STOPS = ("turn_end", "subagent_end")


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event as the database or the log tells it."""

    seq: int
    kind: str
    uid: str | None
    frame_uid: str | None
    native_key: str | None
    input_key: str | None
    session_id: str
    ts: int
    tool: str
    input_hash: str
    prompt_id: str | None
    agent_id: str | None
    spawned_agent_id: str | None


_AS_STORED = tuple(each.name for each in fields(EventRow))[2:]
"""Columns, and fields of a record, that are the same in both."""
_as_recorded = attrgetter(*_AS_STORED)
_EVENTS = f"SELECT id, kind, {', '.join(_AS_STORED)}, payload_json FROM events"  # noqa: S608 - names of our own
_BY_IDS = f"{_EVENTS} WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"  # noqa: S608 - constants only
_BY_SESSION = f"{_EVENTS} WHERE session_id = ? ORDER BY id"
_STAYS = ("forget", "team_join", "team_leave")
"""Kinds of records that no text is looked for in: tombstones, and which team is joined, which is told instead."""
_SUMMARISING = (*_STOPS, "assistant_text", "compaction")
"""What an agent says of its work, which may be of what is forgotten."""
_CLOSING = f"""{_EVENTS} WHERE session_id IN (SELECT value FROM json_each(?))
AND (kind IN {_SUMMARISING} OR spawned_agent_id IS NOT NULL) ORDER BY id
"""  # noqa: S608 - constants only
_SUMMARIES_OF = "SELECT event_id, text FROM summaries WHERE event_id IN (SELECT value FROM json_each(?))"
_SUMMARIES = "SELECT event_id, text FROM summaries"
_FACTS = "SELECT id, uid, session_id, ts, text, tags, source, project FROM facts"
_NAMED = "SELECT session_id, ts, title, parent_id, branches_from, project FROM conversations"
_DOCUMENTS = """
SELECT d.id, d.path, d.url, d.title, d.ingested_ts, d.metadata, t.text FROM documents d
LEFT JOIN document_texts t ON t.document_id = d.id
"""
_PODS = "SELECT type, external_id, title, ts FROM pods"
_PLACES = "SELECT session_id, cwd, started_ts FROM sessions"


@dataclass(frozen=True, slots=True)
class ForgetQuery:
    """What somebody wants forgotten: ids, or a session, a file or a text, or nothing but a time, in a span of time."""

    events: frozenset[int] = frozenset()
    facts: frozenset[int] = frozenset()
    documents: frozenset[int] = frozenset()
    session: str | None = None
    file: str | None = None
    query: str | None = None
    since: int = 0
    until: int = 0

    @property
    def scope(self) -> str:
        if self.events or self.facts or self.documents:
            return "id"
        return "session" if self.session else "file" if self.file else "query" if self.query else "time"


@dataclass
class Matched:
    """What a wish is about."""

    events: dict[int, EventRow] = field(default_factory=dict)
    facts: dict[int, str | None] = field(default_factory=dict)
    unquoted: set[int] = field(default_factory=set)
    """Facts that stay without their quote: their records go, and are to be said again without it."""
    records: set[int] = field(default_factory=set)
    to_summarise_again: set[int] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    """Whose very ids hold the text."""
    titles: set[str] = field(default_factory=set)
    """Sessions that are called so."""
    folders: set[str] = field(default_factory=set)
    pods: set[tuple[str, str]] = field(default_factory=set)
    """Types and external ids of those whose names hold the text."""
    documents: dict[int, Source] = field(default_factory=dict)
    """By their ids; below zero, by the seq of the record, those that the log alone tells of."""
    summaries: int = 0
    notes: set[str] = field(default_factory=set)
    """Keys of entries of the notes (`siftd.notes.erasing`), and how many those are."""
    note_entries: int = 0
    snapshot_lines: int = 0
    """Lines of the snapshot of the codebase."""

    def by_kind(self) -> dict[str, int]:
        """Return the counts that a person is shown."""
        stops = sum(event.kind in _STOPS for event in self.events.values())
        prompts = sum(event.kind == "prompt" for event in self.events.values())
        return {
            "tool": len(self.events) - stops - prompts,
            "prompt": prompts,
            "stop": stops,
            "summary": self.summaries,
            "memory": len(self.facts),
            "record": len(self.records),
            "session": len(self.sessions),
            "title": len(self.titles),
            "folder": len(self.folders),
            "pod": len(self.pods),
            "document": len(self.documents),
            "note": self.note_entries,
            "snapshotLine": self.snapshot_lines,
        }

    def digest(self) -> str:
        """Return what tells this from any other match: a digest of each thing's name in the store or the log."""
        named = [getattr(self, each.name) for each in fields(self)]
        known = [sorted(map(str, each)) if isinstance(each, dict | set) else each for each in named]
        return sha256(msgspec.json.encode(known)).hexdigest()

    def __len__(self) -> int:
        names = len(self.sessions) + len(self.titles) + len(self.folders) + len(self.pods) + len(self.notes)
        return (
            len(self.events) + len(self.facts) + len(self.records) + len(self.documents) + names + self.snapshot_lines
        )


def match(connection: sqlite3.Connection, records: Iterable[Record], asked: ForgetQuery) -> Matched:
    """Return what is to be forgotten. Reads every event and every record of the log, but for ids that are there."""
    return _Matching(connection, asked).run(records)


def list_left(connection: sqlite3.Connection, asked: ForgetQuery) -> list[str]:
    """Return what holds the text of a wish and stays, in words of ours."""
    if not asked.query:
        return []
    link = team_links.find_link(connection)
    names = "" if link is None else " ".join((link.name, link.url, link.person_name))
    holding = {"the path of this workspace": meta.get(connection, "root") or "", "the team that is joined": names}
    return [name for name, text in holding.items() if folded(asked.query) in folded(text)]


def folded(text: str) -> str:
    """Return what two texts have in common that a person takes for the same: in any case, composed or not.

    A name from macOS has its accents apart, a person types them in one. Canonical caseless matching (Unicode 3.13).
    """
    if text.isascii():
        return text.lower()
    return normalized("NFD", normalized("NFD", text).casefold())


def needle_of(asked: ForgetQuery) -> bytes:
    """Return what stands in each record of the log that a wish may be about."""
    return b"" if asked.session is None else msgspec.json.encode(asked.session)


def payloads(matched: Matched, asked: ForgetQuery, keys: Keys) -> Iterator[dict[str, Any]]:
    """Yield the payloads of the `forget` records that keep what was matched from coming back."""
    events = list(matched.events.values())
    scope: dict[str, Any] = {"scope": asked.scope, "since": asked.since, "until": asked.until}
    names = {
        "session": sorted(
            keys.session(each) for each in matched.sessions | ({asked.session} if asked.session else set())
        ),
        "title": sorted(map(keys.title, matched.titles)),
        "folder": sorted(map(keys.folder, matched.folders)),
        "pod": sorted(keys.pod(*each) for each in matched.pods),
        "document": sorted(map(keys.document, matched.documents.values())),
        "file": sorted(keys.file(path) for path in matched.paths),
        "memory": [[uid or f"id:{number}", str(number)] for number, uid in matched.facts.items()],
        "record": sorted(matched.records),
        "retell": sorted(matched.to_summarise_again),
        "note": sorted(matched.notes),
        "time": asked.scope == "time",
    }
    yield scope | names | _names(events[:EVENTS_PER_RECORD], keys)
    for start in range(EVENTS_PER_RECORD, len(events), EVENTS_PER_RECORD):
        yield scope | _names(events[start : start + EVENTS_PER_RECORD], keys)


def _names(events: list[EventRow], keys: Keys) -> dict[str, list[Any]]:
    return {
        "uid": [[event.uid, event.input_key] for event in events if event.uid],
        "frame": [event.frame_uid for event in events if event.frame_uid],
        "native": [f"{event.native_key}:{event.input_key}" for event in events if event.native_key and event.input_key],
        "equal": [keys.equal(event.session_id, event.input_hash) for event in events if not event.native_key],
        "id": [event.seq for event in events if not event.uid],
    }


class _Matching:
    """One pass over everything."""

    def __init__(self, connection: sqlite3.Connection, asked: ForgetQuery) -> None:
        self._connection = connection
        self._asked = asked
        self._found = Matched(paths={asked.file} if asked.file and not _is_glob(asked.file) else set())
        self._closing: list[EventRow] = []
        self._turns: set[tuple[str, str | None]] = set()
        self._agents: set[tuple[str, str]] = set()
        self._fact_uids: set[str | None] = set()
        self._text = folded(asked.query) if asked.query else None
        self._json = folded(msgspec.json.encode(asked.query)[1:-1].decode()) if asked.query else None

    def run(self, records: Iterable[Record]) -> Matched:
        if self._asked.scope == "id" and self._find_named():
            self._add_closing()
            self._follow()
            return self._found
        stored = set()
        of = f"{_EVENTS} WHERE ?1 IS NULL ORDER BY id" if self._asked.session is None else _BY_SESSION
        for row in self._connection.execute(of, (self._asked.session,)):
            event = EventRow(*row[:-1])
            stored.add(event.uid)
            self._look_at(event, row[-1])
        self._look_at_facts()
        self._look_at_documents()
        if self._text is not None:
            self._look_at_names()
        for record in records:
            self._look_at_record(record, stored)
        if self._asked.scope != "time":
            self._add_closing()
        self._follow()
        return self._found

    def _find_named(self) -> bool:
        """Look at what ids name alone; False when one of them is not in the database: the log may tell of it."""
        wanted = json.dumps(sorted(self._asked.events))
        for row in self._connection.execute(_BY_IDS, (wanted,)).fetchall():
            self._look_at(EventRow(*row[:-1]), row[-1])
        self._look_at_facts()
        self._look_at_documents()
        sessions = json.dumps(sorted({event.session_id for event in self._found.events.values()}))
        for row in self._connection.execute(_CLOSING, (sessions,)).fetchall():
            if row[0] not in self._found.events:
                self._closing.append(EventRow(*row[:-1]))
        found, asked = self._found, self._asked
        return all(len(getattr(found, each)) == len(getattr(asked, each)) for each in ("events", "facts", "documents"))

    def _add_closing(self) -> None:
        for event in self._closing:
            if self._closes(event):
                self._found.events[event.seq] = event

    def _look_at(self, event: EventRow, payload_json: str) -> None:
        if self._is_wanted(event, payload_json):
            self._found.events[event.seq] = event
            self._turns.add((event.session_id, event.prompt_id))
            if event.agent_id:
                self._agents.add((event.session_id, event.agent_id))
        elif event.kind in _SUMMARISING or event.spawned_agent_id:
            self._closing.append(event)

    def _is_wanted(self, event: EventRow, payload_json: str) -> bool:
        asked = self._asked
        if asked.scope == "id":
            return event.seq in asked.events
        if not asked.since <= event.ts <= asked.until or (asked.session and event.session_id != asked.session):
            return False
        if self._json is not None and self._json not in folded(payload_json) and not self._is_in_names(event):
            return False
        return asked.file is None or self._is_about(asked.file, payload_json)

    def _is_in_names(self, event: EventRow) -> bool:
        return self._is_in(event.tool, event.session_id, event.prompt_id, event.agent_id, event.spawned_agent_id)

    def _is_in(self, *texts: object) -> bool:
        """Whether one of these holds the text that is looked for."""
        return self._text is not None and any(self._text in folded(str(each)) for each in texts if each is not None)

    def _is_about(self, file: str, payload_json: str) -> bool:
        for path in paths_of(payload_json.encode()):
            if _is_file(path, file):
                self._found.paths.add(path)
                return True
        return False

    def _look_at_facts(self) -> None:
        for number, uid, session, ts, *texts in self._connection.execute(_FACTS):
            if self._is_wanted_fact(number, session, ts, *texts):
                self._found.facts[number] = uid
                self._fact_uids.add(uid)

    def _look_at_documents(self) -> None:
        """Look at the documents one by one: each may be of megabytes."""
        asked = self._asked
        if asked.session or (asked.scope == "id" and not asked.documents):
            return
        for number, path, url, title, ts, metadata, text in self._connection.execute(_DOCUMENTS):
            source = Source(path, url, title)
            if self._is_wanted_document(number, source, ts, metadata, text):
                self._found.documents[number] = source

    def _is_wanted_document(self, number: int, source: Source, ts: int, *texts: object) -> bool:
        asked = self._asked
        if asked.scope == "id":
            return number in asked.documents
        if not asked.since <= ts <= asked.until:
            return False
        if asked.file is not None:
            return source.path is not None and _is_file(source.path, asked.file)
        return self._text is None or self._is_in(*source, *texts)

    def _look_at_names(self) -> None:
        """Look at what sessions are called and where they were: no event tells it."""
        asked = self._asked
        for session_id, cwd, started_ts in self._connection.execute(_PLACES):
            if asked.since <= started_ts <= asked.until:
                self._look_at_session(session_id, cwd)
        for session_id, ts, *text in self._connection.execute(_NAMED):
            if asked.since <= ts <= asked.until and self._is_in(session_id, *text):
                self._found.titles.add(session_id)
        for kind, external_id, title, ts in self._connection.execute(_PODS):
            if asked.since <= ts <= asked.until and self._is_in(external_id, title):
                self._found.pods.add((kind, external_id))

    def _look_at_session(self, session_id: str, cwd: str | None) -> None:
        if self._is_in(session_id):
            self._found.sessions.add(session_id)
        if cwd is not None and self._is_in(cwd):
            self._found.folders.add(cwd)

    def _is_wanted_fact(self, number: int, session: str | None, ts: int, *texts: object) -> bool:
        asked = self._asked
        if asked.scope == "id":
            return number in asked.facts
        if asked.file or not asked.since <= ts <= asked.until or (asked.session and session != asked.session):
            return False
        return self._text is None or self._is_in(session, *texts)

    def _look_at_record(self, record: Record, stored: set[str | None]) -> None:
        """Look at what only the log tells any more."""
        is_timely = self._asked.since <= record.ts <= self._asked.until
        if record.kind in ("capture", "session") and self._text is not None and is_timely:
            self._look_at_session(record.session_id, record.cwd)
        if record.kind == "capture":
            if record.uid not in stored:
                self._look_at(_event_of(record), bytes(record.payload).decode())
        elif record.kind == "remember":
            self._look_at_remembered(record)
        elif record.kind == "document":
            self._look_at_document(record)
        elif self._json is not None and record.kind not in _STAYS:
            text = folded(f"{record.detail} {bytes(record.payload).decode()}")
            if self._json in text or (self._text or "") in text:
                self._found.records.add(record.seq)
                if record.kind == "conversation":
                    self._found.titles.add(record.session_id)
                if record.kind == "pod":
                    payload = find_object(bytes(record.payload).decode()) or {}
                    self._found.pods.add((str(payload.get("type")), str(payload.get("externalId", ""))))

    def _look_at_document(self, record: Record) -> None:
        """Look at what a document was once: where it is kept still, and has lost the text, that record goes alone."""
        payload = find_object(bytes(record.payload).decode()) or {}
        source, number = Source.of(payload), payload.get("document", record.seq)
        texts = json.dumps(payload.get("metadata"), ensure_ascii=False), payload.get("text")
        if source in self._found.documents.values() or not self._is_wanted_document(number, source, record.ts, *texts):
            return
        if documents.find_id(self._connection, source) is None:
            self._found.documents[-record.seq] = source
        else:
            self._found.records.add(record.seq)

    def _look_at_remembered(self, record: Record) -> None:
        payload = find_object(bytes(record.payload).decode()) or {}
        tags = json.dumps(payload.get("tags"), ensure_ascii=False)
        texts = payload.get("text"), tags, payload.get("source"), payload.get("label")
        number, uid = record.seq, payload.get("uid")
        if uid not in self._fact_uids and self._is_wanted_fact(number, record.session_id, record.ts, *texts):
            self._found.facts[number] = uid
            self._fact_uids.add(uid)

    def _closes(self, event: EventRow) -> bool:
        """Whether an event holds what the agent said of what is forgotten: in its turn, in the answer of its subagent,
        in an account of its session."""
        if event.spawned_agent_id:
            return (event.session_id, event.spawned_agent_id) in self._agents
        if event.kind == "subagent_end" or (event.kind == "assistant_text" and event.agent_id):
            return (event.session_id, event.agent_id) in self._agents
        if event.kind == "compaction":
            return any(session_id == event.session_id for session_id, _ in self._turns)
        return event.prompt_id is not None and (event.session_id, event.prompt_id) in self._turns

    def _follow(self) -> None:
        found = self._found
        ids = json.dumps(list(found.events))
        taken = find_facts_of(self._connection, found.events)
        found.facts |= taken.gone
        found.unquoted = taken.unquoted - found.facts.keys()
        found.records |= found.unquoted
        of = (_SUMMARIES,) if self._text is not None else (_SUMMARIES_OF, (ids,))
        for event_id, text in self._connection.execute(*of):
            if event_id in found.events:
                found.summaries += 1
            elif self._text is not None and self._text in folded(text):
                found.summaries += 1
                found.to_summarise_again.add(event_id)


def _is_glob(file: str) -> bool:
    return any(sign in file for sign in "*?[")


def _is_file(path: str, file: str) -> bool:
    """Whether a path is the file that is named: whole, by its end, or by a glob."""
    return path == file or path.endswith(f"/{file}") or (_is_glob(file) and fnmatch.fnmatchcase(path, file))


def _event_of(record: Record) -> EventRow:
    kind = kind_and_action(record.event_kind, record.action, record.tool)[0]
    return EventRow(record.seq, kind, *_as_recorded(record))
