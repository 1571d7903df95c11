"""Which team a workspace has joined: taken up by an invitation, met as the same device, left again.

The link is in the log and the token in a file of its own. A store that speaks under another one's name, because its
home was copied or put back, is told apart when the server is met, and becomes another device of the same person.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from siftd.clock import Clock
from siftd.consolidate.drain import Store
from siftd.errors import RequestInvalid
from siftd.store import meta, team_links
from siftd.store.team_links import TeamLink
from siftd.team.protocol import Join, Joined, Leave, Renew
from siftd.team_sync.address import checked_url
from siftd.team_sync.client import TeamClient
from siftd.team_sync.errors import HomeCopied, TeamAway, TeamDenied, TeamError
from siftd.team_sync.own_items import SHARES
from siftd.team_sync.replica import Replica
from siftd.team_sync.token_file import is_token, read_token, remove_token, write_token
from siftd.workspace.paths import GLOBAL, WorkspacePaths

log = structlog.get_logger()

KeepIntent = Callable[[str, dict[str, Any]], Awaitable[object]]


class Membership:
    """The team of one workspace, if it has joined one."""

    def __init__(
        self,
        *,
        store: Store,
        paths: WorkspacePaths,
        clock: Clock,
        keep: KeepIntent,
        replica: Replica,
        on_change: Callable[[], object],
        ca_file: str,
    ) -> None:
        """`keep` logs and applies an intent; `on_change` hears that the replica holds something else."""
        self._store = store
        self._paths = paths
        self._clock = clock
        self._keep = keep
        self._replica = replica
        self._on_change = on_change
        self._ca_file = ca_file
        self._met: tuple[str, str] | None = None

    async def find_link(self) -> TeamLink | None:
        """Return the team that this workspace has joined."""
        link = await self._store.read(team_links.find_link)
        if link is not None:
            self._replica.choose(link.project)
        return link

    async def require(self, *, is_stopped_well: bool = False) -> TeamLink:
        """Return the team of this workspace. Raises RequestInvalid where there is none, or it is stopped."""
        link = await self.find_link()
        if link is None:
            raise RequestInvalid("this workspace has joined no team", hint="`mem team join URL --project NAME`")
        if link.problem is not None and not is_stopped_well:
            raise RequestInvalid(link.problem, hint="`mem team status` tells more")
        return link

    async def note_problem(self, problem: str | None) -> None:
        """Note why nothing goes up or comes down until a person acts; None: it does again."""
        now_ms = self._clock.now_ms()
        await self._store.write(lambda c: team_links.note_problem(c, problem, now_ms))

    # The server

    def client(self, link: TeamLink) -> TeamClient:
        """Return who asks the team's server. Raises TeamDenied where the token cannot be read."""
        return TeamClient(link.url, read_token(self._paths.team_token), ca_file=self._ca_file)

    async def hello(self, url: str) -> str:
        """Return the version of a server. Raises RequestInvalid, TeamError."""
        async with TeamClient(checked_url(url), ca_file=self._ca_file) as client:
            return (await client.hello()).server[:40]

    async def meet(self, client: TeamClient, link: TeamLink) -> None:
        """Once: see that versions meet, and that nobody else speaks under this device's name.

        The server knows how far this device has come. Where it knows of more than the replica has, another store has
        come there: this home was copied, or is an older one that was put back.
        """
        if self._met == (link.project, link.device):
            return
        await client.hello()
        cursor = await self._replica.cursor()
        if cursor.seq and cursor.epoch == link.epoch:
            members = await client.members(link.project)
            known = next((each.seq for each in members.devices if str(each.id) == link.device), 0)
            if known > cursor.seq:
                raise HomeCopied
        self._met = (link.project, link.device)

    def meet_again(self) -> None:
        """See anew, at the next time, whom one speaks with."""
        self._met = None

    # Joining and leaving

    async def join(self, url: str, project: str, invite: str, device: str, shares: tuple[str, ...]) -> TeamLink:
        """Take an invitation up. Raises RequestInvalid, TeamError; then nothing has changed here."""
        url = checked_url(url)
        await self._check_joinable(shares)
        if not 32 <= len(invite) <= 128:
            raise RequestInvalid("this is no invitation", hint="paste what `siftd team invite` printed")
        asked = Join(invite=invite, device=device or device_name(), store=await self._store_id())
        async with TeamClient(url, ca_file=self._ca_file) as client:
            await client.hello()
            try:
                joined = await client.join(asked)
            except TeamDenied as error:
                raise RequestInvalid(
                    "the team's server does not take this invitation", hint="it is good once, and for a day: ask anew"
                ) from error
        if project not in (joined.project.name, str(joined.project.id)):
            await self._give_up(url, joined)
            raise RequestInvalid("the invitation is for another project", hint="ask for one to this project")
        self._replica.choose(str(joined.project.id))
        await self.erase_replica()
        return await self._note_joined(url, joined, shares)

    async def renew(self, link: TeamLink) -> None:
        """Become another device of the same person. Raises TeamError."""
        log.warning("team_home_copied", hint="this store becomes another device")
        async with self.client(link) as client:
            joined = await client.renew(link.project, Renew(device=device_name(), store=await self._store_id()))
        await self._note_joined(link.url, joined, link.share)

    async def leave(self, *, forget_shared: bool, is_forced: bool) -> int:
        """Leave the team; return how many items it forgot. Raises TeamError where its server cannot be told, unless it
        `is_forced`: then it knows of the device still."""
        link = await self.require(is_stopped_well=True)
        forgotten = 0
        try:
            async with self.client(link) as client:
                forgotten = (await client.leave(link.project, Leave(forget_shared=forget_shared))).forgotten
        except TeamDenied:
            pass  # it knows nobody of this name any more
        except TeamError:
            if not is_forced:
                raise
        await self._keep("team_leave", {"project": link.project})
        remove_token(self._paths.team_token)
        await self.erase_replica()
        self.meet_again()
        return forgotten

    async def erase_replica(self) -> None:
        """Take away what came from the team."""
        await self._replica.erase()
        self._on_change()

    async def _check_joinable(self, shares: tuple[str, ...]) -> None:
        if self._paths.key == GLOBAL:
            raise RequestInvalid("what is kept for every project is one person's", hint="join in a project's folder")
        link = await self.find_link()
        if link is not None:
            raise RequestInvalid(f"this workspace has joined {link.name} already", hint="`mem team leave` first")
        check_shares(shares)

    async def _give_up(self, url: str, joined: Joined) -> None:
        """Leave again what was not meant."""
        if is_token(joined.token):
            async with TeamClient(url, joined.token, ca_file=self._ca_file) as client:
                await client.leave(str(joined.project.id), Leave())

    async def _note_joined(self, url: str, joined: Joined, shares: tuple[str, ...]) -> TeamLink:
        if not is_token(joined.token):
            raise TeamAway("the team's server gave a token that is none")
        write_token(self._paths.team_token, joined.token)
        payload = {
            "project": str(joined.project.id),
            "name": joined.project.name[:200],
            "url": url,
            "device": str(joined.device),
            "person": str(joined.person.id),
            "personName": joined.person.name[:200],
            "epoch": str(joined.epoch),
            "share": list(shares),
        }
        await self._keep("team_join", payload)
        self.meet_again()
        link = await self.find_link()
        assert link is not None, "it was just noted"
        return link

    async def _store_id(self) -> uuid.UUID:
        return uuid.UUID(await self._store.read(lambda c: meta.get(c, "store") or ""))


def device_name() -> str:
    """Return what people call this machine."""
    import socket

    return socket.gethostname()[:200] or "laptop"


def check_shares(shares: tuple[str, ...]) -> None:
    """Raise RequestInvalid for a kind that is not shared."""
    for each in shares:
        if each not in SHARES:
            raise RequestInvalid(f"{each!r} is nothing that is shared", hint=f"choose among {', '.join(SHARES)}")
