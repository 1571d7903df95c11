"""GitLab's issues, notes and jobs as lines.

Read are the REST API's objects (`glab api projects/ID/issues --paginate`, `…/issues/IID/notes`, `…/jobs`), the
`issues.ndjson` of a project's export, which has the notes inside, and the webhooks of issues, notes and jobs.

    gitlab:PROJECT/issues/12              an issue; PROJECT is GitLab's number for the project
    gitlab:PROJECT/issues/12/notes/345    a note, by the number that is its own in the whole of GitLab
    gitlab:PROJECT/jobs/678               a job

A note names its project by that number alone; so does every key here. A project of siftd reads one GitLab.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from siftd.errors import EnvelopeRejected
from siftd.team.sources.line import Line, every, made

NOTES_MAX = 1_000
"""Of one issue that has its notes inside."""
T = TypeVar("T")


class _User(msgspec.Struct):
    username: str = ""
    name: str = ""


class _Label(msgspec.Struct):
    title: str = ""


class _LabelLink(msgspec.Struct):
    label: _Label | None = None


class Note(msgspec.Struct):
    """A note of an issue, as the REST API, the export and the webhook have it."""

    id: int
    body: str | None = None
    note: str | None = None
    """The export's and the webhook's name of the body."""
    author: _User | None = None
    updated_at: str = ""
    created_at: str = ""
    system: bool = False
    noteable_type: str = "Issue"
    noteable_iid: int | None = None
    project_id: int | None = None
    url: str = ""


class _Issue(msgspec.Struct):
    iid: int
    project_id: int = 0
    title: str = ""
    description: str | None = None
    state: str = ""
    labels: list[str | _Label] = []
    label_links: list[_LabelLink] = []
    """The export's."""
    author: _User | None = None
    updated_at: str = ""
    web_url: str = ""
    url: str = ""
    """The webhook's."""
    notes: list[Note] = []


class _Pipeline(msgspec.Struct):
    project_id: int = 0


class Job(msgspec.Struct):
    """A job, as the REST API has it."""

    id: int
    name: str = ""
    stage: str = ""
    ref: str = ""
    status: str = ""
    failure_reason: str | None = None
    finished_at: str | None = None
    web_url: str = ""
    pipeline: _Pipeline | None = None


def issues(data: msgspec.Raw | bytes, *, deleted: bool = False) -> Iterator[Line]:
    """Yield the line of an issue, and those of the notes that are in it. Raises EnvelopeRejected."""
    issue = decoded(data, _Issue)
    labels = [label if isinstance(label, str) else label.title for label in issue.labels]
    labels += [link.label.title for link in issue.label_links if link.label]
    yield made(
        source="issue",
        ref=issue_key(issue.project_id, issue.iid),
        updated=issue.updated_at,
        deleted=deleted,
        title=issue.title,
        text=issue.description or "",
        status={"opened": "open"}.get(issue.state, issue.state),
        labels=labels,
        by=_name(issue.author),
        url=issue.web_url or issue.url,
    )
    said = (note for note in issue.notes[:NOTES_MAX] if not note.system)
    yield from every(said, lambda note: note_line(note, issue.project_id, issue.iid, deleted=deleted))


def notes(data: msgspec.Raw | bytes) -> Iterator[Line]:
    """Yield the line of a note of an issue; nothing for what GitLab itself notes (a label, a mention)."""
    note = decoded(data, Note)
    if note.system:
        return
    if note.noteable_type != "Issue" or note.noteable_iid is None or note.project_id is None:
        raise EnvelopeRejected("no_note_of_an_issue")
    yield note_line(note, note.project_id, note.noteable_iid, deleted=False)


def jobs(data: msgspec.Raw | bytes) -> Iterator[Line]:
    """Yield the line of a job that is over; its log is elsewhere. Raises EnvelopeRejected."""
    job = decoded(data, Job)
    if not job.finished_at:
        raise EnvelopeRejected("not_over")
    if job.pipeline is None or not job.pipeline.project_id:
        raise EnvelopeRejected("no_address")
    yield job_line(job, job.pipeline.project_id)


def job_line(job: Job, project: int) -> Line:
    """Return the line of a job that is over."""
    where = f" on {job.ref}" if job.ref else ""
    why = f" ({job.failure_reason.replace('_', ' ')})" if job.failure_reason else ""
    return made(
        source="job",
        ref=f"gitlab:{project}/jobs/{job.id}",
        updated=job.finished_at or "",
        title=job.name,
        text=f"{job.stage}: {job.name}{where}: {job.status}{why}",
        form="plain",
        status=job.status,
        url=job.web_url,
    )


def issue_key(project: int, iid: int) -> str:
    """Return the key of an issue. Raises EnvelopeRejected where the project is not known."""
    if project <= 0:
        raise EnvelopeRejected("no_address")
    return f"gitlab:{project}/issues/{iid}"


def note_line(note: Note, project: int, iid: int, *, deleted: bool, by: str = "") -> Line:
    """Return the line of a note of this issue."""
    return made(
        source="comment",
        ref=f"{issue_key(project, iid)}/notes/{note.id}",
        updated=note.updated_at or note.created_at,
        deleted=deleted,
        text=note.body or note.note or "",
        by=by or _name(note.author),
        url=note.url,
    )


def decoded(data: msgspec.Raw | bytes, form: type[T]) -> T:
    """Return an object of GitLab's. Raises EnvelopeRejected."""
    try:
        return msgspec.json.decode(data, type=form)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise EnvelopeRejected("no_such_object") from error


def _name(user: _User | None) -> str:
    return (user.username or user.name) if user else ""
