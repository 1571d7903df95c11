"""What other pages in the same browser try, in a real Chromium: all of it is refused by the browser or the server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from daemons import Place
from page_browser import chromium, require_chromium
from web_page import Page, serving

pytestmark = pytest.mark.slow

ATTEMPTS = """
async ([base, key]) => {
  const seen = {};
  const attempt = async (name, act) => { try { seen[name] = await act(); } catch { seen[name] = "refused"; } };
  await attempt("read", () => fetch(`${base}api/projects`).then((answer) => "read " + answer.status));
  const headers = { Authorization: "Bearer guess" };
  await attempt("token", () => fetch(`${base}api/projects`, { headers }).then((answer) => "read " + answer.status));
  await attempt("shell", () => fetch(base).then((answer) => answer.text()));
  await attempt("write", () =>
    fetch(`${base}api/projects/${key}/memory`, { method: "POST", mode: "no-cors", body: '{"text":"planted"}' })
      .then(() => "sent, and cannot be read"));
  await attempt("socket", () => new Promise((then, fail) => {
    const socket = new WebSocket(base.replace("http", "ws") + "ws", ["siftd.v1", "token.guess"]);
    socket.onopen = () => then("open");
    socket.onerror = fail;
  }));
  await attempt("frame", () => new Promise((then) => {
    const frame = document.createElement("iframe");
    frame.src = base;
    frame.onload = () => { try { then(frame.contentDocument.body.innerText); } catch { then("refused"); } };
    document.body.append(frame);
  }));
  await attempt("script", () => new Promise((then, fail) => {
    const script = document.createElement("script");
    script.src = base + "page/main.js";
    script.type = "module";
    script.onload = () => then("loaded");
    script.onerror = fail;
    document.body.append(script);
  }));
  return seen;
}
"""


class Elsewhere(BaseHTTPRequestHandler):
    """A page of somebody else, on another port of this machine."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><body></body>")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


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
        with serving(place) as page:
            yield page
    finally:
        place.end()


@pytest.fixture
def foreign(browser: Any) -> Iterator[Any]:
    """A tab on a page from elsewhere."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    context = browser.new_context()
    try:
        tab = context.new_page()
        tab.goto(f"http://localhost:{server.server_port}/")
        yield tab
    finally:
        context.close()
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_page_from_elsewhere_reads_nothing_sends_nothing_and_frames_nothing(foreign: Any, served: Page) -> None:
    seen = foreign.evaluate(ATTEMPTS, [f"http://{served.host}/", served.key])
    assert set(seen.values()) == {"refused"}, seen
    assert served.get("/memories")["memories"] == []


def test_a_form_from_elsewhere_changes_nothing(foreign: Any, served: Page) -> None:
    action = f"http://{served.host}/api/projects/{served.key}/memory"
    with foreign.expect_navigation() as navigated:
        foreign.evaluate(
            """(action) => {
              const form = document.createElement("form");
              Object.assign(form, { method: "post", action, enctype: "text/plain" });
              form.append(Object.assign(document.createElement("input"), { name: '{"text":"planted', value: '"}' }));
              document.body.append(form);
              form.submit();
            }""",
            action,
        )
    assert navigated.value.status == 403
    assert served.get("/memories")["memories"] == []


def test_a_name_that_was_rebound_to_this_machine_is_none_of_ours(browser: Any, served: Page) -> None:
    context = browser.new_context()
    answer = context.new_page().goto(f"http://rebound.example:{served.port}/")
    assert answer.status == 421
    context.close()
