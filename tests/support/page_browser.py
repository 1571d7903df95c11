"""A real Chromium that looks at the page, and what it must never do meanwhile.

Debian's `chromium` is driven by Playwright's package; no browser is downloaded. A test asks `require_chromium`; where
there is none it is skipped, and says so.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from npm_programs import require_program
from web_page import Page

BINARIES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",  # CI is root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP rebound.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
VIEWS = ("search", "sessions", "memories", "graph", "why", "given", "privacy", "storage", "team", "health")
WAIT_MS = 30_000
SERIOUS = {"serious", "critical"}
CAUGHT = """
window.cspReports = [];
document.addEventListener("securitypolicyviolation", (event) => {
  cspReports.push(event.violatedDirective + " " + event.blockedURI);
});
window.shifted = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (!entry.hadRecentInput) shifted.push([entry.value, entry.sources.map((each) => each.node?.className ?? "?")]);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


def require_chromium() -> str:
    """Return the browser's program; skips the test, saying why, where it is missing."""
    pytest.importorskip("playwright.sync_api", reason="NO PAGE WAS TRIED: playwright is not installed")
    for name in BINARIES:
        if found := shutil.which(name):
            return found
    pytest.skip("NO PAGE WAS TRIED: chromium is missing (apt-get install chromium)")


@contextmanager
def chromium() -> Iterator[Any]:
    """Run the browser."""
    program = require_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """A tab that is logged in, and what went wrong in it."""

    def __init__(self, tab: Any, served: Page) -> None:
        self.tab = tab
        self.served = served
        self.base = f"http://{served.host}/"
        self.faults: list[str] = []
        self.expected = ""
        """A status that the browser notes as a fault each time, and that a test is about."""
        tab.set_default_timeout(WAIT_MS)
        tab.add_init_script(CAUGHT)
        tab.on(
            "console",
            lambda said: said.type in ("error", "warning") and self.faults.append(said.text),
        )
        tab.on("pageerror", lambda error: self.faults.append(f"uncaught: {error}"))
        tab.on("dialog", lambda shown: (self.faults.append("a dialog was opened"), shown.dismiss()))
        tab.on("request", lambda sent: self._is_ours(sent.url) or self.faults.append(f"asked elsewhere: {sent.url}"))

    def _is_ours(self, url: str) -> bool:
        return url.startswith((self.base, "data:", "about:"))

    def log_in(self) -> None:
        """Open the page as a person does who was told the code."""
        self.tab.goto(self.base)
        self.tab.fill("#code", self.served.make_code())
        self.tab.click("button.main")
        self.tab.wait_for_selector("nav", state="attached")

    def go(self, view: str, query: str = "") -> None:
        """Open a view, and wait until nothing of it is still loading."""
        address = f"{self.base}#/{self.served.key}/{view}{'?' + query if query else ''}"
        self.tab.evaluate("(address) => { location.href = address; }", address)
        self.settle(view)

    def settle(self, view: str) -> None:
        title = {"given": "Given and used"}.get(view, view.capitalize())
        self.tab.wait_for_function(
            "(title) => document.querySelector('h1')?.textContent === title"
            " && !document.querySelector('.waiting, [aria-busy=true]')",
            arg=title,
        )

    def text(self) -> str:
        return str(self.tab.inner_text("body"))

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        return int(self.tab.evaluate("document.documentElement.scrollWidth - innerWidth"))

    def shift(self) -> float:
        """Return how far things moved by themselves, as browsers count it: 0.1 is what they call good."""
        return float(self.tab.evaluate("window.shifted.splice(0).reduce((sum, [value]) => sum + value, 0)"))

    def barriers(self) -> list[str]:
        """Return what axe-core finds that shuts somebody out."""
        self.tab.evaluate(_axe())
        found = self.tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{each['id']}: {node['target']} {node['failureSummary']}"
            for each in found["violations"]
            if each["impact"] in SERIOUS
            for node in each["nodes"]
        ]

    def check(self) -> None:
        """Hold that nothing went wrong until now."""
        faults = [each for each in self.faults if not self.expected or f"status of {self.expected}" not in each]
        assert not faults, faults
        reports = self.tab.evaluate("window.cspReports")
        assert not reports, reports


@contextmanager
def visiting(
    browser: Any, served: Page, *, width: int = 1280, height: int = 900, scheme: str = "light"
) -> Iterator[Visit]:
    """Visit the page; at the end nothing must have gone wrong."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    try:
        visit = Visit(context.new_page(), served)
        visit.log_in()
        yield visit
        visit.check()
        assert context.cookies() == []
    finally:
        context.close()


@cache
def _axe() -> str:
    (file,) = require_program("axe-core")
    return Path(file).read_text()
