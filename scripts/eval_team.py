"""How well a team's replica finds the same again: recorded sessions, asked of the store that made their summaries and of
a replica that holds them as another member's items.

Each scope becomes a workspace, as `eval-retrieval` fills it. Its live summaries then come by the feed into the replica
of a second workspace that has captured nothing, and the same questions are asked of both over the socket. What a
replica lacks is the events behind: the store is asked without them too, and once with no other summaries than those
that a team shares.
"""

from __future__ import annotations

import argparse
import signal
import sqlite3
import statistics
import sys
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

from eval_retrieval import DEFAULT, HITS, Search, asked, daemon_on, home_of
from retrieval_scores import table
from retrieval_sets import Ask, DataSet, load

from siftd.embed.embedder import make_embedder
from siftd.embed.words import index_words
from siftd.store import team_replica, vectors
from siftd.store.access import Database
from siftd.store.team_replica import Placed
from siftd.team.items import Put, Source, content_hash, document_id
from siftd.team.protocol import ITEMS_MAX, Changed, Person
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home

PROJECT, ANA, DEVICE, HERE, ME = (uuid.UUID(int=number) for number in range(1, 6))
SUMMARIES = """
SELECT s.scope || ':' || s.event_id || ':' || s.id, s.scope, s.text, s.said_by, s.confidence, e.session_id, e.ts
FROM summaries s JOIN events e ON e.id = s.event_id
WHERE NOT EXISTS (SELECT 1 FROM summary_supersedes x WHERE x.older_id = s.id) ORDER BY e.ts, s.id
"""
JOIN = "INSERT INTO team_links VALUES (?, 'p', 'https://team.example', ?, ?, 'Me', 'e', '[]', 1, NULL, NULL, 1, 1)"
BATCH = 256
COPY_OF_KINDS = """
UPDATE main.events SET (kind, action, tool) = (
    SELECT e.kind, e.action, e.tool FROM team_items i JOIN own.events e
    ON e.id = CAST(substr(i.source_ref, instr(i.source_ref, ':') + 1) AS INTEGER) WHERE i.number = main.events.id)
"""
"""Of each summary what its event was: the product shares stories alone, whose events are ends of turns."""
SHARES: dict[str, tuple[str, ...]] = {
    "all its summaries": ("event", "turn", "session"),
    "its stories of turns and sessions": ("turn", "session"),
    "its stories of sessions (the default)": ("session",),
}


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no daemon is left behind
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", type=Path, help="folders of data sets of sessions")
    parser.add_argument("--embedder", default=DEFAULT)
    chosen = parser.parse_args()
    for folder in chosen.datasets:
        with tempfile.TemporaryDirectory(prefix="siftd-eval-") as scratch:
            dataset = load(folder.resolve(), Path(scratch))
            print(f"\n## {dataset.name}: {len(dataset.queries)} questions\n\n{dataset.definition}.\n")
            rows = list(evaluate(dataset, Path(scratch), chosen.embedder))
            print(table(rows))
            print_ratios(rows)


def evaluate(dataset: DataSet, scratch: Path, embedder: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each question and store."""
    settings = {"facts.extract": False, "facts.learn": False}
    for number, scope in enumerate(dataset.documents):
        with daemon_on(home_of(scratch, number), embedder, settings) as (bench, question):
            dataset.fill(scope, question)
            _warm(question)
            for name, weights in (("own store", {}), ("own store, summaries alone", {"raw": 0.0})):
                yield from asked(dataset, scope, name, _searching(question, weights, {}))
            database = Path(bench.database)
        reduced = home_of(scratch, 10_000 + number)
        with daemon_on(reduced, embedder, settings) as (bench, _):
            target = Path(bench.database)
        with sqlite3.connect(database) as full, sqlite3.connect(target) as copy:
            full.backup(copy)
            copy.execute("DELETE FROM summaries WHERE scope = 'event'")
        with daemon_on(reduced, embedder, settings) as (_, question):
            _warm(question)
            search = _searching(question, {"raw": 0.0}, {})
            yield from asked(dataset, scope, "own store, of stories of turns and sessions alone", search)
        for place, (name, kinds) in enumerate(SHARES.items(), start=1):
            folder = home_of(scratch, 1_000 * place + number)
            with daemon_on(folder, embedder, settings) as (bench, _):
                paths = Home(bench.environment["SIFTD_HOME"]).for_workspace(find_workspace(str(bench.workspace)).key)
            share(database, paths.team_replica, kinds, embedder)
            own = sqlite3.connect(paths.database)
            own.execute(JOIN, (str(PROJECT), str(HERE), str(ME)))
            own.commit()
            own.close()
            with daemon_on(folder, embedder, settings) as (_, question):
                _warm(question)
                search = _searching(question, {}, {"team": True})
                yield from asked(dataset, scope, f"replica of {name}", search)


def share(database: Path, replica: str, kinds: Iterable[str], embedder: str) -> None:
    """Make a replica of a store's live summaries, as the feed and the workspace's embedder do."""
    store = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    rows = [row for row in store.execute(SUMMARIES) if row[1] in kinds]
    store.close()
    connection = team_replica.open_replica(replica, str(PROJECT), 1)
    author = Person(id=ANA, name="Ana")
    placed = [
        Placed(Changed(seq=seq, item=_item(*row), author=author, device=DEVICE), index_words(row[2]), False)
        for seq, row in enumerate(rows, start=1)
    ]
    for start in range(0, len(placed), ITEMS_MAX):
        piece = placed[start : start + ITEMS_MAX]
        seq, is_head = piece[-1].change.seq, piece[-1] is placed[-1]
        after = team_replica.read_cursor(connection)
        team_replica.apply(connection, piece, (), after=after, seq=seq, is_head=is_head)
    _embed(connection, embedder)
    connection.execute("ATTACH ? AS own", (str(database),))
    connection.execute(COPY_OF_KINDS)
    connection.close()


def _item(ref: str, scope: str, text: str, said_by: str, confidence: float | None, session: str, ts: int) -> Put:
    source: Source = get_args(Source)[2]
    metadata = {"scope": scope, "saidBy": said_by, "confidence": confidence, "session": session}
    fields: dict[str, Any] = {"source": source, "source_ref": ref, "text": text, "ts": ts, "metadata": metadata}
    put = Put(id=document_id(PROJECT, source, ref), rev=1, hash="0" * 64, **fields)
    return Put(id=put.id, rev=1, hash=content_hash(put), **fields)


def _embed(connection: Database, name: str) -> None:
    embedder = make_embedder(name)
    while waiting := vectors.list_unembedded(connection, embedder.name, vectors.TOP, BATCH, lowest=vectors.BOTTOM):
        packed = embedder.embed([text for _, text in waiting]).astype("<f4", copy=False)
        made = [(owner, packed[row].tobytes(), index_words(text)) for row, (owner, text) in enumerate(waiting)]
        vectors.insert_vectors(connection, embedder.name, embedder.dim, made)


def _warm(question: Ask) -> None:
    question({"kind": "drain"})
    for _ in range(50):  # a search reads vectors for a moment only: after a start they are few
        if not question({"kind": "search", "query": "warm", "k": 1})["degraded"]:
            break


def _searching(question: Ask, weights: dict[str, float], filters: dict[str, Any]) -> Search:
    def search(text: str) -> tuple[list[list[str]], float]:
        request = {"kind": "search", "query": text, "k": HITS, "weights": weights, "filters": filters}
        answer = question({**request, "group": "session"})
        found = dict.fromkeys(str(hit["sessionId"]) for hit in answer["hits"])
        return [[each] for each in found], answer["ms"]

    return search


def print_ratios(rows: list[dict[str, Any]]) -> None:
    """Print R@10 of each store against the own one's."""
    means = {
        variant: statistics.mean(row["R@10"] for row in rows if row["variant"] == variant)
        for variant in dict.fromkeys(row["variant"] for row in rows)
    }
    print("\n| R@10 | | ÷ own store |\n|---|---|---|")
    for variant, mean in means.items():
        print(f"| {variant} | {mean:.3f} | {mean / means['own store']:.3f} |")


if __name__ == "__main__":
    main()
