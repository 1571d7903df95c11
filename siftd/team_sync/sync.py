"""What a person asks of a workspace's team: to join, leave, push, pull, search it, and who is in it.

Asked for, the server is asked whatever the loops that keep up (`keeping_up`) think of it, and a failure is told to who
asked; they hear of it too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from siftd.clock import Clock
from siftd.consolidate.drain import Store
from siftd.consolidate.embedding import EmbeddingQueue
from siftd.crash_guard import CrashGuard
from siftd.embed.embedder import Embedder
from siftd.store import team_outbox
from siftd.store.team_links import TeamLink
from siftd.team.protocol import Members
from siftd.team.searching import SearchFound
from siftd.team_sync.client import TeamClient
from siftd.team_sync.errors import HomeCopied, TeamAway, TeamError, TeamOtherEpoch
from siftd.team_sync.keeping_up import KeepingUp
from siftd.team_sync.membership import KeepIntent, Membership
from siftd.team_sync.others_items import found_by_server
from siftd.team_sync.pulling import Puller, PullResult
from siftd.team_sync.pushing import Pusher, PushResult
from siftd.team_sync.replica import Replica
from siftd.workspace.paths import WorkspacePaths

T = TypeVar("T")


class TeamSync:
    """The team of one workspace, for who asks."""

    def __init__(
        self,
        *,
        store: Store,
        paths: WorkspacePaths,
        clock: Clock,
        keep: KeepIntent,
        embedder: Embedder,
        crash_guard: CrashGuard,
        redact: Callable[[str], str],
        on_change: Callable[[], object] = lambda: None,
        is_pushing: bool = True,
        ca_file: str = "",
    ) -> None:
        """`keep` logs and applies an intent; `redact` takes secrets out of what others tell; `on_change` hears that the
        replica holds something else; without `is_pushing` things are told at a person's word alone."""
        self._store = store
        self._clock = clock
        self._redact = redact
        self.replica = Replica(paths.team_replica, clock, redact)
        self._pusher = Pusher(store, self.replica, clock)
        self._puller = Puller(store, self.replica, clock)
        self._membership = Membership(
            store=store,
            paths=paths,
            clock=clock,
            keep=keep,
            replica=self.replica,
            on_change=on_change,
            ca_file=ca_file,
        )
        self._keeping_up = KeepingUp(
            membership=self._membership,
            store=store,
            replica=self.replica,
            puller=self._puller,
            pusher=self._pusher,
            embedding=EmbeddingQueue(self.replica, embedder, crash_guard, work="embed-team"),
            clock=clock,
            on_change=on_change,
            is_pushing=is_pushing,
        )
        self.run = self._keeping_up.run
        self.find_link = self._membership.find_link
        self.require = self._membership.require
        self.hello = self._membership.hello

    async def join(self, url: str, project: str, invite: str, device: str, shares: tuple[str, ...]) -> TeamLink:
        """Take an invitation up. Raises RequestInvalid, TeamError; then nothing has changed here."""
        link = await self._membership.join(url, project, invite, device, shares)
        self._keeping_up.begin_again()
        return link

    async def leave(self, *, forget_shared: bool, is_forced: bool) -> int:
        """Leave the team; return how many items it forgot. Raises TeamError where its server cannot be told, unless it
        `is_forced`: then it knows of the device still."""
        forgotten = await self._membership.leave(forget_shared=forget_shared, is_forced=is_forced)
        self._keeping_up.begin_again()
        return forgotten

    async def push(self, *, everything: bool = False) -> PushResult:
        """Tell now what waits; `everything` again that may be shared. Raises TeamError."""
        link = await self.require()
        now_ms = self._clock.now_ms()
        if everything:
            await self._store.write(lambda c: team_outbox.mark_all(c, now_ms))
            await self._store.write(team_outbox.unpark)
        return await self._act(link, self._pusher.push)

    async def pull(self) -> PullResult:
        """Take now what is there. Raises TeamError; a team that was stopped goes on where it answers."""
        link = await self.require(is_stopped_well=True)
        result = await self._act(link, self._puller.pull)
        self._keeping_up.note_pulled(result)
        if link.problem is not None:
            await self._membership.note_problem(None)
            self._membership.meet_again()
            self._keeping_up.begin_again()
        return result

    async def do(self, act: Callable[[TeamClient, TeamLink], Awaitable[T]]) -> T:
        """Pull what is there, then do something at a person's word. Raises RequestInvalid, TeamError."""

        async def pull_and_act(client: TeamClient, link: TeamLink) -> T:
            self._keeping_up.note_pulled(await self._puller.pull(client, link))
            return await act(client, link)

        return await self._act(await self.require(), pull_and_act)

    async def members(self) -> Members:
        """Return who is in the project. Raises TeamError."""
        link = await self.require(is_stopped_well=True)
        async with self._membership.client(link) as client:
            return await client.members(link.project)

    async def search(self, query: str, k: int, sources: Sequence[str], strategy: str) -> SearchFound:
        """Return what the team's server finds, at somebody's word: what is asked leaves this machine, without what
        looks like a secret, and what comes is as others' items are here. Raises TeamError."""
        link = await self.require(is_stopped_well=True)
        asked = {"q": self._redact(query), "k": str(k), "strategy": strategy}
        asked |= {"source": ",".join(sources)} if sources else {}
        async with self._membership.client(link) as client:
            return found_by_server(await client.search(link.project, asked), k, self._redact)

    async def _act(self, link: TeamLink, act: Callable[[TeamClient, TeamLink], Awaitable[T]]) -> T:
        """Do at a person's word what a loop would do, whatever the circuit says."""
        try:
            async with self._membership.client(link) as client:
                await self._membership.meet(client, link)
                try:
                    result = await act(client, link)
                except TeamOtherEpoch:
                    result = await act(client, await self._catch_up(client))
        except HomeCopied as error:
            await self._keeping_up.react(error, link)
            raise TeamAway("this home was copied: it is another device from now on", hint="try it once more") from None
        except TeamError as error:
            await self._keeping_up.react(error, link)
            raise
        self._keeping_up.note_answered()
        return result

    async def _catch_up(self, client: TeamClient) -> TeamLink:
        """Pull everything of a server that was restored, and return the team as it is known then."""
        for _ in range(2):
            link = await self.require()
            try:
                self._keeping_up.note_pulled(await self._puller.pull(client, link))
            except TeamOtherEpoch:
                continue
            return link
        raise TeamAway("the team's server is never what it was a moment before")

    # Its state

    @property
    def away_since_ms(self) -> int | None:
        """Since when the server has not answered."""
        return self._keeping_up.circuit.away_since_ms

    @property
    def last_error(self) -> str | None:
        """Why it is left alone now."""
        return self._keeping_up.circuit.last_error

    def close(self) -> None:
        """Let go of the replica. The tasks are cancelled by whoever runs them."""
        self._keeping_up.close()
        self.replica.close()
