"""Measure summaries on recorded sessions: how concrete, how true, how long they are, and what a model would cost.

PATH is a transcript, a folder of them, or an archive (.tar.xz) with them. They are read into a store of their own in
a temporary folder, drained with the built-in backend (or SPEC), and nothing is kept. With --show, N texts of
each tool are printed. With --judged it is told what a reader found in those that the lot drew (tests/data/judged), and
with --read HALF these are printed beside what they tell of.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import statistics
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import judged
import structlog
import summary_samples

from siftd.clock import SystemClock
from siftd.config import Settings
from siftd.consolidate.planning import plan_events, plan_sessions
from siftd.daemon.services import Services
from siftd.daemon.storage import Storage
from siftd.store.access import Database
from siftd.summarise.batching import calls_of
from siftd.summarise.contract import Item
from siftd.summarise.extractive import Extractive
from siftd.summarise.grounding import Source, has_concrete_name, unsupported_claims
from siftd.summarise.prompt import prompt_for, prompt_for_all
from siftd.summarise.salience import trivial_because
from siftd.wire.requests import Backfill
from siftd.workspace.home import LoadedSettings, ensure_workspace
from siftd.workspace.identity import Workspace
from siftd.workspace.paths import Home

KEY = "0123456789abcdef"
ANSWER_TOKENS = 80
"""What a summary of some 250 characters takes in an answer."""


@contextmanager
def transcripts(paths: list[Path]) -> Iterator[list[str]]:
    with tempfile.TemporaryDirectory(prefix="siftd-eval-") as folder:
        found = []
        for path in paths:
            if path.name.endswith(".tar.xz"):
                with tarfile.open(path) as archive:
                    archive.extractall(folder, filter="data")
                path = Path(folder)
            found += sorted(map(str, path.rglob("*.jsonl"))) if path.is_dir() else [str(path)]
        yield found


async def fill(folder: str, paths: list[str], backend: str) -> str:
    """Read the transcripts into a new store and drain it; return the database's path."""
    home = Home(folder).for_workspace(KEY)
    ensure_workspace(home)
    settings = Settings.of({"memory.backend": backend})
    storage = Storage(Workspace(folder, KEY), home, LoadedSettings(settings), SystemClock())
    services = Services(storage, bool)

    async def ignore(*_: Any) -> None:
        """Nobody watches."""

    try:
        request = Backfill(paths=[str(Path(path).resolve()) for path in paths], any_workspace=True, own=True)
        await services.transfer.backfill(request, ignore)
        started = time.perf_counter()
        result = await services.consolidator.drain(None, ignore)
        seconds = time.perf_counter() - started
        print(
            f"{len(paths)} files, {result.processed:,} events; drained in {seconds:.1f} s ({result.processed / seconds:,.0f} a second), {result.sessions} sessions told, {result.errors} errors"
        )
    finally:
        services.close()
        await storage.close()
    return home.database


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="+", type=Path)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--backend", default="extractive")
    parser.add_argument("--judged", action="store_true", help="count the verdicts instead")
    parser.add_argument(
        "--read", choices=tuple(summary_samples.DRAWN), help="print what the lot drew for a half instead"
    )
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with transcripts(options.path) as paths, tempfile.TemporaryDirectory(prefix="siftd-eval-") as folder:
        database = asyncio.run(fill(folder, paths, options.backend))
        connection = Database(sqlite3.connect(database))
        if options.judged or options.read:
            samples = summary_samples.draw(connection)
            shown = (summary_samples.reading(connection, each) for each in samples if each.half == options.read)
            print(
                *(shown if options.read else summary_samples.tally(samples, judged.read(summary_samples.FILE))),
                sep="\n",
            )
        else:
            report(connection, options.show)
        connection.close()


class AsAModel(Extractive):
    """Plans as for a model: what is too trivial for one shows."""

    is_free = False


def planned_as(connection: Database, backend: Extractive, scope: str, event_id: int) -> Item:
    """Return the item that a backend is given for a summary: its own brings what more it tells of."""
    if scope == "session":
        (planned,) = plan_sessions(connection, backend, [event_id])
    else:
        (planned,), _ = plan_events(connection, backend, [event_id])
    return planned.item


def report(connection: Database, show: int) -> None:
    rows = connection.execute(
        "SELECT s.event_id, s.scope, s.text, e.tool, e.session_id FROM summaries s JOIN events e ON e.id = s.event_id ORDER BY s.id"
    ).fetchall()
    connection.execute("UPDATE events SET status = 'raw'")  # rolled back below: plans are of raw events
    lengths: dict[str, list[int]] = {}
    concrete: Counter[str] = Counter()
    kept_out: Counter[str] = Counter()
    by_session: dict[str, list[Item]] = {}
    wrong: list[tuple[int, str, list[str]]] = []
    shown: Counter[str] = Counter()
    for event_id, scope, text, tool, session_id in rows:
        item, source = (planned_as(connection, backend, scope, event_id) for backend in (AsAModel(), Extractive()))
        lengths.setdefault(scope, []).append(len(text))
        concrete[scope] += has_concrete_name(text)
        if claims := unsupported_claims(text, Source.of(source)):
            wrong.append((event_id, text, claims))
        if rule := trivial_because(item):
            kept_out[rule] += 1
        else:
            by_session.setdefault(session_id, []).append(item)
        shown[f"{scope} {tool}"] += 1
        if shown[f"{scope} {tool}"] <= show:
            print(f"  e{event_id:<6} {tool:<20} {scope:<8} {text}")
    connection.rollback()
    for scope, each in sorted(lengths.items()):
        print(
            f"{scope + 's':<9} {len(each):>6,} summaries; a concrete name in {concrete[scope] / len(each):.1%}; median {statistics.median(each):.0f} characters, longest {max(each)}"
        )
    print(f"unsupported claims: {len(wrong)} of {len(rows):,} summaries")
    for event_id, text, claims in wrong[:20]:
        print(f"  e{event_id} {claims[:4]} in: {text}")
    events = len(lengths.get("event", [])) + len(lengths.get("turn", []))
    print(
        f"kept from a model: {kept_out.total():,} of {events:,} events ({kept_out.total() / max(1, events):.0%}): "
        + ", ".join(f"{rule} {count:,}" for rule, count in kept_out.most_common())
    )
    bills = [bill(items) for items in by_session.values()]
    if bills:
        calls = sum(each for each, _ in bills)
        print(
            f"a session would cost a model {statistics.median(tokens for _, tokens in bills):,.0f} tokens in the median, {statistics.mean(tokens for _, tokens in bills):,.0f} on average; {calls:,} calls for {sum(map(len, by_session.values())):,} summaries"
        )


def bill(items: list[Item]) -> tuple[int, int]:
    """Return calls and estimated tokens, answers included, that a session's summaries would take."""
    calls = calls_of(items)
    prompts = [prompt_for(call[0]) if len(call) == 1 else prompt_for_all(call) for call in calls]
    return len(calls), sum(prompt.tokens_estimate for prompt in prompts) + len(items) * ANSWER_TOKENS


if __name__ == "__main__":
    main()
