"""Pods as rows, and the facts that pods may fill their slots with (`siftd.facts.pods`). Applied from the log's records.

    pod         {"type": "playbook", "externalId": "release", "title": "release"}   a row; its id is the record's seq
    pod_change  {"pod": 12, "fact": 31, "role": "command"}                          a member, or its role
                {"pod": 12, "status": "archived"}

A pod is known by its type and external id; a second record about one that is there changes nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from siftd.facts.pods import ROLES, SLOTS, Fact, Member, Pod
from siftd.log.record import Record
from siftd.store.fact_scope import LIVE_FOR_OTHERS

STATUSES = ("active", "archived")
OF_A_RULE_MAX = 60
"""Facts that are looked at for the pods of one rule: ten times the slots of the largest."""
_INSERT = "INSERT OR IGNORE INTO pods (id, type, external_id, title, ts) VALUES (?, ?, ?, ?, ?)"
_MEMBER = """
INSERT INTO pod_members (pod_id, fact_id, role, position) SELECT p.id, f.id, ?3, ?4 FROM pods p, facts f
WHERE p.id = ?1 AND f.id = ?2
ON CONFLICT (pod_id, fact_id) DO UPDATE SET role = excluded.role, position = excluded.position
WHERE role <> excluded.role
"""
_INHERIT = """
INSERT OR IGNORE INTO pod_members (pod_id, fact_id, role, position)
SELECT x.pod_id, f.id, x.role, x.position FROM pod_members x, facts f WHERE x.fact_id = ?2 AND f.id = ?1
"""
_PODS = "SELECT id, type, external_id, title, status FROM pods ORDER BY type, external_id"
_MEMBERS = "SELECT pod_id, fact_id, role FROM pod_members ORDER BY pod_id, position, fact_id"
_HOLDS = f"NOT m.waits AND {LIVE_FOR_OTHERS} AND (m.valid_to IS NULL OR m.valid_to > :now)"
_OF_A_RULE = """
SELECT id FROM (SELECT m.id FROM facts m WHERE {condition}
ORDER BY {holds} DESC, m.importance DESC, m.updated_ts DESC, m.id DESC LIMIT :most)
"""
_RULES = (
    "m.pinned",
    "m.importance >= 5",
    "m.category = 'preference' AND m.said_by = 'person'",
    "m.session_id = :session",
    "m.scope = 'project'",
)
"""What each pod that needs no row looks for."""
_FACTS = f"""
SELECT m.id, m.text, m.category, m.importance, m.said_by, m.session_id, m.pinned, m.updated_ts, m.scope,
    CASE WHEN m.waits THEN 'waits' WHEN m.status = 'archived' THEN 'archived'
         WHEN NOT ({LIVE_FOR_OTHERS}) THEN 'superseded' WHEN m.valid_to <= :now THEN 'expired'
         WHEN m.valid_from > :now THEN 'not yet' ELSE 'holds' END,
    EXISTS (SELECT 1 FROM fact_history h WHERE h.fact_id = m.id AND h.what = 'confirm' AND h.who = 'person'),
    (SELECT u.last_ts FROM fact_uses u WHERE u.fact_id = m.id)
FROM facts m WHERE m.id IN (SELECT fact_id FROM pod_members UNION
"""  # noqa: S608 - constants only
_ALL_FACTS = _FACTS + " UNION ".join(_OF_A_RULE.format(condition=each, holds=f"({_HOLDS})") for each in _RULES) + ")"


def insert(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    """Make the row that a `pod` record asks for, unless it is there or of a type of a later siftd."""
    if payload["type"] in SLOTS:
        values = payload["type"], payload.get("externalId", ""), payload.get("title", "")
        connection.execute(_INSERT, (record.seq, *values, payload.get("ts", record.ts)))


def change(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    """Do what a `pod_change` record says; one about a pod or a fact that is gone does nothing."""
    if payload.get("status") in STATUSES:
        connection.execute("UPDATE pods SET status = ? WHERE id = ?", (payload["status"], payload["pod"]))
    if payload.get("role") in ROLES:
        connection.execute(_MEMBER, (payload["pod"], payload["fact"], payload["role"], record.seq))


def inherit(connection: sqlite3.Connection, newer: int | None, older: int) -> None:
    """Make what takes a fact's place a member of the same pods: a corrected step stays one, what is private private.

    The older one stays a member: it is history, and as private as it was.
    """
    connection.execute(_INHERIT, (newer, older))


def has_tables(connection: sqlite3.Connection) -> bool:
    """Whether there are pods in the database: that of another daemon may be of an older siftd."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'pod_members'").fetchone() is not None


def find_pod(connection: sqlite3.Connection, kind: str, external_id: str) -> int | None:
    """Return the id of a pod's row."""
    row = connection.execute("SELECT id FROM pods WHERE type = ? AND external_id = ?", (kind, external_id)).fetchone()
    return int(row[0]) if row else None


def list_pods(connection: sqlite3.Connection, letter: str) -> list[Pod]:
    """Return the pods that have a row, their members cited with a letter."""
    members: dict[int, list[Member]] = {}
    for pod_id, fact_id, role in connection.execute(_MEMBERS):
        members.setdefault(pod_id, []).append(Member(f"{letter}{fact_id}", role))
    return [
        Pod(kind, external_id, title, status == "archived", tuple(members.get(pod_id, ())))
        for pod_id, kind, external_id, title, status in connection.execute(_PODS)
    ]


def list_facts(
    connection: sqlite3.Connection, letter: str, project: str, session: str, now_ms: int, *, only_accepted: bool
) -> list[Fact]:
    """Return the facts of one store that pods look at: their members, and for each rule those that come first.

    With `only_accepted` what waits for a person is not among them: so other projects see the store of every one.
    """
    values = {"now": now_ms, "session": session or None, "most": OF_A_RULE_MAX}
    found = [_fact(row, letter, project) for row in connection.execute(_ALL_FACTS, values)]
    return [fact for fact in found if fact.state != "waits"] if only_accepted else found


def _fact(row: Sequence[Any], letter: str, project: str) -> Fact:
    number, text, category, importance, said_by, session, pinned, said_ts, scope, state, is_confirmed, used_ts = row
    return Fact(
        id=f"{letter}{number}",
        text=text,
        project=project,
        category=category,
        importance=importance,
        said_by=said_by,
        session=session or "",
        state=state,
        is_pinned=bool(pinned),
        is_confirmed=bool(is_confirmed),
        is_of_session=scope == "session",
        said_ts=said_ts,
        used_ts=used_ts,
    )


def which_exist(connection: sqlite3.Connection, numbers: Iterable[int]) -> set[int]:
    """Return those of these facts that are there."""
    sql = "SELECT id FROM facts WHERE id IN (SELECT value FROM json_each(?))"
    return {int(row[0]) for row in connection.execute(sql, (json.dumps(list(numbers)),))}


def is_member(connection: sqlite3.Connection, pod_id: int, fact_id: int) -> bool:
    sql = "SELECT 1 FROM pod_members WHERE pod_id = ? AND fact_id = ?"
    return connection.execute(sql, (pod_id, fact_id)).fetchone() is not None


def count_members(connection: sqlite3.Connection, pod_id: int) -> int:
    return int(connection.execute("SELECT count(*) FROM pod_members WHERE pod_id = ?", (pod_id,)).fetchone()[0])
