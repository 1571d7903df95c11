"""The worker that gives items their vectors, in batches, until none of a project lacks one of its model.

The rows of an earlier model stay as they are until theirs is replaced, so that a changed model costs no search its
answer. What is found wanting is remembered by project and by whose token it was seen with; after a restart of the
server the next push or search of a project finds it again.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Callable

import structlog

from siftd.clock import Clock
from siftd.embed.errors import EmbedderUnavailable
from siftd.errors import ConfigInvalid, SiftdError
from siftd.team_server.embedding import BUILT_IN, Models
from siftd.team_server.hub import Hub, Indexed
from siftd.team_server.store import Embedded, TeamStore
from siftd.web.problems import status_of

log = structlog.get_logger()

BATCH_ITEMS = 256
BATCH_ITEMS_SERVED = 64
"""Of a model that is asked over a network, which has a time for each text."""
WANTED_MAX = 1_000
"""Projects, by whose token, whose items may lack vectors; of more the one is forgotten that was seen least lately."""
PAUSE_SECONDS = 5.0
"""How long everything is left alone after the store or a model could not."""

Wanted = tuple[uuid.UUID, bytes]
Report = Callable[[int, int | None], None]


class Filling:
    """The vectors that are to be made by one server."""

    def __init__(self, store: TeamStore, models: Models, hub: Hub, clock: Clock) -> None:
        self._store = store
        self._models = models
        self._hub = hub
        self._clock = clock
        self._wanted: OrderedDict[Wanted, None] = OrderedDict()
        self._changed = asyncio.Event()

    def want(self, project: uuid.UUID, digest: bytes) -> None:
        """Have a project looked through with somebody's token, soon."""
        self._wanted[project, digest] = None
        self._wanted.move_to_end((project, digest))
        if len(self._wanted) > WANTED_MAX:
            self._wanted.popitem(last=False)
        self._changed.set()

    async def run(self) -> None:
        """Fill what is wanted, until cancelled."""
        while True:
            if not self._wanted:
                self._changed.clear()
                await self._changed.wait()
            failed = 0
            for project, digest in list(self._wanted):
                failed += not await self._filled(project, digest)
            if failed:
                await asyncio.sleep(PAUSE_SECONDS)

    async def fill(self, project: uuid.UUID, digest: bytes, report: Report) -> int:
        """Fill all of a project that a token sees, and return how many. Raises SiftdError where something is away."""
        filled = 0
        total = before = None
        model = await self._store.embedder(digest, project)
        at_once = BATCH_ITEMS if model in BUILT_IN else BATCH_ITEMS_SERVED
        while True:
            batch = await self._store.reindex_next(digest, project, model, at_once, before)
            if not batch.items:
                report(filled, filled)
                return filled
            total = batch.missing if before is None else total
            report(filled, total)
            before = batch.before
            rows = await self._models.embed(model, [each.text for each in batch.items])
            embedded = [Embedded(each.id, each.hash, row) for each, row in zip(batch.items, rows, strict=True)]
            if not await self._store.reindex_put(digest, project, model, embedded):
                return filled  # all of them have changed meanwhile, or the model has; whoever changed them asks again
            now = self._clock.now_ms()
            self._hub.broadcast(
                project, digest, [Indexed(each.id, each.source, each.visibility, now) for each in batch.items]
            )
            filled += len(batch.items)

    async def _filled(self, project: uuid.UUID, digest: bytes) -> bool:
        """Fill once; whether it is over with this one, be it that nobody may."""
        self._wanted.pop((project, digest), None)
        try:
            filled = await self.fill(project, digest, lambda *_: None)
        except EmbedderUnavailable:  # told by the model's circuit
            is_over = False
        except ConfigInvalid as error:
            is_over = True
            log.warning("project_unfilled", project=str(project), error=error.message, hint=error.hint)
        except SiftdError as error:
            is_over = status_of(error) in (401, 403, 404)
            if not is_over:
                log.warning("filling_failed", project=str(project), code=error.code)
        except Exception:
            is_over = False
            log.exception("filling_failed", project=str(project))
        else:
            is_over = True
            if filled:
                log.info("project_filled", project=str(project), items=filled)
        if not is_over:
            self._wanted.setdefault((project, digest), None)
        return is_over
