"""The ids by which things are cited: `e12` an event, `s7` a summary, `m3` a memory of this project, `g3` one for every
project, `t12` an item of the team's, `d4` a document that was read in. They are read with or without `#`, in any case,
and written without.

    x3                           an entity of the graph
    d4:12                        a line of a document, as it was when it was read in last
    n:decisions.md:14            an entry of the notes: the file, and the line in it that the entry begins in or holds
    n:archive/2026-11.md:3
    n:api/decisions.md:14        of the project `api`, where several projects of one workspace have notes

An item of the team's has the number that this workspace's replica gave it: on another device it is another one.

A note has no number of its own: its id tells a place, and whoever edits the file moves what stands there.

Whatever prints or takes an id asks here: the command line, `/mem`, the agent's tools, the socket, the ledger.
"""

from __future__ import annotations

import re

from siftd.errors import RequestInvalid

EVENT, SUMMARY, MEMORY, GLOBAL_MEMORY, TEAM = KINDS = ("e", "s", "m", "g", "t")
DOCUMENT = "d"
ENTITY = "x"
NOTE = "n"
HINT = (
    "ids look like e12 (an event), s7 (a summary), m3 or g3 (a memory), t12 (the team's), d4:12 (a document),"
    " n:todo.md:9 (a note)"
)
_ID = re.compile(r"#?([esmgt]?)([0-9]{1,18})", re.IGNORECASE)
_DOCUMENT = re.compile(r"#?d([0-9]{1,18})(?::([0-9]{1,9}))?", re.IGNORECASE)
_ENTITY = re.compile(r"#?x([0-9]{1,18})", re.IGNORECASE)
_PROJECT = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}"
_NOTE_FILE = r"(?:(?:state|decisions|mistakes|todo)\.md|archive/[0-9]{4}-[0-9]{2}\.md)"
_PROJECT_NAME = re.compile(_PROJECT)
_NOTE = re.compile(rf"#?n:(?:({_PROJECT})/)?({_NOTE_FILE}):([0-9]{{1,7}})", re.IGNORECASE)
_IN_TEXT = re.compile(
    rf"(?<![\w#/-])#?([esmgt][0-9]{{1,18}}|d[0-9]{{1,18}}:[0-9]{{1,9}}|n:(?:{_PROJECT}/)?{_NOTE_FILE}:[0-9]{{1,7}})(?![\w-])"
)
"""Of a document with its line: `d3` alone is the name of other things."""


class Note:
    """An entry of the notes, by where it stands. A plain class: `mem` would wait for `typing`."""

    __slots__ = ("file", "line", "project")

    def __init__(self, file: str, line: int, project: str | None = None) -> None:
        """No project: that of the workspace whose notes alone are there."""
        self.file = file
        self.line = line
        self.project = project


class Document:
    """A document, or a line of it. A plain class, as `Note`."""

    __slots__ = ("line", "number")

    def __init__(self, number: int, line: int | None = None) -> None:
        self.number = number
        self.line = line


def parse(text: str, kind: str = EVENT) -> tuple[str, int]:
    """Return (kind, number) of an id; a bare number is one of `kind`. Raises RequestInvalid."""
    match = _ID.fullmatch(text.strip())
    if match is None and parse_note(text) is not None:
        raise RequestInvalid("a note is a place in a file", hint="`mem show` prints it; the file is yours to edit")
    if match is None and parse_document(text) is not None:
        raise RequestInvalid("this is the id of a document", hint="`mem show` and `mem documents` take it")
    if match is None and parse_entity(text) is not None:
        raise RequestInvalid("this is the id of an entity", hint=f"`mem entity` takes it; {HINT}")
    if match is None:
        raise RequestInvalid("invalid id", hint=HINT)
    return match[1].lower() or kind, int(match[2])


def parse_document(text: str) -> Document | None:
    """Return what a document's id names; None for any other text."""
    match = _DOCUMENT.fullmatch(text.strip())
    return None if match is None else Document(int(match[1]), int(match[2]) if match[2] else None)


def cite_document(number: int, line: int | None = None) -> str:
    """Return how a document is cited, or a line of it."""
    return f"{DOCUMENT}{number}" if line is None else f"{DOCUMENT}{number}:{line}"


def parse_entity(text: str) -> int | None:
    """Return the number of an entity of the graph, `x3`; None for any other text. Texts are not searched for them."""
    match = _ENTITY.fullmatch(text.strip())
    return None if match is None else int(match[1])


def cite_entity(number: int) -> str:
    """Return how an entity is cited."""
    return cite(ENTITY, number)


def parse_note(text: str) -> Note | None:
    """Return what a note's id names; None for any other text."""
    match = _NOTE.fullmatch(text.strip())
    return None if match is None else Note(match[2].lower(), int(match[3]), match[1])


def cite_note(note: Note) -> str:
    """Return how a note is cited."""
    project = f"{note.project}/" if note.project else ""
    return f"{NOTE}:{project}{note.file}:{note.line}"


def can_name_notes(name: str) -> bool:
    """Whether a project's name can stand in an id."""
    return _PROJECT_NAME.fullmatch(name) is not None


def parse_number(text: str, kind: str) -> int:
    """Return the number of an id that must be of this kind, or a bare one. Raises RequestInvalid."""
    found, number = parse(text, kind)
    if found == TEAM != kind:
        cited = cite(found, number)
        hint = f"`mem show {cited}` has it; `mem mute {cited}` has it given unasked no more"
        raise RequestInvalid("this is an item of the team's, which who told it keeps", hint=hint)
    if found != kind:
        raise RequestInvalid("this is an id of another kind", hint=f"give one like {kind}12")
    return number


def is_id(text: str) -> bool:
    """Whether a text is an id, a bare number included."""
    return _ID.fullmatch(text.strip()) is not None


def normal(text: str, kind: str = EVENT) -> str:
    """Return an id as it is written: `e12` for `#E12`. Raises RequestInvalid."""
    found, number = parse(text, kind)
    return cite(found, number)


def cite(kind: str, number: int) -> str:
    """Return how a thing is cited."""
    return f"{kind}{number}"


def find(text: str) -> list[str]:
    """Return the ids that a text names, as they are written."""
    return _IN_TEXT.findall(text)
