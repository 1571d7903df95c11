"""Draining: raw events become summaries, batch after batch, newest sessions first.

A batch is planned, its verdicts asked for (`asking.py`); then summaries, statuses, cache and provenance are written
in one transaction. No transaction is open while a backend works. After the events come the sessions that are over,
then what the built-in backend wrote while the configured one was away. Embedding is a queue of its own
(`embedding.py`), so a failing embedder delays nothing here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

import structlog

from siftd.clock import Clock
from siftd.consolidate.circuit_breaker import Circuit
from siftd.consolidate.planning import Planned, plan_again, plan_events, plan_sessions
from siftd.consolidate.summary_requests import Answers, Asker, Limits, day_of
from siftd.crash_guard import CrashGuard
from siftd.embed.words import index_words
from siftd.store import backend_outage, resummary_queue, summaries, token_spend, turn_summaries
from siftd.store.access import Database
from siftd.store.summaries import NewSummary
from siftd.summarise.batching import calls_of
from siftd.summarise.contract import Backend, Cannot, Summary, TryLater
from siftd.summarise.errors import ModelUnavailable
from siftd.summarise.extractive import in_own_words
from siftd.summarise.prompt import Answering, Prompt

log = structlog.get_logger()
T = TypeVar("T")

ATTEMPTS_MAX = 3
QUARANTINED = "working on it ended the daemon twice"
_PLAN_SIZE = 256
_PLAN_SECONDS = 1.0
"""Raw ids are read ahead, and again after this: what a live session adds soon comes first, however slow the backend."""
SESSION_IDLE_MS = 900_000
"""After so long without an event a session gets its summary: before an idle daemon ends."""


class Store(Protocol):
    """The store as the consolidator uses it: reading off the event loop, writing through the committer."""

    async def read(self, work: Callable[[Database], T]) -> T: ...

    async def write(self, work: Callable[[Database], T]) -> T: ...


RecordSpend = Callable[[str, str, int], Awaitable[None]]
"""(day, backend, tokens): writes down what was paid, before what it was paid for."""


@dataclass
class DrainResult:
    """What a drain did. `errors` counts events that got no summary; `first_error` is the backend's first complaint."""

    processed: int = 0
    errors: int = 0
    embedded: int = 0
    sessions: int = 0
    """Sessions that got their summary."""
    rewritten: int = 0
    """Summaries that a better one replaced."""
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
        limits: Limits,
        crash_guard: CrashGuard | None = None,
        record_spend: RecordSpend | None = None,
    ) -> None:
        """`record_spend` writes down what a remote backend was paid where a rebuild does not lose it; else it is in the
        database alone."""
        self._store = store
        self._record_spend = record_spend or self._record_spend_in_database
        self._backend = backend
        self.circuit = circuit
        self._clock = clock
        self._batch_size = batch_size
        self._noted_away = circuit.away_since_ms
        self._asker = Asker(backend, circuit, clock, limits)
        self._crash_guard = crash_guard or CrashGuard()

    async def drain(
        self,
        result: DrainResult,
        *,
        limit: int | None,
        goes_on: Callable[[], bool],
        on_batch: Callable[[DrainResult], Awaitable[None]] | None = None,
    ) -> None:
        """Summarise at most `limit` events (None: all) while `goes_on()`; `result` grows as it does."""

        def is_done() -> bool:
            return not (goes_on() and (self._asker.may_ask or self._asker.stands_in))

        while not is_done():
            room = _PLAN_SIZE if limit is None else min(_PLAN_SIZE, limit - result.processed - result.errors)
            parked = len(result.parked)
            wanted = await self._store.read(lambda c, n=room + parked: summaries.list_raw_ids(c, n))  # type: ignore[misc]
            ids = [each for each in wanted if each not in result.parked][:room]
            if not ids:
                return
            stale = self._clock.monotonic() + _PLAN_SECONDS
            for batch in self._crash_guard.split("summarise", ids, self._batch_size):
                if is_done():
                    return
                if self._crash_guard.is_quarantined("summarise", batch[0]):
                    await self._skip(batch[0], result)
                else:
                    with self._crash_guard.on("summarise", batch):
                        await self._drain_batch(batch, result)
                if on_batch is not None:
                    await on_batch(result)
                if self._clock.monotonic() >= stale:
                    break

    async def _skip(self, event_id: int, result: DrainResult) -> None:
        """Leave an event out for good; `mem retry` has it tried again."""
        await self._store.write(lambda c: summaries.note_cannot(c, event_id, QUARANTINED, 1))
        self._crash_guard.clear("summarise", [event_id])
        result.note(QUARANTINED)
        log.warning("event_left_out", event_id=event_id, reason=QUARANTINED)

    async def summarise_sessions(self, result: DrainResult, *, goes_on: Callable[[], bool]) -> None:
        """Write the summaries of sessions that are over, or have been idle for a while; newest first."""
        summarised = self._batch_size
        while summarised == self._batch_size and goes_on() and (self._asker.may_ask or self._asker.stands_in):
            idle_since = self._clock.now_ms() - SESSION_IDLE_MS
            list_due = partial(turn_summaries.list_sessions_due, idle_since=idle_since, limit=self._batch_size)
            due = await self._store.read(list_due)
            planned = await self._store.read(lambda c, ids=due: plan_sessions(c, self._backend, ids))  # type: ignore[misc]
            answers = await self._ask(planned)
            summarised = await self._store.write(lambda c, p=planned, a=answers: self._write_sessions(c, p, a))  # type: ignore[misc]
            result.sessions += summarised

    async def rewrite(self, result: DrainResult, *, goes_on: Callable[[], bool]) -> None:
        """Replace what stood in for a backend that was away, or is to be told anew; newest first."""
        while goes_on() and self._asker.may_ask:
            waiting = await self._store.read(
                lambda c: resummary_queue.list_waiting(c, self._rewrites(), self._batch_size)
            )
            if not waiting:
                return
            planned = await self._store.read(lambda c, w=waiting: plan_again(c, self._backend, w))  # type: ignore[misc]
            answers = await self._ask([each for _, each in planned], may_stand_in=False)
            rewritten = await self._store.write(lambda c, p=planned, a=answers: self._rewrite(c, p, a))  # type: ignore[misc]
            result.rewritten += rewritten
            if answers.outage is not None:
                result.first_error = result.first_error or answers.outage.reason
                return

    def _rewrites(self) -> str | None:
        """Return what has to wait for us: anybody's stand-ins, or only what a person wants told anew."""
        return resummary_queue.ANY_BACKEND if self._backend.is_free else None

    async def _drain_batch(self, ids: Sequence[int], result: DrainResult) -> None:
        planned, own = await self._store.read(lambda connection: plan_events(connection, self._backend, ids))
        result.parked.update(set(ids) - {each.raw.id for each in planned} - set(own))
        if own:
            result.processed += await self._store.write(lambda c: summaries.note_without_summary(c, own))
        for part in self._parts(planned):
            answers = await self._ask(part)
            await self._store.write(lambda c, p=part, a=answers: self._write(c, p, a, result))  # type: ignore[misc]

    def _parts(self, planned: list[Planned]) -> list[list[Planned]]:
        """Return what is asked and written together: for a remote backend one call, so that a crash forgets no bill."""
        if not self._backend.is_remote:
            return [planned]
        by_id = {each.raw.id: each for each in planned}
        return [[by_id[item.event_id] for item in call] for call in calls_of([each.item for each in planned])]

    async def _ask(self, planned: Sequence[Planned], *, may_stand_in: bool = True) -> Answers:
        answers = await self._asker.ask(planned, await self._spent_today(), may_stand_in=may_stand_in)
        if answers.spent and self._backend.is_remote:
            await self._record_spend(day_of(self._clock.now_ms()), self._backend.name, answers.spent)
        return answers

    async def ask_model(self, prompt: Prompt) -> str | None:
        """Return what the backend's model says to a request of another kind, within the day's cap.

        None where there is no model, or none that may be asked now; an outage is noted as one of summaries is.
        """
        backend = self._backend
        if not isinstance(backend, Answering) or not self._asker.may_ask:
            return None
        budget = self._asker.budget(await self._spent_today())
        if budget.refusal is not None:
            return None
        try:
            return await backend.answer(prompt, budget)
        except ModelUnavailable as outage:
            self.circuit.open(outage.message, outage.after_seconds)
            return None
        finally:
            if budget.spent:
                await self._note_spent(budget.spent)

    async def _spent_today(self) -> int:
        if not self._backend.is_remote:
            return 0
        day = day_of(self._clock.now_ms())
        return await self._store.read(lambda connection: token_spend.spent_remotely(connection, day))

    async def _note_spent(self, tokens: int) -> None:
        day = day_of(self._clock.now_ms())
        if self._backend.is_remote:
            await self._record_spend(day, self._backend.name, tokens)
        else:
            await self._store.write(lambda c: token_spend.spend(c, day, self._backend.name, tokens, is_remote=False))

    async def _record_spend_in_database(self, day: str, backend: str, tokens: int) -> None:
        await self._store.write(lambda c: token_spend.spend(c, day, backend, tokens, is_remote=True))

    def _write(self, connection: Database, planned: Sequence[Planned], answers: Answers, result: DrainResult) -> None:
        now_ms = self._clock.now_ms()
        new: list[NewSummary] = []
        fallen_back: list[NewSummary] = []
        for each in planned:
            match answers.verdicts[each.raw.id]:
                case Summary() as summarised:
                    new.append(self._new_summary(each, summarised, answers))
                case Cannot(reason=reason):
                    if summaries.note_cannot(connection, each.raw.id, reason, ATTEMPTS_MAX):
                        fallen_back += self._fallback(each, answers)
                    result.parked.add(each.raw.id)
                    result.note(reason)
                case TryLater(reason=reason):
                    summaries.note_parked(connection, [each.raw.id], reason)
                    result.parked.add(each.raw.id)
                    result.note(reason)
        summaries.insert_summaries(connection, new, now_ms)
        for summary in fallen_back:
            summaries.insert_fallback(connection, summary, now_ms)
        summaries.insert_edges(connection, [each.raw for each in planned], now_ms)
        self._account(connection, answers, now_ms)
        result.processed += len(new)
        if answers.outage is not None:
            result.first_error = result.first_error or answers.outage.reason

    def _fallback(self, planned: Planned, answers: Answers) -> list[NewSummary]:
        """Return what the built-in backend says of an event of which this one has said nothing usable three times."""
        if self._backend.is_free:
            return []
        try:
            summary = in_own_words(planned.item)
        except Exception:  # noqa: BLE001 - whatever a renderer meets, the event stays skipped and is told as such
            log.warning("no_fallback", event_id=planned.raw.id)
            return []
        return [replace(self._new_summary(planned, summary, answers), waits_for=resummary_queue.RETRY)]

    def _write_sessions(self, connection: Database, planned: Sequence[Planned], answers: Answers) -> int:
        """Store the summaries of sessions; one that a backend cannot write is written by the built-in one."""
        now_ms = self._clock.now_ms()
        summarised = 0
        for each in planned:
            verdict = answers.verdicts[each.raw.id]
            if isinstance(verdict, TryLater) or not summaries.has_event(connection, each.raw.id):
                continue
            summary = verdict if isinstance(verdict, Summary) else in_own_words(each.item)
            summary_id = summaries.insert_summary(connection, self._new_summary(each, summary, answers), now_ms)
            turn_summaries.supersede_earlier(connection, summary_id, each.raw.session_id, now_ms)
            summarised += 1
        self._account(connection, answers, now_ms)
        return summarised

    def _rewrite(self, connection: Database, planned: Sequence[tuple[int, Planned]], answers: Answers) -> int:
        """Store each better summary and hide the old one behind it; who gets none keeps what it has."""
        now_ms = self._clock.now_ms()
        rewritten = 0
        for summary_id, each in planned:
            verdict = answers.verdicts[each.raw.id]
            if isinstance(verdict, TryLater):
                continue
            if isinstance(verdict, Summary):
                rewritten += resummary_queue.replace(
                    connection, summary_id, self._new_summary(each, verdict, answers), now_ms
                )
            resummary_queue.note_resummarised(connection, summary_id)
        self._account(connection, answers, now_ms)
        return rewritten

    def _account(self, connection: Database, answers: Answers, now_ms: int) -> None:
        """Write down what a local backend used, what the cache saved, and since when the backend is away."""
        if answers.spent and not self._backend.is_remote:
            token_spend.spend(connection, day_of(now_ms), self._backend.name, answers.spent, is_remote=False)
        if answers.cache_hits:
            token_spend.count_cache_hits(connection, answers.cache_hits)
        if self._noted_away != self.circuit.away_since_ms:
            self._noted_away = self.circuit.away_since_ms
            backend_outage.note_away(connection, self._backend.name, self._noted_away)

    def _new_summary(self, planned: Planned, summary: Summary, answers: Answers) -> NewSummary:
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
            said_by=planned.said_by,
            scope=planned.item.scope,
            cites=tuple(each.event_id for each in planned.item.story if each.event_id != planned.raw.id),
            waits_for=self._backend.name if planned.raw.id in answers.stand_ins else None,
        )
