"""Who waits for a project's feed, and the hint that wakes them: PostgreSQL's LISTEN on one connection of its own.

A hint and no more: whoever is woken asks the feed, and whoever is not asks it after some seconds by themselves. Behind
a pooler that changes connections between transactions a LISTEN succeeds and is heard by nobody, so it is believed once
a notification of our own has come back through the pool.
"""

from __future__ import annotations

import asyncio
import secrets
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    import psycopg

log = structlog.get_logger()

CHANNEL = "siftd"
"""Where the store's `push` and `forget` say `PROJECT HEAD`."""
PROOF_SECONDS = 3.0
"""How long the notification of our own may take. Measured: under a millisecond."""
PROVE_AGAIN_SECONDS = 30.0
"""How often a connection that says nothing is tried: one that a firewall has dropped looks the same."""
PAUSE_SECONDS, PAUSE_SECONDS_MAX = 0.5, 10.0
POLL_SECONDS = 5.0
"""How often somebody who waits asks the feed where nobody is heard."""
HEARD_POLL_SECONDS = 15.0
"""The same while notifications come: one may be lost when a server fails over."""

Notify = Callable[[str, str], Awaitable[None]]
"""Sends a notification through the pool: a channel, a payload."""


class Notifications:
    """The heads of the projects that somebody waits for."""

    def __init__(self, dsn: str, notify: Notify) -> None:
        self._dsn = dsn
        self._notify = notify
        self._waiting: dict[uuid.UUID, set[asyncio.Event]] = {}
        self._proof = f"proof {secrets.token_hex(8)}"
        self._proven = asyncio.Event()
        self._is_over = False
        self.is_heard = False
        """Whether notifications come."""

    @property
    def poll_seconds(self) -> float:
        """After how long whoever waits asks by themselves."""
        return HEARD_POLL_SECONDS if self.is_heard else POLL_SECONDS

    @asynccontextmanager
    async def waiting(self, project: uuid.UUID) -> AsyncIterator[Callable[[float], Awaitable[bool]]]:
        """Give what waits for a change, so many seconds at most, and says whether to ask the feed again.

        What is said between two waits is not lost. Once the server ends, nobody waits any longer.
        """
        changed = asyncio.Event()
        waiting = self._waiting.setdefault(project, set())
        waiting.add(changed)

        async def wait(seconds: float) -> bool:
            if not self._is_over:
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), seconds)
            changed.clear()
            return not self._is_over

        try:
            yield wait
        finally:
            waiting.discard(changed)
            if not waiting:
                self._waiting.pop(project, None)

    def end(self) -> None:
        """Let everybody go who waits."""
        self._is_over = True
        for project in list(self._waiting):
            self._wake(project)

    async def run(self) -> None:
        """Listen until cancelled, again after each loss."""
        import psycopg

        pause = PAUSE_SECONDS
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    self._dsn, autocommit=True, prepare_threshold=None, application_name="siftd team listener",
                    connect_timeout=10,
                ) as connection:  # fmt: skip
                    await connection.execute(f"LISTEN {CHANNEL}")
                    await self._hear(connection)
            except (psycopg.Error, OSError, _Unheard) as error:
                if self.is_heard or pause == PAUSE_SECONDS:
                    log.warning("feed_not_heard", error=type(error).__name__, polls_every_seconds=POLL_SECONDS)
                pause = PAUSE_SECONDS if self.is_heard else min(pause * 2, PAUSE_SECONDS_MAX)
                self.is_heard = False
            await asyncio.sleep(pause)

    async def _hear(self, connection: psycopg.AsyncConnection) -> None:
        """Wake whoever waits, for as long as the connection proves from time to time that it is heard."""
        self._proven.clear()
        proving = asyncio.create_task(self._prove())
        reading = asyncio.create_task(self._read(connection))
        try:
            done, _ = await asyncio.wait((proving, reading), return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()
        finally:
            for each in (proving, reading):
                each.cancel()
            await asyncio.gather(proving, reading, return_exceptions=True)

    async def _prove(self) -> None:
        while True:
            self._proven.clear()
            try:
                await self._notify(CHANNEL, self._proof)
                await asyncio.wait_for(self._proven.wait(), PROOF_SECONDS)
            except Exception as error:
                raise _Unheard from error
            if not self.is_heard:
                log.info("feed_heard")
            self.is_heard = True
            await asyncio.sleep(PROVE_AGAIN_SECONDS)

    async def _read(self, connection: psycopg.AsyncConnection) -> None:
        async for said in connection.notifies():
            if said.payload == self._proof:
                self._proven.set()
                continue
            with suppress(ValueError):
                self._wake(uuid.UUID(said.payload.partition(" ")[0]))
        raise _Unheard

    def _wake(self, project: uuid.UUID) -> None:
        for changed in self._waiting.get(project, ()):
            changed.set()


class _Unheard(Exception):
    """Nothing of our own comes back: the connection is lost, or a pooler stands before it."""
