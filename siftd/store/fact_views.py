"""Looking at facts as a whole: lists, links, what contradicts, topics, health."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from siftd.store.answers import as_rows
from siftd.store.fact_scope import LIVE, SHOWN_READ, VALID
from siftd.store.facts import flags_of
from siftd.wire.requests.memories import Conflict, Health, ListedMemory, RelatedMemory, Topic, Topics

_LIST = f"""
{SHOWN_READ} WHERE (?11 IS NULL OR m.project = ?11) AND (?1 IS NULL OR m.category = ?1)
AND (?2 IS NULL OR EXISTS (
    SELECT 1 FROM json_each(CASE WHEN json_valid(m.tags) THEN m.tags ELSE '[]' END) t WHERE t.value = ?2))
AND (?3 IS NULL OR CASE WHEN ?12 THEN m.ts ELSE m.updated_ts END >= ?3)
AND (?4 IS NULL OR CASE WHEN ?12 THEN m.ts ELSE m.updated_ts END <= ?4)
AND (NOT ?5 OR m.pinned) AND (NOT ?10 OR m.waits) AND CASE
    WHEN ?8 THEN coalesce(m.valid_from, m.ts) <= ?7 AND (?6 OR (
        (m.valid_to IS NULL OR m.valid_to > ?7) AND m.status <> 'archived'
        AND NOT EXISTS (SELECT 1 FROM fact_links x
                        WHERE x.to_id = m.id AND x.relation = 'supersedes' AND x.ts <= ?7)))
    ELSE ?6 OR ((m.valid_from IS NULL OR m.valid_from <= ?7) AND (m.valid_to IS NULL OR m.valid_to > ?7) AND {LIVE}) END
AND (?13 IS NULL OR (CASE WHEN ?12 THEN m.ts ELSE m.updated_ts END, m.id) < (?13, ?14))
ORDER BY CASE WHEN ?12 THEN m.ts ELSE m.updated_ts END DESC, m.id DESC LIMIT ?9
"""  # noqa: S608 - constants only
_THESE = f"""
{SHOWN_READ} JOIN json_each(?) j ON j.value = m.id ORDER BY j.key
"""
_RELATED = """
SELECT x.relation, x.ts, x.from_id, x.to_id, m.id, m.category AS type, m.text FROM fact_links x
JOIN facts m ON m.id = CASE WHEN x.from_id = ?1 THEN x.to_id ELSE x.from_id END
WHERE ?1 IN (x.from_id, x.to_id) ORDER BY x.ts, m.id
"""
_CONFLICTS = f"""
SELECT x.ts, m.id AS a_id, m.text AS a_text, m.project AS a_project, o.id AS b_id, o.text AS b_text,
       o.project AS b_project FROM fact_links x
JOIN facts m ON m.id = x.from_id JOIN facts o ON o.id = x.to_id
WHERE x.relation = 'contradicts' AND {LIVE} AND (?1 IS NULL OR ?1 IN (m.project, o.project))
AND o.status = 'active' AND NOT EXISTS (
    SELECT 1 FROM fact_links y WHERE y.to_id = o.id AND y.relation = 'supersedes')
ORDER BY x.ts DESC LIMIT ?2
"""  # noqa: S608 - as above
_TOPICS = f"""
SELECT m.category AS topic, count(*) AS count, max(m.updated_ts) AS latest FROM facts m
WHERE {VALID} AND {LIVE} AND (?3 IS NULL OR m.project = ?3) GROUP BY 1 ORDER BY 2 DESC, 1
"""  # noqa: S608 - as above
_TAGS = f"""
SELECT t.value AS topic, count(*) AS count, max(m.updated_ts) AS latest
FROM facts m, json_each(CASE WHEN json_valid(m.tags) THEN m.tags ELSE '[]' END) t
WHERE {VALID} AND {LIVE} AND (?3 IS NULL OR m.project = ?3) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50
"""  # noqa: S608 - as above
_HEALTH = f"""
SELECT count(*) AS total, coalesce(sum({LIVE}), 0) AS unsuperseded,
       coalesce(sum({LIVE} AND {VALID}), 0) AS live,
       coalesce(sum(m.pinned AND NOT m.waits AND {LIVE} AND {VALID}), 0) AS pinned,
       coalesce(sum(m.waits AND {LIVE} AND {VALID}), 0) AS waiting,
       coalesce(sum(m.status = 'active' AND m.valid_to <= ?), 0) AS expired,
       min(m.ts) AS oldest_ts, max(m.updated_ts) AS newest_ts, max(m.ts) AS newest_created_ts,
       (SELECT count(*) FROM fact_links) AS links,
       (SELECT count(*) FROM fact_links x WHERE x.relation = 'contradicts') AS contradictions,
       (SELECT count(*) FROM conversations) AS conversations,
       coalesce(sum(NOT EXISTS (SELECT 1 FROM embeddings v WHERE v.owner_kind = 'fact' AND v.owner_id = m.id)), 0)
           AS unembedded
FROM facts m
"""  # noqa: S608 - as above


def list_facts(
    connection: sqlite3.Connection,
    *,
    now_ms: int,
    kind: str | None = None,
    tag: str | None = None,
    since: int | None = None,
    until: int | None = None,
    as_of: int | None = None,
    pinned: bool = False,
    waiting: bool = False,
    superseded: bool = False,
    label: str | None = None,
    by_creation: bool = False,
    limit: int = 50,
    behind: tuple[int | None, int | None] = (None, None),
) -> list[ListedMemory]:
    """Return facts, the latest first: those that hold now, or held at `as_of`; `superseded` adds the others.

    `pinned` and `waiting` leave only those that are pinned, or wait for a person's word. A fact is as late as its
    last change, with `by_creation` as its first writing. `behind` is how late one is, and its id.
    """
    moment = now_ms if as_of is None else as_of
    values = (kind, tag, since, until, pinned, superseded, moment, as_of is not None, limit, waiting, label)
    return _shown(connection.execute(_LIST, (*values, by_creation, *behind)))


def list_these(connection: sqlite3.Connection, ids: Sequence[int]) -> list[ListedMemory]:
    """Return the facts of these ids that exist, in this order, whether they hold or not."""
    return _shown(connection.execute(_THESE, (json.dumps(list(ids)),)))


def _shown(cursor: sqlite3.Cursor) -> list[ListedMemory]:
    return [{**row, **flags_of(row)} for row in as_rows(cursor, ListedMemory)]


def list_related(connection: sqlite3.Connection, fact_id: int) -> list[RelatedMemory]:
    """Return a memory's links with what stands at their other ends."""
    return as_rows(connection.execute(_RELATED, (fact_id,)), RelatedMemory)


def list_conflicts(connection: sqlite3.Connection, limit: int, label: str | None = None) -> list[Conflict]:
    """Return the pairs that contradict each other while neither is superseded, one of them under the label."""
    return as_rows(connection.execute(_CONFLICTS, (label, limit)), Conflict)


def topics(connection: sqlite3.Connection, now_ms: int, label: str | None = None) -> Topics:
    """Return how many facts hold now, by type and by tag."""
    values = (now_ms, now_ms, label)
    return {
        "types": as_rows(connection.execute(_TOPICS, values), Topic),
        "tags": as_rows(connection.execute(_TAGS, values), Topic),
    }


def health(connection: sqlite3.Connection, now_ms: int) -> Health:
    """Return the facts' numbers; `by_type` and `by_label` count all that are kept, `conversations` the named."""
    numbers = as_rows(connection.execute(_HEALTH, (now_ms,) * 7), Health)[0]
    by_type = dict(connection.execute("SELECT category, count(*) FROM facts GROUP BY 1 ORDER BY 2 DESC, 1").fetchall())
    by_label = connection.execute("SELECT project, count(*) FROM facts GROUP BY 1 ORDER BY 2 DESC, 1").fetchall()
    return {**numbers, "byType": by_type, "byLabel": by_label}
