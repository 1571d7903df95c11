"""Keeping a workspace up to date with its team, by tasks that nobody waits for.

Two loops: one waits for what others tell and applies it, one tells what has changed here. Both leave a server alone
that does not answer, for longer with each failure; nothing of the daemon's own work, nor its end, depends on either.
What no later try can mend (a token that is revoked, a membership that is over) stops both until a person acts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import structlog

from siftd.clock import Clock
from siftd.consolidate.circuit_breaker import LONGEST_WAIT_SECONDS, Circuit
from siftd.consolidate.drain import Store
from siftd.consolidate.embedding import EmbeddingQueue
from siftd.errors import SiftdError, StoreClosed
from siftd.store import team_outbox
from siftd.store.team_links import TeamLink
from siftd.team_sync.errors import HomeCopied, TeamAway, TeamDenied, TeamOtherVersion
from siftd.team_sync.membership import Membership
from siftd.team_sync.pulling import Puller, PullResult
from siftd.team_sync.pushing import Pusher
from siftd.team_sync.replica import Replica
from siftd.team_sync.token_file import REJOIN

log = structlog.get_logger()

PUSH_SECONDS = 5.0
"""How often it is looked whether something is to be told: what comes within goes up in one message."""
WAIT_SECONDS = 25
"""How long the server is asked to wait for something new."""
REST_SECONDS = 1.0
"""Between two questions that brought nothing: a server that does not wait is not asked without end."""
REPLICA_BYTES_MAX = 8 * 1024 * 1024 * 1024
"""Some four million items. Arbitrary: a server must not be able to fill a disk."""
DENIED_MAX = 2
"""Answers that this is no member, one after the other, before the replica goes: one may be a server's mistake."""


class KeepingUp:
    """The loops, and how it stands with the server."""

    def __init__(
        self,
        *,
        membership: Membership,
        store: Store,
        replica: Replica,
        puller: Puller,
        pusher: Pusher,
        embedding: EmbeddingQueue,
        clock: Clock,
        on_change: Callable[[], object],
        is_pushing: bool,
    ) -> None:
        """`on_change` hears that the replica holds something else."""
        self._membership = membership
        self._store = store
        self._replica = replica
        self._puller = puller
        self._pusher = pusher
        self._embedding = embedding
        self._clock = clock
        self._on_change = on_change
        self._is_pushing = is_pushing
        self.circuit = Circuit(clock)
        self._denied = 0
        self._is_to_clean = False
        self._changed = anyio.Event()
        self._came = anyio.Event()
        self._is_closed = False

    async def run(self) -> None:
        """Keep up with the team until this is cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._loop, self._pull_once)
            if self._is_pushing:
                tasks.start_soon(self._loop, self._push_once)
            tasks.start_soon(self._embed)

    def begin_again(self) -> None:
        """Look again at once whether there is a team, and ask its server whatever went wrong before."""
        self.circuit.close()
        self._denied = 0
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    def close(self) -> None:
        """Begin nothing more. The tasks are cancelled by whoever runs them."""
        self._is_closed = True

    # The tasks

    async def _loop(self, once: Callable[[TeamLink], Awaitable[None]]) -> None:
        """A boundary: whatever fails here is told by `mem team status`, and tried again."""
        while not self._is_closed:
            link = None
            try:
                link = await self._ready()
                await once(link)
            except StoreClosed:
                return
            except Exception as error:  # noqa: BLE001 - as said above
                await self.react(error, link)

    async def _ready(self) -> TeamLink:
        """Return the team once there is one, nothing has stopped it, and its server may be asked."""
        while True:
            changed = self._changed
            rest: float | None = self.circuit.open_until - self._clock.monotonic()
            if rest is not None and rest <= 0:  # looked at before the store is asked: that may be what fails
                link = await self._membership.find_link()
                if link is not None and link.problem is None:
                    return link
                rest = None
            with anyio.move_on_after(rest):
                await changed.wait()

    async def _pull_once(self, link: TeamLink) -> None:
        begun = self._clock.monotonic()
        async with self._membership.client(link) as client:
            await self._membership.meet(client, link)
            page = await self._puller.pull_page(client, link, wait=WAIT_SECONDS)
        self.note_pulled(page)
        if self._replica.size_bytes() > REPLICA_BYTES_MAX:
            raise TeamAway("the team's items take more than 8 GB here", after_seconds=LONGEST_WAIT_SECONDS)
        if page.is_head and not page.changed and not page.gone:
            if self._is_to_clean:
                self._is_to_clean = not await self._replica.clean()
            await anyio.sleep(max(0.0, begun + REST_SECONDS - self._clock.monotonic()))

    async def _push_once(self, link: TeamLink) -> None:
        waiting, _, _ = await self._store.read(team_outbox.read_counts)
        if waiting:
            async with self._membership.client(link) as client:
                await self._membership.meet(client, link)
                await self._pusher.push(client, link)
            self.note_answered()
        await anyio.sleep(PUSH_SECONDS)

    async def _embed(self) -> None:
        """Give what came its vectors; where the embedder is away they are made with what comes next."""
        while True:
            came = self._came
            try:
                if await self._membership.find_link() is not None and self._replica.size_bytes():
                    await self._embedding.run(lambda: not self._is_closed)
            except StoreClosed:
                return
            except Exception as error:  # noqa: BLE001 - a boundary, as the loops are
                log.warning("team_not_embedded", error=_named(error))
            await came.wait()

    # How it stands with the server

    def note_answered(self) -> None:
        """Note that the server is there, and knows this device."""
        self.circuit.close()
        self._denied = 0

    def note_pulled(self, page: PullResult) -> None:
        """Note what a pull has brought."""
        self.note_answered()
        if page.changed or page.gone:
            self._is_to_clean = self._is_to_clean or bool(page.gone)
            came, self._came = self._came, anyio.Event()
            came.set()
            self._on_change()

    async def react(self, error: Exception, link: TeamLink | None) -> None:
        """Wait, stop, or become another device: whatever the failure asks for. `link` is the team that was asked: an
        answer that comes after it was left says nothing of the one that was joined since. Never raises: the daemon
        would end with the loop."""
        try:
            await self._react(error, link)
        except Exception as worse:  # noqa: BLE001 - the own store can be asked, or written, no more than the server
            self.circuit.open(f"{_said_of(error)}; then the own store failed ({_named(worse)})", None)
        if self.circuit.last_error is not None:
            log.warning("team_away", reason=self.circuit.last_error)

    async def _react(self, error: Exception, link: TeamLink | None) -> None:
        if link is not None and not await self._is_still(link):
            return
        match error:
            case HomeCopied() if link is not None:
                await self._renew(link)
            case TeamDenied():
                await self._deny(error)
            case TeamOtherVersion():
                self.circuit.open(_said(error), LONGEST_WAIT_SECONDS)
            case TeamAway():
                self.circuit.open(_said(error), error.after_seconds)
            case _:
                if not isinstance(error, SiftdError):
                    log.error("team_sync_failed", exc_info=error)
                self.circuit.open(_said_of(error), None)

    async def _is_still(self, link: TeamLink) -> bool:
        current = await self._membership.find_link()
        return current is not None and (current.project, current.device) == (link.project, link.device)

    async def _renew(self, link: TeamLink) -> None:
        try:
            await self._membership.renew(link)
        except TeamAway as error:
            self.circuit.open(_said(error), error.after_seconds)
        except SiftdError as error:
            await self._stop(f"this home was copied, and cannot become a device of its own: {error.message}; {REJOIN}")
        else:
            self.begin_again()

    async def _deny(self, error: TeamDenied) -> None:
        self._denied += error.is_no_member
        if error.is_no_member and self._denied < DENIED_MAX:
            self.circuit.open(_said(error), None)
            return
        await self._stop(_said(error))
        if error.is_no_member:
            await self._membership.erase_replica()
            log.warning("team_replica_erased", reason="no member any more")

    async def _stop(self, problem: str) -> None:
        log.warning("team_stopped", reason=problem)
        await self._membership.note_problem(problem)


def _named(error: Exception) -> str:
    return error.code if isinstance(error, SiftdError) else type(error).__name__


def _said_of(error: Exception) -> str:
    return _said(error) if isinstance(error, SiftdError) else f"it failed ({_named(error)}); see `mem logs`"


def _said(error: SiftdError) -> str:
    return f"{error.message}; {error.hint}" if error.hint else error.message
