"""What GitHub, GitLab and programs of one's own report by webhook, as lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from siftd.errors import EnvelopeRejected
from siftd.team.sources.line import Line
from siftd.team.sources.webhook import BODY_BYTES_MAX, EVENTS, lines_of

DATA = Path(__file__).parents[1] / "data" / "sources"


def github(event: str, body: Any) -> list[Line]:
    return lines_of({"x-github-event": event}, json.dumps(body).encode())


def gitlab(event: str, body: Any) -> list[Line]:
    return lines_of({"x-gitlab-event": event}, json.dumps(body).encode())


def of_file(name: str) -> Any:
    return json.loads((DATA / name).read_text())


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_of_ones_own_is_a_line_of_its_source(event: str) -> None:
    body = {"event": event, "item": {"ref": "tracker/12", "updated": "2026-11-20T10:00:00Z", "text": "x"}}
    (line,) = lines_of({}, json.dumps(body).encode())
    assert (line.source, line.deleted) == (event.partition(":")[0], event.endswith(":deleted"))
    assert (line.ref, line.text) == ("tracker/12", "x")


def test_an_event_and_not_its_item_says_what_it_is_of() -> None:
    item = {"ref": "a", "updated": 5, "source": "job", "deleted": True}
    (line,) = lines_of({}, json.dumps({"event": "issue:updated", "item": item}).encode())
    assert (line.source, line.deleted) == ("issue", False)


def test_githubs_events_have_the_keys_of_its_exports() -> None:
    issue, comment = of_file("github-issues.json")[0], of_file("github-comments.json")[0]
    (line,) = github("issues", {"action": "closed", "issue": issue, "repository": {"id": 1}})
    assert (line.ref, line.deleted) == ("github.com/acme/shop/issues/12", False)
    (line,) = github("issues", {"action": "deleted", "issue": issue})
    assert line.deleted
    (line,) = github("issue_comment", {"action": "created", "issue": issue, "comment": comment})
    assert (line.source, line.ref) == ("comment", "github.com/acme/shop/issues/12/comments/345")
    (line,) = github("issue_comment", {"action": "deleted", "issue": issue, "comment": comment})
    assert line.deleted
    job = of_file("github-jobs.json")["jobs"][0]
    (line,) = github("workflow_job", {"action": "completed", "workflow_job": job})
    assert (line.source, line.status) == ("job", "failure")
    assert github("workflow_job", {"action": "queued", "workflow_job": {"id": 1}}) == []


def test_a_comment_that_was_deleted_does_not_pass_for_its_issue() -> None:
    """GitHub signs the body and no header: who holds one message may call it what they like."""
    issue, comment = of_file("github-issues.json")[0], of_file("github-comments.json")[0]
    with pytest.raises(EnvelopeRejected, match="another_event"):
        github("issues", {"action": "deleted", "issue": issue, "comment": comment})


def test_events_that_say_nothing_to_us_make_no_line() -> None:
    assert github("ping", {"zen": "Design for failure."}) == []
    assert github("push", {"ref": "refs/heads/main"}) == []
    assert gitlab("Push Hook", {"ref": "refs/heads/main"}) == []


def test_gitlabs_events_have_the_keys_of_its_exports() -> None:
    attributes = {
        "id": 84, "iid": 14, "project_id": 7, "title": "Login fails", "description": "Since 1.4", "state": "opened",
        "updated_at": "2026-11-20 10:00:00 UTC", "labels": [{"id": 1, "title": "bug"}], "action": "update",
        "url": "https://gitlab.example.com/acme/shop/-/issues/14",
    }  # fmt: skip
    project = {"id": 7, "web_url": "https://gitlab.example.com/acme/shop"}
    (line,) = gitlab("Issue Hook", {"object_kind": "issue", "project": project, "object_attributes": attributes})
    assert (line.ref, line.labels, line.url) == ("gitlab:7/issues/14", ["bug"], attributes["url"])
    note = {
        "id": 302,
        "note": "Seen too",
        "noteable_type": "Issue",
        "updated_at": "2026-11-20 10:00:00 UTC",
        "system": False,
    }
    body = {"user": {"username": "ben"}, "project": project, "object_attributes": note, "issue": attributes}
    (line,) = gitlab("Note Hook", body)
    assert (line.ref, line.text, line.by) == ("gitlab:7/issues/14/notes/302", "Seen too", "ben")
    assert gitlab("Note Hook", {**body, "issue": None}) == []
    job = {
        "build_id": 678, "build_name": "unit", "build_stage": "test", "build_status": "failed", "ref": "main",
        "build_finished_at": "2026-11-20 10:07:00 UTC", "build_failure_reason": "script_failure", "project_id": 7,
    }  # fmt: skip
    (line,) = gitlab("Job Hook", job)
    assert (line.ref, line.text) == ("gitlab:7/jobs/678", "test: unit on main: failed (script failure)")
    assert gitlab("Job Hook", {**job, "build_finished_at": None}) == []


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({}, b""),
        ({}, b"[]"),
        ({}, b'{"event":"memory:indexed","item":{}}'),
        ({}, b'{"event":"issue:updated","item":{"ref":"a"}}'),
        ({}, b'{"event":"issue:updated","item":{"ref":"a#2","updated":5}}'),
        ({}, b'{"event":' * 100_000),
        ({}, b" " * (BODY_BYTES_MAX + 1)),
        ({"x-github-event": "issues"}, b"{}"),
        ({"x-github-event": "issues"}, b'{"action":"opened","issue":{"html_url":"https://github.com/a/b/wiki"}}'),
        ({"x-github-event": "issue_comment"}, b'{"comment":{"html_url":"https://github.com/a/b/issues/1"}}'),
        ({"x-github-event": "workflow_job"}, b'{"action":"completed"}'),
        ({"x-gitlab-event": "Issue Hook"}, b'{"object_attributes":{"iid":1}}'),
        ({"x-gitlab-event": "Note Hook"}, b'{"issue":{"iid":1},"object_attributes":{"id":"x"}}'),
        ({"x-gitlab-event": "Job Hook"}, b'{"build_id":1,"build_finished_at":"2026-11-20 10:07:00 UTC"}'),
    ],
    ids=str,
)
def test_what_is_none_of_the_forms_is_refused(headers: dict[str, str], body: bytes) -> None:
    with pytest.raises(EnvelopeRejected) as refused:
        lines_of(headers, body)
    assert refused.value.reason.isidentifier()
