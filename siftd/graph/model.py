"""What the rooms hand each other about the graph: plain values, without a database.

An item (an event, a fact, a document) goes into extraction, `Found` comes out: the names it speaks of, and how they
hang together. Whoever stores it resolves names to entities (`siftd.graph.names`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

EntityType = Literal[
    "person",
    "team",
    "project",
    "service",
    "tool",
    "place",
    "concept",
    "file",
    "symbol",
    "package",
    "command",
    "test",
    "error",
    "branch",
    "commit",
    "issue",
]
"""What an entity is. A `concept` is what a text names without saying what it is: the type is made better once one
does."""

PROSE_TYPES: tuple[EntityType, ...] = ("person", "team", "project", "service", "tool", "place", "concept")
"""What is named in words: in any case, with or without hyphens."""
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)

RELATION_TYPES = (
    "WORKS_ON",
    "CREATED_BY",
    "USES",
    "DEPENDS_ON",
    "PART_OF",
    "IS_A",
    "REPLACES",
    "RENAMED_TO",
    "INTEGRATES_WITH",
    "STORES_IN",
    "LOCATED_IN",
    "RELATED_TO",
    "CAUSED_BY",
    "DERIVES_FROM",
    "CONTRADICTS",
    "EDITS",
    "REFERENCES",
    "CALLS",
    "IMPORTS",
)
"""How two entities hang together. The last seven are the kinds of provenance. Others may come from a model, or from a
text: they are brought into this form (`relation_code`)."""
RELATION_CHARS_MAX = 40
RELATED_TO = "RELATED_TO"

Way = Literal["prose", "manifest", "code", "call", "git", "model"]
"""By what something is known: words, a manifest of packages or services, source code, a tool call, git, a model."""

_SAID_EACH_TIME = ("prose", "model")

NAME_CHARS_MAX = 200
"""A longer name is none: it is cut out of something else."""
NAMES_MAX = 4_000
RELATIONS_MAX = 4_000
"""What is taken of one item at most, so that a hostile document is a page among others."""

_NOT_A_CODE = re.compile(r"[^A-Z0-9]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Named(NamedTuple):
    """A name that an item speaks of."""

    type: EntityType
    name: str


class Spoken(NamedTuple):
    """How often an item names something, and in which line first."""

    named: Named
    times: int
    line: int | None


class Link(NamedTuple):
    """How two names hang together, as an item says."""

    src: Named
    type: str
    dst: Named
    way: Way
    line: int | None = None


class Alias(NamedTuple):
    """Another name of the same, as an item says: the old name of something renamed, or an abbreviation."""

    named: Named
    alias: str


class Ended(NamedTuple):
    """That two hang together no longer, as an item says."""

    src: Named
    type: str
    dst: Named


class Found:
    """What one item says. Bounded: what is more than `NAMES_MAX` and `RELATIONS_MAX` is left out, and counted."""

    def __init__(self) -> None:
        self._spoken: dict[Named, Spoken] = {}
        self._links: dict[tuple[Named, str, Named], tuple[Link, int]] = {}
        self.aliases: list[Alias] = []
        self.ended: list[Ended] = []
        self.descriptions: dict[Named, str] = {}
        self.complete: set[Named] = set()
        """Of these, a manifest names everything that they depend on: what an earlier one named has ended."""
        self.left_out = 0
        """Names and relations for which there was no room."""

    def name(self, named: Named, line: int | None = None, times: int = 1) -> bool:
        """Note that something is named; return whether there was room, and it is a name at all."""
        known = self._spoken.get(named)
        if known is not None:
            self._spoken[named] = known._replace(times=known.times + times)
            return True
        if not is_name(named.name):
            return False
        if len(self._spoken) >= NAMES_MAX:
            self.left_out += 1
            return False
        self._spoken[named] = Spoken(named, times, line)
        return True

    def link(self, link: Link) -> None:
        """Note how two things hang together; both count as named."""
        if link.src == link.dst:
            return
        key = link.src, link.type, link.dst
        known = self._links.get(key)
        if known is None and len(self._links) >= RELATIONS_MAX:
            self.left_out += 1
            return
        if self._name_end(link.src, link) and self._name_end(link.dst, link):
            self._links[key] = (link, 1) if known is None else (known[0], known[1] + 1)

    def _name_end(self, named: Named, link: Link) -> bool:
        """Note an end of a relation. Words name it each time; a file is named once, however much it imports."""
        return (link.way not in _SAID_EACH_TIME and named in self._spoken) or self.name(named, link.line)

    def alias(self, named: Named, alias: str) -> None:
        """Note another name of something."""
        if is_name(alias) and len(self.aliases) < RELATIONS_MAX and self.name(named):
            self.aliases.append(Alias(named, alias))

    def end(self, src: Named, relation: str, dst: Named) -> None:
        """Note that two things hang together no longer; both count as named."""
        if len(self.ended) < RELATIONS_MAX and self.name(src) and self.name(dst):
            self.ended.append(Ended(src, relation, dst))

    def describe(self, named: Named, sentence: str) -> None:
        """Note what something is, in words; the first counts."""
        if self.name(named):
            self.descriptions.setdefault(named, sentence)

    @property
    def spoken(self) -> list[Spoken]:
        return list(self._spoken.values())

    @property
    def links(self) -> Iterator[tuple[Link, int]]:
        """Each once, with how often it was said."""
        yield from self._links.values()

    def slices(self, size: int) -> Iterator[Found]:
        """Yield what is said in pieces of so many relations, none of which says that this is all."""
        links = list(self._links.values())
        for start in range(0, len(links), size):
            piece = Found()
            for link, times in links[start : start + size]:
                piece.name(link.src, link.line)
                piece.name(link.dst, link.line)
                piece._links[link.src, link.type, link.dst] = link, times
            yield piece

    def __bool__(self) -> bool:
        return bool(self._spoken)


def is_name(text: str) -> bool:
    """Whether a text can be a name: short, of one line, of characters that can be shown, not a placeholder."""
    return (
        0 < len(text) <= NAME_CHARS_MAX
        and text == text.strip()
        and text.isprintable()
        and any(each.isalnum() for each in text)
        and "[REDACTED" not in text
    )


def relation_code(text: str) -> str:
    """Return how a relation is written: UPPER_SNAKE of at most 40 characters; RELATED_TO for what has no letters."""
    code = _NOT_A_CODE.sub("_", _HUMP.sub("_", text[:200]).upper()).strip("_")
    return code[:RELATION_CHARS_MAX].strip("_") or RELATED_TO
