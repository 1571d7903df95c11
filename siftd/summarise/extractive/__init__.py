"""The default backend: summaries made of the event's own words, by one renderer per operation; no model.

The same event always gives the same text, and a text says nothing that its event does not say. The number in the
name is the renderers' version: whoever changes a text raises it, for it is part of the cache's key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import lru_cache

from siftd.clients.tool import Operation
from siftd.clients.tools import tool_named
from siftd.model import Action, Kind
from siftd.summarise.contract import Cannot, Item, Summary, TokenBudget, Verdict, story_hashes
from siftd.summarise.extractive import files, lookups, planning, shell, story, words
from siftd.summarise.extractive.account import account
from siftd.summarise.extractive.other import failed, generic, is_rejection
from siftd.summarise.extractive.text import Call, Line, call_of, finished

VERSION = 6
NAME = f"extractive:{VERSION}"

RENDERERS: dict[Operation, Callable[[Call], Line]] = {
    # files
    "read": files.read,
    "edit": files.edit,
    "multi_edit": files.multi_edit,
    "write": files.write,
    "notebook_edit": files.notebook_edit,
    "patch": files.apply_patch,
    # commands
    "shell": shell.shell,
    # looking up
    "grep": lookups.grep,
    "glob": lookups.glob,
    "language_server": lookups.language_server,
    "web_fetch": lookups.web_fetch,
    "web_search": lookups.web_search,
    "tool_search": lookups.tool_search,
    # organising
    "agent": planning.agent,
    "task_create": planning.task_create,
    "task_update": planning.task_update,
    "task_look": planning.task_look,
    "todo_list": planning.todo_write,
    "skill": planning.skill,
    "ask": planning.ask_user,
    "plan": planning.exit_plan,
}
"""By what a call does; the rest is told by `generic`."""
_OF_ACTIONS: dict[Action, Callable[[Call], Line]] = {
    "edit": files.edit,
    "run": shell.shell,
    "read": files.read,
    "agent": planning.agent,
}
"""Of tools that nobody knows by name, where their decoder says what they do."""

_STORIES = {"turn": story.turn, "session": story.session}
_SAID: dict[Kind, Callable[[Item], Line]] = {
    "prompt": words.prompt,
    "turn_end": words.closing,
    "subagent_end": words.closing,
    "assistant_text": words.text,
    "compaction": account,
}


def render(item: Item) -> Line:
    """Return the summary of one event and its confidence, for any payload whatever."""
    if item.story and (story_renderer := _STORIES.get(item.scope)):
        return finished(story_renderer(item))
    if said := _SAID.get(item.kind):
        return finished(said(item))
    call = call_of(item)
    renderer = renderer_of(item)
    has_failed = call.error is not None or call.outcome == "failed"
    if has_failed and (renderer is not shell.shell or is_rejection(call)):
        return finished(failed(call))
    if renderer is planning.task_update and item.story:
        return finished(planning.task_update(call, call_of(item.story[0]).word("subject", "title")))
    return finished(renderer(call))


def renderer_of(item: Item) -> Callable[[Call], Line]:
    """Return what tells of a call: by its tool, else by what its decoder says that it does."""
    operation = tool_named(item.tool).operation
    known = RENDERERS.get(operation) if operation else None
    return known or _OF_ACTIONS.get(item.action or "other", generic)


def in_own_words(item: Item) -> Summary:
    """Return what this backend says of an item that another one cannot, or need not, be asked about."""
    line = render(item)
    return Summary(text=line.text, confidence=line.confidence, model=NAME)


def is_relevant(kind: Kind, action: Action | None) -> bool:
    """Whether such events are what the story of a turn or a session is made of; what only looks something up leaves no
    trace in it."""
    return kind in ("prompt", "turn_end", "assistant_text") or action in ("edit", "run", "ask", "plan", "agent")


class Extractive:
    """The backend that needs nothing."""

    name = NAME
    is_remote = False
    is_free = True

    def prompt_hash(self, item: Item) -> str:
        """Cover all that decides a text: the renderers, the tool, the outcome, the folder, a turn's request."""
        request = item.request if item.kind == "turn_end" else None
        if item.story or request is not None:
            return _hash(item.tool, item.outcome, item.cwd, request, *story_hashes(item))
        return _common_hash(item.tool, item.outcome, item.cwd, None)

    async def summarise(self, batch: Sequence[Item], budget: TokenBudget) -> list[Verdict]:  # noqa: ARG002 - it costs nothing
        return self.summarise_now(batch)

    def summarise_now(self, batch: Sequence[Item]) -> list[Verdict]:
        """Render a batch. A fault of ours costs one event, not the batch."""
        return [_verdict(item) for item in batch]


def _hash(*deciding: str | None) -> str:
    return hashlib.sha256(json.dumps([NAME, *deciding]).encode()).hexdigest()


_common_hash = lru_cache(maxsize=256)(_hash)
"""Where no text is in it: most events of a session share theirs."""


def _verdict(item: Item) -> Verdict:
    try:
        text, confidence = render(item)
    except Exception as error:  # noqa: BLE001  a named boundary: the reason is kept and shown
        return Cannot(reason=f"the extractive renderer failed ({type(error).__name__})")
    return Summary(text=text, confidence=confidence)
