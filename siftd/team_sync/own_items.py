"""A workspace's own facts and stories as items of its team, and which of them are shared at all.

Never shared: events and payloads, what is of one session, waits for a person, was muted, or holds no longer and was
never told. A person's preferences go up as theirs alone: all their devices see them, nobody else does.

What was told and is shared no longer becomes an item without text that is archived, not a tombstone: a story is written
again, a fact may be accepted again, and what is forgotten once is refused for ever.
"""

from __future__ import annotations

import hashlib
import math
import uuid
from collections.abc import Collection
from typing import Any, Literal

import msgspec

from siftd.embed.words import further_words
from siftd.store.facts import tags_of
from siftd.store.team_outbox import FactRow, StoryRow
from siftd.team.items import REF_CHARS_MAX, TEXT_CHARS_MAX, Put, Source, content_hash, document_id

Share = Literal["memory", "fact", "session", "turn", "knowledge"]
SHARES: tuple[Share, ...] = ("memory", "fact", "session", "turn", "knowledge")
"""What may be shared: facts that were kept, those that were taken or learnt, stories of sessions, of turns, and what
the codebase tells of itself."""
KNOWLEDGE = "knowledge:"
"""How the topics of that begin (`siftd.knowledge.statements`)."""
_NO_HASH = "0" * 64


class Namer:
    """Gives items of one project their ids."""

    def __init__(self, project: str, store: str) -> None:
        """`store` is the workspace's own: what a person inserted by hand has no name outside of it."""
        self._project = uuid.UUID(project)
        self._store = store

    def fact(self, uid: str, origin: str, topic: str | None, *, is_by_hand: bool) -> tuple[Source, str]:
        """Return a fact's source and source_ref."""
        if topic is not None and topic.startswith(KNOWLEDGE):
            return "knowledge", topic.removeprefix(KNOWLEDGE)[:REF_CHARS_MAX] or KNOWLEDGE
        source: Source = "memory" if origin == "kept" else "fact"
        return source, (f"{self._store}:{uid}" if is_by_hand else uid)[:REF_CHARS_MAX]

    def story(self, event_uid: str | None, event_id: int, scope: str) -> tuple[Source, str]:
        """Return a story's source and source_ref, the same for whoever captured the event."""
        name = event_uid if event_uid is not None else f"{self._store}:e{event_id}"
        return "summary", hashlib.sha256(f"{name}\0{scope}".encode()).hexdigest()[:32]

    def id(self, source: Source, source_ref: str) -> uuid.UUID:
        return document_id(self._project, source, source_ref)


def share_of_fact(row: FactRow) -> Share:
    """Return what kind of thing a fact is shared as."""
    if row.topic is not None and row.topic.startswith(KNOWLEDGE):
        return "knowledge"
    return "memory" if row.origin == "kept" else "fact"


def is_fact_shared(row: FactRow, shares: Collection[str]) -> bool:
    """Whether a fact is shared while it holds."""
    return share_of_fact(row) in shares and row.scope == "project" and not row.waits and bool(row.text.strip())


def is_fact_private(row: FactRow) -> bool:
    """Whether a fact is about the person alone, whoever put it into words."""
    return row.is_of_person or row.category == "preference"


def item_of_fact(namer: Namer, row: FactRow, rev: int) -> Put:
    """Return a fact as an item; one that holds no more says so."""
    source, ref = namer.fact(row.uid, row.origin, row.topic, is_by_hand=row.is_by_hand)
    successor = None
    if row.status == "superseded" and row.successor is not None:
        origin = row.successor_origin or "kept"
        successor = namer.id(*namer.fact(row.successor, origin, None, is_by_hand=row.is_successor_by_hand))
    is_over = row.status != "active" and successor is None
    metadata = {
        "type": row.category,
        "tags": tags_of(row.tags),
        "importance": row.importance if isinstance(row.importance, int) else 3,
        "confidence": _confidence(row.confidence),
        "session": row.session_id,
        "saidBy": row.said_by,
        "topic": row.topic,
        "label": row.label,
        "origin": row.origin,
    }
    return _item(
        namer,
        source,
        ref,
        rev,
        text=row.text,
        ts=_moment(row.ts) or 0,
        metadata=metadata,
        visibility="private" if is_fact_private(row) else "project",
        valid_from=_moment(row.valid_from),
        valid_to=_moment(row.valid_to),
        superseded_by=successor,
        archived_at=_moment(row.updated_ts) if is_over else None,
    )


def is_story_shared(row: StoryRow, shares: Collection[str]) -> bool:
    """Whether a story is shared while nothing hides it."""
    return row.scope in shares and not row.is_muted and bool(row.text.strip())


def item_of_story(namer: Namer, row: StoryRow, rev: int) -> Put:
    """Return a story as an item; one that a later one hides says which."""
    source, ref = namer.story(row.event_uid, row.event_id, row.scope)
    successor = None
    if row.successor_event is not None and row.successor_scope == row.scope:
        successor = namer.id(*namer.story(row.successor_uid, row.successor_event, row.scope))
    metadata = {
        "scope": row.scope,
        "session": row.session_id,
        "saidBy": row.said_by,
        "title": row.title,
        "confidence": _confidence(row.confidence),
    }
    return _item(
        namer,
        source,
        ref,
        rev,
        text=row.text,
        ts=_moment(row.ts) or 0,
        metadata=metadata,
        superseded_by=None if successor == namer.id(source, ref) else successor,
        archived_at=_moment(row.ts) if row.successor_event is not None and successor is None else None,
    )


def archived(namer: Namer, source: Source, ref: str, rev: int, ts: int) -> Put:
    """Return what takes the place of an item that is shared no longer."""
    return _item(namer, source, ref, rev, text="", ts=ts, metadata={}, archived_at=ts)


def fits(put: Put) -> str | None:
    """Return why an item cannot be told; None where it can."""
    if len(put.text) > TEXT_CHARS_MAX:
        return "too large"
    try:
        msgspec.json.decode(msgspec.json.encode(put), type=Put)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return "malformed"
    return None


def _item(namer: Namer, source: Source, ref: str, rev: int, *, metadata: dict[str, Any], **fields: Any) -> Put:
    said = {name: value for name, value in metadata.items() if value not in (None, [], "")}
    put = Put(
        id=namer.id(source, ref),
        rev=rev,
        hash=_NO_HASH,
        source=source,
        source_ref=ref,
        metadata=said,
        words=further_words(str(fields["text"])),
        **fields,
    )
    return msgspec.structs.replace(put, hash=content_hash(put))


def _moment(value: object) -> int | None:
    is_moment = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 253_402_300_799_999
    return value if is_moment else None  # type: ignore[return-value]


def _confidence(value: object) -> float | None:
    is_share = isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= 1
    return round(float(value), 3) if is_share else None  # type: ignore[arg-type]
