"""Draining: raw events become summaries, batch after batch, newest sessions first.

A batch is read, the cache is asked for each event, the backend for the rest; then summaries, statuses, cache and
provenance are written in one transaction. No transaction is open while a backend works. Embedding is a queue of its
own (`embedding.py`), so a failing embedder delays nothing here.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import structlog

from siftd.at_work import AtWork
from siftd.clock import Clock
from siftd.consolidate.circuit import Circuit
from siftd.consolidate.planning import Planned, plan_events, plan_sessions
from siftd.embed.words import index_words
from siftd.store import stories, summaries
from siftd.store.summaries import NewSummary
from siftd.summarise.contract import Backend, Cannot, Item, Summary, TryLater, Verdict
from siftd.summarise.extractive import in_own_words

log = structlog.get_logger()
T = TypeVar("T")

ATTEMPTS_MAX = 3
CONDEMNED = "working on it ended the daemon twice"
_PLAN_SIZE = 256
_PLAN_SECONDS = 1.0
"""Raw ids are read ahead, and again after this: what a live session adds soon comes first, however slow the backend."""
SESSION_IDLE_MS = 900_000
"""After so long without an event a session gets its summary: before an idle daemon ends."""


class Store(Protocol):
    """The store as the consolidator uses it: reading off the event loop, writing through the committer."""

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T: ...

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T: ...


@dataclass
class DrainResult:
    """What a drain did. `errors` counts events that got no summary; `first_error` says why."""

    processed: int = 0
    errors: int = 0
    embedded: int = 0
    sessions: int = 0
    """Sessions that got their summary."""
    pending: int = 0
    first_error: str | None = None
    parked: set[int] = field(default_factory=set)

    def note(self, reason: str) -> None:
        self.errors += 1
        self.first_error = self.first_error or reason


class Drainer:
    """Summarises raw events with one backend."""

    def __init__(
        self,
        store: Store,
        backend: Backend,
        circuit: Circuit,
        clock: Clock,
        *,
        batch_size: int,
        daily_token_cap: int,
        at_work: AtWork | None = None,
    ) -> None:
        self._store = store
        self._backend = backend
        self._circuit = circuit
        self._clock = clock
        self._batch_size = batch_size
        self._daily_token_cap = daily_token_cap
        self._at_work = at_work or AtWork()

    async def drain(
        self,
        result: DrainResult,
        *,
        limit: int | None,
        goes_on: Callable[[], bool],
        on_batch: Callable[[DrainResult], Awaitable[None]],
    ) -> None:
        """Summarise at most `limit` events (None: all) while `goes_on()`; `result` grows as it does."""
        while goes_on() and self._circuit.is_closed:
            room = _PLAN_SIZE if limit is None else min(_PLAN_SIZE, limit - result.processed - result.errors)
            parked = len(result.parked)
            wanted = await self._store.read(lambda c, n=room + parked: summaries.list_raw_ids(c, n))  # type: ignore[misc]
            ids = [each for each in wanted if each not in result.parked][:room]
            if not ids:
                return
            stale = self._clock.monotonic() + _PLAN_SECONDS
            for batch in self._at_work.split("summarise", ids, self._batch_size):
                if not (goes_on() and self._circuit.is_closed):
                    return
                if self._at_work.is_condemned("summarise", batch[0]):
                    await self._skip(batch[0], result)
                else:
                    with self._at_work.on("summarise", batch):
                        await self._drain_batch(batch, result)
                await on_batch(result)
                if self._clock.monotonic() >= stale:
                    break

    async def _skip(self, event_id: int, result: DrainResult) -> None:
        """Leave an event out for good; `mem retry` has it tried again."""
        await self._store.write(lambda c: summaries.note_cannot(c, event_id, CONDEMNED, 1))
        self._at_work.acquit("summarise", [event_id])
        result.note(CONDEMNED)
        log.warning("event_left_out", event_id=event_id, reason=CONDEMNED)

    async def _drain_batch(self, ids: Sequence[int], result: DrainResult) -> None:
        planned = await self._store.read(lambda connection: plan_events(connection, self._backend, ids))
        result.parked.update(set(ids) - {each.raw.id for each in planned})
        verdicts = await self._verdicts(planned)
        await self._store.write(lambda connection: self._write(connection, planned, verdicts, result))

    async def tell_sessions(self, result: DrainResult, *, goes_on: Callable[[], bool]) -> None:
        """Write the summaries of sessions that are over, or have been idle for a while; newest first."""
        while goes_on() and self._circuit.is_closed:
            idle_since = self._clock.now_ms() - SESSION_IDLE_MS
            due = await self._store.read(lambda c, t=idle_since: stories.list_sessions_due(c, t, self._batch_size))  # type: ignore[misc]
            planned = await self._store.read(lambda c, ids=due: plan_sessions(c, self._backend, ids))  # type: ignore[misc]
            verdicts = await self._verdicts(planned)
            told = await self._store.write(lambda c, p=planned, v=verdicts: self._write_sessions(c, p, v))  # type: ignore[misc]
            result.sessions += told
            if told < self._batch_size:
                return

    async def _verdicts(self, planned: Sequence[Planned]) -> dict[int, Verdict]:
        """Return each event's verdict: the cache's where it has one, the backend's for the rest."""
        asked = [each for each in planned if each.cached is None]
        items = [each.item for each in asked]
        verdicts = await (self._ask_within_cap(items) if self._backend.is_remote else self._ask(items))
        self._note_circuit(verdicts)
        known: dict[int, Verdict] = {each.raw.id: each.cached for each in planned if each.cached is not None}
        return known | {each.raw.id: verdict for each, verdict in zip(asked, verdicts, strict=True)}

    async def _ask(self, items: list[Item]) -> list[Verdict]:
        """Return one verdict for each item. A backend that breaks its contract costs the event at which it does."""
        if not items:
            return []
        try:
            verdicts = await self._backend.summarise(items)
            problem = "" if len(verdicts) == len(items) else "it gave another number of verdicts than events"
        except Exception as error:  # noqa: BLE001 - a batch's boundary: the reason is kept and shown
            problem = type(error).__name__
        if not problem:
            return verdicts
        if len(items) == 1:
            return [Cannot(reason=f"the backend failed ({problem})")]
        return [verdict for item in items for verdict in await self._ask([item])]

    async def _ask_within_cap(self, items: list[Item]) -> list[Verdict]:
        """Ask for one item after the other, the cap checked before each; what stops one stops the rest as well."""
        verdicts: list[Verdict] = []
        spent = 0
        for item in items:
            refusal = await self._cap_reached(spent)
            verdict = TryLater(reason=refusal) if refusal else (await self._ask([item]))[0]
            if isinstance(verdict, TryLater):
                return [*verdicts, *[verdict] * (len(items) - len(verdicts))]
            verdicts.append(verdict)
            spent += verdict.tokens_in + verdict.tokens_out
        return verdicts

    def _write(
        self,
        connection: sqlite3.Connection,
        planned: Sequence[Planned],
        verdicts: dict[int, Verdict],
        result: DrainResult,
    ) -> None:
        now_ms = self._clock.now_ms()
        new = []
        spent = 0
        for each in planned:
            match verdicts[each.raw.id]:
                case Summary() as summary:
                    new.append(self._new_summary(each, summary))
                    spent += 0 if each.cached else summary.tokens_in + summary.tokens_out
                case Cannot(reason=reason, tokens_in=tokens_in, tokens_out=tokens_out):
                    spent += tokens_in + tokens_out
                    summaries.note_cannot(connection, each.raw.id, reason, ATTEMPTS_MAX)
                    result.parked.add(each.raw.id)
                    result.note(reason)
                case TryLater(reason=reason):
                    summaries.note_parked(connection, [each.raw.id], reason)
                    result.parked.add(each.raw.id)
                    result.note(reason)
        summaries.insert_summaries(connection, new, now_ms)
        summaries.insert_edges(connection, [each.raw for each in planned], now_ms)
        self._pay(connection, spent, now_ms)
        result.processed += len(new)

    def _write_sessions(
        self, connection: sqlite3.Connection, planned: Sequence[Planned], verdicts: dict[int, Verdict]
    ) -> int:
        """Store the summaries of sessions; one that a backend cannot write is written by the built-in one."""
        now_ms = self._clock.now_ms()
        told = 0
        for each in planned:
            verdict = verdicts[each.raw.id]
            if isinstance(verdict, TryLater):
                continue
            if not (each.cached and verdict is each.cached):
                self._pay(connection, verdict.tokens_in + verdict.tokens_out, now_ms)
            summary = verdict if isinstance(verdict, Summary) else in_own_words(each.item)
            if connection.execute("SELECT 1 FROM events WHERE id = ?", (each.raw.id,)).fetchone() is None:
                continue
            summary_id = summaries.insert_summary(connection, self._new_summary(each, summary), now_ms)
            stories.supersede_earlier(connection, summary_id, each.raw.session_id, now_ms)
            told += 1
        return told

    def _pay(self, connection: sqlite3.Connection, tokens: int, now_ms: int) -> None:
        if tokens and self._backend.is_remote:
            summaries.spend(connection, _day(now_ms), self._backend.name, tokens)

    def _new_summary(self, planned: Planned, summary: Summary) -> NewSummary:
        return NewSummary(
            event_id=planned.raw.id,
            model=summary.model or self._backend.name,
            prompt_hash=planned.prompt_hash,
            cache_key=planned.cache_key,
            text=summary.text,
            words=index_words(summary.text),
            tokens_in=summary.tokens_in,
            tokens_out=summary.tokens_out,
            confidence=summary.confidence,
            scope=planned.item.scope,
            cites=tuple(each.event_id for each in planned.item.story if each.event_id != planned.raw.id),
        )

    async def _cap_reached(self, unwritten: int) -> str | None:
        """Return why a remote backend may not be asked now; `unwritten` tokens are spent and not yet stored."""
        if self._daily_token_cap == 0:
            return "memory.dailyTokenCap is 0: nothing may be sent to a remote backend"
        day = _day(self._clock.now_ms())
        spent = unwritten + await self._store.read(lambda connection: summaries.spent(connection, day))
        return f"the daily cap of {self._daily_token_cap} tokens is reached" if spent >= self._daily_token_cap else None

    def _note_circuit(self, verdicts: Sequence[Verdict]) -> None:
        later = [verdict for verdict in verdicts if isinstance(verdict, TryLater)]
        if later and len(later) == len(verdicts):
            self._circuit.open(later[0].reason, later[0].after_seconds)
        elif verdicts:
            self._circuit.close()


def _day(now_ms: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(now_ms / 1000))
