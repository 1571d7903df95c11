"""One session told twice, by its hooks and by its session files, in every order: each fact has to be kept once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opened_store import OpenedStore

from siftd.backfill import BackfillResult, backfill
from siftd.clients.client import Client
from siftd.clock import SystemClock
from siftd.errors import EnvelopeRejected
from siftd.workspace.identity import find_workspace

WAYS = ("live", "file", "live, file, live", "file, live, file", "half, file, rest, file")
"""The first two alone need not tell everything; the others must tell the same."""
TS = 1_795_374_500_000
FACTS = (
    "SELECT session_id, kind, tool, outcome, agent_id, spawned_agent_id, payload_json FROM events"
    " ORDER BY session_id, kind, tool, payload_json"
)


async def read_files(store: OpenedStore, client: Client, folder: Path, root: str) -> BackfillResult:
    """Backfill what a client keeps in a folder of the workspace at `root`."""

    async def ignore(*_: object) -> None:
        pass

    return await backfill(
        client=client,
        paths=[],
        folder=str(folder),
        workspace=find_workspace(root),
        any_workspace=False,
        is_excluded=lambda _: False,
        intake=store.intake,
        keep=store.committer.keep,
        progress_store=store,
        clock=SystemClock(),
        on_progress=ignore,
        goes_on=lambda: True,
    )


async def take_hooks(
    store: OpenedStore, client: Client, inputs: Sequence[tuple[int, bytes]], times: Sequence[int] = ()
) -> int:
    """Give the store what hooks read, each with its number; return how many were taken. `times` say when each ran."""
    taken = 0
    for number, raw in inputs:
        try:
            event = client.decode(raw, ts=times[number] if times else TS + number)
        except EnvelopeRejected:
            continue
        await store.keep(event, frame_uid=f"frame-{number}")
        taken += 1
    return taken


async def facts_by(
    way: str,
    home: Path,
    client: Client,
    inputs: Sequence[bytes],
    folder: Path,
    root: str,
    times: Sequence[int] = (),
) -> list[tuple[Any, ...]]:
    """Return the facts that a new store in `home` keeps when it is told them in one of WAYS. Where hooks and files
    share no id of a call, `times` say when each hook ran."""
    numbered = list(enumerate(inputs))
    half = len(numbered) // 2
    async with OpenedStore(home) as store:
        for step in way.split(", "):
            if step == "file":
                result = await read_files(store, client, folder, root)
                assert result.errors == 0, result.first_error
            else:
                parts = {"live": numbered, "half": numbered[:half], "rest": numbered[half:]}
                await take_hooks(store, client, parts[step], times)
        return store.rows(FACTS)
