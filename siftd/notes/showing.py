"""One note as it stands in its file, with the lines around it."""

from __future__ import annotations

from siftd.errors import RequestInvalid
from siftd.ids import Note, cite_note
from siftd.notes.entries import split
from siftd.notes.files import opened
from siftd.notes.indexing import Redact
from siftd.notes.layout import Project
from siftd.wire.requests.finding import ShownNote

AROUND = 4
"""Lines before an entry, and behind it."""


def show(named: dict[str, Project], note: Note, redact: Redact) -> ShownNote:
    """Return the entry that holds a line, redacted. Raises RequestInvalid where none does."""
    project = _project(named, note.project)
    with opened(project.folder) as folder:
        data = folder.find(note.file) if folder is not None else None
    if data is None:
        raise _nothing()
    text = data.decode("utf-8", "replace")
    entries = split(text)
    found = next((each for each in entries if each.begin < note.line <= each.end and each.kind == "entry"), None)
    if found is None:
        raise _nothing()
    lines = _clean_lines(text, redact)
    return {
        "kind": "note",
        "id": cite_note(Note(note.file, found.line, note.project)),
        "path": f"{project.folder}/{note.file}",
        "line": found.line,
        "heading": redact(found.heading),
        "text": "\n".join(lines[found.begin : found.end]),
        "before": lines[max(0, found.begin - AROUND) : found.begin],
        "after": lines[found.end : found.end + AROUND],
    }


def _project(named: dict[str, Project], name: str | None) -> Project:
    if name is None and len(named) > 1:
        raise RequestInvalid(
            "several projects of this workspace have notes", hint="name one: n:NAME/todo.md:9, as a search gives it"
        )
    known = {each.lower(): project for each, project in named.items()}
    found = next(iter(named.values()), None) if name is None else known.get(name.lower())
    if found is None:
        raise RequestInvalid("no project of this name has notes here", hint="`mem notes status` lists them")
    return found


def _clean_lines(text: str, redact: Redact) -> list[str]:
    """Return the lines of a file, redacted as one text where they stay as many, else each by itself."""
    lines = text.split("\n")
    clean = redact(text).split("\n")
    found = clean if len(clean) == len(lines) else list(map(redact, lines))
    return [line.rstrip("\r") for line in found]


def _nothing() -> RequestInvalid:
    return RequestInvalid("there is no note at this line", hint="`mem search` says where notes stand now")
