"""Requests about facts as a whole: the page of what holds, a person's word on one, why one is held."""

from __future__ import annotations

import asyncio
import os.path
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from siftd import ids
from siftd.clients.shown import as_text
from siftd.clock import Clock
from siftd.daemon.fact_writes import FactWrites
from siftd.daemon.handlers.answering import answers
from siftd.daemon.intents import Intents
from siftd.daemon.saved_brief import drop_briefs_that_quote
from siftd.daemon.store_access import StoreAccess
from siftd.errors import NothingFound, RequestInvalid
from siftd.facts.citations import cited_files
from siftd.facts.model import CATEGORIES
from siftd.store import fact_changes, fact_pages, facts
from siftd.store.access import Database
from siftd.store.payload import find_object
from siftd.wire import cursors, requests
from siftd.workspace.identity import Workspace
from siftd.workspace.paths import GLOBAL, WorkspacePaths

LIMIT_MAX = 500
SOURCES_MAX = 50
SOURCE_CHARS = 500
_INHERITED = ("type", "tags", "importance")


class FactPages:
    """Answers them for one workspace."""

    def __init__(
        self,
        *,
        writes: FactWrites,
        store: StoreAccess,
        intents: Intents,
        workspace: Workspace,
        paths: WorkspacePaths,
        clock: Clock,
    ) -> None:
        self._writes = writes
        self._store = store
        self._intents = intents
        self._workspace = workspace
        self._paths = paths
        self._clock = clock

    @answers(requests.Facts)
    async def list_page(self, request: requests.Facts) -> requests.FactsAnswer:
        """Return a page of all the facts that hold."""
        limit = max(1, min(request.limit, LIMIT_MAX))
        if request.category is not None and request.category not in CATEGORIES:
            raise RequestInvalid("there is no such category", hint=f"one of {', '.join(CATEGORIES)}")
        now_ms = self._clock.now_ms()
        rank, late, last_id = cursors.decode(request.cursor, int, int, int)

        def read(connection: Database) -> tuple[list[requests.ListedFact], list[fact_pages.Place], int]:
            rows, places = fact_pages.list_page(
                connection,
                now_ms=now_ms,
                as_of=request.as_of,
                category=request.category,
                sessions=request.sessions,
                limit=limit + 1,
                behind=(rank, late, last_id),
            )
            return rows, places, fact_pages.count_of_sessions(connection, now_ms, request.as_of, request.category)

        rows, places, of_sessions = await self._store.read(read)
        gone = await self._gone([row["text"] for row in rows[:limit]])
        for row, each in zip(rows, gone, strict=False):
            row["gone"] = each
        rest = cursors.encode(places[limit - 1]) if len(rows) > limit else None
        return {"facts": rows[:limit], "ofSessions": 0 if request.sessions else of_sessions, "nextCursor": rest}

    @answers(requests.Correct)
    async def correct(self, request: requests.Correct) -> requests.CorrectAnswer:
        """Keep what holds in the place of a fact."""
        old_id = ids.parse_number(request.id, ids.MEMORY)
        old = await self._get(old_id)
        newest = await self._store.read(lambda c: fact_changes.find_newest(c, old_id))
        if newest != old_id:
            raise RequestInvalid(f"m{old_id} is superseded already", hint=f"correct m{newest}")
        if old["text"] == request.text.strip():
            raise RequestInvalid(f"m{old_id} says this", hint=f"`mem verify m{old_id} --confirmed` says that it holds")
        inherited: dict[str, Any] = {name: old[name] for name in _INHERITED}  # type: ignore[literal-required]
        answer = await self._writes.remember(
            requests.Remember(
                text=request.text,
                pin=old["pinned"],
                label=old["project"],
                session_id=request.session_id,
                source=request.source,
                typed=request.typed,
                root=request.root,
                **inherited,
            ),
            supersedes=old_id,
        )
        waits = bool(answer.get("waits"))
        if not waits:  # what waits takes no place yet
            await self._say(old_id, "correct", is_typed=request.typed, by=answer["memoryId"])
        return {"id": answer["id"], "corrected": f"m{old_id}", "waits": waits}

    @answers(requests.Verify)
    async def verify(self, request: requests.Verify) -> requests.VerifyAnswer:
        """Note that somebody says whether a fact holds."""
        fact_id = ids.parse_number(request.id, ids.MEMORY)
        fact = await self._get(fact_id)
        is_confirmed = request.verdict == "confirmed"
        overrules = fact["status"] != "active" if is_confirmed else fact["saidBy"] == "person" or fact["pinned"]
        if overrules and not request.typed:
            raise RequestInvalid("a person has to say so", hint="run `mem verify` in a terminal of your own")
        await self._say(fact_id, "confirm" if is_confirmed else "outdate", is_typed=request.typed)
        return {"id": f"m{fact_id}", "status": (await self._get(fact_id))["status"]}

    @answers(requests.FactStory)
    async def story(self, request: requests.FactStory) -> requests.FactStoryAnswer:
        """Return what says a fact, what was said of it since, and what came of it."""
        fact_id = ids.parse_number(request.id, ids.MEMORY)
        fact = await self._get(fact_id)
        sources = await self._store.read(lambda c: fact_pages.list_sources(c, fact_id, SOURCES_MAX))
        given, used, confirmed, last_ts = await self._store.read(lambda c: fact_pages.find_uses(c, fact_id))
        return {
            "fact": fact,
            "sources": [_source(each) for each in sources],
            "uses": {"given": given, "used": used, "confirmed": confirmed, "lastTs": last_ts},
            "gone": (await self._gone([fact["text"]]))[0],
        }

    async def _get(self, fact_id: int) -> requests.Memory:
        fact = await self._store.read(lambda c: facts.find_fact(c, fact_id))
        if fact is None:
            raise NothingFound(f"there is no fact m{fact_id}", hint="`mem facts` lists them")
        return fact

    async def _say(self, fact_id: int, what: str, *, is_typed: bool, by: int | None = None) -> None:
        payload: dict[str, Any] = {"fact": fact_id, "what": what, "who": "person" if is_typed else "agent"}
        async with self._writes.turn:
            await self._intents.keep("verdict", payload if by is None else payload | {"by": by})
        await self._writes.catch_up()
        drop_briefs_that_quote(self._paths)

    async def _gone(self, texts: Sequence[str]) -> list[list[str]]:
        """Return, for each text, the files that it cites, that were there once and are no more."""
        cited = [cited_files(text) for text in texts]
        every = sorted({path for paths in cited for path in paths})
        if not every or self._paths.key == GLOBAL:
            return [[] for _ in texts]
        known = await self._store.read(lambda c: fact_pages.list_once_there(c, every))
        gone = await asyncio.to_thread(lambda: {each for each in known if not self._is_there(each)})
        return [[path for path in paths if path in gone] for paths in cited]

    def _is_there(self, path: str) -> bool:
        return os.path.lexists(Path(self._workspace.root) / path)


def _source(row: dict[str, Any]) -> requests.FactSource:
    text = as_text(find_object(row["payloadJson"]) or {})
    return {
        "id": row["id"],
        "ts": row["ts"],
        "sessionId": row["sessionId"],
        "saidBy": row["saidBy"],
        "client": row["client"],
        "text": text if len(text) <= SOURCE_CHARS else f"{text[:SOURCE_CHARS]}…",
    }
