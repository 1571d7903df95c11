"""Naming a session by the beginning of its id."""

from __future__ import annotations

from siftd.daemon.store_access import StoreAccess
from siftd.errors import RequestInvalid
from siftd.store import event_views


async def find_session(store: StoreAccess, beginning: str) -> str:
    """Return the session whose id, or whose id's beginning, this is. Raises RequestInvalid."""
    found = await store.read(lambda c: event_views.list_named(c, beginning))
    if not found:
        raise RequestInvalid("no session has an id that begins so", hint="`mem sessions` lists them")
    if len(found) > 1:
        raise RequestInvalid("several sessions' ids begin so", hint="give more of it; `mem sessions` lists them")
    return found[0]
