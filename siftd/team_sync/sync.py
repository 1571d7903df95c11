"""A workspace and its team: joined at a person's word, kept up to date by tasks that nobody waits for.

Two loops: one waits for what others tell and applies it, one tells what has changed here. Both leave a server alone
that does not answer, for longer with each failure; nothing of the daemon's own work, nor its end, depends on either.
What no later try can mend (a token that is revoked, a membership that is over) stops both until a person acts.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import anyio
import msgspec
import structlog

from siftd.clock import Clock
from siftd.consolidate.circuit_breaker import LONGEST_WAIT_SECONDS, Circuit
from siftd.consolidate.drain import Store
from siftd.consolidate.embedding import EmbeddingQueue
from siftd.crash_guard import CrashGuard
from siftd.embed.embedder import Embedder
from siftd.errors import RequestInvalid, SiftdError, StoreClosed, StoreError
from siftd.store import meta, team_links, team_outbox
from siftd.store.team_links import TeamLink
from siftd.team.protocol import Join, Joined, Leave, Members, Renew
from siftd.team.searching import SearchFound
from siftd.team_sync.address import checked_url
from siftd.team_sync.client import TeamClient
from siftd.team_sync.errors import TeamAway, TeamDenied, TeamError, TeamOtherEpoch, TeamOtherVersion
from siftd.team_sync.own_items import SHARES
from siftd.team_sync.pulling import Puller, PullResult
from siftd.team_sync.pushing import HomeCopied, Pusher, PushResult
from siftd.team_sync.replica import Replica
from siftd.team_sync.token_file import REJOIN, is_token, read_token, remove_token, write_token
from siftd.workspace.paths import GLOBAL, WorkspacePaths

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

T = TypeVar("T")
KeepIntent = Callable[[str, dict[str, Any]], Awaitable[object]]


class TeamSync:
    """The team of one workspace, if it has joined one."""

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
        self._paths = paths
        self._clock = clock
        self._keep = keep
        self._on_change = on_change
        self._redact = redact
        self._is_pushing = is_pushing
        self._ca_file = ca_file
        self.replica = Replica(paths.team_replica, clock, redact)
        self._pusher = Pusher(store, self.replica, clock)
        self._puller = Puller(store, self.replica, clock)
        self._embedding = EmbeddingQueue(self.replica, embedder, crash_guard, work="embed-team")
        self._circuit = Circuit(clock)
        self._denied = 0
        self._met: tuple[str, str] | None = None
        self._is_to_clean = False
        self._changed = anyio.Event()
        self._came = anyio.Event()
        self._push_lock = anyio.Lock()
        self._is_closed = False

    # The tasks

    async def run(self) -> None:
        """Keep up with the team until this is cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._loop, self._pull_once)
            if self._is_pushing:
                tasks.start_soon(self._loop, self._push_once)
            tasks.start_soon(self._embed)

    async def _loop(self, once: Callable[[TeamLink], Awaitable[None]]) -> None:
        """A boundary: whatever fails here is told by `mem team status`, and tried again."""
        while not self._is_closed:
            try:
                link = await self._ready()
                await once(link)
            except StoreClosed:
                return
            except Exception as error:  # noqa: BLE001 - as said above
                await self._react(error)

    async def _ready(self) -> TeamLink:
        """Return the team once there is one, nothing has stopped it, and its server may be asked."""
        while True:
            changed = self._changed
            link = await self.find_link()
            rest = self._circuit.open_until - self._clock.monotonic()
            if link is not None and link.problem is None and rest <= 0:
                return link
            with anyio.move_on_after(rest if link is not None and link.problem is None else None):
                await changed.wait()

    async def _pull_once(self, link: TeamLink) -> None:
        begun = self._clock.monotonic()
        async with self._client(link) as client:
            await self._meet(client, link)
            page = await self._puller.pull_page(client, link, wait=WAIT_SECONDS)
        self._succeeded(page)
        if self.replica.size_bytes() > REPLICA_BYTES_MAX:
            raise TeamAway("the team's items take more than 8 GB here", after_seconds=LONGEST_WAIT_SECONDS)
        if page.is_head and not page.changed and not page.gone:
            if self._is_to_clean:
                self._is_to_clean = not await self.replica.clean()
            await anyio.sleep(max(0.0, begun + REST_SECONDS - self._clock.monotonic()))

    async def _push_once(self, link: TeamLink) -> None:
        waiting, _, _ = await self._store.read(team_outbox.read_counts)
        if waiting:
            async with self._push_lock, self._client(link) as client:
                await self._meet(client, link)
                result = await self._pusher.push(client, link)
            self._succeeded(None)
            if result.put or result.forgotten:
                log.info("team_told", put=result.put, forgotten=result.forgotten)
        await anyio.sleep(PUSH_SECONDS)

    async def _embed(self) -> None:
        """Give what came its vectors; where the embedder is away they are made with what comes next."""
        while True:
            came = self._came
            link = await self.find_link()
            if link is not None and self.replica.size_bytes():
                try:
                    await self._embedding.run(lambda: not self._is_closed)
                except StoreError as error:
                    log.warning("team_not_embedded", error=error.code)
            await came.wait()

    def _succeeded(self, page: PullResult | None) -> None:
        self._circuit.close()
        self._denied = 0
        if page is not None and (page.changed or page.gone):
            self._is_to_clean = self._is_to_clean or bool(page.gone)
            came, self._came = self._came, anyio.Event()
            came.set()
            self._on_change()

    async def _react(self, error: Exception) -> None:
        """Wait, stop, or become another device: whatever the failure asks for."""
        match error:
            case HomeCopied():
                await self._renew()
            case TeamDenied():
                await self._deny(error)
            case TeamOtherVersion():
                self._circuit.open(_said(error), LONGEST_WAIT_SECONDS)
            case TeamAway():
                self._circuit.open(_said(error), error.after_seconds)
            case SiftdError():
                self._circuit.open(_said(error), None)
            case _:
                log.exception("team_sync_failed")
                self._circuit.open(f"it failed ({type(error).__name__}); see `mem logs`", None)
        if self._circuit.last_error is not None:
            log.warning("team_away", reason=self._circuit.last_error)

    async def _deny(self, error: TeamDenied) -> None:
        self._denied += error.is_no_member
        if error.is_no_member and self._denied < DENIED_MAX:
            self._circuit.open(_said(error), None)
            return
        await self._stop(_said(error))
        if error.is_no_member:
            await self._erase_replica()
            log.warning("team_replica_erased", reason="no member any more")

    async def _erase_replica(self) -> None:
        await self.replica.erase()
        self._on_change()

    async def _stop(self, problem: str) -> None:
        log.warning("team_stopped", reason=problem)
        now_ms = self._clock.now_ms()
        await self._store.write(lambda c: team_links.note_problem(c, problem, now_ms))

    # Meeting the server

    def _client(self, link: TeamLink) -> TeamClient:
        return TeamClient(link.url, read_token(self._paths.team_token), ca_file=self._ca_file)

    async def _meet(self, client: TeamClient, link: TeamLink) -> None:
        """Once: see that versions meet, and that nobody else speaks under this device's name.

        The server knows how far this device has come. Where it knows of more than the replica has, another store has
        come there: this home was copied, or is an older one that was put back.
        """
        if self._met == (link.project, link.device):
            return
        await client.hello()
        cursor = await self.replica.cursor()
        if cursor.seq and cursor.epoch == link.epoch:
            members = await client.members(link.project)
            known = next((each.seq for each in members.devices if str(each.id) == link.device), 0)
            if known > cursor.seq:
                raise HomeCopied
        self._met = (link.project, link.device)

    async def _renew(self) -> None:
        link = await self.find_link()
        if link is None:
            return
        log.warning("team_home_copied", hint="this store becomes another device")
        try:
            async with self._client(link) as client:
                joined = await client.renew(link.project, Renew(device=device_name(), store=await self._store_id()))
            await self._note_joined(link.url, joined, link.share)
        except TeamAway as error:
            self._circuit.open(_said(error), error.after_seconds)
        except SiftdError as error:
            await self._stop(f"this home was copied, and cannot become a device of its own: {error.message}; {REJOIN}")

    # What a person asks for

    async def find_link(self) -> TeamLink | None:
        """Return the team that this workspace has joined."""
        link = await self._store.read(team_links.find_link)
        if link is not None:
            self.replica.choose(link.project)
        return link

    async def hello(self, url: str) -> str:
        """Return the version of a server. Raises RequestInvalid, TeamError."""
        async with TeamClient(checked_url(url), ca_file=self._ca_file) as client:
            return (await client.hello()).server[:40]

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
        self.replica.choose(str(joined.project.id))
        await self._erase_replica()
        return await self._note_joined(url, joined, shares)

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
        self._circuit.close()
        self._denied = 0
        self._wake()
        link = await self.find_link()
        assert link is not None, "it was just noted"
        return link

    async def leave(self, *, forget_shared: bool, is_forced: bool) -> int:
        """Leave the team; return how many items it forgot. Raises TeamError where its server cannot be told, unless it
        `is_forced`: then it knows of the device still."""
        link = await self._require(is_stopped_well=True)
        forgotten = 0
        try:
            async with self._client(link) as client:
                forgotten = (await client.leave(link.project, Leave(forget_shared=forget_shared))).forgotten
        except TeamDenied:
            pass  # it knows nobody of this name any more
        except TeamError:
            if not is_forced:
                raise
        await self._keep("team_leave", {"project": link.project})
        remove_token(self._paths.team_token)
        await self._erase_replica()
        self._met = None
        self._circuit.close()
        self._wake()
        return forgotten

    async def push(self, *, everything: bool = False) -> PushResult:
        """Tell now what waits; `everything` again that may be shared. Raises TeamError."""
        link = await self._require()
        now_ms = self._clock.now_ms()
        if everything:
            await self._store.write(lambda c: team_outbox.mark_all(c, now_ms))
            await self._store.write(team_outbox.unpark)
        async with self._push_lock:
            return await self._act(link, self._pusher.push)

    async def pull(self) -> PullResult:
        """Take now what is there. Raises TeamError; a team that was stopped goes on where it answers."""
        link = await self._require(is_stopped_well=True)
        result = await self._act(link, self._puller.pull)
        if link.problem is not None:
            await self._store.write(lambda c: team_links.note_problem(c, None, self._clock.now_ms()))
            self._wake()
        return result

    async def do(self, act: Callable[[TeamClient, TeamLink], Awaitable[T]]) -> T:
        """Pull what is there, then do something at a person's word. Raises RequestInvalid, TeamError."""
        link = await self.require()

        async def pull_and_act(client: TeamClient, link: TeamLink) -> T:
            await self._puller.pull(client, link)
            return await act(client, link)

        return await self._act(link, pull_and_act)

    async def require(self) -> TeamLink:
        """Return the team of this workspace. Raises RequestInvalid where there is none, or it is stopped."""
        return await self._require()

    async def members(self) -> Members:
        """Return who is in the project. Raises TeamError."""
        link = await self._require(is_stopped_well=True)
        async with self._client(link) as client:
            return await client.members(link.project)

    async def search(self, query: str, k: int, sources: Sequence[str], strategy: str) -> SearchFound:
        """Return what the team's server finds, at somebody's word: what is asked leaves this machine, without what
        looks like a secret, and what comes is as others' items are here. Raises TeamError."""
        link = await self._require(is_stopped_well=True)
        asked = {"q": self._redact(query), "k": str(k), "strategy": strategy}
        asked |= {"source": ",".join(sources)} if sources else {}
        async with self._client(link) as client:
            found = await client.search(link.project, asked)
        hits = [
            msgspec.structs.replace(hit, item=msgspec.structs.replace(hit.item, text=self._redact(hit.item.text)))
            for hit in found.hits
        ]
        return msgspec.structs.replace(found, hits=hits[:k])

    async def _act(self, link: TeamLink, act: Callable[[TeamClient, TeamLink], Awaitable[T]]) -> T:
        """Do at a person's word what a loop would do, whatever the circuit says."""
        try:
            async with self._client(link) as client:
                await self._meet(client, link)
                try:
                    result = await act(client, link)
                except TeamOtherEpoch:
                    result = await act(client, await self._catch_up(client))
        except HomeCopied:
            await self._renew()
            raise TeamAway("this home was copied: it is another device from now on", hint="try it once more") from None
        except TeamError as error:
            await self._react(error)
            raise
        self._succeeded(result if isinstance(result, PullResult) else None)
        return result

    async def _catch_up(self, client: TeamClient) -> TeamLink:
        """Pull everything of a server that was restored, and return the team as it is known then."""
        for _ in range(2):
            link = await self._require()
            try:
                await self._puller.pull(client, link)
            except TeamOtherEpoch:
                continue
            return link
        raise TeamAway("the team's server is never what it was a moment before")

    async def _require(self, *, is_stopped_well: bool = False) -> TeamLink:
        link = await self.find_link()
        if link is None:
            raise RequestInvalid("this workspace has joined no team", hint="`mem team join URL --project NAME`")
        if link.problem is not None and not is_stopped_well:
            raise RequestInvalid(link.problem, hint="`mem team status` tells more")
        return link

    async def _store_id(self) -> uuid.UUID:
        return uuid.UUID(await self._store.read(lambda c: meta.get(c, "store") or ""))

    # Its state

    @property
    def away_since_ms(self) -> int | None:
        """Since when the server has not answered."""
        return self._circuit.away_since_ms

    @property
    def last_error(self) -> str | None:
        """Why it is left alone now."""
        return self._circuit.last_error

    def _wake(self) -> None:
        self._met = None
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    def close(self) -> None:
        """Let go of the replica. The tasks are cancelled by whoever runs them."""
        self._is_closed = True
        self.replica.close()


def device_name() -> str:
    """Return what people call this machine."""
    import socket

    return socket.gethostname()[:200] or "laptop"


def check_shares(shares: tuple[str, ...]) -> None:
    """Raise RequestInvalid for a kind that is not shared."""
    for each in shares:
        if each not in SHARES:
            raise RequestInvalid(f"{each!r} is nothing that is shared", hint=f"choose among {', '.join(SHARES)}")


def _said(error: SiftdError) -> str:
    return f"{error.message}; {error.hint}" if error.hint else error.message
