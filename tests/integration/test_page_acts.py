"""What a person does on the page, in a real Chromium: keep, correct, pin, forget; and what happens meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from daemons import Place, tool_call
from page_browser import Visit, chromium, require_chromium, visiting
from page_stage import keep
from web_page import Page, free_port, serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def served(place: Place) -> Iterator[Page]:
    require_chromium()
    place.start()
    with serving(place) as page:
        yield page


@pytest.fixture
def visit(browser: Any, served: Page) -> Iterator[Visit]:
    with visiting(browser, served) as visit:
        yield visit


def test_an_empty_memory_says_the_next_step_in_each_view(visit: Visit) -> None:
    for view, step in (
        ("search", "mem install"),
        ("sessions", "mem backfill"),
        ("memories", "mem remember"),
        ("why", "a search"),
        ("given", "second session"),
        ("storage", "as your agents work"),
        ("privacy", "No secret has come by"),
    ):
        visit.go(view)
        assert step in visit.text(), view
        assert visit.barriers() == [], view


def test_what_is_kept_on_the_page_is_kept_in_the_person_s_name(visit: Visit, place: Place) -> None:
    visit.go("memories")
    visit.tab.fill("#keep", "The queue runs on Postgres")
    visit.tab.press("#keep", "Enter")
    visit.tab.wait_for_selector(".memory")
    (memory,) = place.ask("memories")["memories"]
    assert (memory["text"], memory["saidBy"], memory["waits"]) == ("The queue runs on Postgres", "person", False)


def test_what_happened_is_given_to_nobody_any_more_and_then_again(visit: Visit, place: Place) -> None:
    place.capture()
    place.ask("drain")
    visit.go("why", "id=e1")
    visit.tab.click("text=Stop giving this")
    visit.tab.wait_for_selector(".piece >> text=Given to nobody unasked")
    assert place.ask("show", id="e1")["item"]["mutedSince"] is not None
    visit.tab.click("text=Let it be given again")
    visit.tab.wait_for_selector(".piece >> text=Given to nobody unasked", state="detached")
    assert place.ask("show", id="e1")["item"]["mutedSince"] is None


def test_a_correction_takes_the_place_and_the_old_text_stays_as_history(visit: Visit, place: Place) -> None:
    keep(place, "The queue runs on Redis")
    visit.go("memories")
    visit.tab.click("text=Correct…")
    visit.tab.fill("#correct-text", "The queue runs on Postgres")
    visit.tab.click("text=Keep the correction")
    visit.tab.wait_for_selector(".memory >> text=The queue runs on Postgres")
    visit.go("memories", "which=superseded")
    assert "The queue runs on Redis" in visit.tab.inner_text(".memory .chain")
    visit.tab.click(".chain a.id")
    visit.settle("why")
    assert "Hidden behind" in visit.tab.inner_text(".piece")
    visit.go("search", "q=queue+Redis&hidden=too")
    assert "The queue runs on Redis" in visit.tab.inner_text(".hits")


def test_a_pin_is_set_and_taken_off(visit: Visit, place: Place) -> None:
    keep(place, "Never push to main without a review")
    visit.go("memories")
    visit.tab.click("button:text-is('Pin')")
    visit.tab.wait_for_selector(".tag >> text=pinned")
    assert [each["pinned"] for each in place.ask("memories")["memories"]] == [True]
    visit.tab.click("button:text-is('Unpin')")
    visit.tab.wait_for_selector("button:text-is('Pin')")
    assert [each["pinned"] for each in place.ask("memories")["memories"]] == [False]


def test_what_an_agent_asked_for_stands_once_the_person_lets_it(visit: Visit, place: Place) -> None:
    place.ask("remember", text="Always run the tests", pin=True)
    visit.go("memories", "which=waiting")
    visit.tab.click("text=Let it stand")
    visit.tab.wait_for_selector(".empty")
    assert [each["waits"] for each in place.ask("memories")["memories"]] == [False]


def test_forget_shows_what_goes_and_takes_nothing_before_its_id_is_typed(visit: Visit, place: Place) -> None:
    visit.expected = "409"
    kept = keep(place, "The password of the staging box is on the fridge")
    visit.go("memories")
    visit.tab.click("text=Forget…")
    visit.tab.wait_for_selector("#forget-word")
    assert "1 memory" in visit.tab.inner_text("dialog")
    assert visit.barriers() == []
    assert visit.tab.is_disabled("dialog button.danger")
    visit.tab.keyboard.press("Escape")
    visit.tab.wait_for_selector("dialog", state="detached")
    assert len(place.ask("memories")["memories"]) == 1
    visit.tab.click("text=Forget…")
    visit.tab.fill("#forget-word", kept.lstrip("#"))
    visit.tab.click("dialog button.danger")
    visit.tab.wait_for_selector(".empty")
    assert "is gone" in visit.tab.inner_text(".said")
    assert b"on the fridge" not in place.bytes_at_rest()


def test_what_would_be_something_else_by_now_is_shown_before_it_can_be_confirmed(visit: Visit, place: Place) -> None:
    visit.expected = "40"
    kept = keep(place, "The password of the staging box is on the fridge").lstrip("#")
    visit.go("why", f"id={kept}")
    visit.tab.click("text=Forget…")
    visit.tab.fill("#forget-word", kept)
    place.ask("forget", ids=[kept], dryRun=False)
    visit.tab.click("dialog button.danger")
    visit.tab.wait_for_selector("dialog .trouble")
    assert visit.tab.input_value("#forget-word") == ""


def test_a_capture_arrives_while_one_looks(visit: Visit, place: Place) -> None:
    visit.go("search")
    visit.tab.wait_for_selector(".state.is-live")
    place.hook(tool_call(7))
    visit.tab.wait_for_selector(".rows >> text=make target-7")
    visit.go("sessions")
    place.hook(tool_call(8))
    visit.tab.wait_for_function("() => document.querySelectorAll('svg.lane-box .tick').length === 2")


def test_what_one_has_open_stays_open_while_things_happen(visit: Visit, place: Place) -> None:
    """A list that is asked again must not take the dialog away that somebody types in."""
    keep(place, "The queue runs on Redis")
    visit.go("memories")
    visit.tab.click("text=Correct…")
    visit.tab.fill("#correct-text", "The queue runs on")
    keep(place, "The cache runs on Redis")
    visit.tab.wait_for_selector(".memory >> text=The cache runs on Redis", state="attached")
    assert visit.tab.input_value("#correct-text") == "The queue runs on"
    visit.tab.keyboard.press("Escape")


def test_a_daemon_that_is_away_is_named_and_the_page_goes_on_with_the_next(visit: Visit, place: Place) -> None:
    visit.go("health")
    visit.tab.wait_for_selector(".state.is-live")
    place.stop(hold=True)
    visit.tab.wait_for_selector(".banner >> text=does not answer")
    place.start()
    visit.tab.wait_for_selector(".banner", state="detached")
    visit.faults.clear()  # the browser notes each request that the daemon was not there for


def test_a_page_of_a_stopped_process_says_so_and_goes_on_with_the_next(browser: Any, place: Place) -> None:
    require_chromium()
    place.start()
    port = free_port()
    with serving(place, port) as served, visiting(browser, served) as visit:
        visit.go("health")
        visit.tab.wait_for_selector(".state.is-live")
        served.process.terminate()
        visit.tab.wait_for_selector(".banner")
        assert "mem web" in visit.tab.inner_text(".banner")
        with serving(place, port) as again:
            visit.tab.wait_for_selector("#code")
            visit.tab.fill("#code", again.make_code())
            visit.tab.click("button.main")
            visit.settle("health")
        visit.faults.clear()  # the browser notes each request that nobody answered
