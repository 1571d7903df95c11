"""What the store tells of a codebase, and the facts that a snapshot of it made (`siftd.knowledge.statements`)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from siftd.store.fact_scope import LIVE, VALID

SOURCE = "knowledge"
"""The source of such a fact: no event says it, a file does."""
_COMMANDS = f"""
SELECT m.id, m.topic, m.text, (SELECT json_group_array(event_id) FROM (
    SELECT event_id FROM fact_sources s WHERE s.fact_id = m.id ORDER BY event_id DESC LIMIT 3))
FROM facts m WHERE m.topic LIKE 'command:%' AND m.origin = 'learnt' AND m.project IS NULL AND {VALID} AND {LIVE}
ORDER BY m.topic
"""  # noqa: S608 - constants only
_STATED = f"""
SELECT m.id, m.topic, m.text, m.ts, m.source = '{SOURCE}' AND m.said_by = 'output' FROM facts m
WHERE m.topic LIKE 'knowledge:%' AND m.origin = 'learnt' AND m.project IS NULL AND {VALID} AND {LIVE} ORDER BY m.id
"""  # noqa: S608 - constants only
_BY_PERSONS = """
SELECT DISTINCT m.topic FROM facts m WHERE m.topic LIKE 'knowledge:%' AND m.project IS NULL AND (
    m.said_by = 'person' OR EXISTS (SELECT 1 FROM fact_history h WHERE h.fact_id = m.id AND h.who = 'person'))
"""
_BY_UID = "SELECT id, status FROM facts WHERE uid = ?"
_STORED = "SELECT id FROM events WHERE id IN (SELECT value FROM json_each(?))"


class LearntCommand(NamedTuple):
    """A command that was seen to succeed."""

    fact: int
    topic: str
    text: str
    events: tuple[int, ...]
    """The latest of those in which it did."""


class Stated(NamedTuple):
    """A fact that a snapshot made and that holds."""

    fact: int
    topic: str
    text: str
    ts: int
    is_of_here: bool
    """Whether it was read of this very work tree; else somebody's export brought it."""


def list_learnt_commands(connection: sqlite3.Connection, now_ms: int) -> list[LearntCommand]:
    """Return the commands that hold now, by their topics."""
    rows = connection.execute(_COMMANDS, (now_ms, now_ms))
    return [LearntCommand(row[0], row[1], row[2], tuple(sorted(json.loads(row[3]), reverse=True))) for row in rows]


def list_stated(connection: sqlite3.Connection, now_ms: int) -> list[Stated]:
    """Return the facts of a snapshot that hold now."""
    rows = connection.execute(_STATED, (now_ms, now_ms))
    return [Stated(fact, topic, text, ts, bool(is_of_here)) for fact, topic, text, ts, is_of_here in rows]


def topics_of_persons(connection: sqlite3.Connection) -> frozenset[str]:
    """Return the topics of which a person has had a word: no snapshot says another over it."""
    return frozenset(str(row[0]) for row in connection.execute(_BY_PERSONS))


def find_by_uid(connection: sqlite3.Connection, uid: str) -> tuple[int, str] | None:
    """Return (id, status) of the fact of this uid."""
    row = connection.execute(_BY_UID, (uid,)).fetchone()
    return None if row is None else (int(row[0]), str(row[1]))


def stored_events(connection: sqlite3.Connection, events: Iterable[int]) -> set[int]:
    """Return those of these events that are stored."""
    return {int(row[0]) for row in connection.execute(_STORED, (json.dumps(list(events)),))}
