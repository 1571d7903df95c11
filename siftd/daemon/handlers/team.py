"""Requests about the team of the workspace."""

from __future__ import annotations

import anyio
import msgspec

from siftd import ids
from siftd.config import Settings
from siftd.daemon.handlers.answering import answers
from siftd.daemon.store_access import StoreAccess
from siftd.daemon.team_state import team_line
from siftd.errors import RequestInvalid, SiftdError
from siftd.store import team_outbox, team_reading
from siftd.store.access import Database
from siftd.team.items import SOURCES
from siftd.team.protocol import Members
from siftd.team_sync.address import checked_url
from siftd.team_sync.membership import check_shares, device_name
from siftd.team_sync.previewing import KINDS, list_items, preview
from siftd.team_sync.sync import TeamSync
from siftd.wire import requests

ASK_SECONDS = 5.0
"""How long `mem team status` waits for the server."""
PARKED_SHOWN = 50
MEMBERS_SHOWN, NAME_CHARS_SHOWN = 500, 200
"""Of members, of devices, and of what the server calls them: arbitrary, a server has no say in it."""


class TeamRequests:
    """Joins, tells, asks."""

    def __init__(self, *, team: TeamSync, store: StoreAccess, settings: Settings) -> None:
        self._team = team
        self._store = store
        self._settings = settings

    @answers(requests.TeamPreview)
    async def preview(self, request: requests.TeamPreview) -> requests.TeamPreviewAnswer:
        shares = self._shares(request.share)
        server = await self._team.hello(request.url) if request.url is not None else None
        found = await preview(self._store, shares)
        return {
            "server": server,
            "url": None if request.url is None else checked_url(request.url),
            "device": device_name(),
            "share": list(shares),
            "byShare": dict(found.by_share),
            "private": found.private,
            "chars": found.chars,
        }

    @answers(requests.TeamItems)
    async def items(self, request: requests.TeamItems) -> requests.TeamItemsAnswer:
        """A page is of one kind of rows; `after` is that kind and the last name of it."""
        kind, _, after = request.after.partition(" ") if request.after else (KINDS[0], "", "")
        if kind not in KINDS:
            raise RequestInvalid("there is no such page", hint="begin without `after`")
        found, last = await list_items(self._store, self._shares(request.share), kind, after, request.limit)
        following = f"{kind} {last}" if last is not None else None
        if last is None and kind != KINDS[-1]:
            following = f"{KINDS[KINDS.index(kind) + 1]} "
        items = [{"share": share, **msgspec.to_builtins(put)} for share, put in found]
        for each in items:  # what nobody knows before joining
            for name in ("op", "id", "rev", "hash"):
                del each[name]
        return {"items": items, "next": following}

    @answers(requests.TeamJoin)
    async def join(self, request: requests.TeamJoin) -> requests.TeamJoinAnswer:
        shares = self._shares(request.share)
        link = await self._team.join(request.url, request.project, request.invite.strip(), request.device, shares)
        waiting, _, _ = await self._store.read(team_outbox.read_counts)
        return {"project": link.project, "name": link.name, "person": link.person_name, "waiting": waiting}

    @answers(requests.TeamLeave)
    async def leave(self, request: requests.TeamLeave) -> requests.TeamLeaveAnswer:
        link = await self._team.find_link()
        forgotten = await self._team.leave(forget_shared=request.forget_shared, is_forced=request.force)
        return {"name": "" if link is None else link.name, "forgotten": forgotten}

    @answers(requests.TeamPush)
    async def push(self, request: requests.TeamPush) -> requests.TeamPushAnswer:
        result = await self._team.push(everything=request.all)
        waiting, _, _ = await self._store.read(team_outbox.read_counts)
        return {
            "put": result.put,
            "forgotten": result.forgotten,
            "parked": result.parked,
            "unchanged": result.unchanged,
            "waiting": waiting,
        }

    @answers(requests.TeamPull)
    async def pull(self, _: requests.TeamPull) -> requests.TeamPullAnswer:
        result = await self._team.pull()
        return {"changed": result.changed, "gone": result.gone}

    @answers(requests.TeamMembers)
    async def members(self, _: requests.TeamMembers) -> requests.TeamMembersAnswer:
        link = await self._team.find_link()
        return _members(await self._team.members(), "" if link is None else link.device)

    @answers(requests.TeamSearch)
    async def search(self, request: requests.TeamSearch) -> requests.TeamSearchAnswer:
        found = await self._team.search(request.query, request.k, request.sources, request.strategy)
        items = [str(hit.item.id) for hit in found.hits]

        def number(_: Database) -> dict[str, int]:
            return self._store.team.find(lambda replica: team_reading.numbers_of(replica, items)) or {}

        numbers = await self._store.read(number)
        return {
            "found": [
                {
                    "id": ids.cite(ids.TEAM, numbers[item]) if item in numbers else item,
                    "source": hit.item.source,
                    "text": hit.item.text,
                    "author": hit.author.name,
                    "ts": hit.item.ts,
                    "metadata": hit.item.metadata,
                    "ranks": hit.ranks,
                }
                for item, hit in zip(items, found.hits, strict=True)
            ],
            "strategy": found.strategy,
            "degraded": "; ".join(found.degraded) or None,
        }

    @answers(requests.TeamStatus)
    async def status(self, request: requests.TeamStatus) -> requests.TeamStatusAnswer:
        link = await self._team.find_link()
        if link is None:
            return {"team": None}
        members = await self._ask_members() if request.ask and link.problem is None else None
        shared, parked, forgets_waiting, forgets = await self._store.read(
            lambda c: (
                team_outbox.count_shared(c),
                team_outbox.list_parked(c, PARKED_SHOWN),
                team_outbox.count_forgets_waiting(c),
                team_outbox.list_forgets(c),
            )
        )
        line = await team_line(self._team, self._store)
        replica = await self._team.replica.count()
        return {
            "team": line,
            "project": link.project,
            "person": link.person_name,
            "device": link.device,
            "share": list(link.share),
            "joinedTs": link.ts,
            "pushedTs": link.pushed_ts,
            "lastError": self._team.last_error,
            "shared": shared,
            "replica": {source: count - own for source, (count, own) in replica.items() if count > own},
            "replicaBytes": self._team.replica.size_bytes(),
            "seq": (await self._team.replica.cursor()).seq if self._team.replica.size_bytes() else 0,
            "parked": [
                {"name": name, "kind": kind, "reason": reason, "since": since} for name, kind, reason, since in parked
            ],
            "forgetsWaiting": forgets_waiting,
            "forgets": [_forget(*each, members) for each in forgets],
            "members": None if members is None else _members(members, link.device),
        }

    async def _ask_members(self) -> Members | None:
        """Ask who has applied what; where all have come to a forgetting, it is over."""
        members = None
        try:
            with anyio.move_on_after(ASK_SECONDS):
                members = await self._team.members()
        except SiftdError:
            return None
        if members is not None and members.devices:
            least = min(each.seq for each in members.devices)
            await self._store.write(lambda c: team_outbox.note_applied(c, least))
        return members

    def _shares(self, asked: list[str] | None) -> tuple[str, ...]:
        shares = tuple(dict.fromkeys(self._settings.team_share if asked is None else asked))
        check_shares(shares)
        return shares


def _members(members: Members, device: str) -> requests.TeamMembersAnswer:
    return {
        "project": members.project.name[:NAME_CHARS_SHOWN],
        "head": members.project.head,
        "members": [
            {"name": each.person.name[:NAME_CHARS_SHOWN], "role": each.role, "disabled": each.disabled}
            for each in members.members[:MEMBERS_SHOWN]
        ],
        "devices": [
            {
                "name": each.name[:NAME_CHARS_SHOWN],
                "person": each.person.name[:NAME_CHARS_SHOWN],
                "seq": each.seq,
                "seenAt": each.seen_at,
                "isThis": str(each.id) == device,
            }
            for each in members.devices[:MEMBERS_SHOWN]
        ],
        "used": {source: members.used[source] for source in SOURCES if source in members.used},
    }


def _forget(seq: int, items: int, ts: int, members: Members | None) -> requests.TeamForget:
    devices = [] if members is None else members.devices
    return {
        "items": items,
        "ts": ts,
        "applied": sum(each.seq >= seq for each in devices),
        "devices": len(devices),
        "behind": [(each.name[:NAME_CHARS_SHOWN], each.seen_at) for each in devices[:MEMBERS_SHOWN] if each.seq < seq],
    }
