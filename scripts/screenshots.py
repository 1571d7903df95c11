"""Take the pictures of the page that the documents show, in a real Chromium over the recorded sessions.

They are drawn from what this checkout captures, finds and serves, so that they stay true.
"""

from __future__ import annotations

import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))

from daemons import Place  # noqa: E402 - shared with the suite
from page_browser import Visit, chromium, visiting  # noqa: E402 - shared with the suite
from page_stage import fill  # noqa: E402 - shared with the suite
from web_page import serving  # noqa: E402 - shared with the suite

PICTURES = REPOSITORY / "docs" / "pictures"
BYTES_MAX = 150_000
NAMES = ("search", "sessions", "why")


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    place = Place()
    try:
        fill(place)
        with serving(place) as served, chromium() as browser, visiting(browser, served, height=800) as visit:
            for name in NAMES:
                draw(visit, name)
                taken = PICTURES / f"{name}.png"
                visit.tab.mouse.move(0, 0)
                visit.tab.screenshot(path=str(taken))
                size = taken.stat().st_size
                print(f"{taken.relative_to(REPOSITORY)}: {size:,} bytes")
                assert size < BYTES_MAX, "too large for the repository"
    finally:
        place.end()


def draw(visit: Visit, name: str) -> None:
    """Open what a picture shows."""
    if name == "search":
        visit.go("search", "q=why+were+outdated+tokens+let+in%3F")
        visit.tab.click(".arithmetic summary >> nth=0")
    elif name == "sessions":
        visit.go("sessions")
        visit.tab.wait_for_function("() => document.querySelectorAll('svg.lane-box').length === 3")
    else:
        hits = visit.served.get("/memory/search?q=expired+session+tokens&k=50")["hits"]
        visit.go("why", "id=" + next(hit["id"] for hit in hits if hit.get("scope") == "session"))


if __name__ == "__main__":
    main()
