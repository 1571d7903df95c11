"""Planning: what a backend is to be asked about, and what is known already.

An event becomes an item with the request it served; the end of a turn and the end of a session bring the events with
them that their story stands on. The cache is asked for each alone, before anything is put together for a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from siftd.clients.own import is_own_prompt, is_own_traffic
from siftd.clients.tools import tool_named
from siftd.store import resummary_queue, summaries, turn_summaries
from siftd.store.access import Database
from siftd.store.payload import find_object
from siftd.store.summaries import Cached, RawEvent
from siftd.store.turn_summaries import StoryEvent
from siftd.summarise.contract import Backend, Item, Summary, cache_key
from siftd.summarise.extractive import is_relevant
from siftd.summarise.items import as_item
from siftd.summarise.salience import trivial_because


@dataclass(frozen=True, slots=True)
class Planned:
    """One summary that is to be written."""

    raw: RawEvent
    item: Item
    prompt_hash: str
    cache_key: str
    cached: Summary | None
    said_by: str
    """Whose words the summary will be made of."""


def plan_events(connection: Database, backend: Backend, ids: Sequence[int]) -> tuple[list[Planned], list[int]]:
    """Return the plans for those of these events that are still raw, and those that are to be told by nobody: what was
    said to siftd itself."""
    every = summaries.list_raw_events(connection, ids)
    own = [each.id for each in every if _is_own(connection, each)]
    raw = [each for each in every if each.id not in own]
    planned = _plan(connection, backend, [(each, _item(connection, each, backend)) for each in raw])
    return planned, own


def _is_own(connection: Database, raw: RawEvent) -> bool:
    if raw.kind == "turn_end":
        return is_own_turn(connection, raw.session_id, raw.id)
    return is_own_traffic(raw.kind, raw.action, raw.tool, find_object(raw.payload_json) or {})


def is_own_turn(connection: Database, session_id: str, stop_id: int) -> bool:
    """Whether the turn that ends here answered what was said to siftd and nothing else.

    `/mem …` is answered by our hook, and then no turn ends: it stands before the prompt of the turn that does.
    """
    after = turn_summaries.turn_before(connection, session_id, stop_id)
    prompts = turn_summaries.list_prompts(connection, session_id, after, stop_id)
    return bool(prompts) and all(map(is_own_prompt, prompts))


def plan_sessions(connection: Database, backend: Backend, last_ids: Sequence[int]) -> list[Planned]:
    """Return the plans for the summaries of the sessions that end with these events."""
    found = (summaries.find_event(connection, event_id) for event_id in last_ids)
    chosen = [(raw, _session_item(connection, raw)) for raw in found if raw is not None]
    return _plan(connection, backend, chosen)


def plan_again(connection: Database, backend: Backend, summary_ids: Sequence[int]) -> list[tuple[int, Planned]]:
    """Return (summary, the plan for a better one) for those of these summaries that are still there."""
    waiting, chosen = [], []
    for summary_id in summary_ids:
        if (found := resummary_queue.find_summarised(connection, summary_id)) is not None:
            raw, scope = found
            waiting.append(summary_id)
            chosen.append(
                (raw, _session_item(connection, raw) if scope == "session" else _item(connection, raw, backend))
            )
    return list(zip(waiting, _plan(connection, backend, chosen), strict=True))


def salience(connection: Database, event_id: int) -> str | None:
    """Return the rule by which a model is not asked about an event; None when it is worth it, or not there."""
    raw = summaries.find_event(connection, event_id)
    return None if raw is None else trivial_because(_for_a_model(connection, raw))


def _session_item(connection: Database, raw: RawEvent) -> Item:
    story = _without_own(turn_summaries.list_session(connection, raw.session_id, raw.id, is_relevant))
    return as_item(raw, "session", story)


def _without_own(story: Sequence[StoryEvent]) -> list[StoryEvent]:
    """Return a story's events without what was said to siftd and the ends of the turns that answered nothing else."""
    chosen = []
    prompts: list[bool] = []
    """Of the turn so far, whether each was said to us."""
    for event in story:
        is_own = is_own_traffic(event.kind, event.action, event.tool, find_object(event.payload_json) or {})
        if event.kind == "prompt":
            prompts.append(is_own)
        if not (is_own or (event.kind == "turn_end" and prompts and all(prompts))):
            chosen.append(event)
        if event.kind == "turn_end":
            prompts.clear()
    return chosen


def _item(connection: Database, raw: RawEvent, backend: Backend) -> Item:
    if tool_named(raw.tool).operation == "task_update" and backend.is_free:
        return _task_item(connection, raw)
    if raw.kind != "turn_end":
        return as_item(raw) if backend.is_free else _for_a_model(connection, raw)
    return as_item(raw, "turn", _without_own(turn_summaries.list_turn(connection, raw.session_id, raw.id, is_relevant)))


def _task_item(connection: Database, raw: RawEvent) -> Item:
    """Return a task's change with the call that made the task: alone it is a number."""
    item = as_item(raw)
    given = item.payload.get("tool_input")
    task_id = given.get("taskId") if isinstance(given, dict) else None
    made = turn_summaries.find_task(connection, raw.session_id, str(task_id), raw.id) if task_id is not None else []
    return as_item(raw, story=made) if made else item


def _for_a_model(connection: Database, raw: RawEvent) -> Item:
    """Return the item with what saves calls: whether its session has it already, and which turn it is of."""
    item = as_item(raw)
    turn = raw.prompt_id or f"after {turn_summaries.turn_before(connection, raw.session_id, raw.id)}"
    is_call = "tool_input" in item.payload
    return msgspec.structs.replace(
        item,
        turn_id=f"{raw.session_id}/{turn}",
        is_repeat=is_call and summaries.is_repeat(connection, raw.session_id, raw.id, raw.input_hash),
    )


def _plan(connection: Database, backend: Backend, chosen: Sequence[tuple[RawEvent, Item]]) -> list[Planned]:
    """Put to each item what it is asked with, and what the cache has."""
    hashes = [backend.prompt_hash(item) for _, item in chosen]
    keys = [
        cache_key(backend.name, prompt_hash, raw.input_hash)
        for (raw, _), prompt_hash in zip(chosen, hashes, strict=True)
    ]
    found = summaries.find_cached(connection, keys)
    return [
        Planned(
            raw,
            item,
            prompt_hash,
            key,
            _summary(found[key]) if key in found else None,
            turn_summaries.said_of(connection, raw, item.scope),
        )
        for (raw, item), prompt_hash, key in zip(chosen, hashes, keys, strict=True)
    ]


def _summary(cached: Cached) -> Summary:
    return Summary(
        text=cached.text,
        confidence=cached.confidence,
        tokens_in=cached.tokens_in or 0,
        tokens_out=cached.tokens_out or 0,
        model=cached.model,
    )
