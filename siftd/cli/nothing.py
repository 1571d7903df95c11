"""What a memory answers that is not there: for reading, no daemon is started and no store made."""

from __future__ import annotations

import os

from siftd.errors import RequestInvalid
from siftd.workspace.paths import GLOBAL, Home, WorkspacePaths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ANSWERS: dict[str, dict[str, Any]] = {
    "documents": {"documents": [], "count": 0, "nextCursor": None},
    "search": {"hits": [], "notes": [], "documents": [], "degraded": None, "clients": [], "ms": 0.0},
    "timeline": {"events": [], "clients": []},
    "sessions": {"sessions": [], "nextCursor": None, "clients": []},
    "memories": {"memories": [], "nextCursor": None},
    "facts": {"facts": [], "ofSessions": 0, "nextCursor": None},
    "conversations": {"conversations": [], "nextCursor": None},
    "injections": {"injections": [], "nextCursor": None},
    "brief": {"text": "", "items": [], "tokens": 0},
    "context": {"facts": 0, "factsMax": 20, "chars": 0, "charsMax": 4_800, "pods": []},
    "pods": {"pods": []},
    "search_entity": {"entities": []},
    "traverse_graph": {},
    "entity_context": {},
    "show": {},
    "team_status": {"team": None},
    "knowledge": {"snapshot": None, "path": ""},
}
_NAMES = ("id", "session", "around", "startEntityId")


def answer_of_nothing(message: dict[str, Any], home: Home, paths: WorkspacePaths) -> dict[str, Any] | None:
    """Return what a reading request is answered where nothing was ever kept; None for any other request or place.

    Raises RequestInvalid for one that names something: there is nothing of that name.
    """
    if message["kind"] not in _ANSWERS:
        return None
    is_fresh = os.path.isdir(home.root) or not os.path.exists(home.root)  # noqa: PTH110, PTH112 - 10 ms
    if not is_fresh or any(os.path.exists(each.folder) for each in (paths, home.for_workspace(GLOBAL))):  # noqa: PTH110
        return None
    if any(message.get(name) is not None for name in _NAMES):
        raise RequestInvalid("nothing is remembered in this workspace yet", hint="`mem workspaces` lists where it is")
    return _ANSWERS[message["kind"]]
