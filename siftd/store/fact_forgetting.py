"""What becomes of facts when events, or other facts, are forgotten.

A fact that was taken from words goes with the last event that says them: its quote would say them still. One that a
person has confirmed stays, without the quote. What was kept on purpose stays. And what a forgotten fact had replaced
stays replaced: that it did not hold any more is nothing that anybody wanted forgotten.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

_TAKEN_FROM = """
SELECT DISTINCT m.id, m.uid, m.quote, EXISTS (
    SELECT 1 FROM fact_history h WHERE h.fact_id = m.id AND h.what = 'confirm' AND h.who = 'person')
FROM json_each(?) j CROSS JOIN fact_sources s ON s.event_id = j.value
JOIN facts m ON m.id = s.fact_id WHERE m.origin <> 'kept'
"""
_LEFT = """
SELECT e.payload_json FROM fact_sources s JOIN events e ON e.id = s.event_id
WHERE s.fact_id = ?1 AND s.event_id NOT IN (SELECT value FROM json_each(?2))
"""
_REPLACED = """
SELECT o.id, o.status, o.valid_to FROM json_each(?1) j CROSS JOIN facts o ON o.superseded_by = j.value
WHERE o.status <> 'active' AND o.id NOT IN (SELECT value FROM json_each(?1)) ORDER BY o.id
"""
_VERDICTS = {"superseded": "supersede", "contradicted": "contradict", "archived": "archive"}
_RESTATED = """
SELECT uid, ts, updated_ts AS updatedTs, category, text, tags, importance, confidence, valid_from AS "from",
       valid_to AS until, source, pinned AS pin, project AS label, status, superseded_by AS supersededBy, scope, origin,
       topic, client, said_by AS saidBy, waits, session_id FROM facts WHERE id = ?
"""


@dataclass
class FactsOfEvents:
    """Facts that were taken from events which are to be forgotten."""

    gone: dict[int, str | None] = field(default_factory=dict)
    """Those that go with them, and their uids."""
    unquoted: set[int] = field(default_factory=set)
    """Those that a person has confirmed: they stay without the words."""


def find_facts_of(connection: sqlite3.Connection, events: Iterable[int]) -> FactsOfEvents:
    """Return what becomes of the facts that were taken from these events."""
    found, ids = FactsOfEvents(), json.dumps(list(events))
    for fact_id, uid, quote, is_confirmed in connection.execute(_TAKEN_FROM, (ids,)).fetchall():
        left = [str(row[0]) for row in connection.execute(_LEFT, (fact_id, ids))]
        said = None if quote is None else json.dumps(quote, ensure_ascii=False)[1:-1]
        is_said = said is None or any(said in payload for payload in left)
        if not is_confirmed and not (left and is_said):
            found.gone[fact_id] = uid
        elif is_confirmed and not is_said:
            found.unquoted.add(fact_id)
    return found


def list_verdicts(connection: sqlite3.Connection, gone: Iterable[int]) -> list[dict[str, Any]]:
    """Return the `verdict` payloads that keep replaced what facts replaced which are to be forgotten."""
    rows = connection.execute(_REPLACED, (json.dumps(list(gone)),))
    return [
        {"fact": fact_id, "what": _VERDICTS[status], "who": "rule", "why": "what replaced it was forgotten"}
        | ({} if until is None else {"ts": until})
        for fact_id, status, until in rows
    ]


def restated(connection: sqlite3.Connection, fact_id: int) -> tuple[dict[str, Any], str]:
    """Return (the `remember` payload that says a fact again under its id without its quote, its session)."""
    cursor = connection.execute(_RESTATED, (fact_id,))
    names = [column[0] for column in cursor.description]
    fields = dict(zip(names, cursor.fetchone(), strict=True))
    session_id = fields.pop("session_id") or ""
    fields |= {"tags": json.loads(fields["tags"]), "pin": bool(fields["pin"]), "waits": bool(fields["waits"])}
    return {name: value for name, value in fields.items() if value is not None} | {"as": fact_id}, session_id
