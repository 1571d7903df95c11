"""A team's items as people and agents here see them: whose each is, and what it says.

A number (`t12`) is given as items arrive, to one item alone; an item gets another when the replica is made anew. What
is kept of an item, in the ledger or as muted, is kept by its id.
"""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Iterable
from typing import Any

from siftd.harmless import harmless
from siftd.store.answers import as_rows
from siftd.wire.requests.finding import ShownTeamItem, TeamMark

_MARKS = """
SELECT i.number, i.id AS item, i.source, i.author, i.author_name, i.visibility, i.metadata FROM json_each(?) j
CROSS JOIN team_items i ON i.number = j.value WHERE NOT i.is_own
"""
_WHOLE = """
SELECT i.id AS item, i.source, i.source_ref, i.author, i.author_name, i.visibility, i.metadata,
       coalesce(f.text, s.text) AS text, coalesce(f.said_by, s.said_by) AS said_by, f.category AS type, s.scope,
       coalesce(f.ts, e.ts) AS ts, f.valid_from, f.valid_to, f.superseded_by, coalesce(f.status, 'active') AS status,
       coalesce(f.session_id, e.session_id) AS session_id
FROM team_items i LEFT JOIN facts f ON f.id = i.number
LEFT JOIN summaries s ON s.id = i.number LEFT JOIN events e ON e.id = s.event_id
WHERE i.number = ? AND (f.id IS NOT NULL OR s.id IS NOT NULL)
"""
_VITAL = """
SELECT i.number FROM facts f CROSS JOIN team_items i ON i.number = f.id
WHERE f.importance >= 5 AND f.status = 'active' AND f.said_by IN ('person', 'agent') AND i.visibility = 'project'
AND NOT i.is_own AND i.author IS NOT ?2 AND json_extract(CASE WHEN json_valid(i.metadata) THEN i.metadata END,
    '$.saidBy') = 'person'
AND (f.valid_from IS NULL OR f.valid_from <= ?1) AND (f.valid_to IS NULL OR f.valid_to > ?1)
AND i.id NOT IN (SELECT value FROM json_each(?3))
ORDER BY i.seq DESC, f.id DESC LIMIT ?4
"""
_NUMBERS = "SELECT i.id, i.number FROM json_each(?) j CROSS JOIN team_items i ON i.id = j.value"
NAME_CHARS_MAX = 40
_UNNAMED = "somebody"
_WORD_CHARS_MAX, _TITLE_CHARS_MAX, _URL_CHARS_MAX = 20, 200, 500


def find_person(connection: sqlite3.Connection) -> str | None:
    """Return who asks here, as the team knows them, by the workspace's own store; None where it joined none."""
    row = connection.execute("SELECT person FROM team_links LIMIT 1").fetchone()
    return None if row is None else str(row[0])


def marks(replica: sqlite3.Connection, numbers: Iterable[int], person: str | None) -> dict[int, TeamMark]:
    """Return of each item whose it is; nothing of one that is gone, or that this workspace's own store has."""
    rows = as_rows(replica.execute(_MARKS, (json.dumps(list(numbers)),)))
    return {row["number"]: _mark(row, person) for row in rows}


def find_whole(replica: sqlite3.Connection, number: int, person: str | None) -> ShownTeamItem | None:
    """Return an item whole; None where there is none of this number, or none with a text here."""
    rows = as_rows(replica.execute(_WHOLE, (number,)))
    if not rows:
        return None
    (row,) = rows
    superseded_by = row["supersededBy"]
    return {
        "kind": "team",
        "id": f"t{number}",
        "text": row["text"],
        "ts": row["ts"],
        "saidBy": row["saidBy"],
        "type": row["type"],
        "scope": row["scope"],
        "sessionId": row["sessionId"],
        "sourceRef": row["sourceRef"],
        "validFrom": row["validFrom"],
        "validTo": row["validTo"],
        "status": row["status"],
        "supersededBy": None if superseded_by is None else f"t{superseded_by}",
        "team": _mark(row, person),
        "mutedSince": None,
    }


def list_vital(
    replica: sqlite3.Connection, now_ms: int, person: str | None, *, muted: list[str], limit: int
) -> list[ShownTeamItem]:
    """Return what other persons of the team said that is vital (importance 5) and holds now, but for what is `muted`;
    what came last first, since the time at which it was said is its author's word."""
    found = replica.execute(_VITAL, (now_ms, person, json.dumps(muted), limit)).fetchall()
    whole = (find_whole(replica, int(row[0]), person) for row in found)
    return [each for each in whole if each is not None]


def numbers_of(replica: sqlite3.Connection, items: Iterable[str]) -> dict[str, int]:
    """Return the numbers that these items have by now, by their ids."""
    return dict(replica.execute(_NUMBERS, (json.dumps(list(items)),)).fetchall())


def find_id(replica: sqlite3.Connection, number: int) -> str | None:
    """Return an item's id; None where there is none of this number."""
    row = replica.execute("SELECT id FROM team_items WHERE number = ?", (number,)).fetchone()
    return None if row is None else str(row[0])


def find_text(replica: sqlite3.Connection, number: int) -> str | None:
    """Return what an item says."""
    whole = find_whole(replica, number, None)
    return None if whole is None else whole["text"]


def name_of(author: str) -> str:
    """Return the name of who told an item, as it may stand in a sentence of ours, between quotation marks.

    It is a stranger's text: one short line, and no sign in it that would end a quotation or begin a citation.
    """
    name = "".join(each if _is_of_names(each) else " " for each in harmless(author, NAME_CHARS_MAX))
    return " ".join(name.split()) or _UNNAMED


def _is_of_names(character: str) -> bool:
    return character.isalnum() or character in "_.@'-…" or unicodedata.category(character)[0] == "M"


def _mark(row: dict[str, Any], person: str | None) -> TeamMark:
    try:
        decoded = json.loads(row["metadata"])
    except ValueError:
        decoded = None
    metadata = decoded if isinstance(decoded, dict) else {}
    return {
        "item": row["item"],
        "author": name_of(row["authorName"]),
        "isMine": row["visibility"] == "private" or (person is not None and row["author"] == person),
        "saidBy": _text_of(metadata, "saidBy", _WORD_CHARS_MAX) or "outside",
        "source": row["source"],
        "visibility": row["visibility"],
        "title": _text_of(metadata, "title", _TITLE_CHARS_MAX),
        "url": _text_of(metadata, "url", _URL_CHARS_MAX),
    }


def _text_of(metadata: dict[str, Any], name: str, most: int) -> str | None:
    """Return what an item's author says of it under a name, if that is a text."""
    value = metadata.get(name)
    return value[:most] if isinstance(value, str) and value else None
