"""The page's Team view, and a team in its search, in a real Chromium: alone, joined, stopped, with hostile names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from daemons import Place, wait_until
from page_browser import Visit, chromium, require_chromium, visiting
from page_stage import fill
from team_stand_in import BEN, PROJECT, Refusal, TeamStandIn, team_server
from team_store import noted, shared
from web_page import Page, serving

pytestmark = pytest.mark.slow

HOSTILE = '</script><img src=x onerror="window.pwned=1">'
SAID = "(words) => document.querySelector('.said').textContent.includes(words)"
WHY = "Outdated tokens are let in for a minute on purpose: the clocks of the edge nodes differ"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def server() -> Iterator[TeamStandIn]:
    require_chromium()
    with team_server() as made:
        made.ignore["Session: "] = "secret"
        metadata = {"title": HOSTILE, "url": "https://x.example/7"}
        made.publish(
            noted("a", WHY),
            shared("7", f"Outdated tokens are let in {HOSTILE}", "issue", metadata=metadata),
            author=type(BEN)(id=BEN.id, name=f"Ben {HOSTILE}"),
        )
        yield made


@pytest.fixture(scope="module")
def page(server: TeamStandIn) -> Iterator[Page]:
    place = Place()
    try:
        fill(place)
        with serving(place) as served:
            assert served.get("/team")["team"] is None
            place.ask("team_join", url=server.url, project=str(PROJECT), invite="ana" * 20, device=f"laptop {HOSTILE}")
            wait_until("all that others shared is here", lambda: len(of_team(place)) == 2)
            place.ask("team_push", all=True)
            yield served
    finally:
        place.end()


def of_team(place: Place) -> list[str]:
    found = place.ask("search", query="outdated", filters={"team": True})["hits"]
    return [hit["id"] for hit in found]


def seen(visit: Visit) -> str:
    visit.tab.wait_for_function("() => !document.querySelector('.waiting, [aria-busy=true]')")
    return str(visit.tab.inner_text("main"))


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1280, "light")])
def test_a_team_is_drawn_fits_and_shuts_nobody_out(browser: Any, page: Page, width: int, scheme: str) -> None:
    with visiting(browser, page, width=width, scheme=scheme) as visit:
        for view, query in (("team", ""), ("search", "q=outdated+tokens&team=only"), ("why", "id=t1")):
            visit.go(view, query)
            assert not visit.tab.query_selector(".trouble, .banner"), (view, visit.text())
            assert visit.overflow() <= 0, view
            assert visit.barriers() == [], view


def test_who_is_there_what_waits_and_what_was_refused_is_told(browser: Any, page: Page) -> None:
    with visiting(browser, page) as visit:
        visit.go("team")
        text = seen(visit)
        for told in (
            "Of the team «okapi»",
            "Ana",
            "this one",
            "has all of it",
            "Not taken by the server",
            "looks like a secret",
        ):
            assert told in text, (told, text)
        visit.tab.click("text=Show the very items")
        visit.tab.wait_for_selector(".items li")
        assert "Tokens are name:expiry" in seen(visit)


def test_it_is_told_which_devices_have_not_applied_a_forgetting(browser: Any, page: Page, server: TeamStandIn) -> None:
    kept = page.place.ask("remember", text="Otters hold hands while they sleep")["id"]
    page.place.ask("team_push")
    server.devices[uuid4()] = f"old laptop {HOSTILE}", BEN, 0
    page.place.ask("forget", ids=[kept], dryRun=False)
    page.place.ask("team_push")
    page.place.ask("team_pull")
    with visiting(browser, page) as visit:
        visit.go("team")
        text = seen(visit)
        assert f"1 item: applied by 1 of 2 devices; old laptop {HOSTILE} last seen " in text, text
        assert visit.overflow() <= 0


def test_a_hit_names_its_author_and_is_theirs_to_forget(browser: Any, page: Page) -> None:
    with visiting(browser, page) as visit:
        visit.go("search", "q=why+are+outdated+tokens+let+in&team=only")
        hit = visit.tab.wait_for_selector("#hit-t1")
        assert "Ben" in hit.inner_text()
        assert "Forget" not in hit.inner_text()
        hit.query_selector("text=Stop giving this").click()
        visit.tab.wait_for_function(
            "() => document.querySelector('.said').textContent.includes('t1 is given to nobody')"
        )
        visit.go("why", "id=t1")
        text = seen(visit)
        assert "Given to nobody unasked since" in text
        assert "on its author's device" in text
        visit.tab.click("text=Let it be given again")
        visit.tab.wait_for_function(SAID, arg="may be given again")


def test_hostile_names_and_titles_are_text(browser: Any, page: Page) -> None:
    with visiting(browser, page) as visit:
        for view, query in (("team", ""), ("search", "q=outdated+tokens"), ("why", "id=t2")):
            visit.go(view, query)
            assert "<img" in seen(visit), view
            assert visit.tab.evaluate("[document.images.length, window.pwned === undefined]") == [0, True]


def test_the_routes_tell_the_same_and_join_nothing(page: Page) -> None:
    state = page.get("/team")
    assert (state["team"]["name"], state["team"]["problem"], state["team"]["waiting"]) == ("okapi", None, 0)
    assert [each["name"] for each in state["members"]["members"]] == ["Ana"]
    assert page.get("/team?ask=false")["members"] is None
    assert page.get("/team/preview")["byShare"]["memory"] > 0
    items = page.get("/team/items")["items"]
    assert any("name:expiry" in each["text"] for each in items)
    assert {hit["id"] for hit in page.get("/memory/search?q=outdated+tokens&team=true")["hits"]} == {"t1", "t2"}
    assert [hit["id"] for hit in page.get("/memory/search?q=outdated+tokens&source=issue")["hits"]] == ["t2"]
    assert not [hit for hit in page.get("/memory/search?q=outdated+tokens&team=false")["hits"] if "team" in hit]
    assert page.get("/items/t1")["item"]["team"]["author"].startswith("Ben")
    assert page.get("/why/t1")["story"] is None
    assert page.get("/graph/t1")["edges"] == []


def test_a_stopped_team_says_why_and_what_to_do(browser: Any, page: Page, server: TeamStandIn) -> None:
    server.refuse["changes"] = Refusal(401, "revoked")
    server.publish(noted("z", "Something new"))
    wait_until("the daemon knows", lambda: page.get("/team?ask=false")["team"]["problem"] is not None)
    with visiting(browser, page, width=320) as visit:
        visit.go("team")
        text = seen(visit)
        assert "Nothing goes up or comes down" in text
        assert "mem team join" in text
        assert visit.overflow() <= 0
    assert page.get("/memory/search?q=outdated+tokens&team=true")["hits"], "what is here is found as before"


def test_without_a_team_the_way_to_one_is_shown(browser: Any) -> None:
    place = Place()
    try:
        fill(place)
        with serving(place) as served, visiting(browser, served, width=320) as visit:
            visit.go("team")
            text = seen(visit)
            assert "This project is of no team" in text
            assert "mem team join" in text
            assert "What goes up" in text
            assert visit.overflow() <= 0
            visit.go("search", "q=tokens")
            assert "The team's alone" not in seen(visit)
    finally:
        place.end()
