"""Webhooks of other programs: known by a signature, written in the name of a service, idempotent by their own keys."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from postgres import Postgres, TeamDatabase, drop_database, make_team_database
from team_service import Member, Service, join, run_team, team_service
from web_page import Response

from siftd.team.sources.signature import WINDOW_SECONDS, signature

SECRET = "a-secret-of-sixteen-bytes-or-more"
LEAKED = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


class Tracker:
    """A project that takes webhooks, and an issue of the program that sends them."""

    def __init__(self, service: Service, ana: Member) -> None:
        self.service = service
        self.ana = ana
        self.path = ana.v1("/webhooks")
        self.ref = f"tracker/{uuid.uuid4().hex}"

    def send(self, body: Any, **headers: str) -> Response:
        """Send an event as a program of one's own does, or with other headers."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        now = int(time.time())
        signed = {
            "webhook-id": "m1",
            "webhook-timestamp": str(now),
            "webhook-signature": signature(SECRET.encode(), "m1", now, data),
        }
        said = {name.replace("_", "-"): value for name, value in headers.items()} or signed
        return self.service.ask("POST", self.path, data, headers=said)

    def issue(self, text: str, updated: int, event: str = "issue:updated") -> Response:
        item = {"ref": self.ref, "updated": updated, "title": "Login fails", "text": text}
        return self.send({"event": event, "item": item})

    def texts(self) -> list[str]:
        """Return what is there of the issue."""
        items = [each["item"] for each in self.ana.get(self.ana.api("/memories?source=issue"))["items"]]
        return [each["text"] for each in items if each["sourceRef"].startswith(self.ref) and not each.get("archivedAt")]


class Stage:
    """A server with two projects whose webhooks it takes."""

    def __init__(self, database: TeamDatabase, file: Path) -> None:
        file.touch(0o600)
        with team_service(database.app) as service:
            self.ana = join(service, database, "ana", role="admin")
            self.other = join(service, database, "ana", "other", role="admin")
            hooks = [(each, join(service, database, "ci", each.joined.project.name)) for each in (self.ana, self.other)]
        lines = [f"{each.project} {SECRET} {ci.token}" for each, ci in hooks]
        file.write_text("\n".join(["# project secret token", *lines, ""]))
        self.ci_of_other = hooks[1][1]
        self.database = database
        for name in ("lab", "other"):
            switched = run_team("sources", name, "--on", "issue", environ={"SIFTD_TEAM_DSN": database.operator})
            assert switched.returncode == 0, switched.stderr


@pytest.fixture(scope="module")
def stage(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    database = make_team_database(postgres)
    file = tmp_path_factory.mktemp("hooks") / "webhooks"
    stage = Stage(database, file)
    with team_service(database.app, "--webhooks-file", str(file)) as service:
        stage.ana.service = stage.other.service = service
        yield stage
    drop_database(database)


@pytest.fixture
def tracker(stage: Stage) -> Tracker:
    return Tracker(stage.ana.service, stage.ana)


def test_an_issue_is_taken_replaced_and_forgotten_by_its_own_key(tracker: Tracker) -> None:
    assert tracker.issue("It **fails** since 1.4", 1_000, "issue:created").json == {
        "put": 1, "forgotten": 0, "ignored": [],
    }  # fmt: skip
    assert tracker.texts() == ["Login fails\n\nIt fails since 1.4"]
    assert tracker.issue("It **fails** since 1.4", 1_000).json["put"] == 0, "the same event again"
    assert tracker.issue("It fails since 1.3", 2_000).json["put"] == 1
    assert tracker.issue("an old event that comes late", 1_500).json["ignored"] == ["older"]
    assert tracker.texts() == ["Login fails\n\nIt fails since 1.3"]
    assert tracker.issue("", 3_000, "issue:deleted").json["forgotten"] == 1
    assert tracker.texts() == []


def test_a_long_issue_that_becomes_short_loses_its_further_pieces(tracker: Tracker) -> None:
    long = "\n\n".join(f"Paragraph {number} " + "says a lot " * 60 for number in range(20))
    assert tracker.issue(long, 1_000).json["put"] > 1
    tracker.issue("It is short now", 2_000)
    assert tracker.texts() == ["Login fails\n\nIt is short now"]


def test_late_news_of_a_long_issue_bring_back_no_piece_of_it(tracker: Tracker) -> None:
    long = "\n\n".join(f"Paragraph {number} " + "says a lot " * 60 for number in range(20))
    tracker.issue("It is short", 2_000)
    assert tracker.issue(long, 1_000).json == {"put": 0, "forgotten": 0, "ignored": ["older"]}
    assert tracker.texts() == ["Login fails\n\nIt is short"]
    assert tracker.issue("", 3_000, "issue:deleted").json["forgotten"] == 1
    assert tracker.issue(long, 4_000).json == {"put": 0, "forgotten": 0, "ignored": ["forgotten"]}
    assert tracker.texts() == []


def test_what_it_tells_is_redacted_for_nobody_has_done_so_before(tracker: Tracker) -> None:
    assert tracker.issue(f"the token {LEAKED} is in the log", 1_000).json["put"] == 1
    (text,) = tracker.texts()
    assert LEAKED not in text
    assert "[REDACTED:github-token" in text


def test_what_nobody_has_signed_now_is_refused_and_nothing_of_it_read(tracker: Tracker) -> None:
    body = json.dumps({"event": "issue:created", "item": {"ref": "a", "updated": 1, "text": "x"}}).encode()
    now = int(time.time())
    old = now - WINDOW_SECONDS - 60
    good = signature(SECRET.encode(), "m1", now, body)
    wrong: list[dict[str, str]] = [
        {"x": "y"},
        {"webhook_signature": good},
        {"webhook_id": "m2", "webhook_timestamp": str(now), "webhook_signature": good},
        {"webhook_id": "m1", "webhook_timestamp": str(old),
         "webhook_signature": signature(SECRET.encode(), "m1", old, body)},
        {"webhook_id": "m1", "webhook_timestamp": str(now),
         "webhook_signature": signature(b"another secret of theirs", "m1", now, body)},
        {"x_hub_signature_256": "sha256=" + "0" * 64},
        {"authorization": f"Bearer {tracker.ana.token}"},
    ]  # fmt: skip
    for headers in wrong:
        answer = tracker.send(body, **headers)
        assert (answer.status, answer.code) == (401, "not_signed"), headers
    assert tracker.texts() == []


def test_a_secret_opens_its_own_project_alone(tracker: Tracker) -> None:
    tracker.path = f"/api/v1/projects/{uuid.uuid4()}/webhooks"
    assert tracker.issue("x", 1_000).status == 401


def test_github_signs_in_its_own_way(tracker: Tracker) -> None:
    issue = json.loads((Path(__file__).parents[2] / "data" / "sources" / "github-issues.json").read_text())[0]
    body = json.dumps({"action": "opened", "issue": issue}).encode()
    digest = hmac.digest(SECRET.encode(), body, hashlib.sha256).hex()
    answer = tracker.send(body, x_github_event="issues", x_hub_signature_256=f"sha256={digest}")
    assert (answer.status, answer.json["put"] >= 1) == (200, True), answer.body
    assert tracker.send(b"{}", x_github_event="ping", x_hub_signature_256="sha256=" + hmac.digest(
        SECRET.encode(), b"{}", hashlib.sha256).hex()).json == {"put": 0, "forgotten": 0, "ignored": []}  # fmt: skip


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"event":"issue:created"}', b'{"event":"x","item":{}}', b"\xff"])
def test_what_is_signed_and_no_event_is_refused(tracker: Tracker, body: bytes) -> None:
    answer = tracker.send(body)
    assert (answer.status, answer.code) == (400, "bad_request")


def test_a_source_that_is_off_takes_nothing(tracker: Tracker) -> None:
    item = {"ref": "ci/1", "updated": 1_000, "title": "unit", "text": "it failed"}
    said = tracker.send({"event": "job:completed", "item": item}).json
    assert said == {"put": 0, "forgotten": 0, "ignored": ["source off"]}


def test_a_service_whose_token_is_revoked_writes_no_more(stage: Stage) -> None:
    tracker = Tracker(stage.other.service, stage.other)
    assert tracker.issue("x", 1_000).status == 200
    with psycopg.connect(stage.database.superuser, autocommit=True) as connection:
        device = stage.ci_of_other.joined.device
        connection.execute("UPDATE siftd.tokens SET revoked_at = now() WHERE device = %s", (device,))
    assert tracker.issue("y", 2_000).status == 401
    assert tracker.texts() == ["Login fails\n\nx"]
