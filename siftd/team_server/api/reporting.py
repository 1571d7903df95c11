"""The route that other programs report to: a signature opens it, and a service's own token writes."""

from __future__ import annotations

import uuid

import anyio.to_thread

from siftd.embed.words import further_words
from siftd.errors import EnvelopeRejected, HttpRefused, NothingFound, RequestInvalid, SiftdError
from siftd.team.items import Item, document_id
from siftd.team.protocol import ITEMS_MAX, Push
from siftd.team.sources.line import Line
from siftd.team.sources.pieces import items_of
from siftd.team.sources.webhook import lines_of
from siftd.team_server.routing import Call
from siftd.team_server.state import State
from siftd.team_server.types import WebhookAnswer
from siftd.team_server.webhooks import find_hook
from siftd.web.problems import status_of


async def webhook(call: Call) -> WebhookAnswer:
    state, project, body = call.state, call.project, call.body
    hook = find_hook(state.hooks, project, call.headers, body, state.clock.now_ms() // 1000)
    if hook is None:
        state.limits.take_stranger(None, call.caller.address)
        raise HttpRefused(
            401, "not_signed", "no secret of this project has signed this, now", hint="--webhooks-file of the server"
        )
    state.limits.take("webhook", hook.digest)
    try:
        lines = await anyio.to_thread.run_sync(lines_of, call.headers, body)
    except EnvelopeRejected as error:
        raise RequestInvalid(f"this is no event that is known ({error.reason})", hint="see docs/team.md") from None
    put = forgotten = 0
    ignored: list[str] = []
    epoch = (await state.store.hello()).epoch
    for line in lines:
        there = await _chunks_there(state, hook.digest, project, line)
        items = await anyio.to_thread.run_sync(_items, state, line, project, there)
        taken, refused = await state.sift(items[:ITEMS_MAX])
        pushed = await state.store.push(hook.digest, project, Push(epoch=epoch, items=taken))
        put, forgotten = put + pushed.put, forgotten + pushed.forgotten
        ignored += sorted({each.why for each in (*pushed.ignored, *refused)})
    if put:
        state.filling.want(project, hook.digest)
    return WebhookAnswer(put=put, forgotten=forgotten, ignored=ignored)


def _items(state: State, line: Line, project: uuid.UUID, chunks_there: int) -> list[Item]:
    return items_of(line, project, state.intake.scrub, further_words, chunks_there)


async def _chunks_there(state: State, digest: bytes, project: uuid.UUID, line: Line) -> int:
    """Return how many pieces are known of an issue or a job, so that those vanish which a shorter one no longer has."""
    try:
        found = await state.store.get(digest, project, document_id(project, line.source, line.ref))
    except NothingFound:
        return 0
    except SiftdError as error:
        if status_of(error) != 404:
            raise
        return 0
    chunks = found.item.metadata.get("chunks", 1)
    return chunks if isinstance(chunks, int) else 1
