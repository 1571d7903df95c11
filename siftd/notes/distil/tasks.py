"""What is left of the list that an agent keeps of its work: of the last state of it, what was not done."""

from __future__ import annotations

import re
from collections.abc import Sequence

from siftd.notes.distil.material import Task
from siftd.store.note_material import EventRow
from siftd.summarise.extractive.text import Call, first_text, mapping, one_line, sequence

_OPEN = ("pending", "in_progress")
_ROUTINE = re.compile(
    r"^test\b|\b(?:run|running|verify|commit|push|lint|fmt|format|review|final|re-?run|check)\b", re.IGNORECASE
)
"""What every list ends with, and nobody comes back for."""
_NUMBERED = re.compile(r"(?:task|step|phase|bug)\s{0,3}\d{1,3}\s{0,3}[:.)-]\s{0,3}|\d{1,3}[.)]\s{1,3}", re.IGNORECASE)
_TASKS_MAX = 200


def left_open(calls: Sequence[tuple[EventRow, Call]]) -> list[Task]:
    """Return what was not done when the session ended, in the list's order; nothing where its agent kept no list."""
    known: dict[str, tuple[str, str, EventRow]] = {}
    for event, call in calls:
        if event.outcome == "failed":
            continue
        listed = sequence(call.input.get("todos") or call.input.get("plan"))
        if listed:
            known = {
                text: (str(mapping(entry).get("status")), text, event)
                for entry in listed[:_TASKS_MAX]
                if (text := _text(mapping(entry)))
            }
            continue
        subject = first_text(call.input, "subject")
        name = str(mapping(mapping(call.response).get("task")).get("id", ""))
        if subject and name:
            known[name] = ("pending", subject, event)
            continue
        name = str(call.input.get("taskId") or call.input.get("task_id") or "")
        status = first_text(call.input, "status")
        if name in known and status:
            known[name] = (status, first_text(call.input, "subject") or known[name][1], event)
        if len(known) > _TASKS_MAX:
            break
    return [
        Task(event.id, event.ts, _NUMBERED.sub("", one_line(text), count=1))
        for status, text, event in known.values()
        if status in _OPEN and not _ROUTINE.search(text)
    ]


def _text(entry: dict[str, object]) -> str:
    return first_text(entry, "content", "step", "subject", "text", "title", "description")
