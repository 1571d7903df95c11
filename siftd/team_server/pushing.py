"""Items on their way into PostgreSQL: what is checked before, and the columns of the function `push`."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import msgspec

from siftd.team.items import METADATA_BYTES_MAX, Forget, Put, content_hash, document_id
from siftd.team.protocol import Ignored
from siftd.team_server.vectors import HalfVector, decode

Checked = tuple[list[Put], list[uuid.UUID], list[Ignored]]
_PUSH = """
SELECT * FROM siftd.push(
    %s::bytea, %s::uuid, %s::uuid, %s::uuid[], %s::uuid[], %s::bigint[], %s::bytea[], %s::text[], %s::text[],
    %s::text[], %s::text[], %s::text[]::jsonb[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::uuid[],
    %s::bigint[], %s::text[], """
PUSH_BARE = _PUSH + "%s)"
PUSH_VECTORS = _PUSH + "%b)"
"""In binary, which only a list that holds a vector can be."""


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
    if len(msgspec.json.encode(put.metadata)) > METADATA_BYTES_MAX:
        return "too large"
    if put.id != document_id(project, put.source, put.source_ref) or put.hash != content_hash(put):
        return "malformed"  # else somebody could take the place of another's item, or tell two texts under one hash
    return "malformed" if _has_zero([put.text, put.words, put.source_ref, put.metadata]) else None


def _has_zero(value: Any) -> bool:
    """Whether a zero character is in it, which PostgreSQL cannot keep."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(_has_zero(each) for pair in value.items() for each in pair)
    return isinstance(value, list) and any(_has_zero(each) for each in value)


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


def _vector(put: Put) -> HalfVector | None:
    return None if put.vector is None else decode(put.vector.data)
