"""How well the server's search alone finds again, against siftd's own engine over the same recorded sessions.

Each scope of a data set becomes a workspace with a daemon, as in `eval-retrieval`, and a project of a team that has the
workspace's stories. Both are asked the same questions, and a session counts once, at its best place.
"""

from __future__ import annotations

import contextlib
import sqlite3
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from bench_stand import Bench, ask
from eval_retrieval import HITS, WARM_UP, Row
from retrieval_scores import figures_of
from retrieval_sets import DataSet, load
from team_members import StoreWire, Team
from team_rows import encoded

from siftd.embed.embedder import Blend384
from siftd.team.items import Put, Vector, content_hash, document_id
from siftd.team.protocol import ITEMS_MAX, Push
from siftd.team.searching import SearchAsked

GOAL = "≥ 0.92 ×"
_STORIES = "SELECT s.id, s.text, s.words, s.ts, e.session_id FROM summaries s JOIN events e ON e.id = s.event_id"


async def figures(team: Team, folders: list[Path]) -> list[dict[str, Any]]:
    """Return one row a data set."""
    return [await _of_set(team, each) for each in folders]


async def _of_set(team: Team, folder: Path) -> dict[str, Any]:
    own: list[Row] = []
    alone: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="siftd-bench-") as scratch:
        dataset = load(folder.resolve(), Path(scratch))
        for number, scope in enumerate(dataset.documents):
            place = Path(scratch) / f"scope-{number}"
            place.mkdir()
            with _filled(place, dataset, scope) as bench:
                with bench.connect() as connection:
                    own += [_asked(connection, each.text, each.gold) for each in dataset.queries if each.scope == scope]
                wire = await _shared(team, f"{dataset.name} {scope}", bench.database)
            alone += [
                await _asked_server(team, wire, each.text, each.gold) for each in dataset.queries if each.scope == scope
            ]
    mine, theirs = (statistics.mean(each["R@10"] for each in rows) for rows in (alone, own))
    what = f"R@10 of the server's search alone ÷ siftd's own, {dataset.name}, {len(own)} questions"
    return {"what": what, "goal": GOAL, "ratio": mine / theirs, "found": f"{mine:.3f} and {theirs:.3f}"}


@contextlib.contextmanager
def _filled(place: Path, dataset: DataSet, scope: str) -> Iterator[Bench]:
    bench = Bench(
        place, ["-m", "siftd", "run"], memory__consolidator__tickMs=86_400_000, memory__embedder=Blend384.name
    )
    bench.start()
    try:
        with bench.connect() as connection:
            dataset.fill(scope, lambda request: ask(connection, request))
            for _ in range(WARM_UP):
                if not ask(connection, {"kind": "search", "query": "warm", "k": 1})["degraded"]:
                    break
        yield bench
    finally:
        bench.stop()


def _asked(connection: Any, text: str, gold: frozenset[str]) -> Row:
    answer = ask(connection, {"kind": "search", "query": text, "k": HITS, "group": "session"})
    return figures_of([[each] for each in dict.fromkeys(hit["sessionId"] for hit in answer["hits"])], gold)


async def _shared(team: Team, name: str, database: Path) -> StoreWire:
    """Push every story of a store into a project, as a laptop that shares the stories of turns would."""
    joined, wire = await team.join("ana", name, "bench", embedder=Blend384.name)
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as store:
        rows = store.execute(_STORIES).fetchall()
    for begin in range(0, len(rows), ITEMS_MAX):
        page = rows[begin : begin + ITEMS_MAX]
        vectors = Blend384().embed([row[1] for row in page])
        items = []
        for (identity, text, words, ts, session), vector in zip(page, vectors, strict=True):
            put = Put(
                id=document_id(wire.project, "summary", str(identity)), rev=1, hash="0" * 64, source="summary",
                source_ref=str(identity), text=text, words=words, ts=ts,
                metadata={"session": session, "scope": "turn"},
                vector=Vector(model=Blend384.name, data=encoded(vector)),
            )  # fmt: skip
            items.append(msgspec.structs.replace(put, hash=content_hash(put)))
        pushed = await team.store.push(wire.digest, wire.project, Push(epoch=joined.epoch, items=[*items]))
        if pushed.put != len(items):
            raise SystemExit(f"{pushed.put} of {len(items)} were taken: {pushed.ignored[:3]}")
    return wire


async def _asked_server(team: Team, wire: StoreWire, text: str, gold: frozenset[str]) -> Row:
    vector = Vector(model=Blend384.name, data=encoded(Blend384().embed_question(text, None)))
    asked = SearchAsked(question=text, vectors=[vector], top=HITS, by_session=True)
    told = await team.store.search(wire.digest, wire.project, asked)
    sessions = dict.fromkeys(str(hit.item.metadata.get("session")) for hit in told.hits)
    return figures_of([[each] for each in sessions], gold)
