"""Requests for pictures of the memory: figures by day and week, what came from what."""

from __future__ import annotations

import asyncio

from siftd import ids
from siftd.clock import Clock
from siftd.daemon.handlers.answering import answers
from siftd.daemon.store_access import StoreAccess
from siftd.daemon.team_access import TeamAccess
from siftd.errors import NothingFound, RequestInvalid
from siftd.search.unsummarised import summarise_now
from siftd.store import provenance, statistics
from siftd.store.access import Database
from siftd.store.stored_kinds import list_files
from siftd.wire import requests
from siftd.workspace.paths import WorkspacePaths

DEPTH_MAX = 8


class Overview:
    """Answers from the store, and changes nothing."""

    def __init__(self, *, store: StoreAccess, paths: WorkspacePaths, clock: Clock, team: TeamAccess) -> None:
        self._store = store
        self._paths = paths
        self._clock = clock
        self._team = team

    @answers(requests.Stats)
    async def stats(self, request: requests.Stats) -> requests.StatsAnswer:
        """Read it a piece at a time: searches go on between them."""
        everywhere = self._store.everywhere.connection
        figures = statistics.Statistics(request.days, self._clock.now_ms(), everywhere, request.part)
        while await self._store.read(figures.read_on):
            pass
        answer = figures.answer()
        if request.part in (None, "stored"):
            answer["storage"] += await asyncio.to_thread(list_files, self._paths)
        return answer

    @answers(requests.Edges)
    async def edges(self, request: requests.Edges) -> requests.EdgesAnswer:
        kind, number = ids.parse(request.id)
        if kind == ids.GLOBAL_MEMORY:
            raise RequestInvalid("memories for every project have a daemon of their own", hint="ask for _global")
        if kind == ids.TEAM:
            item = await self._team.show(request.id)
            is_story = item["scope"] is not None
            node: requests.GraphNode = {
                "id": item["id"],
                "kind": "summary" if is_story else "memory",
                "ts": item["ts"],
                "text": item["text"],
                "saidBy": item["saidBy"],
            }
            return {"nodes": [node], "edges": [], "isWhole": False}  # the rest is on its author's device
        depth = max(0, min(request.depth, DEPTH_MAX))

        def read(connection: Database) -> requests.EdgesAnswer | None:
            found = provenance.walk(connection, kind, number, depth)
            for node in found["nodes"] if found else []:
                node["text"] = node["text"] or summarise_now(connection, int(node["id"][1:]))
            return found

        found = await self._store.read(read)
        if found is None:
            raise NothingFound("there is nothing with this id", hint="`mem timeline` lists ids")
        return found
