"""GitHub's issues, pull requests, comments and jobs as lines.

Read are the REST API's objects (`gh api repos/OWNER/REPO/issues?state=all --paginate`, `…/issues/comments`,
`…/actions/runs/ID/jobs`), `gh issue list --json number,title,body,state,labels,author,url,updatedAt,comments` with the
comments inside, and the webhooks `issues`, `issue_comment` and `workflow_job`, which hold the same objects.

    github.com/OWNER/REPO/issues/12                    an issue; a pull request has its number in the same row
    github.com/OWNER/REPO/issues/12/comments/345       a comment
    github.com/OWNER/REPO/actions/jobs/678             a job
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeVar

import msgspec

from siftd.errors import EnvelopeRejected
from siftd.team.sources.line import Line, every, made

T = TypeVar("T")
COMMENTS_MAX = 1_000
"""Of one issue that has its comments inside."""

_ISSUE = re.compile(r"https?://([\w.:-]{1,200}/[\w.-]{1,100}/[\w.-]{1,100})/(?:issues|pull)/(\d{1,12})\b")
_COMMENT = re.compile(r"#issuecomment-(\d{1,20})$")
_JOB = re.compile(r"https?://([\w.:-]{1,200}/[\w.-]{1,100}/[\w.-]{1,100})/(?:actions/runs|runs)/")


class _User(msgspec.Struct):
    login: str = ""


class _Label(msgspec.Struct):
    name: str = ""


class _Comment(msgspec.Struct):
    """Of the REST API, and of `gh`, which has other names for the same."""

    html_url: str = ""
    url: str = ""
    body: str | None = None
    user: _User | None = None
    author: _User | None = None
    updated_at: str = ""
    created_at: str = ""
    createdAt: str = ""  # noqa: N815 - their name
    updatedAt: str = ""  # noqa: N815 - their name


class _Issue(msgspec.Struct):
    """As above; `comments` is a number in the REST API."""

    html_url: str = ""
    url: str = ""
    title: str = ""
    body: str | None = None
    state: str = ""
    state_reason: str | None = None
    stateReason: str | None = None  # noqa: N815 - their name
    labels: list[_Label | str] = []
    user: _User | None = None
    author: _User | None = None
    updated_at: str = ""
    updatedAt: str = ""  # noqa: N815 - their name
    comments: int | list[_Comment] = 0


class _StepOfJob(msgspec.Struct):
    name: str = ""
    conclusion: str | None = None


class _Job(msgspec.Struct):
    id: int
    html_url: str = ""
    name: str = ""
    workflow_name: str | None = None
    status: str = ""
    conclusion: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    head_branch: str | None = None
    steps: list[_StepOfJob] = []


class _Jobs(msgspec.Struct):
    jobs: list[msgspec.Raw]


def issues(data: msgspec.Raw | bytes, *, deleted: bool = False) -> Iterator[Line]:
    """Yield the line of an issue, and those of the comments that are in it. Raises EnvelopeRejected."""
    issue = _decoded(data, _Issue)
    link = issue.html_url or issue.url
    key = issue_key(link)
    reason = issue.state_reason or issue.stateReason or ""
    state = issue.state.lower()
    has_reason = reason.lower() not in ("", "completed", "reopened")
    yield made(
        source="issue",
        ref=key,
        updated=issue.updated_at or issue.updatedAt,
        deleted=deleted,
        title=issue.title,
        text=issue.body or "",
        status=f"{state} ({reason.lower().replace('_', ' ')})" if has_reason else state,
        labels=[label if isinstance(label, str) else label.name for label in issue.labels],
        by=_name(issue.user or issue.author),
        url=link,
    )
    if isinstance(issue.comments, list):
        yield from every(issue.comments[:COMMENTS_MAX], lambda comment: _comment_line(comment, deleted=deleted))


def comments(data: msgspec.Raw | bytes, *, deleted: bool = False) -> Iterator[Line]:
    """Yield the line of a comment. Raises EnvelopeRejected."""
    yield _comment_line(_decoded(data, _Comment), deleted=deleted)


def jobs(data: msgspec.Raw | bytes) -> Iterator[Line]:
    """Yield the line of a job that is over, or those of a page of jobs; their steps, for their logs are elsewhere."""
    page = _decoded(data, _Jobs).jobs if b'"jobs"' in bytes(data)[:4_096] else None
    yield from every([data] if page is None else page, lambda job: _job_line(job, waits=page is not None))


def _job_line(data: msgspec.Raw | bytes, *, waits: bool) -> Line | None:
    """Return the line of a job; None for one of a page that is not over, where it stands beside others that are."""
    job = _decoded(data, _Job)
    found = _JOB.match(job.html_url)
    if found is None:
        raise EnvelopeRejected("no_address")
    if not job.completed_at:
        if waits:
            return None
        raise EnvelopeRejected("not_over")
    failed = next((step.name for step in job.steps if step.conclusion == "failure"), "")
    where = f" on {job.head_branch}" if job.head_branch else ""
    text = [f"{job.workflow_name or job.name}{where}: {job.conclusion or job.status}"]
    text += [f"Failed step: {failed}"] if failed else []
    text += [f"- {step.name}: {step.conclusion or 'not run'}" for step in job.steps[:100]]
    return made(
        source="job",
        ref=f"{found[1]}/actions/jobs/{job.id}".lower(),
        updated=job.completed_at,
        title=job.name,
        text="\n".join(text),
        form="plain",
        status=job.conclusion or job.status,
        url=job.html_url,
    )


def issue_key(link: str) -> str:
    """Return the key of the issue that a link leads to. Raises EnvelopeRejected."""
    found = _ISSUE.match(link)
    if found is None:
        raise EnvelopeRejected("no_address")
    return f"{found[1]}/issues/{found[2]}".lower()


def _comment_line(comment: _Comment, *, deleted: bool) -> Line:
    link = comment.html_url or comment.url
    number = _COMMENT.search(link)
    if number is None:
        raise EnvelopeRejected("no_address")
    return made(
        source="comment",
        ref=f"{issue_key(link)}/comments/{number[1]}",
        updated=comment.updated_at or comment.updatedAt or comment.created_at or comment.createdAt,
        deleted=deleted,
        text=comment.body or "",
        by=_name(comment.user or comment.author),
        url=link,
    )


def _name(user: _User | None) -> str:
    return user.login if user else ""


def _decoded(data: msgspec.Raw | bytes, form: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=form)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise EnvelopeRejected("no_such_object") from error
