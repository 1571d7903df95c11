"""Requests for pictures of the memory: figures by day and week, what came from what."""

from __future__ import annotations

import asyncio
from pathlib import Path

from siftd import ids
from siftd.daemon.handlers.answering import answers
from siftd.daemon.store_access import StoreAccess
from siftd.errors import NothingFound, RequestInvalid
from siftd.log.segments import segments
from siftd.search.unsummarised import summarise_now
from siftd.store import event_views, injection_ledger, provenance, statistics
from siftd.store.access import Database
from siftd.store.snapshots import list_snapshots
from siftd.wire import requests
from siftd.workspace.paths import WorkspacePaths

DAYS_MAX = 3_660
DEPTH_MAX = 8


class Overview:
    """Answers from the store, and changes nothing."""

    def __init__(self, *, store: StoreAccess, paths: WorkspacePaths) -> None:
        self._store = store
        self._paths = paths

    @answers(requests.Stats)
    async def stats(self, request: requests.Stats) -> requests.StatsAnswer:
        days = max(1, min(request.days, DAYS_MAX))
        shared = self._store.everywhere

        def read(connection: Database) -> requests.StatsAnswer:
            given = injection_ledger.list_injections(
                connection, None, None, statistics.INJECTIONS_MAX, everywhere=shared.connection()
            )
            figures = statistics.read_statistics(connection, days, given)
            return {
                "days": figures["days"],
                "tools": figures["tools"],
                "injections": figures["injections"],
                "weeks": statistics.by_week(given),
                "offenders": statistics.list_offenders(given),
                "storage": statistics.list_stored(connection),
                "redactions": event_views.redactions(connection),
            }

        answer = await self._store.read(read)
        answer["storage"] += await asyncio.to_thread(self._list_files)
        return answer

    @answers(requests.Edges)
    async def edges(self, request: requests.Edges) -> requests.EdgesAnswer:
        kind, number = ids.parse(request.id)
        if kind == ids.GLOBAL_MEMORY:
            raise RequestInvalid("memories for every project have a daemon of their own", hint="ask for _global")
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

    def _list_files(self) -> list[requests.StoredKind]:
        paths = {
            "log": segments(self._paths.wal),
            "snapshots": [Path(each.path) for each in list_snapshots(self._paths.snapshots)],
            "spool": [each for each in Path(self._paths.spool).glob("*") if each.is_file()],
        }
        return [{"kind": kind, "bytes": sum(map(_size, files))} for kind, files in paths.items()]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # it went meanwhile
        return 0
