"""What must hold of a curator's edits before any of them is written, whatever it was told and whatever it says.

frontmatter      none of it is taken from a curator
mistakes.md      is appended to only, by entries `### YYYY-MM-DD — title`, none of them twice
archive          holds what stood in the file that it is from, verbatim; else the entry counts for nothing
shrinking        a body above 800 characters that loses more than 60 % of itself, without the text that it lost in
                 the archive, rejects everything
decisions, todo  what leaves them goes to the archive, whether the curator says so or not
truth            a line that names what neither the digest, the notes nor the inbox hold is left out
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from siftd.errors import SiftdError
from siftd.notes.blocks import split
from siftd.notes.document import parse
from siftd.notes.edits import ArchiveEntry, Edits
from siftd.notes.layout import NoteName
from siftd.summarise.grounding import Source, unsupported_claims

GUARDED_CHARS = 800
LOST_MAX = 0.6
ENTRY_CHARS_MAX = 4_000
_MARKS = re.compile(r"[#\-*\s]{1,80}")
_ANY_HEADING = re.compile(r"(?m)^#{1,6}(?=[ \t])")
_TITLE = re.compile(r"### \d{4}-\d{2}-\d{2} — \S")
_REPLACED: tuple[NoteName, ...] = ("state", "decisions", "todo")


class EditsRejected(SiftdError):
    """Edits would lose what is in the notes; nothing is written, and the next sync asks again."""


class Checked(NamedTuple):
    """Edits that may be written."""

    bodies: dict[NoteName, str]
    """Of the files that change, mistakes.md among them; without frontmatter."""
    archived: list[ArchiveEntry]
    left_out: int
    """Lines that named what nothing holds."""


def check(edits: Edits, present: Mapping[NoteName, str], source: Source | None, *, date: str) -> Checked:
    """Return what of edits may be written over the `present` bodies.

    `source` is all that a true line can stand on; None for edits that no model made. Raises EditsRejected.
    """
    archived = [entry for entry in edits.archive_entries if _is_verbatim(entry, present)]
    bodies: dict[NoteName, str] = {}
    left_out = 0
    for name in _REPLACED:
        body = edits.body(name)
        if body is None:
            continue
        body = parse(body).body.strip("\n")
        if source is not None:
            body, dropped = _true_lines(body, present[name], source)
            left_out += dropped
        if _same(body, present[name]):
            continue
        _guard(name, present[name], body, archived)
        bodies[name] = body
    for name in ("decisions", "todo"):
        if name in bodies:
            archived += _unsaid(name, present[name], bodies[name], archived)
    entries, dropped = _new_entries(edits.mistakes_new_entries, present["mistakes"], source, date)
    left_out += dropped
    if entries:
        before = present["mistakes"].rstrip()
        bodies["mistakes"] = "\n\n".join([*([before] if before else []), *entries])
    return Checked(bodies, archived, left_out)


def unsupported(edits: Edits, present: Mapping[NoteName, str], source: Source) -> list[str]:
    """Return what edits name and nothing holds: the curator is asked once more without it."""
    found: list[str] = []
    for name in _REPLACED:
        for line in _new_lines(edits.body(name) or "", present[name]):
            found += unsupported_claims(line, source)
    for entry in edits.mistakes_new_entries:
        found += unsupported_claims(entry, source)
    return list(dict.fromkeys(found))


def _same(body: str, present: str) -> bool:
    return body.split() == present.split() and body.count("\n") == present.strip("\n").count("\n")


def _is_verbatim(entry: ArchiveEntry, present: Mapping[NoteName, str]) -> bool:
    """Whether every line of an entry stands in the file that it is from."""
    there = {" ".join(line.split()) for line in present[entry.source].splitlines()}
    return all(" ".join(line.split()) in there for line in entry.content.splitlines() if line.strip())


def _guard(name: NoteName, before: str, after: str, archived: Sequence[ArchiveEntry]) -> None:
    """Raise EditsRejected for a body that loses too much of what no archive of that file holds."""
    if len(before) <= GUARDED_CHARS or len(after) >= len(before) * (1 - LOST_MAX):
        return
    held = sum(len(entry.content) for entry in archived if entry.source == name)
    if len(after) + held < len(before) * (1 - LOST_MAX):
        raise EditsRejected(
            f"{name}.md would lose {100 - 100 * len(after) // len(before)} % of its text",
            hint="nothing was changed; the next sync asks again",
        )


def _unsaid(name: NoteName, before: str, after: str, archived: Sequence[ArchiveEntry]) -> list[ArchiveEntry]:
    """Return the blocks that are neither in the new body nor archived: they are archived."""
    there = {block.words for block in split(after)}
    said = " ".join(" ".join(entry.content.split()) for entry in archived if entry.source == name)
    return [
        ArchiveEntry(name, block.text.strip("\n"))
        for block in split(before)
        if block.form != "heading" and block.words and block.words not in there and block.words not in said
    ]


def _new_lines(body: str, present: str) -> list[str]:
    there = {" ".join(line.split()) for line in present.splitlines()}
    return [line for line in body.splitlines() if line.strip() and " ".join(line.split()) not in there]


def _true_lines(body: str, present: str, source: Source) -> tuple[str, int]:
    wrong = {line for line in _new_lines(body, present) if unsupported_claims(line, source)}
    true = [line for line in body.splitlines() if line not in wrong]
    return "\n".join(true), len(wrong)


def _new_entries(given: Sequence[str], present: str, source: Source | None, date: str) -> tuple[list[str], int]:
    """Return the entries to append, each with its title, and how many lines were left out."""
    there = {" ".join(block.text.split()) for block in split(present)}
    entries, dropped = [], 0
    for text in given:
        entry = parse(text).body.strip()[:ENTRY_CHARS_MAX]
        if source is not None:
            true = [line for line in entry.splitlines() if not unsupported_claims(line, source)]
            dropped += len(entry.splitlines()) - len(true)
            entry = "\n".join(true).strip()
        if not entry:
            continue
        entry = _titled(entry, date)
        if (words := " ".join(entry.split())) not in there:
            there.add(words)
            entries.append(entry)
    return entries, dropped


def _titled(entry: str, date: str) -> str:
    """Return an entry with the title that every entry has, and no other heading."""
    first, _, rest = entry.partition("\n")
    if not _TITLE.match(first):
        title = first[match.end() if (match := _MARKS.match(first)) else 0 :] or "Noted"
        first = f"### {date} — {title}"
    rest = _ANY_HEADING.sub(r"\\\g<0>", rest)
    return f"{first}\n{rest}".rstrip()
