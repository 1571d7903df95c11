"""The default backend: summaries made of the event's own words, by one renderer per kind of tool; no model.

The same event always gives the same text, and a text says nothing that its event does not say. The number in the
name is the renderers' version: whoever changes a text raises it, for it is part of the cache's key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import lru_cache

from siftd.clients.said_by import ACCOUNT, TEXT
from siftd.summarise.contract import Cannot, Item, Purse, Summary, Verdict, story_hashes
from siftd.summarise.extractive import files, lookups, planning, shell, story, words
from siftd.summarise.extractive.account import account
from siftd.summarise.extractive.other import failed, generic, is_rejection
from siftd.summarise.extractive.text import Call, Line, call_of, finished

VERSION = 5
NAME = f"extractive:{VERSION}"

RENDERERS: dict[str, Callable[[Call], Line]] = {
    # files
    "read": files.read,
    "read_file": files.read,
    "view": files.read,
    "notebookread": files.read,
    "edit": files.edit,
    "edit_file": files.edit,
    "replace": files.edit,
    "multiedit": files.multi_edit,
    "write": files.write,
    "write_file": files.write,
    "notebookedit": files.notebook_edit,
    "apply_patch": files.apply_patch,
    # commands
    "bash": shell.shell,
    "powershell": shell.shell,
    "shell": shell.shell,
    "local_shell": shell.shell,
    "shell_command": shell.shell,
    "exec_command": shell.shell,
    "run_shell_command": shell.shell,
    "run_terminal_cmd": shell.shell,
    # looking up
    "grep": lookups.grep,
    "search_file_content": lookups.grep,
    "glob": lookups.glob,
    "ls": lookups.glob,
    "list": lookups.glob,
    "list_dir": lookups.glob,
    "list_directory": lookups.glob,
    "lsp": lookups.language_server,
    "webfetch": lookups.web_fetch,
    "web_fetch": lookups.web_fetch,
    "websearch": lookups.web_search,
    "web_search": lookups.web_search,
    "google_web_search": lookups.web_search,
    "toolsearch": lookups.tool_search,
    # organising
    "agent": planning.agent,
    "task": planning.agent,
    "taskcreate": planning.task_create,
    "taskupdate": planning.task_update,
    "taskget": planning.task_look,
    "tasklist": planning.task_look,
    "taskoutput": planning.task_look,
    "taskstop": planning.task_look,
    "bashoutput": planning.task_look,
    "killshell": planning.task_look,
    "todowrite": planning.todo_write,
    "update_plan": planning.todo_write,
    "skill": planning.skill,
    "slashcommand": planning.skill,
    "askuserquestion": planning.ask_user,
    "exitplanmode": planning.exit_plan,
}
"""Tool names, lower-cased: clients spell them differently."""

_TELL_THEIR_OWN_FAILURE = frozenset(name for name, renderer in RENDERERS.items() if renderer is shell.shell)
_STORIES = {"turn": story.turn, "session": story.session}
_SAID = {
    "UserPromptSubmit": words.prompt,
    "Stop": words.closing,
    "SubagentStop": words.closing,
    TEXT: words.text,
    ACCOUNT: account,
}


def render(item: Item) -> Line:
    """Return the summary of one event and its confidence, for any payload whatever."""
    if item.story and (told := _STORIES.get(item.scope)):
        return finished(told(item, RENDERERS))
    if said := _SAID.get(item.tool):
        return finished(said(item))
    call = call_of(item)
    name = call.tool.lower()
    has_failed = call.error is not None or call.outcome == "failed"
    if has_failed and (name not in _TELL_THEIR_OWN_FAILURE or is_rejection(call)):
        return finished(failed(call))
    if name == "taskupdate" and item.story:
        return finished(planning.task_update(call, call_of(item.story[0]).word("subject", "title")))
    return finished(RENDERERS.get(name, generic)(call))


def in_own_words(item: Item) -> Summary:
    """Return what this backend says of an item that another one cannot, or need not, be asked about."""
    line = render(item)
    return Summary(text=line.text, confidence=line.confidence, model=NAME)


def is_telling(tool: str) -> bool:
    """Whether events of this tool are what the story of a turn or a session is made of."""
    return tool in ("UserPromptSubmit", "Stop", TEXT) or RENDERERS.get(tool.lower()) in story.TELLING


class Extractive:
    """The backend that needs nothing."""

    name = NAME
    is_remote = False
    is_free = True

    def prompt_hash(self, item: Item) -> str:
        """Cover all that decides a text: the renderers, the tool, the outcome, the folder, a turn's request."""
        request = item.request if item.tool == "Stop" else None
        if item.story or request is not None:
            return _hash(item.tool, item.outcome, item.cwd, request, *story_hashes(item))
        return _common_hash(item.tool, item.outcome, item.cwd, None)

    async def summarise(self, batch: Sequence[Item], purse: Purse) -> list[Verdict]:  # noqa: ARG002 - it costs nothing
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
