"""From an event's row to an item, as backends and whoever shows it see it."""

from __future__ import annotations

from collections.abc import Sequence

from siftd.clients.own import is_own_prompt
from siftd.model import Scope
from siftd.store.payload import find_object
from siftd.store.summaries import RawEvent
from siftd.store.turn_summaries import StoryEvent
from siftd.summarise.contract import Item


def as_item(raw: RawEvent, scope: Scope = "event", story: Sequence[StoryEvent] = ()) -> Item:
    """Return the event as a backend sees it. A payload that a person has broken by hand becomes an empty one."""
    prompt = (find_object(raw.prompt_json) or {}).get("prompt") if raw.prompt_json else None
    return Item(
        event_id=raw.id,
        kind=raw.kind,
        tool=raw.tool,
        action=raw.action,
        payload=find_object(raw.payload_json) or {},
        outcome=raw.outcome,
        ts=raw.ts,
        input_hash=raw.input_hash,
        request=prompt if isinstance(prompt, str) and not is_own_prompt(prompt) else None,
        cwd=raw.cwd,
        scope=scope,
        story=tuple(_item_of(event, raw.cwd) for event in story),
    )


def _item_of(event: StoryEvent, cwd: str | None) -> Item:
    return Item(
        event_id=event.id,
        kind=event.kind,
        tool=event.tool,
        action=event.action,
        payload=find_object(event.payload_json) or {},
        outcome=event.outcome,
        ts=event.ts,
        input_hash=event.input_hash,
        cwd=cwd,
    )
