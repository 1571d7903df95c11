"""Which lines of ours stand in a file from now on: new ones, replaced ones, archived ones, and those that are a
person's now."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from siftd.notes.distil.bodies import Body
from siftd.notes.distil.lines import CHARS_MAX, SECTIONS, Wanted
from siftd.notes.distil.written import Line, Written
from siftd.notes.layout import NoteName

_CITED = re.compile(r"\b([ems]\d{1,18})\)$")
_WORD = re.compile(r"\w{1,60}")
_ALIKE = 0.6
"""Of a line's words that another one must have to be the same line, changed by a person."""
_FACT = "fact:"


def merged(
    name: NoteName, body: Body, wanted: Sequence[Wanted], written: Written, withdrawn: Mapping[int, int | None]
) -> tuple[list[str], dict[str, Line]]:
    """Change a body; return the lines of ours that left it, verbatim, and what is to be remembered of it."""
    changed = _touched(body, list(written.of(name)))
    ours = [each for each in written.of(name) if each.key not in changed]
    changed |= _never_again(name, written, changed, withdrawn)
    may = {each.key: each for each in wanted if _may_stand(each.key, written, changed)}
    lasting = list(_lasting(name, ours, may))
    stays = {each.key for each in lasting}
    left = [each for each in ours if each.key not in stays and (each.key not in may or may[each.key].line != each.line)]
    for section in SECTIONS[name]:
        lines = [each.line for each in may.values() if each.section == section]
        lines += [each.line for each in lasting if each.section == section]
        body.lay(section, lines, [each.line for each in ours])
    body.take_out([each.line for each in left])
    for section in {each.section for each in left}:
        body.drop_if_empty(section)
    changed |= {each.key: Line(each.key, name, "done") for each in left}
    changed |= {each.key: Line(each.key, name, "ours", each.line, each.section) for each in may.values()}
    return [each.line for each in left], changed


def appended(wanted: Sequence[Wanted], written: Written) -> tuple[list[str], dict[str, Line]]:
    """Return the new entries of `mistakes.md`, the oldest first, and what is to be remembered of it."""
    changed: dict[str, Line] = {}
    entries: list[str] = []
    room = CHARS_MAX["mistakes"]
    for each in wanted:
        if written.find(each.key) is not None or each.key in changed:
            continue
        room -= len(each.line) + 2
        changed[each.key] = Line(each.key, "mistakes", "done" if room >= 0 else "passed")
        entries += [each.line] if room >= 0 else []
    return sorted(entries, key=_day), changed


def _day(entry: str) -> str:
    return entry[len("### ") : len("### 2026-01-23")]


def _touched(body: Body, ours: Sequence[Line]) -> dict[str, Line]:
    """Return the lines that do not stand as they were written any more: changed by a person, or taken out."""
    there = body.open_lines()
    standing = {line.rstrip() for line in there}
    missing = [each for each in ours if each.line not in standing]
    if not missing:
        return {}
    known = {each.line for each in ours}
    others = [set(_WORD.findall(line)) for line in there if line.strip() and line.rstrip() not in known]
    return {
        each.key: Line(each.key, each.note, "theirs" if _is_among(each.line, others) else "gone") for each in missing
    }


def _is_among(line: str, others: Sequence[set[str]]) -> bool:
    cited = _CITED.search(line)
    words = set(_WORD.findall(line))
    return any(
        (cited is not None and cited[1] in theirs) or len(words & theirs) >= _ALIKE * len(words) for theirs in others
    )


def _never_again(
    name: NoteName, written: Written, changed: Mapping[str, Line], withdrawn: Mapping[int, int | None]
) -> dict[str, Line]:
    """Return what took the place of a fact whose line a person took out: it is out with it."""
    found: dict[str, Line] = {}
    for old, new in withdrawn.items():
        known = changed.get(f"{_FACT}{old}") or written.find(f"{_FACT}{old}")
        if new is not None and known is not None and known.state == "gone" and written.find(f"{_FACT}{new}") is None:
            found[f"{_FACT}{new}"] = Line(f"{_FACT}{new}", name, "gone")
    return found


def _may_stand(key: str, written: Written, changed: Mapping[str, Line]) -> bool:
    known = changed.get(key) or written.find(key)
    return known is None or known.state not in ("theirs", "gone")


def _lasting(name: NoteName, ours: Sequence[Line], may: Mapping[str, Wanted]) -> Iterator[Line]:
    """Yield the decisions of sessions that are too long ago to be looked at again: they hold while there is room.

    What state and todo tell is as things stand: a line that is not wanted any more is over.
    """
    if name != "decisions":
        return
    room = CHARS_MAX[name] - sum(len(each.line) + 1 for each in may.values())
    for each in ours:
        if each.key in may or each.key.startswith(_FACT):
            continue
        room -= len(each.line) + 1
        if room >= 0:
            yield each
