"""What ranking has to know of a row beside its score, as arrays by id, and which rows are hidden.

An event's session, sort and time and a summary's event change by a person's hand only, and then these arrays are made
anew (`Searching.forget`). A row is read when a retriever first finds it, at 0.01 ms, or ahead, newest first, at a
fourth of that; and kept. What is hidden does change: it is looked after whenever anything was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from siftd.store import postings, search_reads
from siftd.store.access import Database
from siftd.store.connection import data_version
from siftd.store.scope import Columns
from siftd.store.search_reads import Supersedes

Ids = NDArray[np.int64]
ROWS_MAX = 2**18
"""Rows of one kind that are kept, each in the place that its id's last digits say: about 8 MB."""
PIECE = 1_024
"""Rows that are read ahead at once: what a search that comes meanwhile waits for, some 5 ms."""
_NOBODY = np.iinfo(np.int64).min
_TOP = 2**63 - 1
"""Every id is below it."""
PROMPT, TEXT = 1, 6
_KINDS_OF_WORK = {
    "prompt": PROMPT,
    "turn_end": 2,
    "subagent_end": 2,
    "edit": 3,
    "run": 4,
    "read": 5,
    "search": 5,
    "web": 5,
    "assistant_text": TEXT,
    "compaction": TEXT,
}
"""What was asked, told at the end, changed, run, looked at, said on the way: by an event's kind, a call's by its
action. Plans, tasks and tools of servers are one more kind."""
KINDS = 7
_CONCLUDING = frozenset(("turn_end", "subagent_end", "assistant_text", "compaction", "agent", "ask", "plan"))


def concludes(kind: str, action: str | None) -> bool:
    """Whether such an event says what came of something, or was found and chosen on the way."""
    return (action or kind) in _CONCLUDING


class Sort(NamedTuple):
    """What is the same of many events, and kept once: texts as the database has them, as bytes."""

    tool: bytes
    kind: bytes
    action: bytes | None

    @property
    def work(self) -> str:
        return (self.action or self.kind).decode("utf-8", "replace")


class Rows:
    """The rows of one store that searches have met. Used from one thread at a time."""

    def __init__(self, connection: Database) -> None:
        self._connection = connection
        self._numbers: dict[bytes, int] = {}
        self._names = [b""]
        """By number; nothing has 0."""
        self._sort_numbers: dict[tuple[Any, ...], int] = {}
        self._sorts: list[Sort] = []
        self._kinds = np.empty(0, dtype=np.int8)
        self._concludes: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)
        """By a sort's number."""
        self._version: int | None = None
        self._supersedes = Supersedes(0, 0, None)
        self._superseded = self._uncertain = np.empty(0, dtype=np.int64)
        self._events_from: tuple[int, int] | None = (_TOP, _TOP)
        self._summaries_from: int | None = _TOP
        """Where reading ahead goes on; None when it is done."""
        self._events = _Columns(("session", np.int32), ("sort", np.int32), ("ts", np.int64), ("size", np.float64))
        self._summaries = _Columns(("event", np.int64), ("confidence", np.float64), ("size", np.float64))

    def events(self, ids: Ids) -> dict[str, NDArray[Any]]:
        """Return `session` and `sort` (numbers), `ts` and `size` (words) of events."""
        return self._events.take(ids, self._read_events)

    def concludes(self, sorts: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which of these sorts of events say what came of something."""
        says: NDArray[np.bool_] = self._concludes[sorts]
        return says

    def kinds(self, sorts: NDArray[np.int32]) -> NDArray[np.int8]:
        """Return the kind of work that each of these sorts of events is."""
        kinds: NDArray[np.int8] = self._kinds[sorts]
        return kinds

    def are_within(self, ids: Ids, columns: Columns) -> NDArray[np.bool_]:
        """Return which of these events are there, and are of a tool, kind, session and time that are asked for."""
        facts = self.events(ids)
        sorts = np.array([columns.allows(each.tool, each.kind) for each in self._sorts], dtype=np.bool_)
        sessions = np.array([False, *map(columns.allows_session, self._names[1:])])
        within: NDArray[np.bool_] = sessions[facts["session"]]
        within &= (facts["ts"] >= columns.since) & (facts["ts"] <= columns.until)
        if len(sorts):
            within &= sorts[facts["sort"]]
        return within

    def summaries(self, ids: Ids) -> dict[str, NDArray[Any]]:
        """Return `event`, `confidence` and `size` (words) of summaries."""
        return self._summaries.take(ids, lambda new: search_reads.summary_rows(self._connection, new))

    def read_ahead(self) -> bool:
        """Read the next piece of what searches may ask for; return whether more is left."""
        if self._events_from is not None:
            floor = postings.last_id(self._connection, "events") - ROWS_MAX
            last = self._events.keep_ahead(self._events_before(*self._events_from), floor)
            self._events_from = None if last is None else (int(last[3]), int(last[0]))
        elif self._summaries_from is not None:
            floor = postings.last_id(self._connection, "summaries") - ROWS_MAX
            last = self._summaries.keep_ahead(self._summaries_before(self._summaries_from), floor)
            self._summaries_from = None if last is None else int(last[0])
        return self._summaries_from is not None

    def session_name(self, number: int) -> bytes:
        return self._names[number]

    def superseded(self) -> tuple[Ids, Ids]:
        """Return the summaries that others supersede, and the events that they tell of."""
        version = data_version(self._connection)
        if version != self._version:
            self._look_after_superseded()
            self._version = version
        return self._superseded, self._uncertain

    def _look_after_superseded(self) -> None:
        """Take in what is new; where anything is gone, read everything."""
        now, known = search_reads.supersedes(self._connection), self._supersedes
        if now == known:
            return
        new = search_reads.superseded_after(self._connection, known.last)
        if now.count != known.count + len(new) or not search_reads.still_holds(self._connection, known):
            new = search_reads.superseded_after(self._connection, 0)
            self._superseded = self._uncertain = np.empty(0, dtype=np.int64)
        summaries, events = np.array(new, dtype=np.int64).reshape(-1, 2).T
        self._superseded = np.union1d(self._superseded, summaries)
        self._uncertain = np.union1d(self._uncertain, events)
        self._supersedes = now

    def _events_before(self, ts: int, event_id: int) -> list[tuple[Any, ...]]:
        return self._numbered(search_reads.event_rows_before(self._connection, ts, event_id, PIECE))

    def _summaries_before(self, summary_id: int) -> list[tuple[Any, ...]]:
        return search_reads.summary_rows_before(self._connection, summary_id, PIECE)

    def _read_events(self, new: Iterable[int]) -> list[tuple[Any, ...]]:
        return self._numbered(search_reads.event_rows(self._connection, new))

    def _numbered(self, found: Sequence[search_reads.EventRow]) -> list[tuple[Any, ...]]:
        """Return the rows of events with numbers for the session and the sort."""
        for session in {row[1] for row in found} - self._numbers.keys():
            self._numbers[session] = len(self._names)
            self._names.append(session)
        for sort in (Sort(*each) for each in {row[2:5] for row in found} - self._sort_numbers.keys()):
            self._sort_numbers[sort] = len(self._sorts)
            self._sorts.append(sort)
            self._kinds = np.append(self._kinds, np.int8(_KINDS_OF_WORK.get(sort.work, 0)))
            self._concludes = np.append(self._concludes, sort.work in _CONCLUDING)
        return [(row[0], self._numbers[row[1]], self._sort_numbers[row[2:5]], *row[5:]) for row in found]


class _Columns:
    """Columns of rows by id, filled ahead or when an id is asked for. A row that is gone is all zeros.

    One of the columns is `size`: a row without, gone or not in full text yet, is not kept.
    """

    def __init__(self, *columns: tuple[str, Any]) -> None:
        self._ids = np.full(ROWS_MAX, _NOBODY)
        self._columns = {name: np.zeros(ROWS_MAX, dtype=kind) for name, kind in columns}
        self._ahead = 0

    def keep_ahead(self, piece: Sequence[tuple[Any, ...]], floor: int) -> tuple[Any, ...] | None:
        """Keep a piece of rows that nobody has asked for, but none up to `floor`, whose places newer ones have; return
        the last one, None when it is the last piece or there are places for no more."""
        rows = [row for row in piece if row[0] > floor]
        if rows:
            ids, *values = zip(*rows, strict=True)
            places = np.array(ids, dtype=np.int64) % ROWS_MAX
            self._ids[places] = ids
            for column, given in zip(self._columns.values(), values, strict=True):
                column[places] = given
        self._ahead += len(piece)
        return piece[-1] if len(piece) == PIECE and self._ahead < ROWS_MAX else None

    def take(self, ids: Ids, read: Callable[[list[int]], list[tuple[Any, ...]]]) -> dict[str, NDArray[Any]]:
        places = ids % ROWS_MAX
        taken = {name: column[places] for name, column in self._columns.items()}
        new = np.flatnonzero(self._ids[places] != ids)
        if len(new):
            self._add(ids[new], places[new], read, taken, new)
        return taken

    def _add(
        self,
        ids: Ids,
        places: Ids,
        read: Callable[[list[int]], list[tuple[Any, ...]]],
        taken: dict[str, NDArray[Any]],
        where: Ids,
    ) -> None:
        """Read rows, give them to whoever asked and keep them; of two for one place the last."""
        asked, back = np.unique(ids, return_inverse=True)
        found, *values = zip(*rows, strict=True) if (rows := read(asked.tolist())) else ((), *([()] * len(taken)))
        at = np.searchsorted(asked, np.array(found, dtype=np.int64))
        for name, given in zip(taken, values, strict=True):
            column = np.zeros(len(asked), dtype=taken[name].dtype)
            column[at] = given
            taken[name][where] = column[back]
            self._columns[name][places] = column[back]
        self._ids[places] = np.where(taken["size"][where] > 0, ids, _NOBODY)
