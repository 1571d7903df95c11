"""What the notes of a recorded repository come to without a model, and how many of their lines its maintainer keeps.

The sessions of a chain (`eval_replay.py`), and those of a small third repository, are read in order of time with the
clock turned. After each third of them the notes are distilled into the bodies that the distil before has left, so that
lines are replaced and archived; a second distil without news must change nothing. Every line that ever stood is looked
up among the verdicts (tests/data/judged says by which rules). Some chains are
unseen: they were read once, at the end. `--read FOLDER` writes the files after each third, each line behind its key.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import judged
import structlog
from eval_facts_recorded import last_stamp
from eval_replay import Replayed, find_chains

from siftd.notes.distil import REPLACED, distil
from siftd.notes.distil.reading import read_material
from siftd.notes.distil.written import Written, decode
from siftd.notes.layout import NOTE_NAMES, NoteName
from siftd.store.connection import reading

UNSEEN = frozenset(("7f7f", "9c7a", "de20"))
"""Chains of which nothing was read while rules were chosen. Chain 8952 was the first such one: what came of its first
reading stands in docs/evaluation.md."""
_SESSIONS_MIN = 4
_SMALL = ("third", "claude/episodic-memory")
_HOUR_MS = 3_600_000
_PARTS = 3
_IDS = re.compile(r"\b[ems]\d+\b")


@dataclass
class Noted:
    """The notes of one repository as its sessions went by."""

    name: str
    bodies: dict[NoteName, str] = field(default_factory=lambda: dict.fromkeys(NOTE_NAMES, ""))
    stood: dict[str, tuple[NoteName, str]] = field(default_factory=dict)
    """By key: every line, or entry of mistakes, that ever stood."""
    read: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    archived: int = 0
    restless: int = 0
    """Second distils without news that changed something."""

    def take(self, part: int) -> None:
        """Note which lines stand now."""
        self.read.append(f"\n##### {self.name}, after part {part}")
        for name in NOTE_NAMES:
            self.read.append(f"=== {name}.md, {len(self.bodies[name])} characters")
            for text in _units(name, self.bodies[name]):
                key = judged.lot(self.name, name, _IDS.sub("#", judged.without_labels(text)))
                self.stood[key] = (name, text)
                self.read.append(f"{key} {text}")


def _units(name: NoteName, body: str) -> Iterator[str]:
    if name == "mistakes":
        yield from (f"### {each.strip()}" for each in body.split("### ")[1:])
    else:
        yield from (line for line in body.split("\n") if line.startswith("- "))


async def replay(name: str, paths: Sequence[Path]) -> Noted:
    """Read the sessions of a repository and distil after each third."""
    noted = Noted(name)
    written = Written()
    ordered = sorted(paths, key=last_stamp)
    parts = {len(ordered) * part // _PARTS: part for part in range(1, _PARTS + 1)}
    for path in ordered:
        os.utime(path, (0, last_stamp(path) / 1000 - 3600))  # it is touched no more, and read to its end
    with tempfile.TemporaryDirectory(prefix="siftd-notes-") as folder:
        async with Replayed(folder) as then:
            for number, path in enumerate(ordered, 1):
                then.clock.ms = max(then.clock.ms, last_stamp(path) + _HOUR_MS)
                await then.take([path])
                if number in parts:
                    written = _distil(noted, then.database, then.clock.ms, written)
                    noted.take(parts[number])
    return noted


def _distil(noted: Noted, database: str, now_ms: int, written: Written) -> Written:
    started = time.process_time()
    with reading(database) as connection:
        material = read_material(connection, now_ms, workspace="replayed", noted=written.facts)
    edits, after = distil(material, noted.bodies, (), written, now_ms)
    noted.seconds.append(time.process_time() - started)
    for name in REPLACED:
        noted.bodies[name] = noted.bodies[name] if (body := edits.body(name)) is None else body
    noted.bodies["mistakes"] = "\n\n".join(filter(None, (noted.bodies["mistakes"], *edits.mistakes_new_entries)))
    noted.archived += sum(each.content.count("\n") + 1 for each in edits.archive_entries)
    after = decode(after.encode())
    noted.restless += not distil(material, noted.bodies, (), after, now_ms + 30 * 24 * _HOUR_MS)[0].is_empty
    return after


def report(noted: Noted, sessions: int, rows: dict[str, judged.Row]) -> Iterator[str]:
    """Yield what stood, and what the verdicts come to."""
    half = "unseen" if noted.name in UNSEEN else "fitted"
    sizes = ", ".join(f"{name} {len(noted.bodies[name])}" for name in NOTE_NAMES)
    slowest = max(noted.seconds)
    yield f"\n{noted.name}, {sessions} sessions, {half}: characters at the end: {sizes}; {noted.archived} lines archived"
    yield f"    slowest distil {slowest:.2f} s; {noted.restless} second distils changed something"
    every: Counter[str] = Counter()
    for name in NOTE_NAMES:
        of_file = [key for key, (file, _) in noted.stood.items() if file == name]
        counted = Counter(rows[key]["verdict"] if key in rows else "not judged" for key in of_file)
        every += counted
        yield f"    {name}: {len(of_file)} lines, {dict(counted)}"
    judged_lines = every.total() - every["not judged"]
    kept = every["kept"] / judged_lines if judged_lines else 0.0
    yield f"    all: kept {kept:.2f} of {judged_lines}, false {every['false']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the recorded sets are")
    parser.add_argument("--read", type=Path, help="write here what is to be judged")
    parser.add_argument("--chain", action="append", help="only these chains, by name")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with tempfile.TemporaryDirectory(prefix="siftd-notes-") as unpacked:
        repositories = {
            chain.name: list(chain.paths.values())
            for chain in find_chains(options.folder, Path(unpacked), _SESSIONS_MIN)
        }
        small = next(iter(Path(unpacked).rglob(_SMALL[1])), None)
        if small is not None:
            repositories[_SMALL[0]] = [each for each in small.glob("*.jsonl") if last_stamp(each)]
        for name, paths in repositories.items():
            if options.chain and name not in options.chain:
                continue
            noted = asyncio.run(replay(name, paths))
            print(*report(noted, len(paths), judged.read("notes.jsonl")), sep="\n", flush=True)
            if options.read:
                options.read.mkdir(exist_ok=True)
                (options.read / f"{name}.txt").write_text("\n".join(noted.read), encoding="utf-8")


if __name__ == "__main__":
    main()
