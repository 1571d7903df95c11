"""What a distil wants changed in a project's notes, and how a curator's answer is read into it.

    {"summary": "…", "state_body": "…" or null, "decisions_body": null, "todo_body": null,
     "mistakes_new_entries": ["### 2026-11-25 — …\\n- Symptom: …"],
     "archive_entries": [{"source": "state", "content": "…"}]}

A body of null leaves its file as it is; a list that is null, or not there, is empty. The object may stand alone, in a
fence, or in prose.
"""

from __future__ import annotations

import json

import msgspec

from siftd.errors import SiftdError
from siftd.notes.layout import NOTE_NAMES, NoteName

SUMMARY_CHARS_MAX = 400
_STARTS_MAX = 50
"""Places at which an answer's object is looked for: each may cost a reading of all that follows."""


class EditsInvalid(SiftdError):
    """A curator's answer holds no edits; ask again later, nothing was changed."""


class ArchiveEntry(msgspec.Struct, frozen=True):
    """Text that leaves a file of notes for the archive, verbatim."""

    source: NoteName
    content: str


class Edits(msgspec.Struct, frozen=True, kw_only=True):
    """New bodies of files, entries to append, and what goes to the archive."""

    summary: str = ""
    state_body: str | None = None
    decisions_body: str | None = None
    todo_body: str | None = None
    mistakes_new_entries: tuple[str, ...] = ()
    archive_entries: tuple[ArchiveEntry, ...] = ()

    def body(self, name: NoteName) -> str | None:
        """Return the new body of a file that is replaced whole; None where it stays."""
        return {"state": self.state_body, "decisions": self.decisions_body, "todo": self.todo_body}.get(name)

    @property
    def is_empty(self) -> bool:
        bodies = (self.state_body, self.decisions_body, self.todo_body)
        return all(body is None for body in bodies) and not (self.mistakes_new_entries or self.archive_entries)


class _Archived(msgspec.Struct):
    source: str
    content: str


class _Answer(msgspec.Struct):
    summary: str | None = None
    state_body: str | None = None
    decisions_body: str | None = None
    todo_body: str | None = None
    mistakes_new_entries: list[str] | None = None
    archive_entries: list[_Archived] | None = None


_BODIES = ("state_body", "decisions_body", "todo_body")
_FIELDS = {"summary", *_BODIES, "mistakes_new_entries", "archive_entries"}


def read_edits(answer: str) -> Edits:
    """Return the edits that a curator's answer holds. Raises EditsInvalid when it holds none."""
    found = _find_object(answer)
    if found is None:
        raise EditsInvalid(
            "the curator's answer holds no edits", hint="see `mem notes status`; the next sync asks again"
        )
    try:
        said = msgspec.convert(found, _Answer)
    except msgspec.ValidationError as error:
        raise EditsInvalid("the curator's edits are of another form", hint="the next sync asks again") from error
    entries = []
    for each in said.archive_entries or ():
        source = each.source.removesuffix(".md")
        if source not in NOTE_NAMES:
            raise EditsInvalid(
                "the curator archives from a file that is none of the four", hint="the next sync asks again"
            )
        if each.content.strip():
            entries.append(ArchiveEntry(source, each.content))
    return Edits(
        summary=" ".join((said.summary or "").split())[:SUMMARY_CHARS_MAX],
        state_body=said.state_body,
        decisions_body=said.decisions_body,
        todo_body=said.todo_body,
        mistakes_new_entries=tuple(each for each in said.mistakes_new_entries or () if each.strip()),
        archive_entries=tuple(entries),
    )


def _find_object(answer: str) -> dict[str, object] | None:
    """Return the first JSON object of an answer that has a field of ours."""
    decoder = json.JSONDecoder(strict=False)
    start = -1
    for _ in range(_STARTS_MAX):
        if (start := answer.find("{", start + 1)) < 0:
            break
        try:
            found, _ = decoder.raw_decode(answer, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and _FIELDS & found.keys():
            return found
    return None
