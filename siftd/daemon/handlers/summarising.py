"""Requests about summaries and vectors: made now, made again, brought back."""

from __future__ import annotations

from siftd import ids
from siftd.clock import Clock
from siftd.consolidate.consolidator import Consolidator
from siftd.consolidate.drain import DrainResult
from siftd.crash_guard import CrashGuard
from siftd.daemon.backends import Backends
from siftd.daemon.connection import Answer
from siftd.daemon.handlers.answering import answers, answers_at_length
from siftd.daemon.intents import Intents
from siftd.daemon.store_access import StoreAccess
from siftd.daemon.team_access import TeamAccess
from siftd.errors import NothingFound, RequestInvalid
from siftd.store import chunks, event_views, injection_ledger, muted, resummary_queue, summaries, vectors
from siftd.store.access import Database
from siftd.wire import requests
from siftd.wire.requests import progress


class Summarising:
    """Has summaries and vectors made, at a person's word."""

    def __init__(
        self,
        *,
        store: StoreAccess,
        consolidator: Consolidator,
        backends: Backends,
        crash_guard: CrashGuard,
        intents: Intents,
        clock: Clock,
        team: TeamAccess,
    ) -> None:
        self._store = store
        self._consolidator = consolidator
        self._backends = backends
        self._crash_guard = crash_guard
        self._intents = intents
        self._clock = clock
        self._team = team

    @answers_at_length(requests.Drain)
    async def drain(self, request: requests.Drain, answer: Answer) -> requests.DrainAnswer:
        limit = None if request.limit is None else max(0, request.limit)
        total = await self._store.read(lambda c: event_views.counts(c)["raw"])

        async def on_batch(result: DrainResult) -> None:
            done = result.processed + result.errors
            answer.progress(progress(done=done, total=max(done, min(total, limit or total))))

        drainer = self._backends.drainer_for(request.backend)
        result = await self._consolidator.drain(limit, on_batch, drainer)
        return {
            "processed": result.processed,
            "errors": result.errors,
            "pending": result.pending,
            "backend": request.backend or self._backends.name,
            "firstError": result.first_error,
            "embedded": result.embedded,
            "sessions": result.sessions,
            "rewritten": result.rewritten,
        }

    @answers(requests.Retry)
    async def retry(self, request: requests.Retry) -> requests.RetryAnswer:
        event_id = None if request.id is None else ids.parse_number(request.id, ids.EVENT)
        skipped = await self._store.read(
            lambda c: summaries.count_skipped(c, event_id) + resummary_queue.count_fallen_back(c, event_id)
        )
        await self._intents.keep("retry", {"event": event_id})
        return {"retried": skipped}

    @answers_at_length(requests.Reembed)
    async def reembed(self, request: requests.Reembed, answer: Answer) -> requests.ReembedAnswer:
        for work in ("embed", "embed-chunk", "embed-name"):
            self._crash_guard.clear_all(work)  # a person wants them tried again
        since = -(2**62) if request.since is None else request.since
        store, at_once = self._store, vectors.CLEARED_AT_ONCE
        ids = await store.read(lambda c: vectors.list_embedded(c, since))
        cleared = await store.write(lambda c: vectors.clear_memory_vectors(c, since))
        for start in range(0, len(ids), at_once):
            piece = ids[start : start + at_once]
            cleared += await store.write(lambda c, p=piece: vectors.clear_vectors(c, p))  # type: ignore[misc]

        while request.since is None and (gone := await store.write(lambda c: chunks.clear_vectors(c, at_once))):
            cleared += gone

        def on_batch(done: int) -> None:
            answer.progress(progress(done=done, total=max(done, len(ids))))

        return {"cleared": cleared, "embedded": await self._consolidator.embed(on_batch)}

    @answers(requests.Resummarise)
    async def resummarise(self, request: requests.Resummarise) -> requests.ResummariseAnswer:
        until = self._clock.now_ms() if request.until is None else request.until
        span = {"since": request.since, "until": until}
        count = await self._store.read(lambda c: resummary_queue.count_live(c, request.since, until))
        await self._intents.keep("resummarise", span)
        return {"summaries": count}

    @answers(requests.Undo)
    async def undo(self, request: requests.Undo) -> requests.UndoAnswer:
        summary_id = ids.parse_number(request.id, ids.SUMMARY)
        pairs = await self._store.read(lambda c: summaries.superseding_events(c, summary_id))
        if pairs:
            await self._intents.keep("undo", {"pairs": pairs})
        return {"restored": len(pairs)}

    @answers(requests.Mute)
    async def mute(self, request: requests.Mute) -> requests.MuteAnswer:
        if ids.is_id(request.id) and ids.parse(request.id)[0] == ids.TEAM:
            item = await self._team.id_of(request.id)
            await self._intents.keep("mute", {"item": item, "muted": request.muted})
            since = await self._store.read(lambda c: muted.find_item_muted_since(c, item))
            return {"event": ids.normal(request.id), "mutedSince": since}
        event_id = await self._store.read(lambda c: _event_of(c, request.id))
        await self._intents.keep("mute", {"event": event_id, "muted": request.muted})
        since = await self._store.read(lambda c: muted.find_muted_since(c, event_id))
        return {"event": ids.cite(ids.EVENT, event_id), "mutedSince": since}


def _event_of(connection: Database, cited: str) -> int:
    """Return the event that an id is of: its own, or that of a summary. Raises NothingFound, RequestInvalid."""
    letter, number = ids.parse(cited)
    if letter not in (ids.EVENT, ids.SUMMARY):
        raise RequestInvalid("only what happened can be muted", hint="of a fact say `mem verify ID outdated`")
    found = injection_ledger.find_event_of(connection, ids.cite(letter, number))
    if found is None or not summaries.has_event(connection, found):
        raise NothingFound("there is nothing with this id", hint="`mem timeline` lists ids")
    return found
