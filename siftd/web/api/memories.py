"""Routes that keep and change: what a person, or a program in nobody's name, says of memories and summaries."""

from __future__ import annotations

from typing import Any

from siftd.web.routing import Call, Reply
from siftd.web.types import Change, ChangeAnswer, CitedBody, Feedback, Muting, NewText, Note, NoteAnswer
from siftd.wire.asking import Accept, Mute, Remember, Supersede, Undo, Update, Verify
from siftd.wire.requests import AcceptAnswer, MuteAnswer, RememberAnswer, UndoAnswer, VerifyAnswer

SOURCE = "web"


def remember(call: Call) -> NoteAnswer | Reply:
    """Keep a statement. 200 where it is kept already: nothing was made."""
    note: Note = call.body
    request = Remember(
        text=note.text,
        type=note.type,
        tags=note.tags,
        importance=note.importance,
        confidence=note.confidence,
        valid_from=note.valid_from,
        valid_until=note.valid_until,
        pin=note.pin,
        label=note.source_ref,
        source=SOURCE,
        typed=_is_typed(call),
    )
    answer = _noted(call.state.projects.ask(call.path["project"], request))
    return Reply(200, answer) if answer.duplicate else answer


def supersede(call: Call) -> NoteAnswer:
    new: NewText = call.body
    given: dict[str, Any] = {
        "type": new.type,
        "tags": new.tags,
        "importance": new.importance,
        "pin": new.pin,
        "valid_from": new.valid_from,
        "valid_until": new.valid_until,
    }
    request = Supersede(id=new.id, text=new.text, source=SOURCE, typed=_is_typed(call), **given)
    return _noted(call.state.projects.ask(call.path["project"], request))


def update(call: Call) -> ChangeAnswer:
    change: Change = call.body
    request = Update(
        id=change.id,
        type=change.type,
        tags=change.tags,
        importance=change.importance,
        pin=change.pin,
        valid_from=change.valid_from,
        valid_until=change.valid_until,
        typed=_is_typed(call),
    )
    answer = call.state.projects.ask(call.path["project"], request)
    return ChangeAnswer(id=answer["id"], changed=answer["changed"], waits=answer.get("waits", False))


def accept(call: Call) -> AcceptAnswer:
    cited: CitedBody = call.body
    return call.state.projects.ask(call.path["project"], Accept(id=cited.id))


def feedback(call: Call) -> VerifyAnswer:
    said: Feedback = call.body
    request = Verify(id=said.id, verdict=said.verdict, typed=_is_typed(call))
    return call.state.projects.ask(call.path["project"], request)


def undo(call: Call) -> UndoAnswer:
    cited: CitedBody = call.body
    return call.state.projects.ask(call.path["project"], Undo(id=cited.id))


def _is_typed(call: Call) -> bool:
    """Whether a person says it, on the page: an agent with a shell can read the program's token."""
    return call.principal == "person"


def _noted(answer: RememberAnswer) -> NoteAnswer:
    return NoteAnswer(
        id=answer["id"],
        duplicate=answer.get("duplicate", False),
        waits=answer.get("waits", False),
        similar=answer["similar"],
    )


def mute(call: Call) -> MuteAnswer:
    muting: Muting = call.body
    return call.state.projects.ask(call.path["project"], Mute(id=muting.id, muted=muting.muted))
