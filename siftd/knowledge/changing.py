"""Taking text out of a snapshot, part by part: what is left is a snapshot still."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from siftd.knowledge.format import from_plain, plain
from siftd.knowledge.model import Basis, Snapshot

WORDLESS = frozenset(("hash", "prints", "kind", "basis"))
"""Fields that hold no text of anybody's; a hash looks like a secret to a rule."""
_PARTS = (
    "languages",
    "packages",
    "entryPoints",
    "commands",
    "conventions",
    "modules",
    "keyFiles",
    "sources",
    "skipped",
)


def renewed(snapshot: Snapshot, renew: Callable[[str], str]) -> Snapshot:
    """Return a snapshot with every text as `renew` makes it."""
    made: Any = _renewed(plain(snapshot), renew)
    return from_plain(made)


def without(snapshot: Snapshot, is_gone: Callable[[str], bool]) -> Snapshot:
    """Return a snapshot without the parts in which a text is to go; of the overview, without that text alone."""
    value = plain(snapshot)
    for name in _PARTS:
        if name in value:
            value[name] = [each for each in value[name] if not _holds(each, is_gone)]
    if value.get("prose") and _holds(value["prose"], is_gone):
        value["prose"] = None
    overview = value["overview"]
    if _holds({"says": overview.get("says", ""), "evidence": overview.get("evidence", [])}, is_gone):
        overview |= {"says": "", "evidence": []}
    if is_gone(overview["name"]):
        overview["name"] = "this project"
    return from_plain(value)


def without_events(snapshot: Snapshot, stored: Collection[str]) -> Snapshot:
    """Return a snapshot without the commands that events were seen to run which are stored no more.

    `stored` are the cited ids of events that are there. A command of which another event is left keeps that one.
    """
    taken = []
    for each in snapshot.commands:
        left = tuple(shown for shown in each.evidence if not _is_event(shown) or shown in stored)
        if each.basis != "seen" or any(map(_is_event, left)):
            taken.append(msgspec.structs.replace(each, evidence=left))
    return msgspec.structs.replace(snapshot, commands=tuple(taken))


def of_elsewhere(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot without the cited ids of a store, which mean something else, or nothing, in another.

    What was seen to succeed there was not seen here: it is declared, where a file says it, and left out else.
    """
    commands = []
    for each in snapshot.commands:
        shown = tuple(place for place in each.evidence if ":" in place)
        if shown or each.basis != "seen":
            basis: Basis = "declared" if each.basis == "seen" else each.basis
            commands.append(msgspec.structs.replace(each, evidence=shown, basis=basis))
    return msgspec.structs.replace(snapshot, commands=tuple(commands), prose=None)


def events_of(snapshot: Snapshot) -> list[int]:
    """Return the events that a snapshot cites."""
    return [int(each[1:]) for command in snapshot.commands for each in command.evidence if _is_event(each)]


def texts_of(snapshot: Snapshot) -> str:
    """Return everything that a snapshot says, a line each."""
    found: list[str] = []
    _gather(plain(snapshot), found)
    return "\n".join(found)


def _is_event(evidence: str) -> bool:
    return evidence[:1] == "e" and evidence[1:].isdecimal()


def _renewed(value: object, renew: Callable[[str], str], name: str = "") -> object:
    if isinstance(value, str):
        return value if name in WORDLESS else renew(value)
    if isinstance(value, Mapping):
        return {key: _renewed(each, renew, str(key)) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_renewed(each, renew, name) for each in value]
    return value


def _holds(value: object, is_gone: Callable[[str], bool]) -> bool:
    found: list[str] = []
    _gather(value, found)
    return any(map(is_gone, found))


def _gather(value: object, found: list[str], name: str = "") -> None:
    if isinstance(value, str):
        if name not in WORDLESS:
            found.append(value)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            _gather(each, found, str(key))
    elif isinstance(value, list | tuple):
        for each in value:
            _gather(each, found, name)
