"""What of a workspace would go up to a team: how much of each kind, and the very items. Nothing leaves the machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from siftd.consolidate.drain import Store
from siftd.store import meta, team_outbox
from siftd.store.access import Database
from siftd.team.items import Put
from siftd.team_sync import own_items
from siftd.team_sync.own_items import Namer

PAGE = 500
KINDS = ("fact", "summary")
_NO_PROJECT = "00000000-0000-0000-0000-000000000000"
"""An item's id is made with the project's, which nobody knows before joining."""


@dataclass
class Preview:
    """How much would go up."""

    by_share: Counter[str] = field(default_factory=Counter)
    private: int = 0
    """Of these, what the person's own devices alone see."""
    chars: int = 0


async def preview(store: Store, shares: Sequence[str]) -> Preview:
    """Return how much would go up, a page at a time, so that nobody waits for the reading thread."""
    found = Preview()
    for kind in KINDS:
        after: str | None = ""
        while after is not None:
            items, after = await list_items(store, shares, kind, after, PAGE)
            for share, put in items:
                found.by_share[share] += 1
                found.private += put.visibility == "private"
                found.chars += len(put.text)
    return found


async def list_items(
    store: Store, shares: Sequence[str], kind: str, after: str, limit: int, project: str = _NO_PROJECT
) -> tuple[list[tuple[str, Put]], str | None]:
    """Return (what it is shared as, item) of a page, and where the next one begins; None where there is none."""

    def read(connection: Database) -> tuple[list[tuple[str, Put]], str | None]:
        uids = team_outbox.list_uids(connection, kind, after, limit)
        namer = Namer(project, meta.get(connection, "store") or "")
        return list(_items(connection, namer, shares, kind, uids)), uids[-1] if len(uids) == limit else None

    return await store.read(read)


def _items(
    connection: Database, namer: Namer, shares: Sequence[str], kind: str, uids: Sequence[str]
) -> Iterator[tuple[str, Put]]:
    if kind == "fact":
        for fact in team_outbox.find_facts(connection, uids).values():
            if own_items.is_fact_shared(fact, shares) and fact.status == "active":
                yield own_items.share_of_fact(fact), own_items.item_of_fact(namer, fact, 1)
        return
    for story in team_outbox.find_stories(connection, uids).values():
        if own_items.is_story_shared(story, shares) and story.successor_event is None:
            yield story.scope, own_items.item_of_story(namer, story, 1)
