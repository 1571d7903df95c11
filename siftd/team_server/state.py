"""What the routes of a team's server share."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio.to_thread
from anyio import CapacityLimiter

from siftd.clock import Clock
from siftd.errors import SiftdError
from siftd.team.items import Item
from siftd.team.protocol import Ignored
from siftd.team_server.embedding import Models
from siftd.team_server.filling import Filling
from siftd.team_server.hub import Hub
from siftd.team_server.intake import Intake
from siftd.team_server.limits import Limits
from siftd.team_server.notifications import Notifications
from siftd.team_server.reading import Reading
from siftd.team_server.store import TeamStore
from siftd.team_server.webhooks import Hooks
from siftd.web.confirmation import Confirmations
from siftd.web.jobs import Jobs

ANSWER_SECONDS = 2.0
"""How long `/health` waits for PostgreSQL."""
BELIEVED_SECONDS = 2.0
"""How long it believes what it heard: it is asked by anybody."""


SIFTING_MAX = 2
"""Pushes that are read for secrets at once: more would only take the processors from whoever asks meanwhile."""


@dataclass(slots=True)
class Heard:
    """Whether PostgreSQL answered, and until when that is believed."""

    answers: bool = False
    until: float = 0.0


@dataclass(frozen=True, slots=True)
class State:
    """One served process."""

    reading: Reading
    intake: Intake
    notifications: Notifications
    models: Models
    filling: Filling
    hub: Hub
    limits: Limits
    confirmations: Confirmations
    jobs: Jobs
    hooks: Hooks
    clock: Clock
    heard: Heard = field(default_factory=Heard)
    sifting: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(SIFTING_MAX))

    @property
    def store(self) -> TeamStore:
        """The primary."""
        return self.reading.primary

    async def sift(self, items: Sequence[Item]) -> tuple[list[Item], list[Ignored]]:
        """Return the items that may enter, and those that may not; in a thread, a few at a time."""
        return await anyio.to_thread.run_sync(self.intake.sift, items, limiter=self.sifting)

    async def check_member(self, digest: bytes, project: uuid.UUID) -> None:
        """Raise SiftdError for whoever is no member of a project."""
        await self.store.check_seen(digest, project, 0)

    async def store_answers(self) -> bool:
        """Whether PostgreSQL answers."""
        if self.clock.monotonic() >= self.heard.until:
            self.heard.until = self.clock.monotonic() + BELIEVED_SECONDS
            try:
                await asyncio.wait_for(self.store.hello(), ANSWER_SECONDS)
                self.heard.answers = True
            except (SiftdError, TimeoutError):
                self.heard.answers = False
        return self.heard.answers
