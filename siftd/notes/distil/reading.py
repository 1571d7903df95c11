"""Reading the material of a distil from a workspace's store: facts that others may read, sessions that are over.

What may stand in a file that a team commits: what was asked, what the agent committed, filed and listed, what was
chosen when it asked, facts of the project. Never what commands printed or pages said, nothing that is private to a
person's pod, no preference that is a person's own. What an agent said at a turn's end only where the words are its own
(`closings`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from siftd.facts.pods import Asker, private_to_others
from siftd.notes.distil.closings import Budget
from siftd.notes.distil.material import Checked, Fact, Material, OpenFailure
from siftd.notes.distil.sessions import read_session
from siftd.store import note_material, pods
from siftd.store.access import Database
from siftd.store.note_material import SESSIONS_MAX, RunRow, SessionRow
from siftd.store.payload import branch_of

SESSION_IDLE_MS = 900_000
"""A session that did nothing for so long is over, as everywhere."""
CAUSES_LOOKED_FOR_MAX = 40
"""Turns whose end names a cause: each is compared with what the turn had read, some 30 ms."""
_CHECKS = re.compile(r"command:(?:test|build|lint|types|check)\b")
_FAILURES_SESSIONS = 12
"""The latest sessions among which a command must have been run that is told as failing."""
_CITED = "m"
CLOSINGS_LOOKED_FOR_MAX = 12
_OF_FOLDERS = 10
"""How many times as many sessions are looked through for those of one folder of a workspace. Arbitrary."""
Covers = Callable[[str | None], bool]


def read_material(
    connection: Database,
    now_ms: int,
    *,
    workspace: str,
    noted: Iterable[int] = (),
    covers: Covers | None = None,
) -> Material:
    """Return what the notes of a workspace, or of one folder of it, are distilled from.

    `noted` are the facts that stand in the notes (`Written.facts`); `covers` says of a session's folder whether it is
    the project's, None where the project is all of the workspace.
    """
    rows = _sessions_of(connection, covers)
    over = [row for row in rows if _is_over(row, now_ms)]
    causes, closings = Budget(CAUSES_LOOKED_FOR_MAX), Budget(CLOSINGS_LOOKED_FOR_MAX)
    facts = _facts(connection, now_ms, workspace, None if covers is None else {row.session_id for row in rows})
    held = {fact.id for fact in facts}
    gone = [fact_id for fact_id in noted if fact_id not in held]
    successors = note_material.list_successors(connection, gone)
    closed: set[str] = set()
    runs = note_material.list_runs(connection)
    checked: dict[str, Checked] = {}
    for run in runs:
        if _CHECKS.match(run.topic):
            checked.setdefault(run.session_id, Checked(run.ts, run.command, run.result == "ok"))
    sessions = tuple(read_session(connection, row, causes, closings, closed, checked) for row in over)
    return Material(
        facts=tuple(facts),
        withdrawn={each: successors.get(each) for each in gone},
        sessions=sessions,
        closed_issues=frozenset(closed),
        failures=tuple(_open_failures(runs, [each.session_id for each in over])),
    )


def _sessions_of(connection: Database, covers: Covers | None) -> list[SessionRow]:
    if covers is None:
        return note_material.list_sessions(connection)
    every = note_material.list_sessions(connection, _OF_FOLDERS * SESSIONS_MAX)
    return [row for row in every if covers(row.cwd)][:SESSIONS_MAX]


def _is_over(row: SessionRow, now_ms: int) -> bool:
    return row.last_ts < now_ms - SESSION_IDLE_MS or (row.ended_ts is not None and row.ended_ts >= row.last_ts)


def _facts(connection: Database, now_ms: int, workspace: str, covered: set[str] | None) -> list[Fact]:
    """Return the facts that others may read; in a folder's notes none that was taken elsewhere alone."""
    rows = note_material.list_facts(connection, now_ms)
    held = pods.list_pods(connection, _CITED) if pods.has_tables(connection) else []
    private = private_to_others(held, Asker(workspace, now_ms))
    private |= {
        member.fact for pod in held if pod.type == "project" for member in pod.members if member.role == "left out"
    }
    sources: dict[int, list[note_material.SourceRow]] = {}
    for source in note_material.list_sources(connection, [row.id for row in rows]):
        sources.setdefault(source.fact_id, []).append(source)
    found: list[Fact] = []
    for row in rows:
        taken = sources.get(row.id, [])
        if f"{_CITED}{row.id}" in private:
            continue
        if covered is not None and taken and not any(each.session_id in covered for each in taken):
            continue
        branch = branch_of(taken[0].head) if taken else None
        found.append(
            Fact(
                row.id, row.text, row.category, row.said_by, row.origin, row.topic, row.importance, row.since_ts, branch
            )
        )
    return found


def _open_failures(runs: Sequence[RunRow], sessions: Sequence[str]) -> Iterator[OpenFailure]:
    """Yield what commands do for the project that fails since it last succeeded, by its first failure since then.

    `runs` are the latest first. What could not be run at all says nothing of the project.
    """
    recent, covered = set(sessions[:_FAILURES_SESSIONS]), set(sessions)
    failing: dict[str, RunRow] = {}
    succeeded: set[str] = set()
    worked = {run.topic for run in runs if run.result == "ok" and run.session_id in covered}
    for run in runs:
        if run.session_id not in covered or run.topic in succeeded or run.result == "broken":
            continue
        if run.result == "ok":
            succeeded.add(run.topic)
        elif run.topic in failing or run.session_id in recent:
            failing[run.topic] = run
        else:
            succeeded.add(run.topic)  # it was not run for long: nobody knows
    for run in failing.values():
        if run.topic not in worked:
            continue  # it may be no command of this project's at all
        yield OpenFailure(run.event_id, run.ts, run.topic, run.command)
