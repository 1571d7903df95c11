"""Recorded repositories read in order of time into throw-away homes: the page of facts, and what taking them costs.

The clock stands at each session's end while it is read, so that facts hold from when they were said. A drain is timed
with extraction and without, on the same sessions, one after the other, the best of several.
"""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog
from eval_summaries import KEY

from siftd.config import Settings
from siftd.daemon.services import Services
from siftd.daemon.storage import Storage
from siftd.wire.requests import Backfill
from siftd.workspace.home import LoadedSettings, ensure_workspace
from siftd.workspace.identity import Workspace
from siftd.workspace.paths import Home

RUNS = 3
_STAMP = re.compile(rb'"timestamp":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)')
_PAGE = """
SELECT category, text, said_by, confidence, importance, status, origin FROM facts
ORDER BY status <> 'active', category, importance DESC, id
"""


@dataclass
class Recorded:
    """What reading a repository came to."""

    facts: list[dict[str, Any]] = field(default_factory=list)
    sessions: int = 0
    drain_seconds: float = 0.0


def read_in_order(paths: Sequence[Path], *, extracts: bool) -> Recorded:
    """Read session files, the earliest first, and return what is known then."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    return asyncio.run(_read(sorted(paths, key=_first_stamp), extracts=extracts))


def drain_ratio(paths: Sequence[Path]) -> float:
    """Return how many times as long drains take with extraction as without."""
    seconds = {True: float("inf"), False: float("inf")}
    for _ in range(RUNS):
        for extracts in (False, True):
            took = read_in_order(paths, extracts=extracts).drain_seconds
            seconds[extracts] = min(seconds[extracts], took)
    return seconds[True] / seconds[False]


class _TurnedClock:
    def __init__(self) -> None:
        self.ms = 0

    def now_ms(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000


async def _read(paths: Sequence[Path], *, extracts: bool) -> Recorded:
    recorded = Recorded(sessions=len(paths))
    with tempfile.TemporaryDirectory(prefix="siftd-facts-") as folder:
        paths_of = Home(folder).for_workspace(KEY)
        ensure_workspace(paths_of)
        clock = _TurnedClock()
        settings = Settings.of({"facts.extract": extracts})
        storage = Storage(Workspace(folder, KEY), paths_of, LoadedSettings(settings), clock)
        services = Services(storage, bool)
        try:
            for path in paths:
                ended = last_stamp(path)
                os.utime(path, (0, ended / 1000 - 3600))  # it is touched no more, and read to its end
                clock.ms = max(clock.ms, ended + 3_600_000)
                request = Backfill(paths=[str(path.resolve())], any_workspace=True, own=True)
                await services.transfer.backfill(request, _nobody)
                started = time.process_time()
                await services.consolidator.drain(None, _nobody)
                recorded.drain_seconds += time.process_time() - started
        finally:
            services.close()
            await storage.close()
        connection = sqlite3.connect(paths_of.database)
        connection.row_factory = sqlite3.Row
        recorded.facts = [dict(row) for row in connection.execute(_PAGE)]
        connection.close()
    return recorded


async def _nobody(*_: Any) -> None:
    """Report to nobody."""


def _first_stamp(path: Path) -> bytes:
    found = _STAMP.search(path.read_bytes())
    return found[1] if found else b""


def last_stamp(path: Path) -> int:
    stamps = _STAMP.findall(path.read_bytes())
    if not stamps:
        return 0
    return int(time.mktime(time.strptime(max(stamps).decode(), "%Y-%m-%dT%H:%M:%S"))) * 1000
