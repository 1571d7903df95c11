"""Lines of notes before they stand anywhere: what each is about, below which heading it goes, and what is alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from siftd.notes.distil.forms import branch_name, date_of
from siftd.notes.distil.material import Fact
from siftd.notes.layout import NoteName

CHARS_MAX: dict[NoteName, int] = {"state": 3_300, "decisions": 4_000, "todo": 3_300, "mistakes": 7_300}
"""A third of each budget: the rest is for people, and for what other curators write."""
NOW, COMMANDS, FAILURES = "Now", "Commands", "Open failures"
DECISIONS, CONVENTIONS, CONSTRAINTS, BUILT = "Decisions", "Conventions", "Constraints", "How it is built"
OPEN = "Open"
SECTIONS: dict[NoteName, tuple[str, ...]] = {
    "state": (NOW, COMMANDS, FAILURES),
    "decisions": (DECISIONS, CONVENTIONS, CONSTRAINTS, BUILT),
    "todo": (OPEN,),
    "mistakes": (),
}
"""In their order."""
_TRUNKS = frozenset(("main", "master", "trunk", "develop", "dev"))
TICKET = re.compile(r"\b[a-z]{2,10}-\d{1,6}\b|#\d{1,6}\b", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9]{3,40}")
_COMMON = frozenset(
    "the and for with from into add fix use not all new when that this are was its make now only update".split()
)
_SECTION_LINES_MAX = 80
_ALIKE = 0.75
"""Of the shorter line's words, which the other has too, for both to say the same. Arbitrary."""


class Wanted(NamedTuple):
    """A line that is to stand in a file of notes."""

    key: str
    """What it is about: it is known again by it, whatever it says."""
    section: str
    line: str


def unlike(lines: Iterable[Wanted]) -> list[Wanted]:
    """Return the first lines, without what says nearly the same as one before it: of each section as many as could ever
    stand, so that it takes no longer however many there are."""
    chosen: list[Wanted] = []
    seen: list[set[str]] = []
    of_section: Counter[str] = Counter()
    for each in lines:
        if of_section[each.section] == _SECTION_LINES_MAX:
            continue
        words = words_of(each.line.rpartition(" (")[0])
        if not any(len(words & other) >= _ALIKE * min(len(words), len(other)) for other in seen if words and other):
            chosen.append(each)
            seen.append(words)
            of_section[each.section] += 1
    return chosen


def words_of(text: str) -> set[str]:
    """Return the words of a text that tell it from others."""
    return set(_WORD.findall(TICKET.sub(" ", text).casefold())) - _COMMON


def who(fact: Fact) -> str:
    """Return whose word a fact is, since when, where that tells more, and its id."""
    return f"{fact.said_by}, {date_of(fact.since_ts)}{on_branch(fact.branch)}, m{fact.id}"


def on_branch(branch: str | None) -> str:
    """Return on which branch something was, where it was not the trunk: it says what the words are about."""
    return f", on {branch_name(branch)}" if branch and branch not in _TRUNKS else ""
