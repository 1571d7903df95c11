"""Requests that look something up: search, one thing, what happened around it, sessions, injections."""

from __future__ import annotations

import time
from collections.abc import Callable

from siftd import ids
from siftd.consolidate.planning import salience
from siftd.daemon.group_commit import Committer
from siftd.daemon.handlers.answering import answers
from siftd.daemon.handlers.documents import shown
from siftd.daemon.handlers.sessions import find_session
from siftd.daemon.notes_index import NotesIndex
from siftd.daemon.searching import SearchAccess
from siftd.daemon.store_access import StoreAccess
from siftd.daemon.team_access import TeamAccess
from siftd.errors import NothingFound, RequestInvalid
from siftd.search.goals import in_short
from siftd.search.unsummarised import summarise_now
from siftd.store import event_views, facts, injection_ledger
from siftd.store.access import Database
from siftd.wire import cursors, requests

SESSIONS_WITH_GOALS = 100
"""Sessions that are listed with their goals, at most: of more nobody reads so much of each."""
BEHIND = "without the newest captures: the database is locked by another program, or the disk is full"


def _event(connection: Database, event_id: int) -> requests.ShownEvent | None:
    event = event_views.find_event(connection, event_id)
    return None if event is None else {"kind": "event", **event, "trivial": salience(connection, event_id)}


def _summary(connection: Database, summary_id: int) -> requests.ShownSummary | None:
    summary = event_views.find_summary(connection, summary_id)
    if summary is None:
        return None
    of = event_views.find_event(connection, summary["eventId"])
    event: requests.EventInShort | None = None
    if of is not None:
        event = {"id": of["id"], "tool": of["tool"], "payload": of["payload"]}
    return {"kind": "summary", **summary, "event": event}


def _memory(connection: Database, fact_id: int) -> requests.ShownMemory | None:
    memory = facts.find_fact(connection, fact_id)
    return None if memory is None else {"kind": "memory", **memory}


_FIND: dict[str, Callable[[Database, int], requests.Shown | None]] = {
    "e": _event, "s": _summary, "m": _memory,
}  # fmt: skip


def _finder(cited: str) -> Callable[[Database], requests.Shown | None]:
    """Return what looks up a typed id. Raises RequestInvalid."""
    if (document := ids.parse_document(cited)) is not None:
        return lambda c: shown(c, document)
    letter, number = ids.parse(cited)
    if letter == ids.GLOBAL_MEMORY:
        raise RequestInvalid("memories for every project have a daemon of their own", hint="`mem show` asks it")
    return lambda c: _FIND[letter](c, number)


class Finding:
    """Answers from the store, and changes nothing."""

    def __init__(
        self,
        *,
        store: StoreAccess,
        searching: SearchAccess,
        committer: Committer,
        notes: NotesIndex,
        team: TeamAccess,
    ) -> None:
        self._store = store
        self._searching = searching
        self._committer = committer
        self._notes = notes
        self._team = team

    @answers(requests.Search)
    async def search(self, request: requests.Search) -> requests.SearchAnswer:
        started = time.perf_counter()
        found, notes, documents = await self._searching.search(request)
        took = round((time.perf_counter() - started) * 1000, 2)
        self._searching.note_search(took, len(found.hits))
        behind = BEHIND if self._committer.is_behind else None
        degraded = "; ".join(filter(None, (found.degraded, behind))) or None
        return {
            "hits": found.hits,
            "notes": notes,
            "documents": documents,
            "degraded": degraded,
            "ms": took,
            "clients": await self._clients(),
        }

    @answers(requests.Show)
    async def show(self, request: requests.Show) -> requests.ShowAnswer:
        if (note := ids.parse_note(request.id)) is not None:
            return {"item": await self._notes.show(note)}
        if ids.is_id(request.id) and ids.parse(request.id)[0] == ids.TEAM:
            return {"item": await self._team.show(request.id)}
        find = _finder(request.id)
        was_behind = self._committer.is_behind  # it may have caught up by the time that nothing is found
        item = await self._store.read(find)
        if item is None and was_behind:
            await self._committer.catch_up()
            item = await self._store.read(find)
        if item is None:
            raise NothingFound("there is nothing with this id", hint="`mem timeline` lists ids")
        return {"item": item}

    @answers(requests.Timeline)
    async def timeline(self, request: requests.Timeline) -> requests.TimelineAnswer:
        before, after = (max(0, min(number, 500)) for number in (request.before, request.after))
        if request.around is None:
            session = await find_session(self._store, request.session) if request.session else None
            limit = max(1, before + after)
            behind = cursors.decode(request.cursor, int, int)

            def latest(connection: Database) -> list[requests.EventLine]:
                asking = event_views.find_asking(connection, request.asking)
                return event_views.timeline_latest(connection, session, limit + 1, asking, behind, request.client)

            found = (await self._with_lines(latest))[::-1]
            shown, rest = cursors.page(found, limit, lambda each: (each["ts"], each["eventId"]))
            answer: requests.TimelineAnswer
            answer = {"events": shown[::-1], "nextCursor": rest, "clients": await self._clients()}
            if session is not None:
                short = await self._store.read(lambda c: in_short(c, session))
                answer = {**answer, **short}
            return answer
        kind, number = ids.parse(request.around)
        if kind == ids.TEAM:
            raise RequestInvalid(
                "what led to an item of the team's is on its author's device", hint=f"`mem show {request.around}`"
            )
        if kind in ("m", "g"):
            raise RequestInvalid("a memory has no place in a session", hint="give an event (e12) or a summary (s7)")
        if kind == "s":
            summary = await self._store.read(lambda c: event_views.find_summary(c, number))
            number = summary["eventId"] if summary else 0
        events = await self._with_lines(lambda c: event_views.timeline_around(c, number, before, after))
        if not events:
            raise NothingFound("there is nothing with this id", hint="`mem timeline` lists ids")
        return {"events": events, "clients": await self._clients()}

    @answers(requests.Sessions)
    async def sessions(self, request: requests.Sessions) -> requests.SessionsAnswer:
        limit = max(1, min(request.limit, 1000))

        behind = cursors.decode(request.cursor, int, str)

        def listed(connection: Database) -> tuple[list[requests.Session], str | None]:
            found = event_views.sessions(connection, limit + 1, behind, request.client)
            shown, rest = cursors.page(found, limit, lambda each: (each["lastTs"], each["sessionId"]))
            if limit <= SESSIONS_WITH_GOALS:
                shown = [{**each, **in_short(connection, each["sessionId"])} for each in shown]
            return shown, rest

        shown, rest = await self._store.read(listed)
        return {"sessions": shown, "nextCursor": rest, "clients": await self._clients()}

    @answers(requests.Injections)
    async def injections(self, request: requests.Injections) -> requests.InjectionsAnswer:
        piece = None if request.id is None else ids.normal(request.id)
        limit = max(1, min(request.limit, 500))
        (before,) = cursors.decode(request.cursor, int)
        shared, team = self._store.everywhere, self._store.team
        found = await self._store.read(
            lambda c: injection_ledger.list_injections(
                c,
                piece,
                request.session,
                limit + 1,
                before=before,
                everywhere=shared.connection(),
                team=team.connection(),
            )
        )
        shown, rest = cursors.page(found, limit, lambda each: (each["id"],))
        return {"injections": shown, "nextCursor": rest}

    async def _clients(self) -> list[str]:
        """Return the clients that have written here: where there are several, what is shown says whose it is."""
        return await self._store.read(self._store.clients.names)

    async def _with_lines(self, find: Callable[[Database], list[requests.EventLine]]) -> list[requests.EventLine]:
        """Return events, each with its line of text: one without a summary is summarised on the spot."""

        def read(connection: Database) -> list[requests.EventLine]:
            events = find(connection)
            for each in events:
                each["text"] = each["text"] or summarise_now(connection, each["eventId"])
            return events

        return await self._store.read(read)
