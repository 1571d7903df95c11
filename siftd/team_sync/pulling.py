"""Taking what others tell: a page of the feed at a time, with its cursor, into the replica.

What a server answers is checked before anything of it is applied: places in the feed rise, none is beyond the page,
there are no more than were asked for, and a page before the last one goes on. A page that is larger than any may be is
asked for again, shorter.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

import structlog

from siftd.clock import Clock
from siftd.consolidate.drain import Store
from siftd.store import meta, team_links, team_outbox, team_replica
from siftd.store.team_links import TeamLink
from siftd.team.items import NATURAL
from siftd.team.protocol import ITEMS_MAX, Changed, Changes, Gone
from siftd.team_sync.client import TeamClient
from siftd.team_sync.errors import TeamAway, TeamOtherEpoch, TeamTooLarge
from siftd.team_sync.forgotten import mark_forgotten
from siftd.team_sync.replica import Replica

log = structlog.get_logger()


@dataclass
class PullResult:
    """What a pull has brought."""

    changed: int = 0
    gone: int = 0
    is_head: bool = False
    """There is no more for now."""


class Puller:
    """Brings the replica up to the feed."""

    def __init__(self, store: Store, replica: Replica, clock: Clock) -> None:
        self._store = store
        self._replica = replica
        self._clock = clock
        self._limit = ITEMS_MAX
        self._looked_through: tuple[str, str, str] | None = None

    async def pull(self, client: TeamClient, link: TeamLink) -> PullResult:
        """Take everything that is there now."""
        result = PullResult()
        while not result.is_head:
            page = await self.pull_page(client, link)
            result.changed += page.changed
            result.gone += page.gone
            result.is_head = page.is_head
        return result

    async def pull_page(self, client: TeamClient, link: TeamLink, *, wait: int = 0) -> PullResult:
        """Take one page, or wait for one. Raises TeamError; TeamOtherEpoch once everything is to begin anew."""
        cursor = await self._replica.cursor()
        try:
            page = await client.changes(
                link.project, after=cursor.seq, limit=self._limit, wait=wait, applied=cursor.seq or None
            )
        except TeamTooLarge as error:
            if self._limit == 1:
                raise TeamAway("one change of the feed is larger than a page may be") from error
            self._limit = max(1, self._limit // 8)
            return PullResult()
        epoch = str(page.epoch)
        if epoch != link.epoch or page.head < cursor.seq:
            await self._restart(epoch)
            raise TeamOtherEpoch("the team's server was restored: everything is pulled and told again")
        if cursor.epoch != epoch:  # a fresh replica, or one that was left while the link went on
            await self._replica.restart(epoch)
            if cursor.seq:
                return PullResult()
            cursor = cursor._replace(epoch=epoch)
        _check(page, cursor.seq, self._limit)
        is_head = page.cursor >= page.head
        last = {_item_of(each): each for each in page.changes}  # of two about one item the later one holds
        changes = [each for each in last.values() if isinstance(each, Changed)]
        gone = [str(each.id) for each in last.values() if not isinstance(each, Changed)]
        if changes or gone or page.cursor > cursor.seq or is_head:
            own = await self._find_own(link, changes)
            numbers_after = await self._reserve_numbers(len(changes))
            if not await self._replica.apply(
                changes, gone, own, after=cursor, seq=page.cursor, is_head=is_head, numbers_after=numbers_after
            ):
                if (await self._replica.cursor()).made != cursor.made:
                    raise TeamAway("the team was left meanwhile, or its replica taken away")
                return PullResult()
        if is_head:
            await self._store.write(lambda c: team_links.note_pulled(c, self._clock.now_ms()))
            self._limit = ITEMS_MAX
            await self._look_for_forgotten(link, (link.device, epoch, cursor.made))
        if changes or gone:
            log.info("team_pulled", changed=len(changes), gone=len(gone), seq=page.cursor)
        return PullResult(len(changes), len(gone), is_head)

    async def _find_own(self, link: TeamLink, changes: list[Changed]) -> set[str]:
        """Return the items that the own store has: what this device has told, and what it has besides. After a rebuild
        the server's word that it was this device is all there is."""
        may_be = [each for each in changes if each.item.source not in NATURAL]
        own = await self._store.read(lambda c: team_outbox.own_among(c, [str(each.item.id) for each in may_be]))
        return own | {str(each.item.id) for each in may_be if str(each.device) == link.device}

    async def _look_for_forgotten(self, link: TeamLink, state: tuple[str, str, str]) -> None:
        """Once everything is there, see whether the team has what was forgotten here: of each server's state once."""
        if self._looked_through != state:
            await mark_forgotten(self._store, self._replica, link, self._clock.now_ms())
            self._looked_through = state

    async def _reserve_numbers(self, many: int) -> int:
        """Note in the own store that so many numbers may be given, before they are: the replica may be deleted at any
        time, and what somebody has read or written down as t12 is never to name another item. Returns the last one
        that was given, or may have been."""
        given = await self._store.read(lambda c: meta.number(c, team_replica.NUMBERS))
        last = await self._replica.last_number()
        after = given if last is None else last
        if after + many > given:
            await self._store.write(lambda c: meta.put(c, team_replica.NUMBERS, str(after + many)))
        return after

    async def _restart(self, epoch: str) -> None:
        log.warning("team_server_restored", hint="everything is pulled and told again")
        await self._replica.restart(epoch)
        await self._store.write(lambda c: team_links.set_epoch(c, epoch, self._clock.now_ms()))
        await self._store.write(team_outbox.clear_forgets)


def _item_of(change: Changed | Gone) -> uuid.UUID:
    return change.item.id if isinstance(change, Changed) else change.id


def _check(page: Changes, after: int, limit: int) -> None:
    """Raise TeamAway for a page that is none."""
    before = after
    for each in page.changes:
        if each.seq <= before:
            raise TeamAway("the team's server answered with a feed that goes backwards")
        before = each.seq
    if not before <= page.cursor <= page.head or len(page.changes) > limit or after == page.cursor < page.head:
        raise TeamAway("the team's server answered with a page that is none")
