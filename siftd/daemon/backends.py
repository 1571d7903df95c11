"""The backends that write summaries: the configured one, and any other that a person names for one drain."""

from __future__ import annotations

import structlog

from siftd.clock import Clock
from siftd.config import Settings
from siftd.consolidate.circuit_breaker import Circuit
from siftd.consolidate.drain import Drainer, RecordSpend, Store
from siftd.consolidate.summary_requests import Limits, day_of
from siftd.crash_guard import CrashGuard
from siftd.store import backend_outage, token_spend
from siftd.store.access import Database
from siftd.summarise import FindSampler, known_backends, make_backend
from siftd.wire.requests.living import BackendState, NamedBackend, Tokens

log = structlog.get_logger()


class Backends:
    """Keeps one circuit for each backend that was asked for."""

    def __init__(
        self,
        settings: Settings,
        api_key: str | None,
        store: Store,
        clock: Clock,
        connection: Database,
        crash_guard: CrashGuard,
        *,
        find_sampler: FindSampler,
        record_spend: RecordSpend,
    ) -> None:
        """Make the configured one; `connection` tells since when it is away. Raises ConfigInvalid."""
        self._crash_guard = crash_guard
        self._find_sampler = find_sampler
        self._record_spend = record_spend
        self._api_key = api_key
        self._settings = settings
        self._store = store
        self._clock = clock
        self._drainers: dict[str, Drainer] = {}
        self.name: str = settings.memory_backend
        self.drainer = self._make(self.name, connection)

    def drainer_for(self, spec: str | None) -> Drainer:
        """Return the drainer of a backend by its name; of the configured one without. Raises ConfigInvalid."""
        if spec is None or spec == self.name:
            return self.drainer
        if spec not in self._drainers:
            self._drainers[spec] = self._make(spec, None)
        return self._drainers[spec]

    def state(self) -> BackendState:
        """Return the configured one's state, as `mem info` shows it."""
        circuit = self.drainer.circuit
        state = "ready" if circuit.last_error is None else "waiting"
        return {"name": self.name, "state": state, "lastError": circuit.last_error, "awaySince": circuit.away_since_ms}

    def states(self) -> list[NamedBackend]:
        """Return every backend that can be named, with what is missing to use it."""
        active = self.name.partition(":")[0]
        states: list[NamedBackend] = []
        for each in known_backends():
            state = "missing" if each.remedy else "available"
            shown: NamedBackend = {"name": each.name, "state": state, "lastError": None, "remedy": each.remedy}
            states.append({**shown, **self.state(), "name": each.name} if each.name == active else shown)
        return states

    def tokens(self, connection: Database) -> Tokens:
        """Return what was spent today (UTC) and what is left of the cap."""
        day, cap = day_of(self._clock.now_ms()), self._settings.memory_daily_token_cap
        spent = token_spend.spent_remotely(connection, day)
        return {
            "day": day,
            "cap": cap,
            "spent": spent,
            "left": max(0, cap - spent),
            **token_spend.spending(connection, day),
        }

    def _make(self, spec: str, connection: Database | None) -> Drainer:
        backend = make_backend(
            spec,
            api_key=self._api_key,
            base_url=self._base_url(spec),
            command=self._settings.memory_command,
            find_sampler=self._find_sampler,
        )
        if spec == "auto":
            log.info("backend_chosen", backend=backend.name)
        away = None if connection is None else backend_outage.away_since(connection, backend.name)
        return Drainer(
            self._store,
            backend,
            Circuit(self._clock, away_since_ms=away),
            self._clock,
            batch_size=self._settings.memory_consolidator_batch_size,
            crash_guard=self._crash_guard,
            record_spend=self._record_spend,
            limits=Limits(self._settings.memory_daily_token_cap, self._settings.memory_fallback_ms),
        )

    def _base_url(self, spec: str) -> str | None:
        """Return the configured address for a backend of the configured kind: another kind has another server."""
        is_same_kind = spec.partition(":")[0] == self._settings.memory_backend.partition(":")[0]
        return (self._settings.memory_base_url or None) if is_same_kind else None
