"""Every route of a team's server: what is served, tried in the tests and described in /openapi.json is made from it."""

from __future__ import annotations

from siftd.team.protocol import Changes, Hello, Join, Joined, Leave, Left, Members, Push, Pushed, Renew
from siftd.team.searching import Listed, SearchFound, Stored
from siftd.team_server.api import finding, keeping, reporting, syncing
from siftd.team_server.routing import Route
from siftd.team_server.types import (
    ChangesQuery,
    Feedback,
    FeedbackAnswer,
    ForgetAnswer,
    ForgetBody,
    ForgetQuery,
    HealthAnswer,
    ListQuery,
    Note,
    NoteAnswer,
    Reindex,
    SearchQuery,
    SeqQuery,
    ToForget,
    WebhookAnswer,
)
from siftd.web.openapi import About
from siftd.web.types import JobAnswer

_V1 = "/api/v1/projects/{project}"
_ONE = "/api/projects/{project}"

ROUTES = (
    Route("GET", "/health", "Whether the process listens, and PostgreSQL answers it", syncing.health, HealthAnswer),
    Route("GET", "/api/v1/hello", "What versions are spoken", syncing.hello, Hello),
    Route("POST", "/api/v1/join", "Take an invitation up", syncing.join, Joined, body=Join),
    Route("POST", f"{_V1}/push", "Take a device's items", syncing.push, Pushed, body=Push, kind="write"),
    Route("GET", f"{_V1}/changes", "What is new, in order", syncing.changes, Changes, ChangesQuery, kind="read"),
    Route("GET", f"{_V1}/members", "Who is in a project, and has applied what", syncing.members, Members, kind="read"),
    Route("POST", f"{_V1}/device", "Become another device", syncing.renew, Joined, body=Renew, kind="write"),
    Route("POST", f"{_V1}/leave", "Leave with this device", syncing.leave, Left, body=Leave, kind="write"),
    Route("POST", f"{_V1}/webhooks", "Take what another program tells", reporting.webhook, WebhookAnswer, is_raw=True),
    Route("GET", f"{_ONE}/memory/search", "Find", finding.search, SearchFound, SearchQuery, kind="search"),
    Route("GET", f"{_ONE}/memory/{{id}}", "One item whole", finding.item, Stored, SeqQuery, kind="read"),
    Route("GET", f"{_ONE}/memories", "The items, the latest first", finding.items, Listed, ListQuery, kind="read"),
    Route(
        "POST", f"{_ONE}/memory", "Keep a statement", keeping.keep, NoteAnswer, body=Note, status=201,
        others={200: NoteAnswer}, kind="write",
    ),
    Route(
        "POST", f"{_ONE}/memory/feedback", "Say whether an item holds", keeping.feedback, FeedbackAnswer,
        body=Feedback, kind="write",
    ),
    Route(
        "DELETE", "/api/memory/{id}", "Forget one item", keeping.forget_one, ForgetAnswer, ForgetQuery,
        others={409: ToForget}, kind="write",
    ),
    Route(
        "POST", f"{_ONE}/forget", "Forget several items", keeping.forget, ForgetAnswer, body=ForgetBody,
        others={409: ToForget}, kind="write",
    ),
    Route(
        "POST", f"{_ONE}/memory/reindex", "Make the vectors that lack, or all of another model", keeping.reindex,
        JobAnswer, body=Reindex, status=202, kind="write",
    ),
    Route("GET", "/api/jobs/{job}", "How far long work is", keeping.job, JobAnswer, kind="read"),
)  # fmt: skip

_ID = {"type": "string", "format": "uuid"}
ABOUT = About(
    title="siftd team",
    description="The memory of a team. Moments are milliseconds since 1970. Laptops speak /api/v1, programs the rest;"
    " /ws tells programs of `memory:indexed`.",
    path={
        "project": _ID | {"description": "as `mem team status` and Joined tell it"},
        "id": _ID | {"description": "of an item, as search and lists tell it"},
        "job": {"type": "string", "description": "as the answer that began it has it"},
    },
    refusals={
        400: "The request is not as described",
        401: "No token, or one that is not known, expired or revoked; a webhook that nobody has signed",
        403: "No member of the project, or not allowed to do this; from another page",
        404: "There is nothing of this name",
        409: "Another epoch, or a store that has not seen the change; pull again",
        413: "Too much at once",
        421: "Not a name of this server",
        429: "Too many requests; Retry-After says when to come again",
        500: "The server failed",
        503: "PostgreSQL does not answer, is full, or is busy; Retry-After says when to come again",
    },
)
