"""What manifests declare, gathered, and the way to the line that says it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from siftd.knowledge.model import Basis, CommandKind, EntryPoint, Package
from siftd.knowledge.tree import Tree

NAME_CHARS_MAX = 120
SAYS_CHARS_MAX = 240
USES_MAX = 60
ENTRIES_MAX = 60
OFFERED_MAX = 400
KEYS_MAX = 100
"""Of one table of a manifest: for each a line is looked for."""
LINES_LOOKED_AT = 5_000
_SEPARATOR = re.compile(r"[:._-]")
_CHANGES = ("update", "upgrade", "install", "fix", "docs", "doc", "release", "publish")
"""A name that begins so does something else with what it names last."""
COMMAND = re.compile(r"[\w./:=@+,~% *-]{1,160}")
"""What a command may be made of: nothing of it can mean something else to a shell."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A command that something declares. The lower its `rank`, the more it is meant for whoever works here."""

    kind: CommandKind
    command: str
    where: str
    evidence: str
    rank: int
    basis: Basis = "declared"


@dataclass(slots=True)
class Declared:
    """Everything that the manifests of one tree declare."""

    packages: list[Package] = field(default_factory=list)
    mains: dict[str, str] = field(default_factory=dict)
    """The main file of a package of scripts, by its folder."""
    entries: list[EntryPoint] = field(default_factory=list)
    offered: list[Offered] = field(default_factory=list)
    versions: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Of a language: what version is asked for, and where."""
    says: list[tuple[str, str, str]] = field(default_factory=list)
    """(name, what it says of itself, evidence) of the manifests, the root's first."""
    conventions: list[tuple[str, str]] = field(default_factory=list)
    """(text of ours, evidence)."""

    def offer(
        self, kind: CommandKind, command: str, evidence: str, rank: int, *, where: str = "", basis: Basis = "declared"
    ) -> None:
        """Add a command; one that holds anything which a shell would work out is none."""
        command = " ".join(command.split())
        if len(self.offered) < OFFERED_MAX and COMMAND.fullmatch(command):
            self.offered.append(Offered(kind, command, where, evidence, rank, basis))

    def enter(self, entry: EntryPoint) -> None:
        """Add a way in."""
        if len(self.entries) < ENTRIES_MAX and all(
            (each.name, each.kind, each.target) != (entry.name, entry.kind, entry.target) for each in self.entries
        ):
            self.entries.append(entry)

    def version(self, language: str, wanted: object, evidence: str) -> None:
        """Note which version of a language is asked for; what is said first holds."""
        if wanted := text(wanted, 40):
            self.versions.setdefault(language, (wanted, evidence))

    def convene(self, said: str, evidence: str) -> None:
        """Note how things are done here, in our own words."""
        if all(each != said for each, _ in self.conventions):
            self.conventions.append((said, evidence))


def text(value: object, chars: int = NAME_CHARS_MAX) -> str:
    """Return a value as one short line; "" for what is no text."""
    return " ".join(value.split())[:chars] if isinstance(value, str) else ""


def names(values: object) -> tuple[str, ...]:
    """Return the names in a list, or the keys of an object."""
    found = (text(each) for each in values if isinstance(each, str)) if isinstance(values, list | dict) else ()
    return tuple(dict.fromkeys(each for each in found if each))[:USES_MAX]


def table(value: object, *keys: str) -> dict[str, Any]:
    """Return the table at a place in others, or an empty one; its first KEYS_MAX keys."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return dict(islice(value.items(), KEYS_MAX)) if isinstance(value, dict) else {}


def at_line(tree: Tree, path: str, *needles: str) -> str:
    """Return `path:line` of the first line that begins with the last of these, behind one that begins with each other.

    A key counts with its quotes or without; the first line where nothing is found.
    """
    number = 0
    lines = tree.lines(path)[:LINES_LOOKED_AT]
    found = 1
    for needle in needles:
        number = next((at for at in range(number, len(lines)) if _begins(lines[at], needle)), -1) + 1
        if number == 0:
            break
        found = number
    return f"{path}:{found}"


def _begins(line: str, needle: str) -> bool:
    """Whether a line begins with a whole word, or a heading, quoted or not."""
    text = line.strip().removeprefix('"').removeprefix("'")
    after = text[len(needle) : len(needle) + 1]
    return text.startswith(needle) and not (after.isalnum() or after == "_")


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def path_in(folder: str, name: str) -> str:
    """Return the path of a name in a folder."""
    return f"{folder}/{name}" if folder else name


def first_there(tree: Tree, paths: Iterable[str]) -> str:
    """Return the first of these files that is there."""
    return next((each for each in paths if each in tree.names), "")


def is_one_of(name: str, words: Sequence[str]) -> bool:
    """Whether a name begins or ends with one of the words, between its separators."""
    parts = _SEPARATOR.split(name.lower().replace("pre-commit", "precommit").replace("pre_commit", "precommit"))
    return parts[0] in words or (parts[-1] in words and parts[0] not in _CHANGES)
