"""What is learnt from what was done, against labels: the commands of a repository, and what ended a recurring error.

The sessions of each labelled repository are back-filled by the product, each repository a workspace, and learnt from by
the product's own pass. Commands: is the first one that is learnt of a kind and a place one of those that the label
takes? Errors: at each failing call, in order of time, what would the agent be given, knowing only sessions that had
ended before its own began? It is right where the failure that it cites and the call have a labelled error in common,
and what ended it is what the label says; whatever else is given is wrong. One half is for development, the other is
only counted: no flag shows a row of it.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_replay import Replayed
from retrieval_sets import load

from siftd.consolidate.fact_passes import FactLearning
from siftd.consolidate.indexing import RawIndexer
from siftd.consolidate.passes import Round
from siftd.facts.model import Candidate
from siftd.store import failures
from siftd.store.access import Database
from siftd.wire.requests import Backfill

LABELS = Path(__file__).resolve().parent.parent / "tests" / "data" / "facts"
_SETS = {"go-cli": (("agent-sessions", 0), ("agent-sessions-2", 0)), "web-monorepo": (("agent-sessions", 1),)}
"""By repository: the recorded sets and the number of its scope in each."""
_SESSIONS = {"web-app": "0fae", "agent-cli": "9a9e"}
"""Repositories of a single session, by how its id begins."""
_RUNS = """
SELECT id, session_id, outcome, payload_json FROM events
WHERE action = 'run' AND json_valid(payload_json) ORDER BY ts, id
"""
_LOOKS = re.compile(r"\s*(?:gh|cat|sed|grep|head|tail|git (?:log|show|diff))\b")


@dataclass
class Counts:
    """Of one half."""

    commands: int = 0
    right_first: int = 0
    failed: int = 0
    recurring: int = 0
    answered: int = 0
    given: int = 0
    wrong: int = 0
    missing: list[str] = field(default_factory=list)


def main() -> None:
    folder = Path(sys.argv[1])
    shows_misses = "--misses" in sys.argv
    with tempfile.TemporaryDirectory(prefix="siftd-learnt-") as unpacked:
        print(*report(folder, Path(unpacked), shows_misses=shows_misses), sep="\n")


def report(folder: Path, unpacked: Path, *, shows_misses: bool = False) -> Iterator[str]:
    """Yield the lines of the section, both halves side by side."""
    halves: dict[str, Counts] = defaultdict(Counts)
    paths = transcripts_of(folder, unpacked)
    commands, errors = _read("commands.jsonl"), _read("errors.jsonl")
    took = 0.0
    for repository in (*_SETS, *_SESSIONS):
        mine = [row for row in commands if row["repository"] == repository]
        counts = halves[mine[0]["half"]]
        learnt, database, seconds = asyncio.run(learn(paths[repository]))
        took += seconds
        count_commands(counts, mine, learnt)
        count_errors(counts, [row for row in errors if row["repository"] == repository], database)
        database.close()
    yield "| learnt from what was done | development, fitted | check, counted |"
    yield "|---|---|---|"
    one, other = halves["development"], halves["check"]
    yield _row("commands: right one first", one.right_first, one.commands, other.right_first, other.commands)
    yield _row(
        "a recurring error is given its earlier end", one.answered, one.recurring, other.answered, other.recurring
    )
    yield _row("given, by the labels wrong", one.wrong, one.given, other.wrong, other.given)
    yield f"| failing commands | {one.failed} | {other.failed} |"
    yield f"\nLearning all of it took {took:.1f} s."
    if shows_misses:
        yield from one.missing


def _row(name: str, right: int, of: int, unseen: int, of_unseen: int) -> str:
    shares = (f"{a} of {b}" + (f" ({a / b:.2f})" if b else "") for a, b in ((right, of), (unseen, of_unseen)))
    return f"| {name} | {' | '.join(shares)} |"


def _read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (LABELS / name).read_text(encoding="utf-8").splitlines()]


def transcripts_of(folder: Path, unpacked: Path) -> dict[str, list[Path]]:
    """Return the session files of each labelled repository."""
    found: dict[str, list[Path]] = defaultdict(list)
    archive = unpacked
    for repository, sets in _SETS.items():
        for name, number in sets:
            dataset = load((folder / name).resolve(), unpacked)
            assert dataset.transcripts is not None
            archive = dataset.transcripts if name == "agent-sessions" else archive
            scope = list(dataset.documents)[number]
            found[repository] += [dataset.transcripts / each["transcript"] for each in dataset.documents[scope]]
    rows = [json.loads(line) for line in (archive / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines()]
    for repository, start in _SESSIONS.items():
        found[repository] = [archive / row["path"] for row in rows if str(row["session_id"]).startswith(start)]
    return found


async def learn(paths: Sequence[Path]) -> tuple[list[Candidate], sqlite3.Connection, float]:
    """Return what the product learns of sessions, a copy of its database, and how long learning took."""
    with tempfile.TemporaryDirectory(prefix="siftd-learnt-") as folder:
        async with Replayed(folder) as replayed:
            await replayed.services.transfer.backfill(
                Backfill(paths=[str(each.resolve()) for each in sorted(paths)], any_workspace=True, own=True), _nobody
            )
            await RawIndexer(replayed.services.store).run_all()
            found: list[Candidate] = []

            async def propose(candidates: Sequence[Candidate]) -> None:
                found.extend(candidates)

            started = time.process_time()
            learning = FactLearning(replayed.services.store, propose, _nobody, replayed.clock, "")
            await learning.run(Round(replayed.services.backends.drainer, is_drain=True))
            seconds = time.process_time() - started
            copy = sqlite3.connect(":memory:")
            with sqlite3.connect(replayed.database) as database:
                database.backup(copy)
            database.close()
            return found, copy, seconds


async def _nobody(*_: Any) -> None:
    """Report to nobody."""


def count_commands(counts: Counts, labels: Sequence[dict[str, Any]], learnt: Sequence[Candidate]) -> None:
    by_topic = {each.topic: each.text for each in learnt}
    for row in labels:
        topic = f"command:{row['kind']}" + (f":{row['where']}" if row["where"] else "")
        text = by_topic.get(topic) or by_topic.get(f"command:{row['kind']}", "")
        command = text.partition("`")[2].rpartition("`")[0]
        is_right = re.fullmatch(row["accept"], command) is not None
        counts.commands += 1
        counts.right_first += is_right
        if not is_right:
            counts.missing.append(f"{topic}: {command or 'nothing'}")


def count_errors(counts: Counts, labels: Sequence[dict[str, Any]], database: sqlite3.Connection) -> None:
    spans = {row[0]: row[1:] for row in database.execute("SELECT session_id, min(ts), max(ts) FROM events GROUP BY 1")}
    runs = [(row[0], row[1], row[2], json.loads(row[3])) for row in database.execute(_RUNS).fetchall()]
    met = {event: _errors_in(labels, payload, outcome) for event, _, outcome, payload in runs}
    failed = [(event, session, payload) for event, session, outcome, payload in runs if outcome == "failed"]
    told: defaultdict[str, set[int]] = defaultdict(set)
    for event, session, payload in failed:
        counts.failed += 1
        starts = spans[session][0]
        known = {name for name, span in spans.items() if span[1] < starts}
        earlier = {each for other, theirs, _, _ in runs if theirs in known for each in met[other]}
        is_recurring = bool(met[event] & earlier)
        counts.recurring += is_recurring
        _forget_others(database, failed, known)
        error, command = str(payload.get("error") or ""), str(payload["tool_input"].get("command") or "")
        found = failures.find_way_out(Database(database), session, command, error)
        if found is None:
            if is_recurring:
                counts.missing.append(f"e{event}: {', '.join(labels[each]['error'] for each in sorted(met[event]))}")
            continue
        cited = found.end.change or found.end.succeeded
        if cited in told[session]:  # it is given once
            counts.answered += is_recurring
            continue
        told[session].add(cited)
        ended = _what_was_done(database, cited) if found.end.change else "\n".join(found.end.ran)
        alike = met[event] & met[found.failed]
        is_right = any(re.search(labels[each]["fix"], ended, re.MULTILINE) for each in alike)
        counts.given += 1
        counts.wrong += not is_right
        counts.answered += is_right and is_recurring
        if not is_right:
            counts.missing.append(f"e{event} was given e{cited}: {found.fault.signature}")


def _errors_in(labels: Sequence[dict[str, Any]], payload: dict[str, Any], outcome: str | None) -> frozenset[int]:
    """Return which labelled errors a command met: it failed, or a filter hid that it did."""
    command = payload["tool_input"].get("command")
    if outcome != "failed" and (not isinstance(command, str) or _LOOKS.match(command)):
        return frozenset()
    told = payload.get("error") or payload.get("tool_response") or ""
    text = told if isinstance(told, str) else "\n".join(str(told.get(key) or "") for key in ("stdout", "stderr"))
    return frozenset(at for at, row in enumerate(labels) if re.search(row["line"], text, re.MULTILINE))


def _forget_others(database: sqlite3.Connection, failed: Sequence[tuple[int, str, Any]], known: set[str]) -> None:
    """Leave the failures of these sessions alone for failures."""
    rows = [("failed" if session in known else None, event) for event, session, _ in failed]
    database.executemany("UPDATE events SET outcome = ? WHERE id = ?", rows)


def _what_was_done(database: sqlite3.Connection, event: int) -> str:
    (payload,) = database.execute("SELECT payload_json FROM events WHERE id = ?", (event,)).fetchone()
    given = json.loads(payload)["tool_input"]
    return str(given.get("new_string") or given.get("content") or "")


if __name__ == "__main__":
    main()
