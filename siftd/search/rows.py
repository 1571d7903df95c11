"""What ranking has to know of a row beside its score, as arrays by id, and which rows are hidden.

An event's session, tool and time and a summary's event are facts that do not change: each is read when a leg first
finds its row, and kept. What is hidden does change, also by hand: it is read anew whenever anything was written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siftd.store import candidates

Ids = NDArray[np.int64]
KEPT_MAX = 200_000
"""Rows of one kind that are kept: about 30 MB."""
_KINDS_OF_WORK = {
    "UserPromptSubmit": 1,
    "Stop": 2,
    "SubagentStop": 2,
    "Edit": 3,
    "MultiEdit": 3,
    "Write": 3,
    "NotebookEdit": 3,
    "apply_patch": 3,
    "Bash": 4,
    "shell": 4,
    "Read": 5,
    "Grep": 5,
    "Glob": 5,
    "LS": 5,
    "WebFetch": 5,
    "WebSearch": 5,
}
"""What was asked, told at the end, changed, run, looked at. Plans, tasks and tools of servers are one more kind."""
KINDS = 6


class Rows:
    """The rows of one store that searches have met. Used from one thread at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._events = _Kept(("session", np.int32), ("kind", np.int32), ("ts", np.int64), ("size", np.float64))
        self._summaries = _Kept(("event", np.int64), ("confidence", np.float64), ("size", np.float64))
        self._numbers: dict[str, int] = {}
        self._names = [""]
        """By number; nothing has 0."""
        self._version: int | None = None
        self._superseded = _ids("")

    def events(self, ids: Ids) -> dict[str, NDArray[Any]]:
        """Return `session` (a number), `kind`, `ts` and `size` (words) of events."""
        return self._events.take(ids, self._read_events)

    def summaries(self, ids: Ids) -> dict[str, NDArray[Any]]:
        """Return `event`, `confidence` and `size` (words) of summaries."""
        return self._summaries.take(ids, lambda new: candidates.summary_rows(self._connection, new))

    def session_name(self, number: int) -> str:
        return self._names[number]

    def superseded(self) -> tuple[Ids, Ids]:
        """Return the summaries that others supersede, in order, and the events that they tell of."""
        version = candidates.data_version(self._connection)
        if version != self._version:
            self._superseded = _ids(candidates.superseded_summaries(self._connection))
            self._version = version
        return self._superseded, self.summaries(self._superseded)["event"]

    def _read_events(self, new: Iterable[int]) -> list[tuple[Any, ...]]:
        found = candidates.event_rows(self._connection, new)
        return [
            (event_id, self._number(session), _KINDS_OF_WORK.get(tool, 0), ts, size)
            for event_id, session, tool, ts, size in found
        ]

    def _number(self, session: str) -> int:
        number = self._numbers.setdefault(session, len(self._names))
        if number == len(self._names):
            self._names.append(session)
        return number


class _Kept:
    """Columns of rows by id, filled when an id is first asked for. A row that is gone is all zeros."""

    def __init__(self, *columns: tuple[str, Any]) -> None:
        self._types = dict(columns)
        self._clear()

    def _clear(self) -> None:
        self._places: dict[int, int] = {}
        self._columns = {name: np.zeros(1024, dtype=kind) for name, kind in self._types.items()}

    def take(self, ids: Ids, read: Callable[[list[int]], list[tuple[Any, ...]]]) -> dict[str, NDArray[Any]]:
        asked = ids.tolist()
        if new := [each for each in asked if each not in self._places]:
            if len(self._places) + len(new) > KEPT_MAX:
                self._clear()
                new = asked
            self._add(new, read(new))
        places = np.array([self._places[each] for each in asked], dtype=np.int64)
        return {name: column[places] for name, column in self._columns.items()}

    def _add(self, new: list[int], rows: list[tuple[Any, ...]]) -> None:
        for each in new:
            self._places.setdefault(each, len(self._places))
        while len(self._places) > len(next(iter(self._columns.values()))):
            self._columns = {name: np.concatenate([each, np.zeros_like(each)]) for name, each in self._columns.items()}
        if rows:
            ids, *values = zip(*rows, strict=True)
            places = [self._places[each] for each in ids]
            for column, given in zip(self._columns.values(), values, strict=True):
                column[places] = given


def _ids(joined: str) -> Ids:
    return np.fromstring(joined, dtype=np.int64, sep=",") if joined else np.empty(0, dtype=np.int64)
