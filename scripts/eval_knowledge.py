"""How much of what a snapshot says of real repositories is right, by answers written down before any was made.

    ./scripts/eval-knowledge FOLDER              FOLDER holds the unpacked releases that tests/data/knowledge names
    ./scripts/eval-knowledge FOLDER --misses     and what was answered otherwise

The releases are not kept here: `from` in tests/data/knowledge/judged.json says how each is fetched.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

from siftd.knowledge.building import build
from siftd.knowledge.format import encode
from siftd.knowledge.model import Seen, Snapshot

JUDGED = Path(__file__).resolve().parents[1] / "tests" / "data" / "knowledge" / "judged.json"
QUESTIONS = ("build", "test", "lint", "entry", "edges", "none", "uses")


class Answered(NamedTuple):
    """One question, and whether its answer is right."""

    question: str
    about: str
    right: bool


def judge(snapshot: Snapshot, expected: dict[str, Any]) -> list[Answered]:
    """Return every question about one repository."""
    told = {each.kind: each.command for each in snapshot.commands if not each.where}
    made = [
        Answered(kind, f"{told.get(kind, 'nothing')} for {expected[kind][0]}", told.get(kind) in expected[kind])
        for kind in ("build", "test", "lint")
    ]
    ways = {(each.name, place) for each in snapshot.entry_points for place in (each.target, each.path)}
    made += [Answered("entry", f"{name}: {target}", (name, target) in ways) for name, target in expected["entry"]]
    imports = {(each.path, other) for each in snapshot.modules for other in each.imports}
    made += [Answered("edges", f"{a or '.'} -> {b or '.'}", (a, b) in imports) for a, b in expected["edges"]]
    made += [Answered("none", f"{a or '.'} -> {b or '.'}", (a, b) not in imports) for a, b in expected["none"]]
    used = {name for each in snapshot.packages if not each.path for name in each.uses}
    return [*made, *(Answered("uses", name, name in used) for name in expected["uses"])]


def main() -> None:
    """Print the share that is right, by repository and by question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    answers: dict[str, list[Answered]] = {}
    for name, expected in json.loads(JUDGED.read_text())["repositories"].items():
        folder = options.folder / name
        if not folder.is_dir():
            print(f"{name}: not there ({expected['from']})")
            continue
        snapshot = build(str(folder), Seen())
        again = encode(build(str(folder), Seen(), snapshot)) == encode(snapshot)
        answers[name] = judge(snapshot, expected)
        right = sum(each.right for each in answers[name])
        print(f"{name:<20} {right:>3} of {len(answers[name]):>3}  a second build changes {'no' if again else 'A'} byte")
        for each in answers[name]:
            if options.misses and not each.right:
                print(f"    {each.question}: {each.about}")
    every = [each for of_one in answers.values() for each in of_one]
    for question in QUESTIONS:
        of_it = [each.right for each in every if each.question == question]
        if of_it:
            print(f"{question:<20} {sum(of_it):>3} of {len(of_it):>3}")
    if every:
        print(f"all                  {sum(each.right for each in every) / len(every):.3f}")


if __name__ == "__main__":
    main()
