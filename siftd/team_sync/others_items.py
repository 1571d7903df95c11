"""What others tell, as this machine keeps and shows it: without secrets, flat, and of bounded size.

A server is to have refused what holds a secret, or says too much; it may be an older one, or nobody's friend. And one
item that cannot be kept as it is must not hold up the feed: what is nested, or too long, is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from siftd.team.items import METADATA_BYTES_MAX, Put
from siftd.team.protocol import Person
from siftd.team.searching import Hit, SearchFound

NAME_CHARS_MAX = 200
KEY_CHARS_MAX = 64
SAID_CHARS_MAX = 200
RANKS_MAX = 8

Redact = Callable[[str], str]


def believed(put: Put, redact: Redact) -> Put:
    """Return an item without secrets, whoever told it."""
    return msgspec.structs.replace(
        put,
        text=redact(put.text),
        source_ref=redact(put.source_ref),
        metadata=_flat(put.metadata, redact),
    )


def named(person: Person, redact: Redact) -> Person:
    """Return a person under a name that can be kept."""
    return msgspec.structs.replace(person, name=redact(person.name[:NAME_CHARS_MAX]))


def found_by_server(found: SearchFound, k: int, redact: Redact) -> SearchFound:
    """Return at most `k` of what a server found, and in a few words what it lacked."""
    return msgspec.structs.replace(
        found,
        hits=[_hit(each, redact) for each in found.hits[:k]],
        degraded=[redact(each[:SAID_CHARS_MAX]) for each in found.degraded[:RANKS_MAX]],
    )


def _hit(hit: Hit, redact: Redact) -> Hit:
    ranks = {leg: rank for leg, rank in list(hit.ranks.items())[:RANKS_MAX] if len(leg) <= KEY_CHARS_MAX}
    return msgspec.structs.replace(hit, item=believed(hit.item, redact), author=named(hit.author, redact), ranks=ranks)


def _flat(metadata: dict[str, Any], redact: Redact) -> dict[str, Any]:
    """Return the words and numbers of metadata, and lists of such, as far as they fit."""
    flat: dict[str, Any] = {}
    room = METADATA_BYTES_MAX
    for name, value in metadata.items():
        if len(name) > KEY_CHARS_MAX or redact(name) != name:
            continue
        plain = [each for each in value if _is_plain(each)] if isinstance(value, list) else value
        if not isinstance(plain, list) and not _is_plain(plain):
            continue
        room -= len(msgspec.json.encode({name: plain}))
        if room < 0:
            break
        flat[name] = _redacted(plain, redact)
    return flat


def _is_plain(value: object) -> bool:
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return value is None or isinstance(value, str | float)


def _redacted(value: Any, redact: Redact) -> Any:
    if isinstance(value, list):
        return [_redacted(each, redact) for each in value]
    return redact(value) if isinstance(value, str) else value
