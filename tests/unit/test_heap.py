"""Memory that was needed once is the system's again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from siftd.daemon.heap import give_back


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere nothing is given back")
def test_free_memory_between_what_is_held_goes_back_to_the_system() -> None:
    pieces = [bytes(2048) for _ in range(20_000)]
    held = pieces[::100]
    del pieces
    before = resident_pages()
    give_back()
    assert resident_pages() < before - 5_000, "of some 10,000 pages, all but those of what is held"
    assert len(held) == 200


def resident_pages() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
