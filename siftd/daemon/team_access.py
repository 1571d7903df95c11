"""A team's items for who asks here: one whole, and those of which nothing is given unasked any more."""

from __future__ import annotations

from siftd import ids
from siftd.daemon.store_access import StoreAccess
from siftd.errors import NothingFound
from siftd.store import muted, team_reading
from siftd.store.access import Database
from siftd.wire.requests import ShownTeamItem


class TeamAccess:
    """The replica of one workspace, read in its reading thread."""

    def __init__(self, store: StoreAccess) -> None:
        self._store = store

    async def show(self, cited: str) -> ShownTeamItem:
        """Return an item whole. Raises NothingFound."""
        number = ids.parse_number(cited, ids.TEAM)

        def read(connection: Database) -> ShownTeamItem | None:
            person = team_reading.find_person(connection)
            item = self._store.team.find(lambda replica: team_reading.find_whole(replica, number, person))
            if item is not None:
                item["mutedSince"] = muted.find_item_muted_since(connection, item["team"]["item"])
            return item

        item = await self._store.read(read)
        if item is None:
            raise _nothing()
        return item

    async def id_of(self, cited: str) -> str:
        """Return the id that an item has everywhere. Raises NothingFound."""
        number = ids.parse_number(cited, ids.TEAM)

        def read(_: Database) -> str | None:
            return self._store.team.find(lambda replica: team_reading.find_id(replica, number))

        item = await self._store.read(read)
        if item is None:
            raise _nothing()
        return item


def _nothing() -> NothingFound:
    return NothingFound(
        "the team has nothing with this id here",
        hint="`mem search --team` finds what it shares, with the ids it has now",
    )
