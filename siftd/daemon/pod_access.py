"""Reading pods for who asks: the person whose daemon it is, in this workspace."""

from __future__ import annotations

from siftd import ids
from siftd.clock import Clock
from siftd.daemon.store_access import StoreAccess
from siftd.facts.blending import Blend
from siftd.facts.pods import Asker
from siftd.search.pods import Store, blended
from siftd.store.access import Database
from siftd.workspace.paths import GLOBAL


class PodAccess:
    """The pods of one workspace, with those for every project."""

    def __init__(self, store: StoreAccess, key: str, person: str, clock: Clock) -> None:
        self._store = store
        self._key = key
        self._person = person
        self._clock = clock

    def asker(self, session: str = "", about: str = "") -> Asker:
        return Asker(self._key, self._clock.now_ms(), GLOBAL, session, self._person, about)

    async def blended(self, asker: Asker) -> Blend:
        """Return what who asks is handed."""
        return await self._store.read(lambda c: blended(self.stores(c), asker))

    def stores(self, connection: Database) -> list[Store]:
        """Return this workspace's store, read through `connection`, and that for every project, where there is one."""
        shared = self._store.everywhere.connection()
        own = Store(ids.MEMORY, self._key, connection)
        return [own] if shared is None else [own, Store(ids.GLOBAL_MEMORY, GLOBAL, shared)]
