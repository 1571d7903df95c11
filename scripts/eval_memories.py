"""How well single statements are found again: those of tests/data/small-memories, kept by `remember`, asked in one
store, by class of question. `--misses` shows what was missed of the open half; of the unseen half only counts are told.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from bench_stand import REPOSITORY, Bench, ask

DATA = REPOSITORY / "tests" / "data" / "small-memories"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="", help="another one than the default")
    parser.add_argument("--misses", action="store_true", help="what was not first, of the open half")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="siftd-eval-") as scratch:
        settings = {"memory.embedder": chosen.embedder} if chosen.embedder else {}
        bench = Bench(Path(scratch), ["-m", "siftd", "run"], **settings)
        bench.start()
        try:
            with bench.connect() as connection:
                found = _asked(lambda request: ask(connection, request))
        finally:
            bench.stop()
    for half, rows in found.items():
        print(f"\n{half:<12} {'n':>4}  R@1   R@5")
        classes: dict[str, list[int | None]] = defaultdict(list)
        for row in rows:
            classes[row["class"]].append(row["rank"])
            classes["all"].append(row["rank"])
        for name, ranks in classes.items():
            first, fifth = (sum(rank is not None and rank <= k for rank in ranks) / len(ranks) for k in (1, 5))
            print(f"{name:<12} {len(ranks):>4}  {first:.2f}  {fifth:.2f}")
    if chosen.misses:
        for row in found["open"]:
            if row["rank"] != 1:
                print(f"{row['rank'] or '-'}  {row['class']}: {row['text']} -> {row['gold']}; first: {row['first']}")


def _asked(question: Any) -> dict[str, list[dict[str, Any]]]:
    """Return each question of each half with the rank of what answers it; None where it is not among ten."""
    names = {}
    for memory in _lines("memories"):
        names[question({"kind": "remember", "text": memory["text"], "type": "fact"})["id"]] = memory["id"]
    question({"kind": "drain"})
    found: dict[str, list[dict[str, Any]]] = {}
    for half in ("open", "unseen"):
        found[half] = []
        for each in _lines(f"questions-{half}"):
            answer = question({"kind": "search", "query": each["text"], "k": 10})
            assert answer["ok"], answer
            hits = answer["hits"]
            ranking = [names.get(hit["id"]) for hit in hits]
            rank = ranking.index(each["gold"]) + 1 if each["gold"] in ranking else None
            found[half].append(each | {"rank": rank, "first": ranking[0] if ranking else None})
    return found


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
