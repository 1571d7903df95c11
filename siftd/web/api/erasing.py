"""Routes that forget: first what it would be, with a value that says yes to exactly that; then, with it, for good."""

from __future__ import annotations

from typing import Any

from siftd.errors import MatchChanged, RequestRefused
from siftd.web.routing import Call, Reply
from siftd.web.types import ForgetBody, ForgetQuery, Problem, ToForget, encode
from siftd.wire.asking import Forget
from siftd.wire.requests import ForgetAnswer

WORK_SECONDS = 900.0
"""The longest silence of a daemon that forgets: it rewrites the log."""
UNCONFIRMED = "confirm_first"


def forget_one(call: Call) -> ForgetAnswer | Reply:
    """Forget one thing by its id."""
    query: ForgetQuery = call.query
    return _forget(call, query.project, {"ids": [call.path["id"]]}, query.confirm)


def forget(call: Call) -> ForgetAnswer | Reply:
    """Forget several things, a session, a file, a text or a time."""
    body: ForgetBody = call.body
    named = {name: value for name in ("ids", "session", "file", "query") if (value := getattr(body, name))}
    times = {name: value for name in ("since", "until") if (value := getattr(body, name)) is not None}
    return _forget(call, call.path["project"], named | times, body.confirm)


def _forget(call: Call, project: str, asked: dict[str, Any], confirm: str | None) -> ForgetAnswer | Reply:
    state = call.state
    about = encode([project, sorted(asked.items())])
    shown = state.projects.ask(project, Forget(**asked, dry_run=True), timeout=WORK_SECONDS)
    if confirm is None or not state.confirmations.is_good(confirm, about, shown["digest"]):
        return _ask_first(call, about, shown, is_again=confirm is not None)
    try:
        request = Forget(**asked, dry_run=False, expected=shown["digest"])
        return state.projects.ask(project, request, timeout=WORK_SECONDS)
    except RequestRefused as error:
        if error.code != MatchChanged.code:
            raise
    shown = state.projects.ask(project, Forget(**asked, dry_run=True), timeout=WORK_SECONDS)
    return _ask_first(call, about, shown, is_again=True)


def _ask_first(call: Call, about: bytes, shown: ForgetAnswer, *, is_again: bool) -> Reply:
    message = "it would be something else by now, or it is too long ago" if is_again else "nothing was forgotten yet"
    return Reply(
        409,
        ToForget(
            error=Problem(code=UNCONFIRMED, message=message, hint="look at what would go, then send `confirm` with it"),
            confirm=call.state.confirmations.make(about, shown["digest"]),
            matched=shown["matched"],
            by_kind=shown["byKind"],
            left=shown["left"],
        ),
    )
