"""How often an answering *text* is among the first hits, as a person sees them: tests/data/answers over recorded sessions.

A question was written from a sentence that gives a reason or a result, in other words; `answer` is a pattern that tells
whether what is shown of a hit holds it. Where another sentence answers as well, it counts as missed: the figures are a
lower bound, to be compared with each other. `--misses` shows those of the open half; of the unseen half only counts.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench_stand import REPOSITORY
from eval_retrieval import DEFAULT, _daemon, _home
from retrieval_sets import load

QUESTIONS = REPOSITORY / "tests" / "data" / "answers" / "questions.jsonl"
SHOWN_CHARS = 250
"""Four lines of a terminal of 80 columns, less what stands before them."""
ASKED_CHARS = 120


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the data sets are that the questions name")
    parser.add_argument("--misses", action="store_true", help="what is not among the first three, of the open half")
    chosen = parser.parse_args()
    questions = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    for name in dict.fromkeys(each["set"] for each in questions):
        with tempfile.TemporaryDirectory(prefix="siftd-eval-") as scratch:
            dataset = load((chosen.folder / name).resolve(), Path(scratch))
            for number, scope in enumerate(dataset.documents):
                with _daemon(_home(Path(scratch), number), DEFAULT) as (_, ask):
                    dataset.fill(scope, ask)
                    for each in questions:
                        if (each["set"], each["scope"]) == (name, number):
                            each["rank"] = rank_of(each, ask)
    for half in ("open", "unseen"):
        ranks = [each["rank"] for each in questions if each["half"] == half]
        shares = (sum(rank is not None and rank <= k for rank in ranks) / len(ranks) for k in (1, 3, 10))
        print(f"{half:<7} {len(ranks)} questions; an answering text first, among three, among ten: ", end="")
        print(", ".join(f"{share:.2f}" for share in shares))
    if chosen.misses:
        for each in questions:
            if each["half"] == "open" and not (each["rank"] and each["rank"] <= 3):
                print(f"{each['rank'] or '-'}  {each['text']}")


def rank_of(question: dict[str, Any], ask: Callable[[dict[str, Any]], dict[str, Any]]) -> int | None:
    """Return the place, from 1, of the first hit whose shown text answers; None if none of ten does."""
    hits = ask({"kind": "search", "query": question["text"], "k": 10})["hits"]
    return next((at for at, hit in enumerate(hits, 1) if re.search(question["answer"], shown(hit))), None)


def shown(hit: dict[str, Any]) -> str:
    """Return what a terminal shows of a hit."""
    answer = hit["passage"] or hit["text"].partition(" → ")[2] or hit["text"]
    asked = (hit["asked"] or {}).get("text") or ""
    return f"{' '.join(answer.split())[:SHOWN_CHARS]} {asked[:ASKED_CHARS]}"


if __name__ == "__main__":
    main()
