"""How often an answering *text* is among the first hits, as a person sees them: tests/data/answers over recorded sessions.

A question was written from a sentence that gives a reason or a result, in other words; `answer` is a pattern that tells
whether what is shown of a hit holds it. Where another sentence answers as well, it counts as missed: the figures are a
lower bound, to be compared with each other. `--misses` shows those of the open half; of the unseen half only counts.
`--mcp` asks as an agent does, through the server's `search` and, where no hit answers, `show` of the first hits: thirty
questions of the unseen half, the same in every run, and every "why" of it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench_stand import REPOSITORY, Bench
from eval_retrieval import DEFAULT, daemon_on, home_of
from retrieval_sets import load

from siftd.mcp.link import Link
from siftd.mcp.tools import Tools

QUESTIONS = REPOSITORY / "tests" / "data" / "answers" / "questions.jsonl"
SHOWN_CHARS = 250
"""Four lines of a terminal of 80 columns, less what stands before them."""
ASKED_CHARS = 120
OF_AN_AGENT = 30
SHOWS_MAX = 3
"""Hits that an agent opens when no line answers. Arbitrary."""
CHARS_PER_TOKEN = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the data sets are that the questions name")
    parser.add_argument("--misses", action="store_true", help="what is not among the first three, of the open half")
    parser.add_argument("--mcp", action="store_true", help="as an agent asks, with what it costs in tokens")
    chosen = parser.parse_args()
    questions = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    for name in dict.fromkeys(each["set"] for each in questions):
        with tempfile.TemporaryDirectory(prefix="siftd-eval-") as scratch:
            dataset = load((chosen.folder / name).resolve(), Path(scratch))
            for number, scope in enumerate(dataset.documents):
                with daemon_on(home_of(Path(scratch), number), DEFAULT, {}) as (bench, ask):
                    dataset.fill(scope, ask)
                    for each in questions:
                        if (each["set"], each["scope"]) == (name, number):
                            each["rank"] = rank_of(each, ask)
                            if chosen.mcp and each["half"] == "unseen":
                                each |= asked_by_an_agent(each, bench)
    for half in ("open", "unseen"):
        ranks = [each["rank"] for each in questions if each["half"] == half]
        shares = (sum(rank is not None and rank <= k for rank in ranks) / len(ranks) for k in (1, 3, 10))
        print(f"{half:<7} {len(ranks)} questions; an answering text first, among three, among ten: ", end="")
        print(", ".join(f"{share:.2f}" for share in shares))
    if chosen.mcp:
        print_of_agents([each for each in questions if "tokens" in each])
    if chosen.misses:
        for each in questions:
            if each["half"] == "open" and not (each["rank"] and each["rank"] <= 3):
                print(f"{each['rank'] or '-'}  {each['text']}")


def rank_of(question: dict[str, Any], ask: Callable[[dict[str, Any]], dict[str, Any]]) -> int | None:
    """Return the place, from 1, of the first hit whose shown text answers; None if none of ten does."""
    hits = ask({"kind": "search", "query": question["text"], "k": 10})["hits"]
    return next((at for at, hit in enumerate(hits, 1) if re.search(question["answer"], shown(hit))), None)


def asked_by_an_agent(question: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Return whether a line of the server's `search` answers, whether an answer was found at all, and what it cost."""
    tools = Tools(Link.from_environment(bench.environment))
    found = tools.search(question["text"])
    is_line = any(re.search(question["answer"], hit["text"]) for hit in found["hits"])
    read, is_found = json.dumps(found, ensure_ascii=False), is_line
    for hit in () if is_line else found["hits"][:SHOWS_MAX]:
        whole = tools.show(hit["id"])
        read += whole
        if is_found := re.search(question["answer"], whole) is not None:
            break
    return {"line": is_line, "found": is_found, "tokens": len(read) / CHARS_PER_TOKEN}


def print_of_agents(rows: Sequence[dict[str, Any]]) -> None:
    drawn = sorted(rows, key=lambda each: hashlib.sha256(each["text"].encode()).digest())[:OF_AN_AGENT]
    whys = [each for each in rows if each["class"] == "why"]
    print(f"agents: {sum(each['line'] for each in drawn)} of {len(drawn)} answered by a line of `search`, ", end="")
    print(f"{sum(each['found'] for each in drawn)} with `show` of up to {SHOWS_MAX}")
    tokens = [each["tokens"] for each in whys]
    told = [each["tokens"] for each in whys if each["found"]]
    print(f"a why: {len(told)} of {len(whys)} answered; tokens {statistics.median(tokens):.0f} median, ", end="")
    print(f"{statistics.mean(tokens):.0f} mean, {statistics.mean(told):.0f} mean of the answered")


def shown(hit: dict[str, Any]) -> str:
    """Return what a terminal shows of a hit."""
    answer = hit["passage"] or hit["text"].partition(" → ")[2] or hit["text"]
    asked = (hit["asked"] or {}).get("text") or ""
    return f"{' '.join(answer.split())[:SHOWN_CHARS]} {asked[:ASKED_CHARS]}"


if __name__ == "__main__":
    main()
