"""Memories for every project: kept by a workspace of their own, `_global`, and cited as g3 where others are m3.

Whoever speaks to daemons (`mem`, `siftd mcp`) asks that one for them, here and nowhere else: a request that says
`"project": false`, or names a g3, goes to the daemon of `_global`, to whom they are memories like any other. A
project's daemon only reads that store, for search, recall and briefs.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from siftd import ids
from siftd.errors import RequestInvalid, SiftdError
from siftd.workspace.identity import Workspace, find_workspace, path_as_text
from siftd.workspace.paths import GLOBAL, Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LETTER = ids.GLOBAL_MEMORY
KINDS = frozenset(
    "remember supersede update accept link related similar show forget search memories memory_health set_config facts"
    " correct verify fact_story create_pod archive_pod".split()
)
"""The requests that may be about them."""
_REDACTED = ("remember", "supersede", "update", "correct")
_NAMES = ("id", "from", "to")
_LOCAL = re.compile(r"\bm(?=[0-9]{1,18}\b)")
Ask = Callable[["dict[str, Any]"], "dict[str, Any]"]


def global_workspace(home: Home) -> Workspace:
    """Return the workspace that keeps the memories for every project."""
    return Workspace(home.for_workspace(GLOBAL).folder, GLOBAL)


def workspace_of(home: Home, folder: str) -> Workspace:
    """Return the workspace of a folder, or of the name `_global`."""
    shared = global_workspace(home)
    return shared if folder in (GLOBAL, shared.root) else find_workspace(folder)


def ask_where_it_is(message: dict[str, Any], root: str, ask_here: Ask, ask_global: Ask) -> dict[str, Any]:
    """Return the answer of the daemon that a request is about; in it, and in a refusal, ids are as they are cited.

    `root` is the folder of the project that asks: the values of its `.env`-like files stay out of what is kept.
    """
    local = _as_local(message, root)
    if local is None:
        return ask_here(message)
    try:
        answer: dict[str, Any] = _as_cited(ask_global(local))
    except SiftdError as error:
        error.message, error.hint = (_LOCAL.sub(LETTER, text) for text in (error.message, error.hint))
        raise
    return answer


def _as_local(message: dict[str, Any], root: str) -> dict[str, Any] | None:
    """Return the request as the daemon of `_global` takes it; None for one that is about this workspace."""
    if message["kind"] not in KINDS:
        return None
    named = {name: each for name in _NAMES if isinstance(each := message.get(name), str)}
    cited = [*named.values(), *(message.get("ids") or ())]
    are_cited = [ids.is_id(each) and ids.parse(each)[0] == LETTER for each in cited]
    if not any(are_cited) and message.get("project", True) is not False:
        return None
    if not all(are_cited):
        raise RequestInvalid(
            "memories of this project and those for every project do not go together", hint="name one kind at a time"
        )
    local = {name: value for name, value in message.items() if name != "project"}
    local |= {name: _without_letter(each) for name, each in named.items()}
    if message.get("ids"):
        local["ids"] = [_without_letter(each) for each in message["ids"]]
    return local | ({"root": path_as_text(root)} if message["kind"] in _REDACTED else {})


def _without_letter(cited: str) -> str:
    return ids.cite(ids.MEMORY, ids.parse(cited)[1])


def _as_cited(answer: Any, name: str = "") -> Any:
    if isinstance(answer, dict):
        return {key: _as_cited(value, key) for key, value in answer.items()}
    if isinstance(answer, list):
        return [_as_cited(each, name) for each in answer]
    is_id = name in (*_NAMES, "similar", "corrected") and isinstance(answer, str)
    return _LOCAL.sub(LETTER, answer) if is_id else answer
