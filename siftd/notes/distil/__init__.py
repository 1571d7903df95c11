"""The distil that needs no model: what the store holds of a project, put into its four files of notes.

    material  what it is made of             reading   that, read from a workspace's store
    choosing  which lines, in which order    bodies    these lines in a body that people edit
    forms     captured text as harmless Markdown       inbox     what somebody dropped, verbatim
    written   what was put into the notes, and what a person then did with it

It adds, replaces and archives lines of its own. What a person changed is left alone for ever, what a person took out
never comes back. With the same material a second time it changes nothing, whatever the clock says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from siftd.notes.distil import inbox as dropped
from siftd.notes.distil.bodies import Body
from siftd.notes.distil.choosing import wanted_of
from siftd.notes.distil.material import Material
from siftd.notes.distil.merging import appended, merged
from siftd.notes.distil.written import Line, Written
from siftd.notes.edits import ArchiveEntry, Edits
from siftd.notes.layout import NoteName

REPLACED: tuple[NoteName, ...] = ("state", "decisions", "todo")


def distil(
    material: Material, present: Mapping[NoteName, str], inbox: Sequence[str], written: Written, now_ms: int
) -> tuple[Edits, Written]:
    """Return what is to change in a project's notes, and what is written once that was applied.

    `present` are the bodies as they are, empty for a file that is not there; `inbox` the texts of dropped notes, each
    of which stands verbatim in one of the bodies afterwards. The second value is to be kept only when the first was
    applied; nothing else is to be remembered.
    """
    wanted = wanted_of(material)
    bodies: dict[NoteName, Body] = {name: Body(name, present.get(name, "")) for name in REPLACED}
    changed: dict[str, Line] = {}
    archived: list[ArchiveEntry] = []
    for name in REPLACED:
        gone, lines = merged(name, bodies[name], wanted[name], written, material.withdrawn)
        changed |= lines
        if gone:
            archived.append(ArchiveEntry(name, "\n".join(gone)))
    entries, lines = appended(wanted["mistakes"], written)
    changed |= lines
    taken = [text for text in inbox if text.strip() and not any(text.strip("\n") in body for body in present.values())]
    for text in taken:
        name = dropped.note_of(text)
        if name == "mistakes":
            entries.append(dropped.as_entry(text, now_ms))
        else:
            bodies[name].append(dropped.section_of(name), dropped.as_text(text))
    new = {name: body.text for name, body in bodies.items()}
    after = {name: None if new[name] == present.get(name, "") else new[name] for name in REPLACED}
    edits = Edits(
        summary=_summary([name for name in REPLACED if after[name] is not None], len(entries), len(taken)),
        state_body=after["state"],
        decisions_body=after["decisions"],
        todo_body=after["todo"],
        mistakes_new_entries=tuple(entries),
        archive_entries=tuple(archived),
    )
    return edits, written.with_lines(changed)


def _summary(names: Sequence[str], entries: int, taken: int) -> str:
    parts = [f"{', '.join(names)} brought up to date" if names else ""]
    parts.append(f"{entries} mistake{'s' * (entries != 1)} added" if entries else "")
    parts.append(f"{taken} dropped note{'s' * (taken != 1)} taken in" if taken else "")
    return "; ".join(filter(None, parts))
