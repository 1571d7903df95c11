"""Routes that change something: they keep, forget, give a word on an item, make vectors."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from typing import Any

import msgspec

from siftd.embed.errors import EmbedderUnavailable
from siftd.embed.words import further_words
from siftd.errors import ConfigInvalid, HttpRefused, SiftdError
from siftd.team.items import Put, content_hash, document_id
from siftd.team.protocol import Push
from siftd.team.searching import QUESTION_CHARS_MAX, SearchAsked
from siftd.team_server.api.finding import vectors_of
from siftd.team_server.limits import unavailable
from siftd.team_server.routing import Call, Reply, project_of
from siftd.team_server.state import State
from siftd.team_server.types import (
    Feedback,
    FeedbackAnswer,
    ForgetAnswer,
    ForgetBody,
    ForgetQuery,
    Note,
    NoteAnswer,
    Reindex,
    ToForget,
)
from siftd.web.jobs import Report
from siftd.web.problems import status_of
from siftd.web.types import JobAnswer, Problem, encode

UNCONFIRMED = "confirm_first"
SIMILAR = 3
SIMILAR_COSINE = 0.8
"""From which nearness on two statements are said to be nearly the same. Arbitrary: a word or two apart."""
_REFUSED = {
    "secret": (400, "secret_found", "it holds what looks like a secret", "say it without"),
    "malformed": (400, "malformed", "it holds a character that cannot be kept", "say it without"),
    "too large": (413, "too_large", "it is too large", "say less at once"),
    "source off": (403, "source_off", "this source is not switched on here", "an admin switches it on"),
    "not yours": (403, "not_yours", "somebody else said that under this sourceRef", "say it under another"),
    "reader": (403, "reader", "a reader does not write", "an admin of the team can make you a writer"),
    "forgotten": (409, "forgotten", "it was forgotten, for good", "say it under another sourceRef"),
}


async def keep(call: Call) -> NoteAnswer | Reply:
    """Keep a statement; what is known word for word is answered with 200."""
    state, digest, project = call.state, call.digest, call.project
    note: Note = call.body
    # Without a name of its own a statement is named by its words, so that to say it twice is to say it once.
    ref = note.source_ref or f"text:{hashlib.sha256(note.text.strip().encode()).hexdigest()[:32]}"
    known = await _find(state, digest, project, document_id(project, note.source, ref))
    put = _put_of(note, project, ref, state.clock.now_ms(), known)
    if known is not None and _says_the_same(known, put):
        return Reply(200, NoteAnswer(id=put.id, duplicate=True, similar=[]))
    taken, refused = await state.sift([put])
    epoch = (await state.store.hello()).epoch
    pushed = await state.store.push(digest, project, Push(epoch=epoch, items=taken))
    for each in (*refused, *pushed.ignored):
        status, code, message, hint = _REFUSED.get(each.why, (409, "conflict", "it was changed meanwhile", "try again"))
        raise HttpRefused(status, code, message, hint=hint)
    state.filling.want(project, digest)
    return NoteAnswer(id=put.id, duplicate=False, similar=await _similar(state, digest, project, put))


async def feedback(call: Call) -> FeedbackAnswer:
    body: Feedback = call.body
    if call.state.intake.scrub(body.evidence) != body.evidence:
        raise HttpRefused(400, "secret_found", "the evidence holds what looks like a secret", hint="say it without")
    await call.state.store.feedback(call.digest, call.project, body.id, body.verdict, body.evidence)
    return FeedbackAnswer(id=body.id)


async def forget_one(call: Call) -> ForgetAnswer | Reply:
    """Forget one item: first what it would be, then, with the value that says yes to that, for good."""
    query: ForgetQuery = call.query
    return await _forget(call, query.project, [call.item], query.confirm)


async def forget(call: Call) -> ForgetAnswer | Reply:
    """Forget several items, as `forget_one`."""
    body: ForgetBody = call.body
    return await _forget(call, call.project, list(dict.fromkeys(body.ids)), body.confirm)


async def reindex(call: Call) -> JobAnswer:
    """Begin to make vectors; who asks again meanwhile hears of the same job."""
    state, digest, project = call.state, call.digest, call.project
    body: Reindex = call.body
    await state.check_member(digest, project)
    if body.embedder is not None:
        await _ask(state, body.embedder)  # before anything is changed
        await state.store.set_embedder(digest, project, body.embedder)
    loop = asyncio.get_running_loop()

    def work(report: Report) -> dict[str, Any]:
        filled = asyncio.run_coroutine_threadsafe(state.filling.fill(project, digest, report), loop)
        return {"embedded": filled.result()}

    return state.jobs.begin(str(project), work)


async def job(call: Call) -> JobAnswer:
    found = call.state.jobs.get(call.path["job"])
    await call.state.check_member(call.digest, project_of(found.project))
    return found


async def _forget(call: Call, project: uuid.UUID, ids: list[uuid.UUID], confirm: str | None) -> ForgetAnswer | Reply:
    state, digest = call.state, call.digest
    found = [each for each in [await _find(state, digest, project, item) for item in ids] if each is not None]
    if not found:
        raise HttpRefused(404, "not_found", "there is no such item", hint="it was forgotten, or is not for you")
    about = encode([project, sorted(ids)])
    matched = hashlib.sha256(encode([(each.id, each.rev, each.hash) for each in found])).hexdigest()
    if confirm is not None and state.confirmations.is_good(confirm, about, matched):
        gone = await state.store.forget(digest, project, ids=[each.id for each in found])
        return ForgetAnswer(forgotten=gone.forgotten, not_yours=gone.not_yours, head=gone.head)
    message = "nothing was forgotten yet" if confirm is None else "it would be another item by now, or it is too late"
    problem = Problem(code=UNCONFIRMED, message=message, hint="look at what would go, then send `confirm` with it")
    return Reply(
        409, ToForget(error=problem, confirm=state.confirmations.make(about, matched), matched=[e.id for e in found])
    )


async def _find(state: State, digest: bytes, project: uuid.UUID, item: uuid.UUID) -> Put | None:
    try:
        return (await state.store.get(digest, project, item)).item
    except SiftdError as error:
        if status_of(error) == 404:
            return None
        raise


async def _ask(state: State, embedder: str) -> None:
    try:
        await state.models.embed(embedder, ["does it answer?"])
    except ConfigInvalid as error:
        raise HttpRefused(400, "embedder_unknown", error.message, hint=error.hint) from error
    except EmbedderUnavailable as error:
        raise unavailable("this embedder is away", "it is asked again when you ask again") from error


def _put_of(note: Note, project: uuid.UUID, ref: str, now_ms: int, known: Put | None) -> Put:
    """Return the item that a note becomes; the rev is later than that of what is known."""
    said: dict[str, Any] = {
        "type": note.type,
        "tags": note.tags,
        "importance": note.importance,
        "confidence": note.confidence,
        "saidBy": "agent",
    }
    put = Put(
        id=document_id(project, note.source, ref),
        rev=max(now_ms, known.rev + 1 if known is not None else 1),
        hash="0" * 64,
        source=note.source,
        source_ref=ref,
        text=note.text,
        words=further_words(note.text),
        ts=now_ms,
        metadata={name: value for name, value in said.items() if value not in (None, [])},
        visibility=note.visibility,
        valid_from=note.valid_from,
        valid_to=note.valid_until,
    )
    return msgspec.structs.replace(put, hash=content_hash(put))


def _says_the_same(known: Put, put: Put) -> bool:
    return content_hash(msgspec.structs.replace(put, ts=known.ts)) == known.hash


async def _similar(state: State, digest: bytes, project: uuid.UUID, put: Put) -> list[uuid.UUID]:
    """Return the items that say nearly the same; none where that cannot be told now."""
    vectors, _ = await vectors_of(state, digest, project, put.text)
    asked = SearchAsked(question=put.text[:QUESTION_CHARS_MAX], vectors=vectors, top=SIMILAR + 1, strategy="semantic")
    if not vectors:
        return []
    found = await state.store.search(digest, project, asked)
    near = [each.item.id for each in found.hits if each.cosine is not None and each.cosine >= SIMILAR_COSINE]
    return [each for each in near if each != put.id][:SIMILAR]
