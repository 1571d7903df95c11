"""An item: one piece of memory as a team shares it, the same on the laptop, on the wire and in PostgreSQL.

Its id is made from what it is (the natural key), so that telling it again, from wherever, is an update and no second
one: UUIDv5 of the project's id over `source`, a zero byte and `source_ref`. Its `hash` says whether two tellings
differ; `rev` which of two is the later one. An item has one writer, its author's device; of a source with a key of its
own (issues, comments, jobs) the newest `rev` counts, which is the time at which it was changed there.

    source      what it is                                      source_ref
    memory      a fact that was kept on purpose                 its uid in the log
    fact        a fact that was extracted or learnt             its uid in the log
    summary     the story of a session or of a turn             hash of its event's uid and its scope
    knowledge   a part of the knowledge snapshot                the part's name
    note        an entry of the notes                           its place
    issue, comment, job, decision, policy                       the other program's key, `#n` for a later chunk
"""

from __future__ import annotations

import hashlib
import uuid
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Source = Literal["memory", "fact", "summary", "note", "knowledge", "issue", "comment", "job", "decision", "policy"]
SOURCES: tuple[Source, ...] = (
    "memory", "fact", "summary", "note", "knowledge", "issue", "comment", "job", "decision", "policy",
)  # fmt: skip
NATURAL: frozenset[Source] = frozenset(("issue", "comment", "job", "decision", "policy"))
"""Sources with keys of their own: whoever tells them last is right, by `rev`."""
Visibility = Literal["project", "private"]
"""Who sees an item: every member of the project, or its author alone, on all their devices."""

TEXT_CHARS_MAX = 100_000
REF_CHARS_MAX = 512
METADATA_BYTES_MAX = 16_384
DIMENSIONS_MAX = 4_000
"""What pgvector's `halfvec` can be indexed by."""

Text = Annotated[str, Meta(max_length=TEXT_CHARS_MAX)]
Ref = Annotated[str, Meta(min_length=1, max_length=REF_CHARS_MAX)]
Moment = Annotated[int, Meta(ge=0, le=253_402_300_799_999)]
"""Milliseconds since the epoch, UTC, up to the end of the year 9999."""
Rev = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Vector(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A vector and who made it; `data` is base64 of little-endian float16."""

    model: Annotated[str, Meta(min_length=1, max_length=200)]
    data: Annotated[str, Meta(max_length=DIMENSIONS_MAX * 3)]


class Put(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="op", tag="put", omit_defaults=True):
    """An item as it is now. Text that is empty and `archived_at`: a chunk that a shorter telling no longer has."""

    id: uuid.UUID
    rev: Rev
    hash: Hash
    source: Source
    source_ref: Ref
    text: Text
    ts: Moment
    """When it happened or was said."""
    words: Text = ""
    """Identifiers and paths of `text` split into words, made by siftd; searched, never shown."""
    metadata: dict[str, Any] = {}
    """`type`, `tags`, `importance`, `confidence`, `session`, `saidBy`, `topic`, `scope`, `title`, `evidence`, `stale`;
    of an issue or a job `priority`, `status`, `labels`, `tools`, `url`."""
    visibility: Visibility = "project"
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    superseded_by: uuid.UUID | None = None
    archived_at: Moment | None = None
    vector: Vector | None = None


class Forget(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="op", tag="forget"):
    """An item that is to be forgotten, everywhere and for good."""

    id: uuid.UUID
    rev: Rev


Item = Put | Forget


def document_id(project: uuid.UUID, source: Source, source_ref: str) -> uuid.UUID:
    """Return the id of an item: equal for whoever tells the same thing in the same project."""
    return uuid.uuid5(project, f"{source}\0{source_ref}")


def content_hash(put: Put) -> str:
    """Return the hash of what an item says: SHA-256, lower hex, of its JSON without id, rev, hash, vector."""
    said = msgspec.to_builtins(put)
    for name in ("op", "id", "rev", "hash", "vector"):
        said.pop(name, None)
    return hashlib.sha256(msgspec.json.encode(said, order="deterministic")).hexdigest()
