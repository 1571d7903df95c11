"""What was forgotten here, and the team still has: told again, as often as it comes back.

A row that goes leaves a marker. After a rebuild from the log there was no row to go, and what the team had is known no
more: what waited to be forgotten would stay there for ever, and a server that was restored would have it again. The
tombstones are in the log. What this person told, by the replica, and they cover, is to go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import structlog

from siftd.consolidate.drain import Store
from siftd.store import meta, team_outbox, team_replica, tombstones
from siftd.store.access import Database
from siftd.store.team_links import TeamLink
from siftd.store.team_outbox import Shared
from siftd.store.team_replica import Authored
from siftd.team_sync.own_items import Namer
from siftd.team_sync.replica import Replica

log = structlog.get_logger()

PAGE = 2_000


async def mark_forgotten(store: Store, replica: Replica, link: TeamLink, now_ms: int) -> int:
    """Mark what is to be forgotten by the team; return how many items. Usually everything that this person has told is
    known here, and nothing is looked for."""
    looking = _Looking(store, replica, link, now_ms)
    after: int | None = 0
    while after is not None:
        after = await looking.look_at(after)
    if looking.count:
        log.info("team_forgotten_again", items=looking.count)
    return looking.count


class _Looking:
    """One look through what a person has told."""

    def __init__(self, store: Store, replica: Replica, link: TeamLink, now_ms: int) -> None:
        self._store = store
        self._replica = replica
        self._link = link
        self._now_ms = now_ms
        self._stories: set[str] | None = None
        self.count = 0

    async def look_at(self, after: int) -> int | None:
        """Mark what is to go of a page; return behind which number the next one begins."""
        items = await self._replica.read(lambda c: team_replica.list_authored(c, self._link.person, after, PAGE))
        unknown = await self._store.read(lambda c: _unknown(c, items))
        if unknown:
            name = await self._store.read(lambda c: meta.get(c, "store") or self._link.device)
            gone = await self._store.read(lambda c: _facts_among(c, unknown, name))
            stories = [each for each in unknown if each.source == "summary"]
            if stories:
                forgotten = await self._stories_of(name)
                gone += [_gone(each) for each in stories if each.source_ref in forgotten]
            await self._store.write(lambda c: team_outbox.mark_forgotten(c, gone, self._now_ms))
            self.count += len(gone)
        return items[-1].number if len(items) == PAGE else None

    async def _stories_of(self, name: str) -> set[str]:
        """Return what stories of forgotten events are called. Of a hundred thousand events that takes a moment: in a
        thread, once, after a rebuild."""
        if self._stories is None:
            events = await self._store.read(tombstones.list_events)
            self._stories = await asyncio.to_thread(_stories_of, Namer(self._link.project, name), events)
        return self._stories


def _unknown(connection: Database, authored: Iterable[Authored]) -> list[Authored]:
    """Return those of which this store does not know that it told them."""
    items = list(authored)
    known = team_outbox.find_shared(connection, [each.item for each in items])
    return [each for each in items if each.item not in known]


def _stories_of(namer: Namer, events: Iterable[tuple[str | None, int]]) -> set[str]:
    """Return the names that stories of these events have, as items."""
    return {namer.story(uid, number, scope)[1] for uid, number in events for scope in ("session", "turn")}


def _facts_among(connection: Database, items: Iterable[Authored], store: str) -> list[Shared]:
    by_name = {_name_of(each.source_ref, store): each for each in items if each.source != "summary"}
    return [_gone(by_name[name], name) for name in tombstones.list_facts(connection, by_name)]


def _name_of(ref: str, store: str) -> str:
    """Return what a tombstone calls a fact: one that was inserted by hand by its number."""
    by_hand = f"{store}:m"
    return f"id:{ref.removeprefix(by_hand)}" if ref.startswith(by_hand) else ref


def _gone(item: Authored, uid: str | None = None) -> Shared:
    """Return an item as its marker is told of it: a story by the item's id, since nothing here has its event."""
    kind = "summary" if item.source == "summary" else "fact"
    return Shared(uid or f"item {item.item}", kind, item.item, item.source, item.rev, "")
