"""Memory that was needed once is the system's again."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from opened_memory import opened

from siftd.daemon.malloc_trim import give_back

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="elsewhere nothing is given back")


def test_free_memory_between_what_is_held_goes_back_to_the_system() -> None:
    held = scatter()
    before = resident_pages()
    give_back()
    assert resident_pages() < before - 5_000, "of some 10,000 pages, all but those of what is held"
    assert len(held) == 200


async def test_a_tick_gives_back_what_lies_free(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        held = scatter()
        before = resident_pages()
        await memory.services.maintenance.run()
        assert resident_pages() < before - 5_000
    assert len(held) == 200


def scatter() -> list[bytes]:
    """Leave 40 MB of free pieces between few that are held, as heavy work does."""
    return [bytes(2048) for _ in range(20_000)][::100]


def resident_pages() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
