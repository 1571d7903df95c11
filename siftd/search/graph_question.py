"""What a question asks of the graph: which names stand in it, and which relation it is after. Pure, and linear.

    What services does the auth service depend on?   "auth service", DEPENDS_ON outward, of services
    Who works on the importer?                       "importer", WORKS_ON inward, of persons
    What do I know about the platform team?          "platform team"

A name is looked up, never guessed: every run of up to six words is one that may be somebody's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

WORDS_MAX = 48
NAME_WORDS_MAX = 6
_WORD = re.compile(r"\S{1,300}")
_AROUND = "\"'`´‘’“”„«»()[]{}<>,;:!?¿¡*"
_POSSESSIVE = ("'s", "’s")
_NO_NAMES = frozenset(
    "a about all an and any are as at by can could did do does everything for from had has have how i in is it its know"
    " known me my of on or our show so tell that the their them there these they this those to was we were what when"
    " where which who whom whose why will with would you your".split()
)
"""Words of which a name is not made alone."""

_RELATIONS: tuple[tuple[str, str], ...] = (
    ("DEPENDS_ON", r"depend(?:s|ed|ing)?(?: up)?on|depend(?:s|ed|ing)? on|require[sd]?|needs?"),
    ("WORKS_ON", r"works? (?:on|at|for|in)|working on|worked on|maintain(?:s|ed)?|owns?|owned by|responsible for"),
    ("CREATED_BY", r"created|wrote|written by|built by|made by|authored"),
    ("USES", r"us(?:e|es|ed|ing)"),
    ("PART_OF", r"(?:part|members?) of|belongs? to|in the team"),
    ("IS_A", r"(?:a )?kinds? of"),
    ("REPLACES", r"replac(?:e|es|ed|ing)(?: by)?|supersed(?:e|es|ed)"),
    ("RENAMED_TO", r"(?:re)?named|called"),
    ("INTEGRATES_WITH", r"integrat(?:e|es|ed|ing) with|(?:talks?|connect(?:s|ed)?) (?:to|with)"),
    ("STORES_IN", r"stor(?:e|es|ed|ing)|sav(?:e|es|ed)|persist(?:s|ed)?|kept in"),
    ("LOCATED_IN", r"located|lives? in|runs? in|hosted|deployed to"),
    ("IMPORTS", r"import(?:s|ed|ing)?"),
    ("CALLS", r"calls?|calling"),
    ("CAUSED_BY", r"caused(?: by)?|caus(?:es|ing)"),
    ("EDITS", r"edit(?:s|ed|ing)?|chang(?:e|es|ed)|touch(?:es|ed)?"),
    ("REFERENCES", r"referenc(?:e|es|ed)|mention(?:s|ed)?"),
)
_VERB = re.compile("|".join(rf"(?P<{name}>\b(?:{form})\b)" for name, form in _RELATIONS), re.IGNORECASE)
_INVERTED = frozenset(("owned by", "written by", "built by", "made by", "replaced by", "created by"))
_TYPES = {
    "who": "person", "whom": "person", "person": "person", "people": "person", "persons": "person",
    "team": "team", "teams": "team", "project": "project", "projects": "project", "service": "service",
    "services": "service", "tool": "tool", "tools": "tool", "file": "file", "files": "file", "module": "file",
    "modules": "file", "package": "package", "packages": "package", "library": "package", "libraries": "package",
    "symbol": "symbol", "function": "symbol", "functions": "symbol", "command": "command", "commands": "command",
    "test": "test", "tests": "test", "error": "error", "errors": "error", "branch": "branch", "branches": "branch",
    "commit": "commit", "commits": "commit", "issue": "issue", "issues": "issue",
}  # fmt: skip
_ASKED_TYPE = re.compile(r"\b(?:(?:what|which)\s{1,9}(\w{2,20})|(whom?))\b", re.IGNORECASE)
_QUESTION = re.compile(
    r"^\W{0,8}(?:what|which|who|whom|whose|where|how|why|when|tell me|show me|list)\b|\?\s{0,8}$", re.I
)


class Run(NamedTuple):
    """Words that may be a name, and where they stand in the question."""

    text: str
    first: int
    """The number of its first word."""
    last: int
    start: int
    """Where it begins, in characters."""


class Asked(NamedTuple):
    """The relation that a question is after, and what stands at its other end."""

    type: str
    outward: bool
    """From what is named on; else towards it."""
    entity_type: str | None


def is_question(text: str) -> bool:
    """Whether this is more than a name."""
    return _QUESTION.search(text) is not None


def runs(text: str) -> list[Run]:
    """Return every run of words of a question that may be a name, the longest first."""
    words = [(match.start(), match[0]) for match in _WORD.finditer(text)][:WORDS_MAX]
    found = []
    for length in range(min(NAME_WORDS_MAX, len(words)), 0, -1):
        for first in range(len(words) - length + 1):
            run = words[first : first + length]
            if all(_bare(word).casefold() in _NO_NAMES for _, word in run):
                continue
            joined = " ".join([*(word for _, word in run[:-1]), _without_possessive(run[-1][1].rstrip(_AROUND))])
            name = _bare(joined)
            if name:
                found.append(Run(name, first, first + length - 1, run[0][0]))
    return found


def longest(known: Iterable[Run]) -> list[Run]:
    """Return, of runs that are names, those that stand in no longer one, in the order of the question."""
    chosen: list[Run] = []
    taken: set[int] = set()
    for run in sorted(known, key=lambda each: (each.first - each.last, each.first)):
        places = range(run.first, run.last + 1)
        if taken.isdisjoint(places):
            taken.update(places)
            chosen.append(run)
    return sorted(chosen, key=lambda each: each.first)


def asked(text: str, named: Run) -> Asked | None:
    """Return the relation that a question about what it names is after; None where it asks for anything."""
    if not is_question(text):
        return None
    end = named.start + len(named.text)
    for match in _VERB.finditer(text):
        if match.start() < end and match.end() > named.start:
            continue  # a word of the name
        # "What does X depend on": X is before it. "What depends on X": behind.
        is_outward = named.start < match.start()
        if match[0].casefold() in _INVERTED:
            is_outward = not is_outward
        if match.lastgroup == "CREATED_BY" and match[0].casefold() not in _INVERTED:
            is_outward = not is_outward  # "who created X": X is CREATED_BY whoever did
        return Asked(str(match.lastgroup), is_outward, _asked_type(text, named))
    return None


def _asked_type(text: str, named: Run) -> str | None:
    """Return what kind of entity is asked for: "which services", "who"."""
    for match in _ASKED_TYPE.finditer(text[: named.start] + " " * len(named.text)):
        kind = _TYPES.get((match[1] or match[2]).casefold())
        if kind is not None:
            return kind
    return None


def _bare(text: str) -> str:
    """Return words without the quotes and commas around them; a full stop at the end is none of a name."""
    return text.strip(_AROUND).rstrip(".").strip(_AROUND)


def _without_possessive(word: str) -> str:
    return word[:-2] if word.endswith(_POSSESSIVE) else word
