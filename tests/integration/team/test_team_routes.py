"""Who is refused by a team's server. What is asked is made from the routes that it serves: none can be forgotten."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from postgres import Postgres, TeamDatabase, drop_database, make_team_database
from team_service import Service, join, team_service

from siftd.team_server.gate import OPEN
from siftd.team_server.limits import BODY_BYTES_MAX
from siftd.team_server.table import ROUTES, Route
from siftd.web.gate import HEADERS

GUARDED = [each for each in ROUTES if each.kind is not None and not each.is_raw]
OF_A_PROJECT = [each for each in GUARDED if "{project}" in each.path]
WITH_BODY = [each for each in ROUTES if each.body is not None]
MANY = {"siftd.team_server.limits.STRANGERS_PER_MINUTE": [10_000, 10_000]}
NAMES = ["evil.example", "127.0.0.1", "127.0.0.1:1", "team.example.evil.example", "[::1]", "0.0.0.0:{port}", ""]
SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


def name(route: Route) -> str:
    return f"{route.method} {route.path}"


class Lab:
    """A served project, and another beside it."""

    def __init__(self, service: Service, database: TeamDatabase) -> None:
        self.service = service
        self.database = database
        self.ana = join(service, database, "ana", role="admin")
        self.item = self.ana.put("The job queue runs on Postgres")
        self.ana.push(self.item)
        self.eve = join(service, database, "eve", project="elsewhere", role="admin")
        self.gone = join(service, database, "gone")
        with psycopg.connect(database.superuser, autocommit=True) as connection:
            revoke = "UPDATE siftd.tokens SET revoked_at = now() WHERE device = %s"
            connection.execute(revoke, (self.gone.joined.device,))

    def path(self, route: Route) -> str:
        path = route.path.replace("{project}", str(self.ana.project)).replace("{id}", str(self.item.id))
        path = path.replace("{job}", "j1")
        needed = {"q": "queue", "project": str(self.ana.project)}
        query = "&".join(f"{field}={needed[field]}" for field in route.query.__struct_fields__ if field in needed)
        return f"{path}?{query}" if query else path

    def body(self, route: Route) -> Any:
        """Return a body that is as described."""
        said = {
            "push": {"epoch": self.ana.joined.epoch, "items": []},
            "leave": {},
            "renew": {"device": "copy", "store": uuid.uuid4()},
            "keep": {"text": "The queue runs dry on Sundays"},
            "feedback": {"id": self.item.id, "verdict": "useful"},
            "forget": {"ids": [self.item.id]},
            "reindex": {},
        }
        return None if route.body is None else said.get(route.work.__name__, {})

    def ask(self, route: Route, *, token: str | None, **how: Any) -> Any:
        return self.service.ask(route.method, self.path(route), self.body(route), token=token, **how)


@pytest.fixture(scope="module")
def lab(postgres: Postgres) -> Iterator[Lab]:
    database = make_team_database(postgres)
    with team_service(database.app, "--host", "team.example", patches=MANY) as service:
        yield Lab(service, database)
    drop_database(database)


def test_the_routes_that_need_no_token_are_these() -> None:
    assert {each.path for each in ROUTES if each.kind is None and not each.is_raw} | {"/openapi.json"} == OPEN
    assert [each.path for each in ROUTES if each.is_raw] == ["/api/v1/projects/{project}/webhooks"]


@pytest.mark.parametrize("route", GUARDED, ids=name)
def test_no_route_answers_without_a_token(lab: Lab, route: Route) -> None:
    for token in (None, "", "x" * 300):
        answer = lab.ask(route, token=token)
        assert (answer.status, answer.code, answer.headers["www-authenticate"]) == (401, "needs_token", "Bearer")


@pytest.mark.parametrize("route", GUARDED, ids=name)
def test_no_route_answers_to_a_token_that_nobody_has_or_that_was_revoked(lab: Lab, route: Route) -> None:
    for token in ("wrong", "\xff" * 20, lab.gone.token):
        answer = lab.ask(route, token=token)
        # Whether there is a job is no secret, and what is in it is told to members alone.
        assert answer.status == (404 if "{job}" in route.path else 401), answer.body
        assert b"queue" not in answer.body


@pytest.mark.parametrize("route", OF_A_PROJECT, ids=name)
def test_no_route_answers_to_a_member_of_another_project(lab: Lab, route: Route) -> None:
    answer = lab.ask(route, token=lab.eve.token)
    assert (answer.status, answer.code) == (403, "not_a_member"), answer.body


@pytest.mark.parametrize("route", OF_A_PROJECT, ids=name)
def test_no_route_says_whether_there_is_a_project(lab: Lab, route: Route) -> None:
    said = []
    for project in (lab.ana.project, uuid.uuid4()):
        path = lab.path(route).replace(str(lab.ana.project), str(project))
        said.append(lab.service.ask(route.method, path, lab.body(route), token=lab.eve.token).body)
    assert said[0] == said[1]


@pytest.mark.parametrize("route", ROUTES, ids=name)
def test_no_route_answers_to_a_name_that_is_not_its_own(lab: Lab, route: Route) -> None:
    for host in NAMES:
        said = {"host": host.format(port=lab.service.port)}
        answer = lab.ask(route, token=lab.ana.token, headers=said)
        assert (answer.status, answer.code) == (421, "wrong_host"), host


@pytest.mark.parametrize("route", ROUTES, ids=name)
def test_no_route_answers_another_page(lab: Lab, route: Route) -> None:
    for said in ({"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
        if "origin" in said or route.method != "GET":
            answer = lab.ask(route, token=lab.ana.token, headers=said)
            assert (answer.status, answer.code) == (403, "foreign_origin"), said


@pytest.mark.parametrize("route", ROUTES, ids=name)
def test_what_is_too_long_is_refused_whatever_its_header_says(lab: Lab, route: Route) -> None:
    answer = lab.service.ask(
        route.method, lab.path(route), token=lab.ana.token, headers={"content-length": str(BODY_BYTES_MAX + 1)}
    )
    assert (answer.status, answer.code) == (413, "body_too_large")


def test_what_is_too_long_is_counted_as_it_arrives(lab: Lab) -> None:
    connection = lab.service.connect()
    connection.request(
        "POST", lab.ana.v1("/push"), iter([b" " * 65_536] * (BODY_BYTES_MAX // 65_536 + 2)), encode_chunked=True,
        headers={"host": lab.service.host, "authorization": f"Bearer {lab.ana.token}", "transfer-encoding": "chunked",
                 "content-type": "application/json"},
    )  # fmt: skip
    assert connection.getresponse().status == 413
    connection.close()


FIELDS = ("epoch", "items", "invite", "text", "id", "ids", "embedder", "forgetShared", "device")
"""One of each body, so that a reader that skips what it does not know meets what is wrong all the same."""


def with_value(value: bytes) -> bytes:
    return b"{" + b",".join(b'"%s":%s' % (field.encode(), value) for field in FIELDS) + b"}"


HOSTILE = {
    "nothing": b"",
    "no JSON": b"{",
    "no object": b"[]",
    "another type": with_value(b'{"a":1.5}'),
    "depth": b"[" * 100_000,
    "depth in a field": with_value(b"[" * 100_000 + b"]" * 100_000),
    "no UTF-8": with_value(b'"\xff\xfe"'),
    "half a surrogate": with_value(b'"\\ud800"'),
    "a huge number": with_value(b"9" * 10_000),
    "NaN": with_value(b"NaN"),
    "bytes": bytes(range(256)) * 16,
}


@pytest.mark.parametrize("route", WITH_BODY, ids=name)
@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_hostile_json_is_refused_without_a_word_of_it(lab: Lab, route: Route, body: bytes) -> None:
    answer = lab.service.ask(route.method, lab.path(route), body, token=lab.ana.token)
    assert (answer.status, answer.code) == (400, "bad_request"), answer.body
    assert b"\xff" not in answer.body
    assert b"999" not in answer.body


@pytest.mark.parametrize("route", WITH_BODY, ids=name)
def test_what_is_no_json_by_its_own_word_is_refused(lab: Lab, route: Route) -> None:
    said = {"content-type": "text/plain"}
    assert lab.service.ask(route.method, lab.path(route), b"{}", token=lab.ana.token, headers=said).status == 415


@pytest.mark.parametrize("route", OF_A_PROJECT, ids=name)
@pytest.mark.parametrize("project", ["x", "1", "NULL", "%00", "00000000", "'; DROP TABLE memories; --"])
def test_what_is_no_project_is_not_there(lab: Lab, route: Route, project: str) -> None:
    path = lab.path(route).replace(str(lab.ana.project), project.replace(" ", "%20"), 1)
    answer = lab.service.ask(route.method, path, lab.body(route), token=lab.ana.token)
    assert answer.status == 404, answer.body


@pytest.mark.parametrize("query", ["nothing=1", "after=-1", "after=x", "limit=501", "wait=26", "after=1&after=2"])
def test_a_query_that_is_not_as_described_is_refused(lab: Lab, query: str) -> None:
    assert lab.ana.ask("GET", lab.ana.v1(f"/changes?{query}")).code == "bad_request"


def test_every_answer_says_what_a_browser_may_not_do_with_it_and_sets_no_cookie(lab: Lab) -> None:
    for path in ("/health", "/openapi.json", "/nothing", lab.ana.v1("/members")):
        answer = lab.ana.ask("GET", path)
        assert {each: answer.headers.get(each) for each in HEADERS} == HEADERS
        assert not any(each.startswith("access-control") or each == "set-cookie" for each in answer.headers)
        assert "server" not in answer.headers


def test_a_token_in_the_address_or_in_a_cookie_is_none(lab: Lab) -> None:
    path = lab.ana.v1("/members")
    assert lab.service.ask("GET", f"{path}?token={lab.ana.token}").status == 401
    assert lab.service.ask("GET", path, headers={"cookie": f"token={lab.ana.token}"}).status == 401


def test_without_a_token_the_version_alone_is_told(lab: Lab) -> None:
    said = lab.service.ask("GET", "/api/v1/hello").json
    assert (said["versionMin"], said["versionMax"]) == (1, 1)
    assert "epoch" not in said
    assert lab.ana.get("/api/v1/hello")["epoch"] == str(lab.ana.joined.epoch)


def test_its_log_holds_nothing_that_was_said(lab: Lab) -> None:
    for item in (lab.ana.put("the okapi sleeps"), lab.ana.put(f"token {SECRET}")):
        lab.ana.push(item)
    lab.service.ask("POST", "/api/v1/join", {"invite": "i" * 40, "device": "okapi", "store": uuid.uuid4()})
    lab.ana.get(lab.ana.api("/memory/search?q=okapi"))
    log = lab.service.log()
    for word in ("okapi", SECRET, lab.ana.token, "queue", "i" * 40):
        assert word not in log
