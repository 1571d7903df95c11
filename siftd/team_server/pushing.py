"""Items on their way into PostgreSQL: what is checked before, and the columns of the function `push`."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import msgspec

from siftd.team.items import METADATA_BYTES_MAX, Forget, Put, content_hash, document_id
from siftd.team.protocol import Ignored
from siftd.team.sources.line import LINE_SOURCES
from siftd.team_server.vectors import HalfVector, decode

Checked = tuple[list[Put], list[uuid.UUID], list[Ignored]]
_PUSH = """
SELECT * FROM siftd.push(
    %s::bytea, %s::uuid, %s::uuid, %s::uuid[], %s::uuid[], %s::uuid[], %s::bigint[], %s::bytea[], %s::text[],
    %s::text[], %s::text[], %s::text[], %s::text[]::jsonb[], %s::text[], %s::bigint[], %s::bigint[],
    %s::bigint[], %s::uuid[], %s::bigint[], %s::text[], """
PUSH_BARE = _PUSH + "%s)"
PUSH_VECTORS = _PUSH + "%b)"
"""In binary, which only a list that holds a vector can be."""
DEPTH_MAX = 64
"""Levels of an item's metadata. Those of siftd have three; at some hundreds Python's own stack ends."""


def check(project: uuid.UUID, items: Sequence[Put | Forget]) -> Checked:
    """Return (puts, what is to be forgotten, what is not taken); of one id told twice the latest telling counts."""
    latest: dict[uuid.UUID, Put | Forget] = {}
    ignored: list[Ignored] = []
    for each in items:
        before = latest.get(each.id)
        if before is not None and (isinstance(before, Forget) or (isinstance(each, Put) and before.rev >= each.rev)):
            ignored += [Ignored(id=each.id, why="older", rev=before.rev)] if isinstance(each, Put) else []
            continue
        latest[each.id] = each
    puts: list[Put] = []
    for item in latest.values():
        if isinstance(item, Put):
            why = _why_not(project, item)
            if why is None:
                puts.append(item)
            else:
                ignored.append(Ignored(id=item.id, why=why))
    return puts, [each.id for each in latest.values() if isinstance(each, Forget)], ignored


def _why_not(project: uuid.UUID, put: Put) -> Any:
    if not _is_storable([put.text, put.words, put.source_ref, put.metadata]):
        return "malformed"
    if len(msgspec.json.encode(put.metadata)) > METADATA_BYTES_MAX:
        return "too large"
    # Else somebody could take the place of another's item, or tell two texts under one hash.
    is_right = put.id == document_id(project, put.source, put.source_ref) and put.hash == content_hash(put)
    return None if is_right else "malformed"


def _is_storable(value: Any, depth: int = 0) -> bool:
    """Whether it holds no zero character, which PostgreSQL cannot keep, and no more levels than all can walk."""
    if isinstance(value, str):
        return "\0" not in value
    if depth > DEPTH_MAX:
        return False
    if isinstance(value, dict):
        return all(_is_storable(each, depth + 1) for pair in value.items() for each in pair)
    return not isinstance(value, list) or all(_is_storable(each, depth + 1) for each in value)


def columns(puts: Sequence[Put], *, with_vectors: bool) -> list[list[Any]]:
    """Return the columns of `push`, from `ids` on; the last are the vectors."""
    vectors = [_vector(each) if with_vectors else None for each in puts]
    return [
        [each.id for each in puts],
        [each.rev for each in puts],
        [bytes.fromhex(each.hash) for each in puts],
        [each.source for each in puts],
        [each.source_ref for each in puts],
        [each.text for each in puts],
        [each.words for each in puts],
        [msgspec.json.encode(each.metadata).decode() for each in puts],
        [each.visibility for each in puts],
        [each.ts for each in puts],
        [each.valid_from for each in puts],
        [each.valid_to for each in puts],
        [each.superseded_by for each in puts],
        [each.archived_at for each in puts],
        [each.vector.model if each.vector else None for each in puts],
        vectors,
    ]


def firsts(project: uuid.UUID, puts: Sequence[Put]) -> list[uuid.UUID]:
    """Return for each item the id of the first piece of what it is a piece of; its own where it is whole."""
    return [_first(project, each) for each in puts]


def _first(project: uuid.UUID, put: Put) -> uuid.UUID:
    ref, sign, number = put.source_ref.rpartition("#")
    is_piece = put.source in LINE_SOURCES and sign and number.isdecimal()
    return document_id(project, put.source, ref) if is_piece else put.id


def _vector(put: Put) -> HalfVector | None:
    return None if put.vector is None else decode(put.vector.data)
