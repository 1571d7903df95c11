"""Where a question is read: at a replica where there is one, at the primary where the replica is behind or away.

Whoever has just changed something says with `minSeq` that the answer must know of it; a replica that does not yet
refuses with 409, and the primary is asked. Where even the primary is behind (a backup was restored), the 409 is for
the caller: it pulls again.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from siftd.errors import SiftdError
from siftd.team_server.store import TeamStore
from siftd.web.problems import status_of

log = structlog.get_logger()

T = TypeVar("T")
ASK_THE_PRIMARY = frozenset({409, 500, 502, 503, 504})
"""Statuses of a replica's refusals after which the primary is asked; any other is the answer."""


class Reading:
    """The store as it is read."""

    def __init__(self, primary: TeamStore, replica: TeamStore | None) -> None:
        """`replica` reads there and writes to the same primary."""
        self.primary = primary
        self.replica = replica

    async def read(
        self, digest: bytes, project: uuid.UUID, min_seq: int, ask: Callable[[TeamStore], Awaitable[T]]
    ) -> T:
        """Return an answer that knows of everything up to `min_seq`. Raises SiftdError."""
        if self.replica is not None:
            try:
                return await _read_at(self.replica, digest, project, min_seq, ask)
            except SiftdError as error:
                if status_of(error) not in ASK_THE_PRIMARY:
                    raise
                log.debug("replica_passed_over", code=error.code)
        return await _read_at(self.primary, digest, project, min_seq, ask)


async def _read_at(
    store: TeamStore, digest: bytes, project: uuid.UUID, min_seq: int, ask: Callable[[TeamStore], Awaitable[T]]
) -> T:
    if min_seq:
        await store.check_seen(digest, project, min_seq)
    return await ask(store)
