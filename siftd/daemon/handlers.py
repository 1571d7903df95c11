"""One handler for each request but `hello` and `capture`: from the decoded request to the fields of its answer."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from siftd import ids
from siftd.clock import uptime_ms
from siftd.consolidate.planning import salience
from siftd.daemon.connection import Answer
from siftd.daemon.memory_requests import MemoryRequests
from siftd.daemon.memory_writes import MemoryWrites
from siftd.daemon.status import info
from siftd.errors import RequestInvalid
from siftd.search.goals import in_short
from siftd.search.unsummarised import told_now
from siftd.store import event_views, injection_ledger, memories, resummary_queue, summaries, vectors
from siftd.wire import cursors, requests
from siftd.wire.requests import progress

if TYPE_CHECKING:
    from siftd.backfill.result import BackfillResult
    from siftd.consolidate.drain import DrainResult
    from siftd.daemon.services import Services
    from siftd.search.context_block import Given

TOLD_IN_SHORT = 100
"""Sessions that are listed with their goals, at most: of more nobody reads so much of each."""
BEHIND = "without the newest captures: the database is locked by another program, or the disk is full"
_FIND = {
    "e": ("event", event_views.find_event),
    "s": ("summary", event_views.find_summary),
    "m": ("memory", memories.find_memory),
}


class Handlers:
    """Answers requests for one workspace."""

    def __init__(self, services: Services, stop: Callable[[bool], Awaitable[None]]) -> None:
        self._services = services
        self._stop = stop
        self._remembering = MemoryWrites(services)
        self._memories = MemoryRequests(services, self._remembering)

    async def answer(self, request: requests.AnyRequest, answer: Answer) -> dict[str, Any]:
        """Return the fields of the answer; progress goes out before it. Raises SiftdError to refuse."""
        if request.waits_for_log:
            await self._services.committer.catch_up()
        match request:
            case requests.Search():
                return await self._search(request)
            case requests.Show():
                return await self._show(request)
            case requests.Timeline():
                return await self._timeline(request)
            case requests.Sessions():
                return await self._sessions(request)
            case requests.Info():
                return await info(self._services)
            case requests.Drain():
                return await self._drain(request, answer)
            case requests.Retry():
                return await self._retry(request)
            case requests.Pause():
                return await self._pause(request)
            case requests.Resume():
                return await self._resume(request)
            case requests.Reembed():
                return await self._reembed(request)
            case requests.Resummarise():
                return await self._resummarise(request)
            case requests.Undo():
                return await self._undo(request)
            case requests.Remember():
                return await self._remembering.remember(request)
            case requests.Supersede():
                return await self._memories.supersede(request)
            case requests.Update():
                return await self._memories.update(request)
            case requests.Accept():
                return await self._memories.accept(request)
            case requests.Link():
                return await self._memories.link(request)
            case requests.Memories():
                return await self._memories.list_memories(request)
            case requests.Related():
                return await self._memories.related(request)
            case requests.Similar():
                return await self._memories.similar(request)
            case requests.MemoryHealth():
                return await self._memories.health(request)
            case requests.SetConfig():
                return await self._memories.set_config(request)
            case requests.Sampling():
                return await self._services.samplers.offer(request, lambda: answer.is_wanted_now())
            case requests.Converse():
                return await self._memories.converse(request)
            case requests.Conversations():
                return await self._memories.conversations(request)
            case requests.Recall():
                return _given(await self._services.injector.recall(request))
            case requests.Brief():
                return _given(await self._services.injector.brief(request))
            case requests.Injections():
                return await self._injections(request)
            case requests.Forget():
                return await self._services.forget(request)
            case requests.Scrub():
                return await self._services.scrub(request.dry_run)
            case requests.Prune():
                return await self._services.prune()
            case requests.Backup():
                return await self._services.backup(request.path)
            case requests.Export():
                return await self._export(request, answer)
            case requests.Import():
                return await self._import(request, answer)
            case requests.Backfill():
                return await self._backfill(request, answer)
            case requests.Stop():
                await self._stop(request.hold)
                return {}
            case _:
                raise RequestInvalid("this kind of request is not for a handler")

    async def _search(self, request: requests.Search) -> dict[str, Any]:
        started = time.perf_counter()
        found = await self._services.searching.search(request)
        took = round((time.perf_counter() - started) * 1000, 2)
        behind = BEHIND if self._services.committer.is_behind else None
        return {"hits": found.hits, "degraded": "; ".join(filter(None, (found.degraded, behind))) or None, "ms": took}

    async def _show(self, request: requests.Show) -> dict[str, Any]:
        letter, number = ids.parse(request.id)
        if letter == "g":
            raise RequestInvalid("memories for every project have a daemon of their own", hint="`mem show` asks it")
        kind, find = _FIND[letter]
        was_behind = self._services.committer.is_behind  # it may have caught up by the time that nothing is found
        item = await self._services.store.read(lambda c: find(c, number))
        if item is None and was_behind:
            await self._services.committer.catch_up()
            item = await self._services.store.read(lambda c: find(c, number))
        if item is None:
            raise RequestInvalid("there is nothing with this id", hint="`mem timeline` lists ids")
        if kind == "summary":
            of = await self._services.store.read(lambda c: event_views.find_event(c, item["eventId"]))
            item["event"] = None if of is None else {name: of[name] for name in ("id", "tool", "payload")}
        if kind == "event":
            item["trivial"] = await self._services.store.read(lambda c: salience(c, number))
        return {"item": {"kind": kind, **item}}

    async def _sessions(self, request: requests.Sessions) -> dict[str, Any]:
        limit = max(1, min(request.limit, 1000))

        behind = cursors.decode(request.cursor, int, str)

        def listed(connection: sqlite3.Connection) -> tuple[list[dict[str, Any]], str | None]:
            found = event_views.sessions(connection, limit + 1, behind)
            shown, rest = cursors.page(found, limit, lambda each: (each["lastTs"], each["sessionId"]))
            if limit <= TOLD_IN_SHORT:
                shown = [each | in_short(connection, each["sessionId"]) for each in shown]
            return shown, rest

        shown, rest = await self._services.store.read(listed)
        return {"sessions": shown, "nextCursor": rest}

    async def _timeline(self, request: requests.Timeline) -> dict[str, Any]:
        before, after = (max(0, min(number, 500)) for number in (request.before, request.after))
        if request.around is None:
            session = await self._session(request.session) if request.session else None
            limit = max(1, before + after)
            behind = cursors.decode(request.cursor, int, int)

            def latest(connection: sqlite3.Connection) -> list[dict[str, Any]]:
                asking = event_views.find_asking(connection, request.asking)
                return event_views.timeline_latest(connection, session, limit + 1, asking, behind)

            short = {} if session is None else await self._services.store.read(lambda c: in_short(c, session))
            found = (await self._told(latest))[::-1]
            shown, rest = cursors.page(found, limit, lambda each: (each["ts"], each["eventId"]))
            return {"events": shown[::-1], "nextCursor": rest, **short}
        kind, number = ids.parse(request.around)
        if kind in ("m", "g"):
            raise RequestInvalid("a memory has no place in a session", hint="give an event (e12) or a summary (s7)")
        if kind == "s":
            summary = await self._services.store.read(lambda c: event_views.find_summary(c, number))
            number = summary["eventId"] if summary else 0
        events = await self._told(lambda c: event_views.timeline_around(c, number, before, after))
        if not events:
            raise RequestInvalid("there is nothing with this id", hint="`mem timeline` lists ids")
        return {"events": events}

    async def _session(self, beginning: str) -> str:
        """Return the session whose id, or whose id's beginning, this is. Raises RequestInvalid."""
        found = await self._services.store.read(lambda c: event_views.list_named(c, beginning))
        if not found:
            raise RequestInvalid("no session has an id that begins so", hint="`mem sessions` lists them")
        if len(found) > 1:
            raise RequestInvalid("several sessions' ids begin so", hint="give more of it; `mem sessions` lists them")
        return found[0]

    async def _told(self, find: Callable[[sqlite3.Connection], list[dict[str, Any]]]) -> list[dict[str, Any]]:
        """Return events, each with a line that tells it: one without a summary is told at once."""

        def told(connection: sqlite3.Connection) -> list[dict[str, Any]]:
            events = find(connection)
            for each in events:
                each["text"] = each["text"] or told_now(connection, each["eventId"])
            return events

        return await self._services.store.read(told)

    async def _injections(self, request: requests.Injections) -> dict[str, Any]:
        piece = None if request.id is None else ids.normal(request.id)
        limit = max(1, min(request.limit, 500))
        (before,) = cursors.decode(request.cursor, int)
        shared = self._services.store.everywhere
        found = await self._services.store.read(
            lambda c: injection_ledger.list_injections(
                c, piece, request.session, limit + 1, before=before, everywhere=shared.connection()
            )
        )
        shown, rest = cursors.page(found, limit, lambda each: (each["id"],))
        return {"injections": shown, "nextCursor": rest}

    async def _drain(self, request: requests.Drain, answer: Answer) -> dict[str, Any]:
        limit = None if request.limit is None else max(0, request.limit)
        total = await self._services.store.read(lambda c: event_views.counts(c)["raw"])

        async def on_batch(result: DrainResult) -> None:
            done = result.processed + result.errors
            answer.progress(progress(done=done, total=max(done, min(total, limit or total))))

        drainer = self._services.backends.drainer_for(request.backend)
        result = await self._services.consolidator.drain(limit, on_batch, drainer)
        return {
            "processed": result.processed,
            "errors": result.errors,
            "pending": result.pending,
            "backend": request.backend or self._services.backends.name,
            "firstError": result.first_error,
            "embedded": result.embedded,
            "sessions": result.sessions,
            "rewritten": result.rewritten,
        }

    async def _reembed(self, request: requests.Reembed) -> dict[str, Any]:
        self._services.storage.crash_guard.acquit_all("embed")  # a person wants them tried again
        since = -(2**62) if request.since is None else request.since
        store, at_once = self._services.store, vectors.CLEARED_AT_ONCE
        ids = await store.read(lambda c: vectors.list_embedded(c, since))
        cleared = await store.write(lambda c: vectors.clear_memory_vectors(c, since))
        for start in range(0, len(ids), at_once):
            piece = ids[start : start + at_once]
            cleared += await store.write(lambda c, p=piece: vectors.clear_vectors(c, p))  # type: ignore[misc]
        return {"cleared": cleared, "embedded": await self._services.consolidator.embed()}

    async def _retry(self, request: requests.Retry) -> dict[str, Any]:
        event_id = None if request.id is None else ids.parse_number(request.id, ids.EVENT)
        skipped = await self._services.store.read(
            lambda c: summaries.count_skipped(c, event_id) + resummary_queue.count_fallen_back(c, event_id)
        )
        await self._services.keep_intent("retry", {"event": event_id})
        return {"retried": skipped}

    async def _pause(self, request: requests.Pause) -> dict[str, Any]:
        clock = self._services.clock
        session = await self._session(request.session) if request.known else request.session
        since = clock.now_ms()
        await self._services.keep_intent("opt-out", {"session": session, "since": since, "uptime": uptime_ms(clock)})
        return {"since": since, "session": session}

    async def _resume(self, request: requests.Resume) -> dict[str, Any]:
        session = await self._session(request.session) if request.known else request.session
        since = self._services.committer.off_since(session)
        span = self._services.committer.off_until_now(session)
        if span is not None:
            await self._services.keep_intent("opt-in", {"session": session, "since": span.since, "until": span.until})
        return {"since": since, "session": session}

    async def _resummarise(self, request: requests.Resummarise) -> dict[str, Any]:
        until = self._services.clock.now_ms() if request.until is None else request.until
        span = {"since": request.since, "until": until}
        count = await self._services.store.read(lambda c: resummary_queue.count_live(c, request.since, until))
        await self._services.keep_intent("resummarise", span)
        return {"summaries": count}

    async def _undo(self, request: requests.Undo) -> dict[str, Any]:
        summary_id = ids.parse_number(request.id, ids.SUMMARY)
        pairs = await self._services.store.read(lambda c: summaries.superseding_events(c, summary_id))
        if pairs:
            await self._services.keep_intent("undo", {"pairs": pairs})
        return {"restored": len(pairs)}

    async def _export(self, request: requests.Export, answer: Answer) -> dict[str, Any]:
        loop = asyncio.get_running_loop()

        def on_progress(done: int, total: int) -> None:  # called in the thread that writes
            loop.call_soon_threadsafe(answer.progress, progress(done=done, total=total))

        return {"path": request.path, "counts": await self._services.export(request.path, on_progress)}

    async def _import(self, request: requests.Import, answer: Answer) -> dict[str, Any]:
        def on_progress(done: int, total: int) -> None:
            answer.progress(progress(done=done, total=total))

        return (await self._services.import_file(request, on_progress)).as_json()

    async def _backfill(self, request: requests.Backfill, answer: Answer) -> dict[str, Any]:
        async def on_progress(done: int, total: int, result: BackfillResult) -> None:
            answer.progress(progress(done=done, total=total, **result.as_json()))

        return (await self._services.backfill(request, on_progress)).as_json()


def _given(given: Given) -> dict[str, Any]:
    return {"text": given.text, "items": given.items, "tokens": given.tokens}
