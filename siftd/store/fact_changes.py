"""What happens to a fact after it is kept: changed, replaced, linked. Applied from the log's records, by replay too.

A fact that is superseded stays as history: `supersedes` links point from the newer to the older. They form no cycle,
else everything in it would be hidden.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from siftd.log.record import Record
from siftd.store import fact_verdicts, facts

RELATIONS = ("supersedes", "contradicts", "related_to")
TEXT_CHARS_MAX = 10_000
"""A fact is a statement: about two pages. What is longer is a document."""
TAGS_MAX = 32
TAG_CHARS_MAX = 64
_UPDATE = """
UPDATE facts SET text = coalesce(?, text), category = coalesce(?, category), tags = coalesce(?, tags),
    importance = coalesce(?, importance), confidence = coalesce(?, confidence), valid_from = coalesce(?, valid_from),
    valid_to = coalesce(?, valid_to), pinned = coalesce(?, pinned), said_by = coalesce(?, said_by),
    waits = coalesce(?, waits), updated_ts = max(updated_ts, ?), words = CASE WHEN ? THEN NULL ELSE words END
WHERE id = ?
"""
_OLDER = """
WITH RECURSIVE older (id) AS (
    SELECT to_id FROM fact_links WHERE from_id = ?1 AND relation = 'supersedes'
    UNION SELECT x.to_id FROM fact_links x JOIN older o ON x.from_id = o.id WHERE x.relation = 'supersedes')
SELECT 1 FROM older WHERE id = ?2
"""
_NEWEST = """
WITH RECURSIVE newer (id, depth) AS (
    SELECT ?1, 0 UNION SELECT x.from_id, n.depth + 1 FROM fact_links x JOIN newer n ON x.to_id = n.id
    WHERE x.relation = 'supersedes' AND n.depth < 1000)
SELECT id FROM newer ORDER BY depth DESC, id DESC LIMIT 1
"""


def update(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    """Change the fields that an `update` record names; with another text or tags it is embedded and indexed anew."""
    fact_id, tags = payload["id"], payload.get("tags")
    old = connection.execute("SELECT text, waits FROM facts WHERE id = ?", (fact_id,)).fetchone()
    if old is not None and payload.get("text") not in (None, old[0]):
        said = {"who": payload.get("saidBy", "agent"), "oldText": old[0]}
        fact_verdicts.note(connection, record.seq, fact_id, record.ts, "rewrite", said)
    connection.execute(
        _UPDATE,
        (
            payload.get("text"),
            payload.get("category", payload.get("type")),
            None if tags is None else json.dumps(tags, ensure_ascii=False),
            payload.get("importance"),
            payload.get("confidence"),
            payload.get("from"),
            payload.get("until"),
            payload.get("pin"),
            payload.get("saidBy"),
            payload.get("waits"),
            record.ts,
            tags is not None,
            fact_id,
        ),
    )
    if old is not None and old[1]:
        facts.settle_superseded(connection, fact_id)


def is_older(connection: sqlite3.Connection, older: int, newer: int) -> bool:
    """Whether `newer` supersedes `older`, at once or through others."""
    return connection.execute(_OLDER, (newer, older)).fetchone() is not None


def find_newest(connection: sqlite3.Connection, fact_id: int) -> int:
    """Return what supersedes a fact in the end; itself while nothing does."""
    return int(connection.execute(_NEWEST, (fact_id,)).fetchone()[0])
