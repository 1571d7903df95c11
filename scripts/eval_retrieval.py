"""How well and how fast siftd finds again, on data sets of one's own, through the socket of a throw-away home.

Each scope of a set (a repository, a chat) becomes a workspace with a daemon. Every question is asked over the socket,
with each of the retrievers alone and with all; `--ablate` leaves out one signal at a time. Baselines over the same raw texts
stand beside. Nothing but a temporary folder is written, and the rows of single questions to `--rows`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench_stand import Bench, ask
from retrieval_scores import Baselines, figures_of, table
from retrieval_sets import Ask, DataSet, load

from siftd.embed.embedder import Blend384
from siftd.workspace.home import ensure_workspace
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home
from siftd.workspace.secret import SECRET_BYTES

DEFAULT = Blend384.name
HITS = 50
OFF = {"words": 0.0, "raw": 0.0, "trigram": 0.0}
LEGS: dict[str, dict[str, float]] = {
    "fused": {},
    "lexical": {"vector": 0.0},
    "vectors": OFF,
    "summaries alone": {"raw": 0.0},
}
SIGNALS = (
    "words", "raw", "vector", "trigram", "session", "neighbour", "recency", "confidence", "prompt", "diversity",
)  # fmt: skip
ADDED: dict[str, dict[str, float]] = {"the graph": {"graph": 1.0}, "the graph at half": {"graph": 0.5}}
"""Signals that are off; `--ablate` sets them against `fused`."""
PROMPTS = 100
WARM_UP = 50
"""Searches, at most, that are asked until every vector is read."""
Row = dict[str, Any]
Ranking = list[list[str]]
"""In each place what one hit stands for: a turn that was found by its prompt shows two messages."""
Search = Callable[[str], tuple[Ranking, float]]


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no daemon is left behind
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", type=Path, help="folders of data sets")
    parser.add_argument("--embedder", action="append", help="embedders to compare (default: what is installed)")
    parser.add_argument("--ablate", action="store_true", help="also without each signal")
    parser.add_argument(
        "--without-facts", action="store_true", help="take no facts from words and learn none from deeds"
    )
    parser.add_argument("--rows", type=Path, help="write one line of JSON a question and variant here")
    chosen = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    print(f"{time.strftime('%Y-%m-%d')} on {machine}")
    rows: list[Row] = []
    for folder in chosen.datasets:
        with tempfile.TemporaryDirectory(prefix="siftd-eval-") as scratch:
            dataset = load(folder.resolve(), Path(scratch))
            print(f"\n## {dataset.name}: {len(dataset.queries)} questions\n\n{dataset.definition}.\n")
            settings = {"facts.extract": False, "facts.learn": False} if chosen.without_facts else {}
            mine = list(evaluate(dataset, Path(scratch), chosen.embedder or [DEFAULT], settings, ablate=chosen.ablate))
            print(table(row for row in mine if "MRR" in row))
            print_recall([row for row in mine if "recalled" in row])
            rows += [row | {"dataset": dataset.name} for row in mine]
    if chosen.rows:
        chosen.rows.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def evaluate(
    dataset: DataSet, scratch: Path, embedders: Sequence[str], settings: Mapping[str, Any], *, ablate: bool
) -> Iterator[Row]:
    """Yield a row for each question and variant, of daemons that run with `settings`."""
    prompts: dict[str, list[str]] = {}
    homes = {scope: home_of(scratch, number) for number, scope in enumerate(dataset.documents)}
    for number, embedder in enumerate(embedders):
        for scope, folder in homes.items():
            with daemon_on(folder, embedder, settings) as (bench, question):
                if number == 0:
                    dataset.fill(scope, question)
                    yield from _baselines(dataset, scope, Baselines(bench.database, dataset.unit))
                    prompts[scope] = _prompts(bench.database)
                question({"kind": "drain"})
                for _ in range(WARM_UP):  # a search reads vectors for a moment only: after a start they are few
                    if not question({"kind": "search", "query": "warm", "k": 1})["degraded"]:
                        break
                for name, weights, group in _variants(dataset, embedder, ablate=ablate, is_first=number == 0):
                    yield from asked(dataset, scope, name, searching(dataset, scope, question, weights, group))
    if dataset.unit == "session" and len(homes) > 1:
        for scope, folder in homes.items():
            with daemon_on(folder, embedders[0], settings) as (bench, question):
                yield from _recalled(dataset, scope, prompts, question, _session_of(bench.database))


def _variants(
    dataset: DataSet, embedder: str, *, ablate: bool, is_first: bool
) -> Iterator[tuple[str, dict[str, float], str | None]]:
    group = dataset.unit if dataset.unit == "session" else None
    for name, weights in LEGS.items():
        if weights.get("vector") != 0.0:
            yield f"{name}, {embedder}", weights, group
        elif is_first:
            yield name, weights, group
    without = [(each, {each: 0.0}) for each in SIGNALS] if ablate else []
    for left_out, weights in without:
        yield f"fused without {left_out}, {embedder}", weights, group
    for added, weights in ADDED.items() if ablate else ():
        yield f"fused with {added}, {embedder}", weights, group
    if group is not None:
        yield f"fused, ten hits ungrouped, {embedder}", {}, None
        for left_out, weights in without:
            yield f"fused, ten hits ungrouped without {left_out}, {embedder}", weights, None
        for added, weights in ADDED.items() if ablate else ():
            yield f"fused, ten hits ungrouped with {added}, {embedder}", weights, None


def searching(dataset: DataSet, scope: str, question: Ask, weights: dict[str, float], group: str | None) -> Search:
    k = HITS if group is not None or dataset.unit == "document" else 10

    def search(text: str) -> tuple[Ranking, float]:
        answer = question({"kind": "search", "query": text, "k": k, "weights": weights, "group": group})
        return _distinct(dataset.answers_of(scope, hit) for hit in answer["hits"]), answer["ms"]

    return search


def _distinct(found: Iterable[Iterable[str | None]]) -> Ranking:
    """Return what each hit stands for that no better one did; a hit that stands for nothing new has no place."""
    seen: set[str] = set()
    ranking: Ranking = []
    for shown in found:
        new = [each for each in dict.fromkeys(shown) if each is not None and each not in seen]
        seen.update(new)
        if new:
            ranking.append(new)
    return ranking


def _baselines(dataset: DataSet, scope: str, plain: Baselines) -> Iterator[Row]:
    for name, find in (("FTS5 over raw text", plain.fts5), ("grep", plain.grep)):

        def timed(text: str, find: Callable[[str], list[str]] = find) -> tuple[Ranking, float]:
            started = time.perf_counter()
            found = find(text)
            took = (time.perf_counter() - started) * 1000
            if dataset.unit == "session":
                return [[each] for each in found], took
            return _distinct([dataset.names.get((scope, each))] for each in found), took

        yield from asked(dataset, scope, name, timed)


def asked(dataset: DataSet, scope: str, variant: str, search: Search) -> Iterator[Row]:
    for query in dataset.queries:
        if query.scope == scope:
            ranking, took = search(query.text)
            row = {"id": query.id, "categories": query.categories, "variant": variant, "ms": took}
            yield row | figures_of(ranking, query.gold) | {"ranking": ranking[:10]}


def _recalled(
    dataset: DataSet, scope: str, prompts: dict[str, list[str]], question: Ask, session_of: Callable[[str], str | None]
) -> Iterator[Row]:
    """Ask recall what it should answer, and prompts of the other workspaces, which have nothing to do with this one."""
    for query in dataset.queries:
        if query.scope == scope:
            items = question({"kind": "recall", "prompt": query.text})["items"]
            is_right = any(session_of(item["id"]) in query.gold for item in items)
            told = {"prompts": "questions about it", "recalled": len(items), "gold": is_right}
            yield {"id": query.id, "scope": scope} | told
    others = [prompt for other, theirs in prompts.items() if other != scope for prompt in theirs]
    wanted = PROMPTS // len(prompts)
    for prompt in others[:: max(1, len(others) // wanted)][:wanted]:
        items = question({"kind": "recall", "prompt": prompt})["items"]
        yield {"id": scope, "prompts": "prompts of other workspaces", "recalled": len(items), "scope": scope}


def print_recall(rows: Sequence[Row]) -> None:
    if rows:
        print("\n| recall for | bring something back | bring a right session |\n|---|---|---|")
    for prompts in dict.fromkeys(row["prompts"] for row in rows):
        mine = [row for row in rows if row["prompts"] == prompts]
        told, right = (100 * sum(map(bool, each)) / len(mine) for each in zip(*map(_told, mine), strict=True))
        print(f"| {prompts} ({len(mine)}) | {told:.0f} % | {right:.0f} % |")


def _told(row: Row) -> tuple[int, bool]:
    return row["recalled"], row.get("gold", False)


def _session_of(database: Path) -> Callable[[str], str | None]:
    """Return what tells the session of a summary that was cited."""

    def session_of(cited: str) -> str | None:
        store = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
        sql = "SELECT e.session_id FROM summaries s JOIN events e ON e.id = s.event_id WHERE s.id = ?"
        row = store.execute(sql, (int(cited[1:]),)).fetchone() if cited.startswith("s") else None
        store.close()
        return row[0] if row else None

    return session_of


def _prompts(database: Path) -> list[str]:
    """Return what people typed, a line and more of it."""
    store = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    sql = "SELECT json_extract(payload_json, '$.prompt') FROM events WHERE kind = 'prompt' ORDER BY id"
    found = [row[0] for row in store.execute(sql) if isinstance(row[0], str) and 20 <= len(row[0]) <= 2000]
    store.close()
    return found


def home_of(scratch: Path, number: int) -> Path:
    folder = scratch / f"scope-{number}"
    folder.mkdir()
    return folder


@contextmanager
def daemon_on(folder: Path, embedder: str, settings: Mapping[str, Any]) -> Iterator[tuple[Bench, Ask]]:
    """Run a daemon on a home below `folder`, made at the first time."""
    own = {"memory.consolidator.tickMs": 86_400_000, "memory.embedder": embedder}
    bench = Bench(folder, ["-m", "siftd", "run"], **own, **settings)
    _fix_secret(bench)
    bench.start()
    try:
        with bench.connect() as connection:
            yield bench, lambda request: _answer(ask(connection, request))
    finally:
        bench.stop()


def _fix_secret(bench: Bench) -> None:
    """Give the workspace a known secret: tags of what is redacted are words too, and so the same in every run."""
    key = find_workspace(str(bench.workspace)).key
    paths = Home(bench.environment["SIFTD_HOME"]).for_workspace(key)
    ensure_workspace(paths)
    Path(paths.secret).write_bytes(bytes(SECRET_BYTES))


def _answer(answer: dict[str, Any]) -> dict[str, Any]:
    if not answer["ok"]:
        raise SystemExit(f"the daemon refused: {answer['error']['message']}; {answer['error']['hint']}")
    return answer


if __name__ == "__main__":
    main()
