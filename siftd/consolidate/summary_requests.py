"""Asking: from plans to verdicts, by the cheapest way that is good enough.

The cache first; then the built-in backend for what is too trivial for a model; then the backend, call by call, while
its circuit is closed and the day's cap allows it. What it cannot be asked about waits or, once the backend has been
away for `memory.fallbackMs`, gets the built-in backend's text for the time being.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from siftd.clock import Clock
from siftd.consolidate.circuit_breaker import Circuit
from siftd.consolidate.planning import Planned
from siftd.summarise.contract import Backend, Cannot, Item, TokenBudget, TryLater, Verdict
from siftd.summarise.extractive import in_own_words
from siftd.summarise.salience import trivial_because

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds the asking."""

    daily_token_cap: int
    fallback_ms: int
    """How long a backend is waited for before the built-in one stands in."""


@dataclass
class Answers:
    """What a batch came to, by event, and what it cost."""

    verdicts: dict[int, Verdict] = field(default_factory=dict)
    stand_ins: set[int] = field(default_factory=set)
    """Events whose summary is to be replaced when the backend is back."""
    spent: int = 0
    cache_hits: int = 0
    outage: TryLater | None = None


class Asker:
    """Asks one backend."""

    def __init__(self, backend: Backend, circuit: Circuit, clock: Clock, limits: Limits) -> None:
        self.backend = backend
        self.circuit = circuit
        self._clock = clock
        self._limits = limits

    @property
    def may_ask(self) -> bool:
        return self.circuit.is_closed

    @property
    def stands_in(self) -> bool:
        """Whether the backend has been away for so long that the built-in one writes meanwhile."""
        return self.circuit.away_since_ms is not None and self.circuit.away_ms() >= self._limits.fallback_ms

    async def ask(self, planned: Sequence[Planned], spent_today: int, *, may_stand_in: bool = True) -> Answers:
        """Return a verdict for each plan; `spent_today` is what remote backends have used of the cap."""
        answers = Answers()
        asked: dict[str, Item] = {}
        for each in planned:
            if each.cached is not None:
                answers.verdicts[each.raw.id] = each.cached
                answers.cache_hits += 1
            elif each.cache_key not in asked:
                if not self.backend.is_free and trivial_because(each.item):
                    answers.verdicts[each.raw.id] = in_own_words(each.item)
                else:
                    asked[each.cache_key] = each.item
        if asked:
            await self._ask_backend(list(asked.values()), self.budget(spent_today), answers)
        if answers.outage is not None and may_stand_in and self.stands_in:
            self._fall_back(list(asked.values()), answers)
        for each in planned:
            if each.raw.id not in answers.verdicts:  # the very same was asked for another event of this batch
                original = asked[each.cache_key].event_id
                answers.verdicts[each.raw.id] = answers.verdicts[original]
                if original in answers.stand_ins:
                    answers.stand_ins.add(each.raw.id)
        return answers

    async def _ask_backend(self, items: list[Item], budget: TokenBudget, answers: Answers) -> None:
        if self.may_ask:
            refusal = budget.refusal
            verdicts = [TryLater(reason=refusal) for _ in items] if refusal else await self._sound(items, budget)
            answers.spent = budget.spent
            self._note(verdicts)
        else:
            reason = self.circuit.last_error or "the backend is away"
            verdicts = [TryLater(reason=reason) for _ in items]
        answers.verdicts |= {item.event_id: verdict for item, verdict in zip(items, verdicts, strict=True)}
        answers.outage = next((verdict for verdict in verdicts if isinstance(verdict, TryLater)), None)

    async def _sound(self, items: list[Item], budget: TokenBudget) -> list[Verdict]:
        """Return one verdict for each item. A backend that breaks its contract costs the event at which it does."""
        try:
            verdicts = await self.backend.summarise(items, budget)
            problem = "" if len(verdicts) == len(items) else "it gave another number of verdicts than events"
        except Exception as error:  # noqa: BLE001 - a batch's boundary: the reason is kept and shown
            problem = type(error).__name__
        if not problem:
            return verdicts
        if len(items) == 1:
            return [Cannot(reason=f"the backend failed ({problem})")]
        return [verdict for item in items for verdict in await self._sound([item], budget)]

    def budget(self, spent_today: int) -> TokenBudget:
        """Return what may still be spent today; `spent_today` is what remote backends have used of the cap."""
        if not self.backend.is_remote:
            return TokenBudget()
        cap = self._limits.daily_token_cap
        if cap == 0:
            return TokenBudget(0, refusal="memory.dailyTokenCap is 0: nothing may be sent to a remote backend")
        return TokenBudget(max(0, cap - spent_today), refusal=f"the daily cap of {cap} tokens is reached")

    def _fall_back(self, items: list[Item], answers: Answers) -> None:
        for item in items:
            if isinstance(answers.verdicts[item.event_id], TryLater):
                answers.verdicts[item.event_id] = in_own_words(item)
                answers.stand_ins.add(item.event_id)

    def _note(self, verdicts: Sequence[Verdict]) -> None:
        """Open the circuit when nobody was served, close it when somebody was."""
        later = [verdict for verdict in verdicts if isinstance(verdict, TryLater)]
        was_away = self.circuit.away_since_ms is not None
        if later and len(later) == len(verdicts):
            self.circuit.open(later[0].reason, later[0].after_seconds)
            if not was_away:
                log.warning("backend_away", backend=self.backend.name, error=later[0].reason)
        else:
            self.circuit.close()
            if was_away:
                log.info("backend_back", backend=self.backend.name)


def day_of(now_ms: int) -> str:
    """Return the day (YYYY-MM-DD, UTC) for which tokens are counted."""
    return time.strftime("%Y-%m-%d", time.gmtime(now_ms / 1000))
