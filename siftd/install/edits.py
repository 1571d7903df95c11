"""What a client's installer declares: each file that is to be wired, and what of ours goes into it.

    JsonFile(path, hooks={"PostToolUse": group}, members={("mcpServers", "siftd"): entry})
    TomlFile(path, tables={("mcp_servers", "siftd"): entry}, rows={("hooks",): [row, …]})
    OwnFile(path, text)                  a file of our own in a folder that the client reads; the text holds OWN_MARK
    MarkedBlock(path, text)              some lines in a file of rules, between two comments of ours

`siftd.install.wiring` writes them and takes them out. An edit is a function of the file's bytes; it opens nothing.
What each refuses is SettingsUnreadable, the file untouched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from siftd.errors import SettingsUnreadable
from siftd.install import json_entries, toml_entries
from siftd.install.json_spans import BYTE_ORDER_MARK, NotJson, scan
from siftd.install.manifest import Kind

OWN_MARK = "Written by `mem install`, which keeps it up to date."
"""Stands in the first lines of every file of ours. Whoever takes it out keeps the file as their own."""
_MARK_LINES = 10
BLOCK_BEGIN = "<!-- siftd: written by `mem install` -->"
BLOCK_END = "<!-- siftd: end -->"
_NOTHING_OF_ITS_OWN = {"version", "$schema"}
"""Members that a file of nothing but our entries may have besides."""


class Edit(Protocol):
    """One file, and what of ours goes into it."""

    @property
    def kind(self) -> Kind:
        """As the manifest names it."""

    @property
    def path(self) -> str:
        """The file."""

    @property
    def inside(self) -> str | None:
        """The folder that it has to be in, links followed: a project's, which may come with links that lead elsewhere;
        None for a person's own file."""

    @property
    def holds_keys(self) -> bool:
        """Whether others keep keys in it: then none of its bytes are kept, and a new file is for its owner alone."""

    @property
    def mode(self) -> int:
        """Of the file where it is not there yet, less the umask."""

    def put(self, current: bytes | None) -> bytes:
        """Return the file's bytes with ours in it; `current` is None where there is no file."""


@dataclass(frozen=True, slots=True)
class JsonFile:
    """Entries in a JSON file, with or without comments."""

    path: str
    hooks: Mapping[str, Any] = field(default_factory=dict)
    """By event the element that goes into the event's array: a group of handlers, or a handler."""
    under: tuple[str, ...] = ("hooks",)
    """The keys down to the object of events; () where events stand at the top."""
    members: Mapping[tuple[str, ...], Mapping[str, Any]] = field(default_factory=dict)
    """Named entries by the keys down to them; the last key is `siftd`."""
    base: Mapping[str, Any] = field(default_factory=dict)
    """What a new file needs besides: {"version": 1}."""
    holds_keys: bool = False
    inside: str | None = None
    kind: ClassVar[Kind] = "json"

    @property
    def mode(self) -> int:
        return 0o600 if self.holds_keys else 0o666

    def put(self, current: bytes | None) -> bytes:
        text = decode(current)
        if not text.removeprefix(BYTE_ORDER_MARK).strip():
            text = json.dumps(dict(self.base), indent=2) + "\n"
        if self.hooks:
            text = json_entries.add_hooks(text, self.under, self.hooks)
        for path, value in self.members.items():
            text = json_entries.add_member(text, path[:-1], value, path[-1])
        return text.encode()


@dataclass(frozen=True, slots=True)
class TomlFile:
    """Entries in a TOML file."""

    path: str
    tables: Mapping[tuple[str, ...], Mapping[str, Any]] = field(default_factory=dict)
    """Named tables by their path; its last key is `siftd`."""
    rows: Mapping[tuple[str, ...], Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """Rows of arrays of tables, told apart by `row_key`."""
    row_key: str = "event"
    holds_keys: bool = True
    inside: str | None = None
    kind: ClassVar[Kind] = "toml"

    @property
    def mode(self) -> int:
        return 0o600 if self.holds_keys else 0o666

    def put(self, current: bytes | None) -> bytes:
        text = decode(current)
        toml_entries.parse_toml(text)
        for path, rows in self.rows.items():
            text = toml_entries.add_rows(text, path, rows, key=self.row_key)
        for path, value in self.tables.items():
            text = toml_entries.add_table(text, path, value)
        return text.encode()


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A whole file of ours. `text` holds OWN_MARK in its first lines, in a comment of its language."""

    path: str
    text: str
    mode: int = 0o666
    inside: str | None = None
    kind: ClassVar[Kind] = "own"
    holds_keys: ClassVar[bool] = False

    def put(self, current: bytes | None) -> bytes:
        if current is not None and not is_own(current):
            raise SettingsUnreadable("there is a file of your own by this name", hint="rename it and run it again")
        return self.text.encode()


@dataclass(frozen=True, slots=True)
class MarkedBlock:
    """Lines of ours in a file of rules, at its end, between two comments."""

    path: str
    text: str
    inside: str | None = None
    mode: int = 0o666
    kind: ClassVar[Kind] = "block"
    holds_keys: ClassVar[bool] = False

    def put(self, current: bytes | None) -> bytes:
        text = decode(current)
        eol = "\r\n" if "\r\n" in text else "\n"
        block = eol.join([BLOCK_BEGIN, *self.text.strip().splitlines(), BLOCK_END]) + eol
        if (found := _find_block(text)) is not None:
            start, end = found
            return (text[:start] + block + text[end:]).encode()
        return ((text + eol if text else "") + block).encode()


def take_out(kind: Kind, current: bytes) -> tuple[bytes, bool]:
    """Return a file's bytes without ours, and whether nothing is left in it. Raises SettingsUnreadable.

    A file of ours that somebody made their own is returned as it is.
    """
    if kind == "own":
        return current, is_own(current)
    text = decode(current)
    if not text.removeprefix(BYTE_ORDER_MARK).strip():
        return current, True
    if kind == "json":
        left = json_entries.remove_entries(text)
        return left.encode(), _says_nothing(left)
    left = _without_block(text) if kind == "block" else toml_entries.remove_entries(text)
    return left.encode(), not left.strip()


def _says_nothing(text: str) -> bool:
    """Whether a JSON text has no comment, and no member that is anybody's."""
    try:
        return set(scan(text).value) <= _NOTHING_OF_ITS_OWN
    except NotJson:
        return False


def text_of_block(current: bytes | None) -> str | None:
    """Return what stands between our two comments in a file; None where they are not. Raises SettingsUnreadable."""
    text = decode(current)
    if (found := _find_block(text)) is None:
        return None
    block = text[found[0] : found[1]]
    return block[len(BLOCK_BEGIN) : block.rindex(BLOCK_END)].strip()


def _find_block(text: str) -> tuple[int, int] | None:
    """Return where our lines begin and end, the last line break with them."""
    start = text.find(BLOCK_BEGIN)
    end = text.find(BLOCK_END, start)
    if start < 0 or end < 0:
        return None
    line_end = text.find("\n", end)
    return start, len(text) if line_end < 0 else line_end + 1


def _without_block(text: str) -> str:
    """Return `text` without our lines, and without the line break that came with them."""
    while (found := _find_block(text)) is not None:
        before, after = text[: found[0]], text[found[1] :]
        shorter = before.removesuffix("\n").removesuffix("\r")
        text = (before if after and shorter and not shorter.endswith("\n") else shorter) + after
    return text


def decode(current: bytes | None) -> str:
    """Return a file's text. Raises SettingsUnreadable."""
    try:
        return (current or b"").decode()
    except UnicodeDecodeError as error:
        raise SettingsUnreadable("it is not UTF-8", hint="correct it by hand; it was not touched") from error


def is_own(current: bytes) -> bool:
    """Whether a whole file is still ours."""
    return OWN_MARK.encode() in b"\n".join(current.splitlines()[:_MARK_LINES])
