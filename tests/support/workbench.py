"""The consolidator's parts over an opened store, with a clock that a test turns and a backend that it scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from known_kinds import named
from opened_store import OpenedStore

from siftd.config import Settings
from siftd.consolidate.circuit_breaker import Circuit
from siftd.consolidate.consolidator import TAKE_IN, Consolidator
from siftd.consolidate.drain import Drainer, DrainResult
from siftd.consolidate.embedding import EmbeddingQueue
from siftd.consolidate.indexing import RawIndexer
from siftd.consolidate.passes import (
    Embedding,
    Indexing,
    Rewriting,
    SessionSummarising,
    Summarising,
    Superseding,
    Task,
    TickTask,
)
from siftd.consolidate.summary_requests import Limits
from siftd.consolidate.superseding import Superseder
from siftd.embed.embedder import Blend384
from siftd.filters import Filters
from siftd.model import Event, Outcome
from siftd.search.engine import Answer, SearchEngine
from siftd.search.vectors import VectorIndex
from siftd.store import backend_outage
from siftd.summarise.contract import Item, Summary, TokenBudget, TryLater, Verdict, story_hashes

DAY_MS = 86_400_000
NOON_MS = 20_000 * DAY_MS + DAY_MS // 2


class TurnedClock:
    """Time stands still until a test moves it."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def now_ms(self) -> int:
        return NOON_MS + int((self.seconds - 1000.0) * 1000)

    def monotonic(self) -> float:
        return self.seconds

    def forward(self, seconds: float) -> None:
        self.seconds += seconds


class ScriptedBackend:
    """Says of each event what `verdict` says; remembers which events it was asked about, batch by batch."""

    def __init__(self, *, name: str = "scripted:1", is_remote: bool = False) -> None:
        self.name = name
        self.is_remote = is_remote
        self.is_free = False
        self.batches: list[list[int]] = []
        self.items: list[Item] = []
        self.verdict: Callable[[Item], Verdict] = summary_of
        self.during: Callable[[], Any] | None = None

    def prompt_hash(self, item: Item) -> str:
        return " ".join(["prompt of", item.tool, *story_hashes(item)])

    async def summarise(self, batch: Sequence[Item], budget: TokenBudget) -> list[Verdict]:
        self.batches.append([item.event_id for item in batch])
        self.items += batch
        if self.during is not None:
            await self.during()
        return [self._paid(item, budget) for item in batch]

    def _paid(self, item: Item, budget: TokenBudget) -> Verdict:
        if (refusal := budget.refusal) is not None:
            return TryLater(reason=refusal)
        verdict = self.verdict(item)
        if not isinstance(verdict, TryLater):
            budget.pay(verdict.tokens_in + verdict.tokens_out)
        return verdict

    @property
    def asked(self) -> list[int]:
        return [event_id for batch in self.batches for event_id in batch]


def summary_of(item: Item) -> Summary:
    """Repeat what the event was about, so that tests choose the text."""
    about = item.payload.get("tool_input", {})
    text = about.get("command", "") if isinstance(about, dict) else ""
    return Summary(text=text or f"nothing is told of {item.tool}", confidence=0.8, tokens_in=10, tokens_out=5)


class Workbench:
    """`async with` opens the store and puts the parts together as the daemon does."""

    def __init__(self, folder: Path, *, daily_token_cap: int = 0, values: dict[str, object] | None = None) -> None:
        self.store = OpenedStore(folder, values=values)
        self.settings = Settings.of(values or {})
        self.daily_token_cap = daily_token_cap
        self.clock = TurnedClock()
        self.backend = ScriptedBackend()
        self.embedder = Blend384()
        self.spooled = 0
        self.calls = 0

    async def __aenter__(self) -> Workbench:
        await self.store.__aenter__()
        self.index = VectorIndex(self.embedder.name, self.embedder.dim)
        self.put_together()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.store.__aexit__(*error)

    def put_together(self) -> None:
        """Make the parts anew, as after a restart or with another backend."""
        self.circuit = Circuit(
            self.clock, away_since_ms=backend_outage.away_since(self.store.reader, self.backend.name), draw=lambda: 0.5
        )
        self.drainer = Drainer(
            self.store,
            self.backend,
            self.circuit,
            self.clock,
            batch_size=self.settings.memory_consolidator_batch_size,
            limits=Limits(self.daily_token_cap, self.settings.memory_fallback_ms),
        )
        self.embedding = EmbeddingQueue(self.store, self.embedder)
        self.superseder = Superseder(
            self.store,
            lambda: self.index,
            self.clock,
            cosine=self.settings.memory_consolidator_supersede_cosine,
        )
        self.indexer = RawIndexer(self.store)
        self.consolidator = Consolidator(
            passes=[
                Task(TAKE_IN, lambda: self.take_spool()),
                Indexing(self.store, self.indexer),
                Summarising(self.store),
                SessionSummarising(),
                Rewriting(),
                Embedding(self.embedding),
                Superseding(
                    self.store,
                    self.superseder,
                    self.indexer,
                    self.clock,
                    every_seconds=self.settings.memory_consolidator_supersede_ms / 1000,
                ),
                TickTask("maintain", lambda: self.keep_up()),
            ],
            store=self.store,
            clock=self.clock,
            tick_seconds=self.settings.memory_consolidator_tick_ms / 1000,
            find_drainer=lambda: self.drainer,
            indexer=self.indexer,
            embedding=self.embedding,
        )

    async def take_spool(self) -> None:
        self.spooled += 1

    async def keep_up(self) -> None:
        """Leave log and snapshots to their own tests."""

    async def tell(
        self, *texts: str, session: str = "s1", ts: int | None = None, tool: str = "Bash", **fields: Any
    ) -> list[int]:
        """Capture one call for each text and return the events' ids."""
        events = [self.call(text, session=session, ts=ts, tool=tool, **fields) for text in texts]
        return [receipt.event_id or 0 for receipt in await self.store.keep(*events)]

    def call(
        self,
        text: str,
        *,
        session: str = "s1",
        ts: int | None = None,
        tool: str = "Bash",
        outcome: Outcome | None = "ok",
        **tool_input: Any,
    ) -> Event:
        self.calls += 1
        return Event(
            client="claude-code",
            session_id=session,
            **named(tool),
            payload={"tool_input": {"command": text, **tool_input}, "tool_response": {"stdout": ""}},
            ts=self.clock.now_ms() if ts is None else ts,
            identity=("tool", f"t{self.calls}"),
            native_id=f"t{self.calls}",
            outcome=outcome,
        )

    async def drain(self, limit: int | None = None, *, batches: int | None = None) -> DrainResult:
        """Summarise alone: no vectors, no superseding; at most so many batches."""
        result = DrainResult()
        seen = 0

        async def on_batch(_: DrainResult) -> None:
            nonlocal seen
            seen += 1

        await self.drainer.drain(
            result, limit=limit, goes_on=lambda: batches is None or seen < batches, on_batch=on_batch
        )
        return result

    async def settle(self) -> None:
        """Summarise, embed, supersede and index everything."""
        self.clock.forward(3600)
        await self.consolidator.drain(None, nobody)

    @property
    def engine(self) -> SearchEngine:
        return SearchEngine(self.store.reader, lambda: self.index, self.embedder.embed_question, self.clock.now_ms)

    def search(self, query: str, k: int = 10, **filters: Any) -> Answer:
        return self.engine.search(query, k, Filters(**filters))

    def hits(self, query: str, k: int = 10, **filters: Any) -> list[int]:
        """Return the events that a search finds, best first."""
        return [hit["eventId"] for hit in self.search(query, k, **filters).hits]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.store.rows(sql)

    def by_hand(self, *statements: str) -> None:
        """Do what a person does with the sqlite3 program: foreign keys are off there."""
        connection = self.store.by_hand()
        try:
            for statement in statements:
                connection.execute(statement)
        finally:
            connection.close()

    def statuses(self) -> dict[int, str]:
        return dict(self.rows("SELECT id, status FROM events"))


async def nobody(_: DrainResult) -> None:
    """Report to nobody."""
