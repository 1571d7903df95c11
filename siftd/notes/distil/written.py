"""What the built-in distil has put into the notes: by it a line of ours is known, and a person's word about it.

    <notes>/<id>/written.json, replaced atomically by whoever has applied the edits that it goes with:

    {"version": 1,
     "lines": [{"key": "fact:47", "note": "decisions", "state": "ours", "line": "- Keep … (agent, 2026-01-19, m47)",
                "section": "Conventions"},
               {"key": "fix:e1019", "note": "mistakes", "state": "done", "line": "", "section": ""}]}

A key says what a line is about: `fact:ID`, `session:ID`, `commit:eID`, `fix:eID`, `issue:NUMBER`, and so on. Its state:

    ours     stands in the file as it was written: it may be replaced, and archived
    theirs   a person changed it: it is left alone for ever
    gone     a person took it out: it never comes back
    done     archived by us, and may come back; of mistakes: appended, once and for all
    passed   looked at and left out, so that it is not looked at again

Compatibility: a higher version is refused by name; unknown fields are dropped at the next write, a line of an unknown
state is kept as `theirs`. A file that is lost costs this: lines that stand in the notes are taken for a person's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from siftd.errors import SiftdError
from siftd.notes.layout import NoteName

VERSION = 1
LINES_MAX = 5_000
"""Beyond them the oldest that are done with are forgotten."""
State = Literal["ours", "theirs", "gone", "done", "passed"]
_FACT = "fact:"


class Line(msgspec.Struct, frozen=True):
    """One line that was written, or looked at."""

    key: str
    note: NoteName
    state: State
    line: str = ""
    """As it was written; empty where nothing is compared with it."""
    section: str = ""
    """The heading below which it was put."""


class Written:
    """What was written so far, by key. It is a value: `with_lines` returns another one."""

    __slots__ = ("_lines",)

    def __init__(self, lines: Mapping[str, Line] | None = None) -> None:
        self._lines = dict(lines or {})

    def find(self, key: str) -> Line | None:
        return self._lines.get(key)

    def of(self, note: NoteName) -> Iterator[Line]:
        """Yield the lines that stand in a file as they were written, in the order in which they were."""
        return (each for each in self._lines.values() if each.note == note and each.state == "ours" and each.line)

    @property
    def facts(self) -> list[int]:
        """The facts that lines of ours tell, or told until a person took them out: what became of them matters."""
        facts = (each.key for each in self._lines.values() if each.state in ("ours", "gone"))
        return [int(key[len(_FACT) :]) for key in facts if key.startswith(_FACT)]

    def with_lines(self, changed: Mapping[str, Line]) -> Written:
        """Return what is written once these lines are."""
        lines = {**self._lines, **changed}
        if (over := len(lines) - LINES_MAX) > 0:
            done = [key for key, each in lines.items() if each.state in ("done", "passed")][:over]
            lines = {key: each for key, each in lines.items() if key not in set(done)}
        return Written(lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Written) and self._lines == other._lines

    __hash__ = None  # type: ignore[assignment]

    def encode(self) -> bytes:
        """Return the bytes of its file."""
        return msgspec.json.format(msgspec.json.encode(_File(VERSION, list(self._lines.values()))), indent=1) + b"\n"


class _File(msgspec.Struct):
    version: int
    lines: list[Line] = []


class _AnyLine(msgspec.Struct):
    key: str
    note: NoteName
    state: str
    line: str = ""
    section: str = ""


class _AnyFile(msgspec.Struct):
    version: int
    lines: list[_AnyLine] = []


class _Version(msgspec.Struct):
    version: int


_STATES: dict[str, State] = {"ours": "ours", "theirs": "theirs", "gone": "gone", "done": "done", "passed": "passed"}


def decode(data: bytes) -> Written:
    """Return what the bytes of a file say. Raises SiftdError for those of another form, or of a newer siftd."""
    try:
        version = msgspec.json.decode(data, type=_Version).version
        if version > VERSION:
            raise SiftdError(f"written.json is of a newer siftd (version {version})", hint="use that one for notes")
        file = msgspec.json.decode(data, type=_AnyFile)
    except msgspec.MsgspecError as error:
        raise SiftdError("written.json does not say what was written", hint="move it away") from error
    return Written(
        {
            each.key: Line(each.key, each.note, _STATES.get(each.state, "theirs"), each.line, each.section)
            for each in file.lines
        }
    )
