"""Telling the team what has changed here: forgettings first, in batches that any server takes, each settled at once.

A marker goes once the server has its item, or its own later telling is outbid; what the server does not take is parked
with the reason and holds nobody up. Telling the same again, after an answer that was lost, changes nothing there.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import anyio
import msgspec
import structlog

from siftd.clock import Clock
from siftd.consolidate.drain import Store
from siftd.store import meta, team_links, team_outbox
from siftd.store.access import Database
from siftd.store.team_links import TeamLink
from siftd.store.team_outbox import FactRow, Shared, StoryRow, Waiting
from siftd.team.items import Forget, Put
from siftd.team.protocol import ITEMS_MAX, Ignored, Push, Pushed
from siftd.team_sync import own_items
from siftd.team_sync.client import TeamClient
from siftd.team_sync.errors import HomeCopied, TeamReadOnly, TeamRefused, TeamTooLarge
from siftd.team_sync.own_items import Namer
from siftd.team_sync.replica import Replica

log = structlog.get_logger()

BATCH_BYTES = 3 * 1024 * 1024
"""Of the items of one push; the message may have 4 MB."""
OUTBID_MAX = 3
"""How often another telling is outbid in one go: a server that always has a later one is not argued with."""


class Planned(NamedTuple):
    """A marker and what is to be told for it: an item, that one is gone, or nothing."""

    marker: Waiting
    put: Put | None = None
    forget: Forget | None = None
    parked: str | None = None

    @property
    def item(self) -> Put | Forget | None:
        return self.put or self.forget


@dataclass
class PushResult:
    """What became of a push."""

    put: int = 0
    forgotten: int = 0
    parked: int = 0
    unchanged: int = 0
    """Markers of what the team has already, or is not to have."""


class Pusher:
    """Tells what waits, until nothing does."""

    def __init__(self, store: Store, replica: Replica, clock: Clock) -> None:
        """The `replica` knows what the team has: after a rebuild it alone does."""
        self._store = store
        self._replica = replica
        self._clock = clock
        self._lock = anyio.Lock()

    async def push(self, client: TeamClient, link: TeamLink) -> PushResult:
        """Tell everything that waits, one at a time. Raises TeamError, and HomeCopied once the rest of its batch is
        settled."""
        async with self._lock:
            return await self._push(client, link)

    async def _push(self, client: TeamClient, link: TeamLink) -> PushResult:
        result, outbids, most = PushResult(), Counter[str](), ITEMS_MAX
        while planned := await self._store.read(lambda c: plan(c, link, ITEMS_MAX)):
            planned = await self._leave_out(planned, result)
            batch = _cut([each for each in planned if each.item is not None], most)
            if not batch:
                continue
            try:
                pushed = await client.push(
                    link.project, Push(epoch=uuid.UUID(link.epoch), items=[each.item for each in batch if each.item])
                )
            except TeamReadOnly:
                for each in batch:
                    await self._park(each, "reader", result)
                continue
            except (TeamTooLarge, TeamRefused) as error:
                if len(batch) == 1:
                    reason = "too large" if isinstance(error, TeamTooLarge) else "malformed"
                    await self._park(batch[0], reason, result)
                most = max(1, len(batch) // 2) if len(batch) > 1 else ITEMS_MAX
                continue
            await self._settle(batch, pushed, result, outbids)
        await self._store.write(lambda c: team_links.note_pushed(c, self._clock.now_ms()))
        if result.put or result.forgotten or result.parked:
            log.info("team_pushed", put=result.put, forgotten=result.forgotten, parked=result.parked)
        return result

    async def _leave_out(self, planned: list[Planned], result: PushResult) -> list[Planned]:
        """Take away the markers of what needs no telling, and park what cannot be told."""
        asked = [str(each.put.id) for each in planned if each.put is not None]
        known = await self._replica.find_hashes(asked) if asked else {}
        adopted = {
            each.marker.uid: Shared(each.marker.uid, each.marker.kind, str(put.id), put.source, rev, put.hash)
            for each in planned
            if (put := each.put) is not None and (found := known.get(str(put.id))) is not None
            for rev, its_hash in (found,)
            if its_hash == put.hash
        }
        idle = [each for each in planned if each.item is None or each.marker.uid in adopted]

        def settle(connection: Database) -> None:
            team_outbox.note_shared(connection, list(adopted.values()))
            for each in idle:
                if each.parked is not None:
                    team_outbox.park(connection, each.marker.uid, each.marker.rev, each.parked)
                else:
                    team_outbox.clear(connection, each.marker.uid, each.marker.rev)

        if adopted:
            await self._replica.claim([each.item for each in adopted.values()])
        if idle:
            await self._store.write(settle)
            result.parked += sum(each.parked is not None for each in idle)
            result.unchanged += sum(each.parked is None for each in idle)
        return [each for each in planned if each.item is not None and each.marker.uid not in adopted]

    async def _park(self, planned: Planned, reason: str, result: PushResult) -> None:
        await self._store.write(lambda c: team_outbox.park(c, planned.marker.uid, planned.marker.rev, reason))
        result.parked += 1

    async def _settle(
        self, batch: Sequence[Planned], pushed: Pushed, result: PushResult, outbids: Counter[str]
    ) -> None:
        ignored = {each.id: each for each in pushed.ignored}
        is_copied = False
        now_ms = self._clock.now_ms()

        def settle(connection: Database) -> None:
            nonlocal is_copied
            gone = 0
            for each in batch:
                marker, item = each.marker, each.item
                assert item is not None
                refused = ignored.get(item.id)
                if refused is None or _has_it(refused, item):
                    team_outbox.note_shared(connection, [_as_shared(each, refused)])
                    team_outbox.clear(connection, marker.uid, marker.rev)
                    gone += each.forget is not None
                    result.put += each.put is not None and refused is None
                elif refused.why == "conflict":
                    is_copied = True
                elif refused.why == "older" and refused.rev is not None and outbids[marker.uid] < OUTBID_MAX:
                    outbids[marker.uid] += 1
                    team_outbox.outbid(connection, marker.uid, refused.rev)
                elif refused.why == "not yours" and each.put is not None and each.put.source == "knowledge":
                    team_outbox.clear(connection, marker.uid, marker.rev)  # somebody else tells of this codebase
                else:
                    team_outbox.park(connection, marker.uid, marker.rev, refused.why)
                    result.parked += 1
            if gone:
                team_outbox.note_forgotten(connection, pushed.head, gone, now_ms)
                result.forgotten += gone

        await self._store.write(settle)
        if is_copied:
            raise HomeCopied


def plan(connection: Database, link: TeamLink, limit: int) -> list[Planned]:
    """Return what is to be told for the markers that wait, forgettings first."""
    waiting = team_outbox.list_waiting(connection, limit)
    namer = Namer(link.project, meta.get(connection, "store") or link.device)
    facts = team_outbox.find_facts(connection, [each.uid for each in waiting if each.kind == "fact"])
    stories = team_outbox.find_stories(connection, [each.uid for each in waiting if each.kind == "summary"])
    return [_plan_one(connection, link, namer, each, facts.get(each.uid), stories.get(each.uid)) for each in waiting]


def _plan_one(
    connection: Database,
    link: TeamLink,
    namer: Namer,
    marker: Waiting,
    fact: FactRow | None,
    story: StoryRow | None,
) -> Planned:
    if fact is not None:
        is_shared, is_over = own_items.is_fact_shared(fact, link.share), fact.status != "active"
        put = own_items.item_of_fact(namer, fact, marker.rev)
    elif story is not None:
        is_shared, is_over = own_items.is_story_shared(story, link.share), story.successor_event is not None
        put = own_items.item_of_story(namer, story, marker.rev)
    else:
        return _plan_gone(connection, namer, marker)
    known = team_outbox.find_shared(connection, [str(put.id)]).get(str(put.id))
    if is_over and (known is None or known.uid != marker.uid):
        return Planned(marker)  # nobody has it, or another row tells it now
    if not is_shared:
        if known is None or known.is_gone:
            return Planned(marker)
        put = own_items.archived(namer, put.source, put.source_ref, marker.rev, put.ts)
    if known is not None and known.hash == put.hash:
        return Planned(marker)
    if (reason := own_items.fits(put)) is not None:
        return Planned(marker, parked=reason)
    return Planned(marker, put=_later(put, known))


def _plan_gone(connection: Database, namer: Namer, marker: Waiting) -> Planned:
    """Return what is told of something that is not there any more."""
    if marker.item is None or marker.source is None:
        return Planned(marker)
    scope, _, number = marker.uid.rpartition(":")
    if marker.kind == "summary" and number.isdigit():
        event = team_outbox.find_event(connection, int(number))
        if event is not None:
            source, ref = namer.story(event[0], int(number), scope)
            return Planned(marker, put=own_items.archived(namer, source, ref, marker.rev, marker.ts))
    return Planned(marker, forget=Forget(id=uuid.UUID(marker.item), rev=marker.rev))


def _later(put: Put, known: Shared | None) -> Put:
    """Return an item with a rev after the one that was told; told again to a restored server it keeps that one."""
    if known is None:
        return put
    return msgspec.structs.replace(put, rev=max(put.rev, known.rev if known.hash == "" else known.rev + 1))


def _cut(planned: Sequence[Planned], most: int) -> list[Planned]:
    """Return as many as go into one message."""
    batch: list[Planned] = []
    size = 0
    for each in planned[:most]:
        size += len(msgspec.json.encode(each.item))
        if batch and size > BATCH_BYTES:
            break
        batch.append(each)
    return batch


def _has_it(refused: Ignored, item: Put | Forget) -> bool:
    """Whether the server has just this: an answer was lost, or another device of the person has told it."""
    if isinstance(item, Forget):
        return refused.why in ("forgotten", "older")
    return refused.why == "older" and refused.hash == item.hash


def _as_shared(planned: Planned, refused: Ignored | None) -> Shared:
    marker, put = planned.marker, planned.put
    if put is None:
        assert marker.item is not None
        assert marker.source is not None
        return Shared(marker.uid, marker.kind, marker.item, marker.source, marker.rev, "", is_gone=True)
    rev = put.rev if refused is None or refused.rev is None else max(put.rev, refused.rev)
    return Shared(marker.uid, marker.kind, str(put.id), put.source, rev, put.hash)
