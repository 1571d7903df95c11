"""Where a note of the inbox goes, and how it stands there: verbatim, and harmless to what is around it.

What is one line, or lines of plain prose, stands as it is. What could make headings, comments, fences or frontmatter
of its own stands in a fence that nothing in it closes: its bytes are the same, and it is seen as what was dropped.
"""

from __future__ import annotations

import re
from itertools import groupby

from siftd.notes.distil.forms import date_of, plain
from siftd.notes.distil.lines import DECISIONS, OPEN
from siftd.notes.layout import NoteName

NOTES = "Notes"
_LOOKED_AT = 4_000
_TODO = re.compile(r"^\s{0,8}(?:[-*+] )?\[ \]|^\s{0,8}(?:[-*+] )?(?:TODO|FIXME)\b", re.MULTILINE | re.IGNORECASE)
_MISTAKE = re.compile(
    r"^\s{0,8}(?:#{1,6} |[-*+] )?(?:mistake|lesson|gotcha|pitfall)s?\b"
    r"|^\s{0,8}[-*+] (?:symptom|cause|prevention):|\broot cause\b|\b(?:my|our) mistake\b|\blesson learn",
    re.MULTILINE | re.IGNORECASE,
)
_DECISION = re.compile(
    r"^\s{0,8}(?:#{1,6} |[-*+] )?decision\b|\b(?:we|i|the team) (?:have )?(?:decided|chose|agreed|settled)\b"
    r"|\bdecided (?:to|that|on|against)\b",
    re.MULTILINE | re.IGNORECASE,
)
_MAKES = re.compile(
    r"^(?:\s{0,3}(?:[-*+] {1,4})?(?:#|>|`{3}|~{3}|[-=]{1,200}\s{0,20}$|\*{3}|_{3}|\||\[(?![ xX]\]))|\t| {4})"
    r"|<[!a-zA-Z/?]|!\[|\]\(|\]\[",
    re.MULTILINE,
)
"""What makes more of Markdown than prose and lists; a box of a todo alone is none."""
_ITEM = re.compile(r"[-*+] ")


def note_of(text: str) -> NoteName:
    """Return the file that a dropped note is for."""
    head = text[:_LOOKED_AT]
    if _TODO.search(head):
        return "todo"
    if _MISTAKE.search(head):
        return "mistakes"
    return "decisions" if _DECISION.search(head) else "state"


def section_of(name: NoteName) -> str:
    """Return below which heading of its file a dropped note stands."""
    return {"todo": OPEN, "decisions": DECISIONS}.get(name, NOTES)


def as_text(text: str) -> str:
    """Return a dropped note as it stands in a file: the note, or a fence around it."""
    said = text.strip("\n")
    if _MAKES.search(said):
        marks = max((len(list(run)) for char, run in groupby(said) if char == "`"), default=0)
        fence = "`" * max(3, marks + 1)
        return f"{fence}text\n{said}\n{fence}"
    return said if "\n" in said or _ITEM.match(said) else f"- {said}"


def as_entry(text: str, now_ms: int) -> str:
    """Return a dropped note as an entry of `mistakes.md`."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return f"### {date_of(now_ms)} — {plain(first, 90) or 'a note'}\n\n{as_text(text)}"
