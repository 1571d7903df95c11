"""Commands that failed as one fails now, and what let them through: looked for among the latest failures.

Two failures are alike when commands that do the same (`siftd.store.commands`) failed with the same first line of error,
paths and numbers left out. The way out is what ran next in that session until one of them succeeded: another form of
the command, or another command before it. Where a file was changed on the way, the change was the answer, and it was
that day's; of what ends in a pipe to a filter nobody knows whether it succeeded.
"""

from __future__ import annotations

import re
import sqlite3
from typing import NamedTuple

from siftd.store.commands import command_key

LATEST = 400
"""Failures that are looked through; some 5 ms."""
CALLS_MAX = 5
"""Calls after a failure among which the way out is looked for."""
_ERROR_CHARS = 4_000
_SIGNATURE_CHARS = (15, 160)
"""Shorter says nothing of its own; longer lines end differently."""
_FAILED = """
SELECT id, session_id, agent_id, json_extract(payload_json, '$.tool_input.command'),
       substr(json_extract(payload_json, '$.error'), 1, ?3)
FROM events WHERE outcome = 'failed' AND action = 'run' AND session_id <> ?1 AND json_valid(payload_json)
ORDER BY ts DESC, id DESC LIMIT ?2
"""
_NEXT = """
SELECT id, action, outcome, CASE action WHEN 'run' THEN json_extract(payload_json, '$.tool_input.command') END,
       EXISTS (SELECT 1 FROM event_facets f WHERE f.event_id = e.id AND f.facet = 'file')
FROM events e WHERE session_id = ? AND id > ? AND agent_id IS ? AND json_valid(payload_json)
AND kind = 'tool' ORDER BY id LIMIT ?
"""
_LOOKS = ("read", "search")
_TELLS_OF_AN_ERROR = re.compile(
    r"error|fail|fatal|cannot|can't|could not|no such|denied|undefined|unexpected|panic|exception|invalid|missing"
    r"|refused|unable|does not|not found|not allowed|not supported|conflict|unknown",
    re.IGNORECASE,
)
_SAYS_ONLY_THAT = re.compile(r"\W{0,20}(?:exit code \d{1,5}|errors?|fail(?:ed|ure)?)\W{0,20}", re.IGNORECASE)
_FILTERED = re.compile(r"\|\s{0,5}(?:grep|egrep|rg|head|tail|cat|wc|tee|true)\b|\|\|")
_RUN = re.compile(r"\brun\s{1,5}([\w:./-]{1,60})")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_PATH = re.compile(
    r"(?:(?:~|\.{1,2})?(?:/[\w.@+~-]{1,80}){1,20}/?|[\w-]{1,60}(?:/[\w.@+-]{1,80}){1,20}|[\w-]{1,60}\.[a-z]{1,4}\b)"
    r"(?::\d{1,7}){0,3}"
)
_NUMBER = re.compile(r"0x[0-9a-f]{1,32}|\b(?=[a-f]{0,64}\d)[0-9a-f]{7,64}\b|\d{1,30}", re.IGNORECASE)


class WayOut(NamedTuple):
    """How a command that failed alike was got through."""

    failed: int
    """The event of that failure."""
    ran: tuple[str, ...]
    """The commands that were run for it, the last one being what succeeded."""
    succeeded: int
    is_same: bool
    """The command that succeeded is the very one that had failed."""


def signature(error: str) -> str:
    """Return what a failure is known by: the first line that tells of an error; "" where none says anything."""
    for line in _COLOUR.sub("", error[:_ERROR_CHARS]).splitlines():
        if _TELLS_OF_AN_ERROR.search(line) and not _SAYS_ONLY_THAT.fullmatch(line.strip()):
            known = " ".join(_NUMBER.sub("0", _PATH.sub("/", line)).split()).lower()
            low, high = _SIGNATURE_CHARS
            return known[:high] if len(known) >= low else ""
    return ""


def find_way_out(connection: sqlite3.Connection, session_id: str, command: str, error: str) -> WayOut | None:
    """Return how the latest failure like this one, in another session, was got through."""
    known = signature(error)
    deed = _deed(command)
    if not known or not deed[0]:
        return None
    for event_id, session, agent, theirs, their_error in connection.execute(
        _FAILED, (session_id, LATEST, _ERROR_CHARS)
    ):
        if not isinstance(theirs, str) or not isinstance(their_error, str) or _deed(theirs) != deed:
            continue
        if signature(their_error) == known and (found := _way_out(connection, event_id, session, agent, theirs)):
            return found
    return None


def _way_out(
    connection: sqlite3.Connection, failed: int, session: str, agent: str | None, command: str
) -> WayOut | None:
    ran: list[str] = []
    for event_id, action, outcome, theirs, is_of_file in connection.execute(_NEXT, (session, failed, agent, CALLS_MAX)):
        if not isinstance(theirs, str):
            if is_of_file and action not in _LOOKS:
                return None
            continue
        if outcome != "ok" or not command_key(theirs) or _same(theirs) == "pwd" or _FILTERED.search(theirs):
            continue
        ran.append(theirs)
        if _deed(theirs) == _deed(command):
            return WayOut(failed, tuple(ran), event_id, _same(theirs) == _same(command))
    return None


def _deed(command: str) -> tuple[str, str]:
    """Return what a command does: its key, and of `npm run test` and the like what is run."""
    key = command_key(command)
    named = _RUN.search(command) if key.endswith(" run") else None
    return key, named[1] if named else ""


def _same(command: str) -> str:
    return " ".join(command.split())
