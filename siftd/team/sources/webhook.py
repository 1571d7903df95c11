"""What other programs report by webhook, as lines.

A program of one's own sends an event, and a line of `siftd.team.sources.line` without the `source`, which the event
tells:

    {"event":"issue:updated","item":{"ref":"tracker/12","updated":"2026-11-20T10:00:00Z","title":"…","text":"…"}}

    issue:created  issue:updated  issue:deleted   comment:saved  comment:deleted   job:completed

GitHub says what happened in the header `x-github-event` (issues, issue_comment, workflow_job; `ping` is answered with
nothing) and the body's `action`; GitLab in `x-gitlab-event` (Issue Hook, Note Hook, Job Hook). An event that is not
listed here makes no line: whoever sends everything is not refused.

A webhook that comes twice is an update that is known already: its line has the same key and the same moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from siftd.errors import EnvelopeRejected
from siftd.team.sources import github, gitlab
from siftd.team.sources.line import LINE_BYTES_MAX, Line, LineSource, made

BODY_BYTES_MAX = LINE_BYTES_MAX
EVENTS: dict[str, tuple[LineSource, bool]] = {
    "issue:created": ("issue", False),
    "issue:updated": ("issue", False),
    "issue:deleted": ("issue", True),
    "comment:saved": ("comment", False),
    "comment:deleted": ("comment", True),
    "job:completed": ("job", False),
}
"""Of which source each is, and whether it takes away."""
T = TypeVar("T")


class _Own(msgspec.Struct):
    event: str
    item: dict[str, object]


class _OfGithub(msgspec.Struct):
    action: str = ""
    issue: msgspec.Raw = msgspec.Raw(b"")
    comment: msgspec.Raw = msgspec.Raw(b"")
    workflow_job: msgspec.Raw = msgspec.Raw(b"")


class _User(msgspec.Struct):
    username: str = ""


class _ProjectOfGitlab(msgspec.Struct):
    id: int = 0


class _NumberOfIssue(msgspec.Struct):
    iid: int


class _OfGitlab(msgspec.Struct):
    user: _User | None = None
    project: _ProjectOfGitlab = msgspec.field(default_factory=_ProjectOfGitlab)
    object_attributes: msgspec.Raw = msgspec.Raw(b"")
    issue: _NumberOfIssue | None = None


class _JobOfGitlab(msgspec.Struct):
    """A job's webhook has names of its own."""

    build_id: int
    build_name: str = ""
    build_stage: str = ""
    build_status: str = ""
    build_finished_at: str | None = None
    build_failure_reason: str | None = None
    ref: str = ""
    project_id: int = 0


def lines_of(headers: Mapping[str, str], body: bytes) -> list[Line]:
    """Return what a webhook tells; nothing where it is of no event that is read. Names of headers are in small letters.

    Raises EnvelopeRejected for what is none of these forms; its reason quotes nothing.
    """
    if len(body) > BODY_BYTES_MAX:
        raise EnvelopeRejected("too_long")
    if event := headers.get("x-github-event"):
        return _of_github(event, body)
    if event := headers.get("x-gitlab-event"):
        return _of_gitlab(event, body)
    message = _decoded(body, _Own)
    if message.event not in EVENTS:
        raise EnvelopeRejected("unknown_event")
    source, deleted = EVENTS[message.event]
    return [made(**{**message.item, "source": source, "deleted": deleted})]


def _of_github(event: str, body: bytes) -> list[Line]:
    if event not in ("issues", "issue_comment", "workflow_job"):
        return []
    message = _decoded(body, _OfGithub)
    is_gone = message.action == "deleted"
    match event:
        case "issues" if message.comment:  # the signature covers the body alone, and not what the header calls it
            raise EnvelopeRejected("another_event")
        case "issues":
            return list(github.issues(message.issue, deleted=is_gone or message.action == "transferred"))
        case "issue_comment":
            return list(github.comments(message.comment, deleted=is_gone))
        case _:
            return list(github.jobs(message.workflow_job)) if message.action == "completed" else []


def _of_gitlab(event: str, body: bytes) -> list[Line]:
    match event:
        case "Issue Hook" | "Confidential Issue Hook":
            message = _decoded(body, _OfGitlab)
            return list(gitlab.issues(message.object_attributes))
        case "Note Hook" | "Confidential Note Hook":
            message = _decoded(body, _OfGitlab)
            if message.issue is None:
                return []
            note = gitlab.decoded(message.object_attributes, gitlab.Note)
            by = message.user.username if message.user else ""
            return (
                []
                if note.system
                else [gitlab.note_line(note, message.project.id, message.issue.iid, deleted=False, by=by)]
            )
        case "Job Hook":
            return _job_of_gitlab(_decoded(body, _JobOfGitlab))
        case _:
            return []


def _job_of_gitlab(message: _JobOfGitlab) -> list[Line]:
    if not message.build_finished_at:
        return []
    if message.project_id <= 0:
        raise EnvelopeRejected("no_address")
    job = gitlab.Job(
        id=message.build_id,
        name=message.build_name,
        stage=message.build_stage,
        ref=message.ref,
        status=message.build_status,
        failure_reason=message.build_failure_reason if message.build_failure_reason != "unknown_failure" else None,
        finished_at=message.build_finished_at,
    )
    return [gitlab.job_line(job, message.project_id)]


def _decoded(body: bytes, form: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=form)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise EnvelopeRejected("no_such_object") from error
