"""What is learnt of what was done: the facts that follow from noted deeds, for whoever keeps facts.

Each is derived from events that are there: what was forgotten teaches nothing any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from siftd.consolidate.deeds import place_of
from siftd.facts.command_kinds import KINDS, Does, Kind
from siftd.facts.learnt_commands import Choice, Ran, Result, candidate_of, choose
from siftd.facts.learnt_errors import candidate_of as candidate_of_error
from siftd.facts.learnt_files import ChangeSet, tests_live, together
from siftd.facts.model import Candidate
from siftd.search.own_words import command_words
from siftd.store import deeds, failures
from siftd.store.access import Database
from siftd.store.deeds import EditStep, NotedRun

SESSIONS_MAX = 80
"""The sessions whose changes of files are looked at."""
FAILURES_MAX = 400
_RESULTS: dict[str, Result] = {"ok": "ok", "failed": "failed", "broken": "broken"}
_COMMITS = "git commit"


class Withdrawn(NamedTuple):
    """A topic of which nothing holds any more."""

    topic: str
    sources: tuple[int, ...]
    """The events that tell so."""
    why: str
    ts: int
    """When it ceased to hold."""


def learn_commands(connection: Database, topics: Sequence[str]) -> tuple[list[Candidate], list[Withdrawn]]:
    """Return the command of each topic, and the topics whose commands do not work any more."""
    found: list[Candidate] = []
    withdrawn: list[Withdrawn] = []
    for topic in topics:
        runs = [_ran(topic, row) for row in deeds.list_runs_of(connection, topic)]
        choice = choose(runs)
        if choice is None:
            failed = [run for run in runs[:3] if run.result != "ok"]
            if failed:
                sources = tuple(run.event_id for run in failed)
                withdrawn.append(Withdrawn(topic, sources, "the command cannot be run any more", failed[0].ts))
        elif not _is_as_in_the_project(connection, choice):
            found.append(candidate_of(choice))
    return found, withdrawn


def _is_as_in_the_project(connection: Database, choice: Choice) -> bool:
    """Whether a folder's command is the project's own."""
    if not choice.does.where:
        return False
    whole = choice.does._replace(where="")
    above = choose([_ran(whole.topic, row) for row in deeds.list_runs_of(connection, whole.topic)])
    return above is not None and above.does.command == choice.does.command


def _ran(topic: str, row: NotedRun) -> Ran:
    result: Result = _RESULTS.get(row.result, "failed")
    if result == "ok" and row.outcome == "failed":  # a session's file has told so since
        result = "failed"
    return Ran(row.event_id, row.session_id, row.ts, _does(topic, row.command), result)


def _does(topic: str, command: str) -> Does:
    _, name, where = (*topic.split(":", 2), "")[:3]
    kind, _, variant = name.partition(".")
    return Does(_kind(kind), variant, where, command)


def _kind(name: str) -> Kind:
    kinds: dict[str, Kind] = {each: each for each in KINDS}
    return kinds.get(name, "check")


def learn_errors(connection: Database, after: int, upto: int) -> list[Candidate]:
    """Return the errors among new failures that an earlier session had met, with what ended them there."""
    found: dict[str, Candidate] = {}
    for failure in deeds.list_failures(connection, after, upto, FAILURES_MAX):
        way = failures.find_way_out(connection, failure.session_id, failure.command, failure.error)
        if way is None or way.fault.signature in found:
            continue
        named = [command_words(each) for each in (way.command, *way.end.ran)]
        fact = candidate_of_error(way.fault.signature, way.end, failed=way.failed, ts=way.ts, named=named)
        if fact is not None:
            found[way.fault.signature] = fact
    return list(found.values())


def learn_files(connection: Database, root: str) -> list[Candidate]:
    """Return the files that are changed together and where tests live, of the sessions that changed files last."""
    sets = [
        each
        for (session_id, cwd), steps in deeds.latest_edits(connection, SESSIONS_MAX).items()
        for each in _sets_of(session_id, place_of(cwd, root)[0], steps)
    ]
    sets.sort(key=lambda each: (each.ts, each.session_id))
    return [*tests_live(sets), *together(sets)]


def _sets_of(session_id: str, root: str, steps: Sequence[EditStep]) -> Iterator[ChangeSet]:
    changes: dict[str, int] = {}
    last = 0
    for step in steps:
        if step.path is not None:
            if path := _below(step.path, root):
                changes[path] = step.event_id
                last = step.ts
        elif changes and _COMMITS in (step.command or ""):
            yield ChangeSet(session_id, last, changes)
            changes = {}
    if changes:
        yield ChangeSet(session_id, last, changes)


def _below(path: str, root: str) -> str:
    if path.startswith("/"):
        return path[len(root) + 1 :] if root and path.startswith(f"{root}/") else ""
    return "" if path.startswith(("~", "..")) else path.removeprefix("./")
