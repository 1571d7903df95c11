"""A session's file of two gigabytes: what is sound of it is taken, in bounded memory."""

from __future__ import annotations

import os
import resource
import shutil
from pathlib import Path
from typing import Any

import pytest
from opened_store import OpenedStore

from siftd.backfill import BackfillResult, backfill
from siftd.clients.registry import CLIENTS
from siftd.clock import SystemClock
from siftd.workspace.identity import find_workspace

DATA = Path(__file__).resolve().parents[1] / "data"
HUGE = 2 * 1024**3
GROWTH_MAX_KB = 400 * 1024
"""A line may be 32 MB, and is held some times over while it is read; a file of 2 GB read whole would be far beyond."""


async def fill(store: OpenedStore, client: str, path: Path, root: Path) -> BackfillResult:
    async def on_progress(done: int, total: int, result: BackfillResult) -> None: ...

    options: dict[str, Any] = {
        "paths": [str(path)],
        "client": CLIENTS[client],
        "folder": str(path.parent),
        "workspace": find_workspace(str(root)),
        "any_workspace": True,
        "is_excluded": lambda root: False,
        "intake": store.intake,
        "keep": store.committer.keep,
        "progress_store": store,
        "clock": SystemClock(),
        "on_progress": on_progress,
        "goes_on": lambda: True,
    }
    return await backfill(**options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("client", "names"),
    [
        ("codex", "sessions/**/rollout-*.jsonl"),
        ("copilot-cli", "home/session-state/*/events.jsonl"),
        ("droid", "home/sessions/*/*.jsonl"),
        ("pi", "session-1.jsonl"),
    ],
)
async def test_a_hole_of_two_gigabytes_costs_one_line(tmp_path: Path, client: str, names: str) -> None:
    """As a disk that was full, or a power cut, leaves one: the lines before it and behind it are read."""
    recorded = max((DATA / client).glob(names), key=lambda path: path.stat().st_size)
    lines = recorded.read_bytes().splitlines(keepends=True)
    path = tmp_path / recorded.name
    path.write_bytes(b"".join(lines[:-1]))
    with path.open("r+b") as file:
        file.truncate(HUGE)
        file.seek(HUGE)
        file.write(b"\n" + lines[-1])
    (tmp_path / "whole").mkdir()
    shutil.copy(recorded, whole := tmp_path / "whole" / recorded.name)
    os.utime(path, (0, 0))
    os.utime(whole, (0, 0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with OpenedStore(tmp_path / "home") as store:
        result = await fill(store, client, path, tmp_path)
        again = await fill(store, client, whole, tmp_path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < GROWTH_MAX_KB
    assert result.captured > 0
    assert result.errors == 1
    assert result.first_error is not None
    assert "line_too_long" in result.first_error
    assert again.captured == 0, "nothing was lost but the hole"
