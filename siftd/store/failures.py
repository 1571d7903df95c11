"""Commands that failed as one fails now, and what ended that: looked for among the latest failures.

Two failures are alike when they have a fault in common (`siftd.facts.learnt_errors`): a rule of a checker, whatever ran
it; or the same line of error, for commands that do the same (`siftd.store.commands`). Of what ends in a pipe to a
filter nobody knows whether it succeeded.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from siftd.facts.learnt_commands import Ended, runs_of
from siftd.facts.learnt_errors import STEPS_MAX, End, Fault, Step, end_of, faults_of
from siftd.store.commands import command_key
from siftd.store.payload import find_object, texts_of

LATEST = 400
"""Failures that are looked through; some 5 ms."""
_ENDS_MAX = 12
"""Failures alike whose ends are looked for: each is a read of the calls that came after."""
_ERROR_CHARS = 8_000
_FAILED = """
SELECT id, ts, session_id, agent_id, json_extract(payload_json, '$.tool_input.command'),
       substr(json_extract(payload_json, '$.error'), 1, ?3)
FROM events WHERE outcome = 'failed' AND action = 'run' AND session_id <> ?1 AND json_valid(payload_json)
ORDER BY ts DESC, id DESC LIMIT ?2
"""
_NEXT = """
SELECT id, action, outcome, CASE WHEN length(payload_json) < 100000 THEN payload_json END FROM events
WHERE session_id = ? AND id > ? AND agent_id IS ? AND kind = 'tool' ORDER BY id LIMIT ?
"""
_FILTERED = re.compile(r"\|\s{0,5}(?:grep|egrep|rg|head|tail|cat|wc|tee|true)\b|\|\|")
_RUN = re.compile(r"\brun\s{1,5}([\w:./-]{1,60})")
_VARIES = re.compile(r"\d{1,20}|[\w.@~-]{0,80}/[\w./@~-]{0,200}")
_WORDS_CHARS = 1_000
_ALIKE = 0.5
"""Of their words two commands must share so many that one's way out is taken for the other's."""
_PATH_KEYS = ("file_path", "path", "notebook_path")


class WayOut(NamedTuple):
    """How a command that failed alike was got through."""

    failed: int
    """The event of that failure."""
    ts: int
    command: str
    """What had failed then."""
    fault: Fault
    """What it had in common."""
    end: End
    is_same: bool
    """The command that succeeded is the very one that had failed."""


def find_way_out(connection: sqlite3.Connection, session_id: str, command: str, error: str) -> WayOut | None:
    """Return how the latest failure like this one, in another session, was got through."""
    faults = faults_of(error[:_ERROR_CHARS])
    deed = deed_of(command)
    if not faults or not deed[0]:
        return None
    looked_at = 0
    for event_id, ts, session, agent, theirs, their_error in connection.execute(
        _FAILED, (session_id, LATEST, _ERROR_CHARS)
    ):
        if not isinstance(theirs, str) or not isinstance(their_error, str):
            continue
        is_alike = deed_of(theirs) == deed and _likeness(theirs, command) >= _ALIKE
        for fault in _in_common(faults, their_error, is_alike=is_alike):
            looked_at += 1
            steps = _steps(connection, event_id, session, agent, deed_of(theirs))
            if end := end_of(fault, steps):
                is_same = bool(end.ran) and _same(end.ran[-1]) == _same(theirs)
                return WayOut(event_id, ts, theirs, fault, end, is_same)
            if looked_at >= _ENDS_MAX:
                return None
    return None


def _in_common(faults: Sequence[Fault], error: str, *, is_alike: bool) -> list[Fault]:
    """Return the faults, as that error tells them, that two failures have in common."""
    low = error.lower()
    maybe = [each for each in faults if (each.is_rule or is_alike) and each.word in low]
    if not maybe:
        return []
    theirs = {each.signature: each for each in faults_of(error)}
    return [theirs[each.signature] for each in maybe if each.signature in theirs]


def _steps(
    connection: sqlite3.Connection, failed: int, session: str, agent: str | None, deed: tuple[str, str]
) -> list[Step]:
    rows = connection.execute(_NEXT, (session, failed, agent, STEPS_MAX))
    return [_step(event_id, action, outcome, payload, deed) for event_id, action, outcome, payload in rows]


def _step(
    event_id: int, action: str | None, outcome: str | None, payload_json: str | None, deed: tuple[str, str]
) -> Step:
    payload = find_object(payload_json or "") or {}
    given = payload.get("tool_input")
    given = given if isinstance(given, dict) else {}
    command = given.get("command") if action == "run" else None
    if not isinstance(command, str):
        path = next((given[key] for key in _PATH_KEYS if isinstance(given.get(key), str)), "")
        is_change = action == "edit" and outcome == "ok"
        before, after = _changed(given) if is_change else ("", "")
        return Step(event_id, None, False, False, frozenset(), path if is_change else "", before, after)
    output = "\n".join(_printed(payload))
    is_well = _is_well(command, outcome, output)
    found = frozenset() if is_well else frozenset(each.signature for each in faults_of(output))
    return Step(event_id, command, deed_of(command) == deed, is_well, found, "", "", "")


def _is_well(command: str, outcome: str | None, output: str) -> bool:
    if outcome == "ok" and command_key(command) and _same(command) != "pwd" and not _FILTERED.search(command):
        return True
    results = [result for _, result in runs_of(command, Ended(outcome, "", output[-_ERROR_CHARS:]))]
    return bool(results) and all(result == "ok" for result in results)


def _printed(payload: dict[str, Any]) -> Iterator[str]:
    yield from texts_of([payload.get("error"), payload.get("tool_response")])


def _changed(given: dict[str, Any]) -> tuple[str, str]:
    """Return what a change took out and put in."""
    edits = given.get("edits")
    parts = [given, *(each for each in edits if isinstance(each, dict))] if isinstance(edits, list) else [given]
    return (
        "\n".join(str(each.get("old_string") or "") for each in parts),
        "\n".join(str(each.get("new_string") or each.get("content") or "") for each in parts),
    )


def deed_of(command: str) -> tuple[str, str]:
    """Return what a command does: its key, and of `npm run test` and the like what is run."""
    key = command_key(command)
    named = _RUN.search(command) if key.endswith(" run") else None
    return key, named[1] if named else ""


def _likeness(one: str, other: str) -> float:
    """Return how many of two commands' words they share, numbers and paths aside."""
    ours, theirs = (set(_VARIES.sub("0", each[:_WORDS_CHARS].replace("2>&1", "")).split()) for each in (one, other))
    return len(ours & theirs) / (len(ours | theirs) or 1)


def _same(command: str) -> str:
    return " ".join(command.split())
