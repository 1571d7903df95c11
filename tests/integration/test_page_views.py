"""Every view of the page in a real Chromium: light and dark, narrow and wide, nothing in anybody's way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from daemons import Place
from page_browser import VIEWS, Visit, chromium, require_chromium, visiting
from page_stage import QUESTION, fill
from web_page import Page, serving

pytestmark = pytest.mark.slow

NARROW, WIDE = 320, 1280
SHIFT_MAX = 0.1


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def served() -> Iterator[Page]:
    require_chromium()
    place = Place()
    try:
        fill(place)
        with serving(place) as page:
            yield page
    finally:
        place.end()


def addresses(visit: Visit) -> Iterator[tuple[str, str]]:
    """Return every view, empty and with something in it."""
    session = visit.served.get("/sessions")["sessions"][0]["sessionId"]
    (memory, *_) = visit.served.get("/memories")["memories"]
    yield from ((view, "") for view in VIEWS)
    yield "search", "q=outdated+tokens"
    yield "search", "q=outdated+tokens&of=memory"
    yield "sessions", f"id={session}"
    yield "memories", "which=superseded"
    (entity, *_) = visit.served.get("/entities")["entities"]
    yield "graph", f"name={entity['id']}"
    yield "why", f"id=m{memory['id']}"
    yield "why", f"id={session_summary(visit.served)}"


def session_summary(served: Page) -> str:
    """Return what sums up the session that mended the tokens."""
    hits = served.get("/memory/search?q=expired+session+tokens&k=50")["hits"]
    return next(hit["id"] for hit in hits if hit.get("scope") == "session" and "tokens are accepted" in hit["text"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_each_view_is_drawn_fits_and_shuts_nobody_out(browser: Any, served: Page, width: int, scheme: str) -> None:
    with visiting(browser, served, width=width, scheme=scheme) as visit:
        for view, query in addresses(visit):
            visit.go(view, query)
            assert not visit.tab.query_selector(".trouble, .banner"), (view, query, visit.text())
            assert visit.overflow() <= 0, (view, query)
            assert visit.shift() < SHIFT_MAX, (view, query)
            assert visit.barriers() == [], (view, query)


def test_without_the_token_a_person_is_told_the_way_in(browser: Any, served: Page) -> None:
    tab = browser.new_context().new_page()
    tab.goto(f"http://{served.host}/")
    assert "mem web" in tab.inner_text("main")
    tab.fill("#code", "no such code")
    tab.click("button.main")
    tab.wait_for_selector("[role=alert]")
    assert "spent or too old" in tab.inner_text("main")
    tab.context.close()


def test_a_search_shows_its_proof_and_what_its_score_is_made_of(browser: Any, served: Page) -> None:
    with visiting(browser, served) as visit:
        visit.go("search")
        visit.tab.fill("#q", QUESTION)
        visit.tab.press("#q", "Enter")
        visit.tab.wait_for_selector(".hit")
        visit.tab.click(".arithmetic summary >> nth=0")
        names = visit.tab.locator(".arithmetic[open] dt").all_inner_texts()
        assert "its words" in names
        assert "session" in names
        assert "Proof" in visit.tab.inner_text(".arithmetic[open]")


def test_a_lane_has_a_tick_a_call_red_ones_for_failures_and_what_was_given(browser: Any, served: Page) -> None:
    with visiting(browser, served) as visit:
        visit.go("sessions")
        visit.tab.wait_for_function("() => document.querySelectorAll('svg.lane-box').length === 3")
        assert visit.tab.locator("svg.lane-box .tick").count() == len(served.get("/timeline?before=100")["events"])
        assert visit.tab.locator("svg.lane-box .tick.failed").count() > 0
        assert visit.tab.locator("svg.lane-box circle.given").count() == len(served.get("/injections")["injections"])


def test_why_leads_from_a_summary_to_the_prompt_that_began_it(browser: Any, served: Page) -> None:
    with visiting(browser, served) as visit:
        visit.go("why", f"id={session_summary(served)}")
        assert "Expired session tokens are accepted" in visit.tab.inner_text(".node.prompt")
        assert visit.tab.locator(".tree .node").count() >= 6


def test_the_page_is_used_by_the_keyboard_alone(browser: Any, served: Page) -> None:
    with visiting(browser, served) as visit:
        visit.go("search")
        visit.tab.keyboard.press("Tab")
        assert visit.tab.evaluate("document.activeElement.className") == "skip"
        visit.tab.keyboard.press("Enter")
        assert visit.tab.evaluate("document.activeElement.id") == "main"
        visit.tab.keyboard.press("Tab")
        visit.tab.keyboard.type("expired tokens")
        visit.tab.keyboard.press("Enter")
        visit.tab.wait_for_selector(".hit")


def test_each_place_has_an_address_and_back_leads_back(browser: Any, served: Page) -> None:
    with visiting(browser, served) as visit:
        visit.go("search", "q=expired+tokens")
        visit.go("health")
        visit.tab.go_back()
        visit.tab.wait_for_selector(".hit")
        assert visit.tab.input_value("#q") == "expired tokens"


def test_a_narrow_window_opens_its_ways_by_a_button(browser: Any, served: Page) -> None:
    with visiting(browser, served, width=NARROW) as visit:
        visit.go("search")
        assert not visit.tab.is_visible("nav")
        visit.tab.click("text=Menu")
        visit.tab.click("nav >> text=Health")
        visit.settle("health")
        assert not visit.tab.is_visible("nav")


def test_the_graph_leads_from_a_hub_to_what_hangs_together_with_it_and_what_says_so(browser: Any, served: Page) -> None:
    kept = served.post("/memory", {"text": "The token service depends on the clock service."}).json["id"]
    served.place.ask("drain")
    with visiting(browser, served) as visit:
        visit.go("graph")
        visit.tab.fill("#graph-name", "What does the token service depend on?")
        visit.tab.press("#graph-name", "Enter")
        visit.tab.wait_for_selector(".piece")
        assert "clock service" in visit.text()
        assert visit.tab.locator(f"a.id:text-is('{kept}')").count() > 0
        visit.tab.click("a:text-is('clock service') >> nth=0")
        visit.tab.wait_for_function("() => document.querySelector('.piece .words')?.textContent === 'clock service'")
        visit.tab.wait_for_selector(".tag:text-is('DEPENDS_ON ←')")
