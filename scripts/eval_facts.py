"""What becomes a fact, and what becomes of one: labelled turns and pairs of tests/data/facts, by half.

The development half was read while rules were chosen; of the check half only counts are told. Cosines are those of the
default embedder. `--misses` shows what was wrong or missed of the development half. `--recorded FOLDER` also counts
what is learnt from the recorded sessions there (`eval_learnt.py`).
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import eval_learnt
import structlog
from bench_stand import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tests" / "support"))

from fact_labels import HALVES, counted_of, labelled
from opened_memory import opened

from siftd.embed.embedder import Blend384
from siftd.facts.extraction import extract
from siftd.facts.model import Candidate, Known, Verdict
from siftd.facts.verdicts import NEIGHBOUR_COSINE, judge

FLOORS = (NEIGHBOUR_COSINE, 0.72)
"""From which cosine on two are compared: as configured, and higher, for what that costs."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="what was wrong or missed, of the development half")
    parser.add_argument("--recorded", type=Path, help="where the recorded sets are: what is learnt of them as well")
    chosen = parser.parse_args()
    print(f"{'extraction':<14} {'turns':>5} {'labels':>6} {'precision':>9} {'recall':>6} {'category':>8}")
    for half in HALVES:
        rows = labelled("turns", half)
        counted = counted_of(rows, extract)
        labels = counted.right + counted.missed
        print(
            f"{half:<14} {len(rows):>5} {labels:>6} {counted.precision:>9.2f} {counted.recall:>6.2f}"
            f" {counted.category_right / max(1, counted.right):>8.2f}"
        )
        if chosen.misses and half == "development":
            print(*(f"  wrong  {text}" for text in counted.wrong_texts), sep="\n")
            print(*(f"  missed {text}" for text in counted.missed_texts), sep="\n")
    for floor in FLOORS:
        print(f"\n{'verdicts':<14} {'pairs':>5} {'accuracy':>9} {'lost':>5}  by kind, compared from {floor:.2f} on")
        for half in HALVES:
            _verdicts(labelled("pairs", half), half, floor, shows=chosen.misses and half == "development")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    asyncio.run(_given_later())
    if chosen.recorded is not None:
        with tempfile.TemporaryDirectory(prefix="siftd-learnt-") as unpacked:
            print("", *eval_learnt.report(chosen.recorded, Path(unpacked), shows_misses=chosen.misses), sep="\n")


async def _given_later() -> None:
    """Print how many facts are given at a later prompt on the same matter, and how many other prompts are given one."""
    for half in HALVES:
        rows = labelled("later", half)
        given = await _given_of(rows)
        asked = Counter("other prompts" if row["fact"] is None else "the same matter" for row in rows)
        shares = ", ".join(f"{what} {given[what]} of {asked[what]}" for what in asked)
        print(f"\ngiven at a later prompt, {half}: {shares}")


async def _given_of(rows: Sequence[dict[str, Any]]) -> Mapping[str, int]:
    given = {"the same matter": 0, "other prompts": 0}
    with tempfile.TemporaryDirectory(prefix="siftd-facts-") as folder:
        async with opened(Path(folder)) as memory:
            ids = {}
            for fact in (row["fact"] for row in rows if row["fact"] is not None):
                ids[fact] = (await memory.ask("remember", text=fact, type="preference", typed=True))["id"]
            for number, row in enumerate(rows):
                answer = await memory.ask("recall", prompt=row["prompt"], sessionId=f"later-{number}")
                got = {item["id"] for item in answer["items"]}
                if row["fact"] is None:
                    given["other prompts"] += bool(got)
                else:
                    given["the same matter"] += ids[row["fact"]] in got
    return given


def _verdicts(rows: Sequence[dict[str, Any]], half: str, floor: float, *, shows: bool) -> None:
    embedder = Blend384()
    vectors = zip(
        embedder.embed([row["known"] for row in rows]), embedder.embed([row["new"] for row in rows]), strict=True
    )
    right: Counter[str] = Counter()
    of_kind = Counter(row["verdict"] for row in rows)
    lost = 0
    for row, (one, other) in zip(rows, vectors, strict=True):
        kind = _judged(row, float(one @ other), floor).kind
        right[row["verdict"]] += kind == row["verdict"]
        lost += row["verdict"] == "add" != kind
        if shows and kind != row["verdict"]:
            print(f"  {row['verdict']} taken for {kind}: {row['known']} | {row['new']}")
    shares = ", ".join(f"{kind} {right[kind]}/{count}" for kind, count in sorted(of_kind.items()))
    accuracy = right.total() / len(rows)
    print(f"{half:<14} {len(rows):>5} {accuracy:>9.2f} {lost:>5}  {shares}")


def _judged(row: dict[str, Any], cosine: float, floor: float) -> Verdict:
    candidate = Candidate(
        text=row["new"],
        category="fact",
        confidence=0.8,
        importance=3,
        quote=row["new"],
        sources=(2,),
        said_by="person",
        valid_from=2,
    )
    known = Known(
        id=1,
        text=row["known"],
        category="fact",
        topic=None,
        said_by="person",
        importance=3,
        confidence=0.8,
        cosine=cosine,
    )
    return judge(candidate, [known] if cosine >= floor else [])


if __name__ == "__main__":
    main()
