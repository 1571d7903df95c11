"""Who is refused by the page's process. What is asked is made from the routes that it serves: none can be forgotten."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import Place
from starlette.routing import BaseRoute, WebSocketRoute
from web_page import Page, serving

from siftd.web.application import list_routes
from siftd.web.confirmation import Confirmations
from siftd.web.credentials import Credentials
from siftd.web.examining import Examinations
from siftd.web.gate import HEADERS
from siftd.web.guard import is_open
from siftd.web.jobs import Jobs
from siftd.web.limits import BODY_BYTES_MAX, Limits
from siftd.web.live import Feeds
from siftd.web.mcp_endpoint import McpEndpoint
from siftd.web.projects import Projects
from siftd.web.shell import Shell
from siftd.web.state import State
from siftd.workspace.paths import Home


def every_route() -> list[tuple[str, str]]:
    """Return each method with its path, as the process serves them."""
    credentials = Credentials(time.monotonic)
    home = Home("/nowhere")
    projects = Projects(home, {})
    state = State(projects, credentials, Confirmations(time.monotonic), Jobs(), Examinations(home, {}), Feeds(projects))
    found: list[tuple[str, str]] = []
    for route in list_routes(
        state, Shell(credentials, Limits(time.monotonic), lambda: None), McpEndpoint(projects, [])
    ):
        if isinstance(route, WebSocketRoute):
            continue  # tests/integration/test_web_live.py
        found += [(method, route.path) for method in methods_of(route) if method != "HEAD"]  # type: ignore[attr-defined]
    return sorted(found)


def methods_of(route: BaseRoute) -> set[str]:
    return set(getattr(route, "methods", None) or {"GET"})


ROUTES = every_route()
UNSAFE = [each for each in ROUTES if each[0] != "GET"]
GUARDED = [each for each in ROUTES if not is_open(each[1])]
NAMES = [
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1:{port}.evil.example",
    "127.0.0.1.evil.example:{port}",
    "localhost.:{port}",
    "0.0.0.0:{port}",
    "[::1]:{port}",
    "127.1:{port}",
    "2130706433:{port}",
    "",
]
ORIGINS = [
    "http://evil.example",
    "http://127.0.0.1:1",
    "http://localhost",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1:{port}.evil.example",
    "http://127.0.0.1:{port}@evil.example",
    "file://",
    "",
]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    place = Place()
    try:
        with serving(
            place,
            patches={
                "siftd.web.limits.LOGINS": 10_000,
                "siftd.web.limits.ANYBODY": 10_000,
                "siftd.web.limits.STRANGERS": 10_000,
            },
        ) as served:
            yield served
    finally:
        place.end()


def path_of(page: Page, template: str) -> str:
    return (
        template.replace("{project}", page.key)
        .replace("{id}", "e1")
        .replace("{job}", "j1")
        .replace("{path:path}", "index.html")
    )


def test_the_routes_that_are_tried_are_those_that_are_served() -> None:
    assert ("GET", "/api/projects/{project}/memory/search") in GUARDED
    assert {path for _, path in set(ROUTES) - set(GUARDED)} == {"/", "/login", "/health", "/page/{path:path}"}


@pytest.mark.parametrize("route", GUARDED, ids=" ".join)
@pytest.mark.parametrize("token", [None, "wrong", "Bearer", "\xff" * 20], ids=["none", "wrong", "word", "bytes"])
def test_no_route_answers_without_the_token(page: Page, route: tuple[str, str], token: str | None) -> None:
    method, template = route
    answer = page.ask(method, path_of(page, template), token=token)
    assert (answer.status, answer.code) == (401, "needs_token")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_no_route_answers_to_a_name_that_is_not_its_own(page: Page, route: tuple[str, str]) -> None:
    method, template = route
    for name in NAMES:
        answer = page.ask(method, path_of(page, template), headers={"host": name.format(port=page.port)})
        assert (answer.status, answer.code) == (421, "wrong_host"), name


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_no_route_answers_another_page(page: Page, route: tuple[str, str]) -> None:
    method, template = route
    for origin in ORIGINS:
        answer = page.ask(method, path_of(page, template), headers={"origin": origin.format(port=page.port)})
        assert (answer.status, answer.code) == (403, "foreign_origin"), origin


@pytest.mark.parametrize("route", [each for each in ROUTES if each[1] != "/login"], ids=" ".join)
def test_no_route_but_the_login_answers_a_page_without_an_origin(page: Page, route: tuple[str, str]) -> None:
    method, template = route
    assert page.ask(method, path_of(page, template), headers={"origin": "null"}).status == 403


@pytest.mark.parametrize("route", [each for each in UNSAFE if each[1] != "/login"], ids=" ".join)
@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
def test_nothing_is_changed_for_another_site(page: Page, route: tuple[str, str], site: str) -> None:
    method, template = route
    answer = page.ask(method, path_of(page, template), headers={"sec-fetch-site": site})
    assert (answer.status, answer.code) == (403, "foreign_origin")


def test_its_own_page_is_answered_under_both_names(page: Page) -> None:
    for name in (f"127.0.0.1:{page.port}", f"localhost:{page.port}", f"LOCALHOST:{page.port}"):
        said = {"host": name, "origin": f"http://{name.lower()}", "sec-fetch-site": "same-origin"}
        assert page.ask("GET", "/api/projects", headers=said).status == 200
        assert page.ask("POST", "/api/codes", headers=said).status == 201


@pytest.mark.parametrize("path", ["/", "/page/index.html", "/health", "/api/projects", "/nothing"])
def test_every_answer_says_what_a_browser_may_not_do_with_it(page: Page, path: str) -> None:
    for said in ({}, {"host": "evil.example"}):
        answer = page.ask("GET", path, headers=said)
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        assert not any(name.startswith("access-control") or name == "set-cookie" for name in answer.headers)
        assert "server" not in answer.headers


def test_the_policy_lets_nothing_run_or_load_that_is_not_ours(page: Page) -> None:
    policy = dict(
        each.strip().partition(" ")[::2] for each in page.ask("GET", "/").headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["trusted-types"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"


def test_a_preflight_of_another_page_is_refused(page: Page) -> None:
    said = {"origin": "http://evil.example", "access-control-request-method": "DELETE"}
    assert page.ask("OPTIONS", "/api/projects", token=None, headers=said).status == 403


def test_a_code_logs_one_page_in_and_is_spent_by_it(page: Page) -> None:
    code = page.make_code()
    token = page.log_in(code).json["token"]
    assert page.ask("GET", "/api/projects", token=token).status == 200
    again = page.log_in(code)
    assert (again.status, again.code) == (403, "code_spent")


def test_a_page_is_handed_its_token_in_what_no_browser_runs_and_the_address_stays_clean(page: Page) -> None:
    said = {"content-type": "application/x-www-form-urlencoded", "origin": "null", "sec-fetch-site": "cross-site"}
    answer = page.ask("POST", "/login", f"code={page.make_code()}".encode(), token=None, headers=said)
    assert answer.status == 200
    text = answer.body.decode()
    island = text.partition('<script type="application/json" id="token">')[2].partition("</script>")[0]
    assert page.ask("GET", "/api/projects", token=json.loads(island)).status == 200
    assert "location" not in answer.headers
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "body", [b"", b"code=", b"code=x", b"code=%00", b"other=1", b"\xff\xfe", b"code=" + b"x" * 9_000]
)
def test_what_is_no_code_logs_nobody_in(page: Page, body: bytes) -> None:
    said = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
    assert page.ask("POST", "/login", body, token=None, headers=said).status == 403


def test_a_token_in_the_address_or_in_a_cookie_is_none(page: Page) -> None:
    assert page.ask("GET", f"/api/projects?token={page.token}", token=None).status == 401
    assert page.ask("GET", "/api/projects", token=None, headers={"cookie": f"token={page.token}"}).status == 401


def test_what_holds_the_token_is_for_its_user_alone(page: Page) -> None:
    home = page.place.paths.home
    for path in (home.web_token, home.web_state, home.web_lock):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, path
    assert len(page.token) >= 43, "32 bytes"
    assert page.token not in Path(home.web_state).read_text()


def test_what_is_too_long_is_refused_whatever_its_header_says(page: Page) -> None:
    body = b" " * (BODY_BYTES_MAX + 1)
    answer = page.ask("POST", "/login", body, token=None)
    assert (answer.status, answer.code) == (413, "body_too_large")
    said = {"content-type": "application/x-www-form-urlencoded"}
    code = page.make_code().encode()
    assert page.ask("POST", "/login", b"code=" + code + b"&x=" + b"y" * 1_000, token=None, headers=said).status == 200


def test_files_are_served_from_the_pages_folder_alone(page: Page) -> None:
    for path in ("../launch.py", "..%2flaunch.py", "/etc/passwd", "%2e%2e/launch.py", "index.html/../../launch.py", ""):
        assert page.ask("GET", f"/page/{path}", token=None).status in (403, 404), path


def test_who_guesses_codes_is_slowed_down_and_who_has_one_is_not(place: Place) -> None:
    with serving(place) as page:
        refused = [page.log_in("guess") for _ in range(12)]
        assert [each.status for each in refused][:10] == [403] * 10
        assert (refused[-1].status, int(refused[-1].headers["retry-after"]) > 0) == (429, True)
        assert page.log_in().status == 200
