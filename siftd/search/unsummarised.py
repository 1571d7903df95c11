"""What is shown of an event that has no summary yet: the words that the built-in backend would give it."""

from __future__ import annotations

from siftd.store import summaries
from siftd.store.access import Database
from siftd.summarise.extractive import in_own_words
from siftd.summarise.items import as_item


def summarise_now(connection: Database, event_id: int) -> str:
    """Return one line for an event, whatever its payload is; an empty one for an event that is gone."""
    event = summaries.find_event(connection, event_id)
    return "" if event is None else in_own_words(as_item(event)).text
