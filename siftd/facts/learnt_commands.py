"""The commands that build, test and lint a project: learnt from runs that were seen to succeed, never from words.

A command that only a file, a page or an output names was not run and is not learnt. One that begins to fail gives its
place to another that has succeeded since, or to none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from siftd.facts.command_kinds import Does, Kind, does
from siftd.facts.command_lines import Part, below, cuts_output, parts_of
from siftd.facts.model import Candidate

Result = Literal["ok", "failed", "broken"]
"""Of a run: it did what it does and all was well; it did it and found faults; it could not be run at all."""
Verdict = Literal["good", "bad", ""]
"""What an output says by itself of how it went; "" where it says nothing."""

RUNS_MAX = 60
"""The latest runs of a topic that are looked at."""
SOURCES_MAX = 8
_HALF_LIFE_MS = 30 * 86_400_000
"""After so long without it a command counts half: projects change how they are built. Arbitrary."""
_FAILING_SESSIONS = 2
"""Sessions, without a success after, in which a command must fail to be one that fails now: tests fail every day."""
_BROKEN_LINES_MAX = 14
"""A command that cannot be run says so in a few lines; a longer output is that of something which ran."""
_BROKEN = re.compile(
    r"command not found|: not found\b|not recognized as|Missing script|missing script|ERR_PNPM_NO_SCRIPT"
    r"|No projects matched|Couldn't find a script|Command \S{1,60} not found|no such (?:command|task|subcommand)"
    r"|unknown (?:command|task|shorthand flag|flag)|no task named|no tasks? (?:defined|found)|No rule to make target"
    r"|could not find `?Cargo\.toml|cannot find module|directory not found|No module named|No such file or directory"
    r"|can't open file|unrecognized arguments|Unknown (?:command|option|argument)",
    re.IGNORECASE,
)
_FAULT = re.compile(r"error|fail|✖|✗|✘|×|panic|\*\*\*|not found|cannot|ELIFECYCLE|exit status|exit code", re.IGNORECASE)
_SAYS_ITS_END = frozenset("npm pnpm yarn bun npx mise make cargo go just".split())
"""Programs that say last, and in any case, that something failed."""
_SILENT: tuple[Kind, ...] = ("types", "lint", "format")
"""Kinds that print nothing when all is well."""
_FOR: dict[Kind, str] = {
    "test": "Tests",
    "build": "The build",
    "lint": "Linting",
    "format": "Formatting",
    "types": "Type checking",
    "check": "The checks",
    "generate": "Generating code",
    "run": "Starting the program",
}
_VARIANT_CHARS_MAX = 40


class Ended(NamedTuple):
    """How a line ended."""

    outcome: str | None
    says: Verdict
    output: str
    """Its beginning and its end."""
    in_background: bool = False


class Ran(NamedTuple):
    """One run of a known command."""

    event_id: int
    session_id: str
    ts: int
    does: Does
    result: Result


def runs_of(line: str, ended: Ended, folder: str | None = "", root: str = "") -> list[tuple[Does, Result]]:
    """Return what a line did for the project, as far as it is seen how that ended.

    `folder` is where it ran, as seen from the project's root; None for elsewhere, where nothing is learnt.
    """
    parts = parts_of(line)
    known: list[tuple[Part, Does]] = []
    for part in parts:
        where = folder if part.folder is None else below(part.folder, folder, root)
        if where is not None and (found := does(part, where)):
            known.append((part, found))
    results = ((found, _result(part, found, ended, is_alone=len(known) == 1)) for part, found in known)
    return [(found, result) for found, result in results if result is not None]


def folder_after(line: str, folder: str | None, root: str) -> str | None:
    """Return where a shell that goes on is after a line, as seen from the root; None for elsewhere."""
    parts = parts_of(line)
    if parts and parts[-1].folder is not None:
        return below(parts[-1].folder, folder, root)
    alone = line.split()
    return below(alone[1], folder, root) if len(alone) == 2 and alone[0] == "cd" else folder


def _result(part: Part, found: Does, ended: Ended, *, is_alone: bool) -> Result | None:
    if ended.outcome == "interrupted":
        return None
    if not part.cut_by:
        if ended.outcome == "ok":
            is_started = found.kind == "run" or not ended.in_background
            return "ok" if part.is_and and is_started else None
        return _how_it_failed(ended) if ended.outcome == "failed" and is_alone and part.is_last else None
    if not (is_alone and part.is_last and cuts_output(part.cut_by)):
        return None
    if ended.says == "bad":
        return _how_it_failed(ended)
    if ended.says == "good":
        return "ok"
    if part.cut_by not in ("tail", "head") or _FAULT.search(ended.output):
        return _how_it_failed(ended) if _is_broken(ended.output) else None
    if part.cut_by == "head" or not ended.output.strip():
        return "ok" if found.kind in _SILENT and not ended.output.strip() else None
    return "ok" if part.words[0].rpartition("/")[2] in _SAYS_ITS_END else None


def _how_it_failed(ended: Ended) -> Result:
    return "broken" if _is_broken(ended.output) else "failed"


def _is_broken(output: str) -> bool:
    lines = [line for line in output.splitlines() if line.strip()]
    return len(lines) <= _BROKEN_LINES_MAX and any(_BROKEN.search(line) for line in lines)


class Choice(NamedTuple):
    """The command of a topic."""

    does: Does
    sources: tuple[int, ...]
    """The events in which it succeeded, the newest first."""
    sessions: int
    since_ts: int
    """Since when it holds: from its first success on, or the first after which no other command succeeded."""
    last_ts: int


def choose(runs: Sequence[Ran]) -> Choice | None:
    """Return the command that does it now, of the latest runs of one topic; None where none is seen to succeed.

    The one that succeeded in the most sessions, of which those of a month ago count half. One that could not be run
    since is none any more; one that only failed since gives its place to another that has succeeded since.
    """
    ordered = sorted(runs, key=lambda run: (run.ts, run.event_id))[-RUNS_MAX:]
    by_command: dict[str, list[Ran]] = {}
    for run in ordered:
        by_command.setdefault(run.does.command, []).append(run)
    chosen: list[tuple[float, Choice, bool]] = []
    for theirs in by_command.values():
        since = _since_success(theirs)
        if since is not None and not any(run.result == "broken" for run in since):
            fails = len({run.session_id for run in since}) >= _FAILING_SESSIONS
            others = [run.ts for run in ordered if run.result == "ok" and run.does.command != theirs[0].does.command]
            chosen.append((*_weighed(theirs, ordered[-1].ts, max(others, default=None)), fails))
    chosen.sort(key=lambda each: (each[0], each[1].last_ts), reverse=True)
    for _, choice, fails in chosen:
        if not fails or not any(other.last_ts > choice.last_ts for _, other, _ in chosen):
            return choice
    return None


def _weighed(runs: Sequence[Ran], newest_ts: int, others_ts: int | None) -> tuple[float, Choice]:
    """Return a command's weight, and the choice that it would be: since it alone succeeded, where there are others."""
    succeeded = [run for run in runs if run.result == "ok"]
    latest = {run.session_id: run.ts for run in succeeded}
    weight = sum(0.5 ** ((newest_ts - ts) / _HALF_LIFE_MS) for ts in latest.values())
    sources = tuple(run.event_id for run in reversed(succeeded[-SOURCES_MAX:]))
    alone = [run.ts for run in succeeded if others_ts is None or run.ts > others_ts]
    since = alone[0] if alone else succeeded[-1].ts
    return weight, Choice(succeeded[-1].does, sources, len(latest), since, succeeded[-1].ts)


def _since_success(runs: Sequence[Ran]) -> list[Ran] | None:
    """Return a command's runs after its last success, of runs in order of time; None where it never succeeded."""
    since: list[Ran] = []
    for run in reversed(runs):
        if run.result == "ok":
            return since
        since.append(run)
    return None


def candidate_of(choice: Choice) -> Candidate:
    """Return the fact that a choice makes."""
    found = choice.does
    return Candidate(
        text=statement(found),
        category="workflow",
        confidence=round(min(0.95, 0.6 + 0.1 * choice.sessions), 2),
        importance=3,
        quote="",
        sources=choice.sources,
        said_by="agent",
        topic=found.topic,
        valid_from=choice.since_ts,
    )


def statement(found: Does) -> str:
    """Return "Tests (integration) of apps/web: `npm run test:integration`" and the like."""
    subject = _FOR[found.kind]
    variant = found.variant[:_VARIANT_CHARS_MAX]
    if variant:
        subject += f" ({variant})"
    if found.where:
        subject += f" in {found.where}" if "/" in found.where else f" of {found.where}"
    return f"{subject} here: `{found.command}`" if not found.where else f"{subject}: `{found.command}`"
