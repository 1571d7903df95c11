"""What a snapshot is made of: plain values. How they are written down is `siftd.knowledge.format`.

Evidence is text of one of three forms: `path:line`, `commit 1a2b3c4d5e6f`, and a cited id of the store, `e12` or `m3`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

CommandKind = Literal["build", "test", "lint", "format", "types", "check", "run"]
COMMAND_KINDS: tuple[CommandKind, ...] = ("build", "test", "lint", "format", "types", "check", "run")
Basis = Literal["seen", "declared", "usual"]
"""How a command is known: it was seen to succeed here; a file of the project says it; or a tool's settings are there,
and this is how that tool is run everywhere."""
ModuleKind = Literal["code", "tests", "docs", "examples", "scripts"]
EntryKind = Literal["command", "program", "library", "plugin"]


class _Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Any part: what it says, and where that is seen."""

    evidence: tuple[str, ...] = ()


class Overview(_Part, frozen=True, kw_only=True):
    """What the project is."""

    name: str
    says: str = ""
    """What a manifest or the README says of it, word for word: quoted, never believed."""


class Language(_Part, frozen=True, kw_only=True):
    """A language that it is written in."""

    name: str
    files: int
    version: str = ""
    """What a manifest asks for: ">=3.11"."""


class Package(_Part, frozen=True, kw_only=True):
    """What a manifest declares."""

    name: str
    path: str
    """The folder of its manifest; "" for the root."""
    ecosystem: str
    version: str = ""
    depends_on: tuple[str, ...] = ()
    """Packages of this same project."""
    uses: tuple[str, ...] = ()
    """Packages of others that it needs to run."""


class EntryPoint(_Part, frozen=True, kw_only=True):
    """A way in."""

    name: str
    kind: EntryKind
    target: str
    """What is run or imported: "pkg.cli:main", "bin/tool.js"."""
    path: str = ""
    """The file in which it lies, where it was found."""


class Module(_Part, frozen=True, kw_only=True):
    """A folder of code."""

    path: str
    kind: ModuleKind = "code"
    language: str
    files: int
    lines: int
    says: str = ""
    """What its first file says of it, word for word: quoted, never believed."""
    main_files: tuple[str, ...] = ()
    """Its files that others need most."""
    imports: tuple[str, ...] = ()
    """Modules that it needs, the most needed first."""
    imported_by: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    was: str = ""
    """Where it lay before."""
    hash: str
    """Of the names and contents of its files."""
    prints: tuple[str, ...] = ()
    """Of the contents of some of its files, by which it is known again elsewhere."""


class KeyFile(_Part, frozen=True, kw_only=True):
    """A file that matters more than others."""

    path: str
    why: tuple[str, ...]
    hash: str


class Command(_Part, frozen=True, kw_only=True):
    """What is typed to do something."""

    kind: CommandKind
    command: str
    where: str = ""
    """The folder in which it is typed; "" for the root."""
    basis: Basis
    others: tuple[str, ...] = ()
    """Further ways that were declared."""


class Convention(_Part, frozen=True, kw_only=True):
    """How things are done: a tool that is set up, where tests lie."""

    text: str


class Skipped(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file that was not read, and why."""

    path: str
    why: str


class Source(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file outside of modules that something was read from, so that its change is seen."""

    path: str
    hash: str


class Prose(_Part, frozen=True, kw_only=True):
    """What a model wrote of the rest; every name and number in it was found there."""

    text: str
    model: str


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """All of it."""

    overview: Overview
    commit: str = ""
    """Up to which the history was read."""
    languages: tuple[Language, ...] = ()
    packages: tuple[Package, ...] = ()
    entry_points: tuple[EntryPoint, ...] = ()
    commands: tuple[Command, ...] = ()
    conventions: tuple[Convention, ...] = ()
    modules: tuple[Module, ...] = ()
    key_files: tuple[KeyFile, ...] = ()
    sources: tuple[Source, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    left_out: int = 0
    """Files that were not looked at, because there are too many."""
    prose: Prose | None = None


class SeenCommand(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A command that the store has seen to succeed."""

    kind: str
    command: str
    where: str = ""
    evidence: tuple[str, ...] = ()


class Seen(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the store tells of the project."""

    commands: tuple[SeenCommand, ...] = ()
    edits: dict[str, int] = {}
    """Changes of files by agents, by path below the root."""
