"""Which facts somebody sees: those that hold at a moment, within filters, as SQL over `m` (facts).

A fact is live while it is active and nothing supersedes it. What supersedes it and `waits` for a person hides it in its
own project alone. It holds from `valid_from`, or since it was said, until `valid_to`. What something replaced says
until when it held, so that a look at an earlier moment finds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from siftd.filters import Filters
from siftd.store.scope import glob_escaped
from siftd.store.type_repair import read_moment

OWNER = "memory"
"""What a hit that is a fact is called where people and agents ask for it."""
LIVE = """
m.status = 'active' AND NOT EXISTS (SELECT 1 FROM fact_links x WHERE x.to_id = m.id AND x.relation = 'supersedes')
"""
LIVE_FOR_OTHERS = """
m.status = 'active' AND NOT EXISTS (SELECT 1 FROM fact_links x JOIN facts n ON n.id = x.from_id
    WHERE x.to_id = m.id AND x.relation = 'supersedes' AND NOT n.waits)
"""
"""What waits hides nothing yet where it is not seen itself."""
VALID = "(m.valid_from IS NULL OR m.valid_from <= ?) AND (m.valid_to IS NULL OR m.valid_to > ?)"
HELD_AT = """
coalesce(m.valid_from, m.ts) <= ? AND (m.valid_to IS NULL OR m.valid_to > ?) AND m.status <> 'archived'
AND NOT EXISTS (SELECT 1 FROM fact_links x WHERE x.to_id = m.id AND x.relation = 'supersedes' AND x.ts <= ?)
"""
"""What held at a moment, given three times: what was replaced since then still held."""
_BEGUN = """
(m.valid_from IS NULL OR m.valid_from <= ?) AND (m.valid_to IS NULL OR m.valid_to > ? OR m.status <> 'active')
"""
"""What holds, and what was replaced; what has merely expired is neither."""
COLUMNS = f"""
m.id, m.ts, m.updated_ts, m.category AS type, m.text, m.tags, m.project, m.importance, m.confidence,
{read_moment("m.valid_from")} AS valid_from, {read_moment("m.valid_to")} AS valid_to, m.session_id, m.source, m.pinned,
m.uid, m.said_by, m.waits, m.status, m.superseded_by, m.scope, m.origin, m.topic, m.quote, m.client
"""
SHOWN = f"SELECT {COLUMNS} FROM facts m"  # noqa: S608 - constants only
SHOWN_READ = f"""
SELECT {COLUMNS}, coalesce(r.reads, 0) AS reads, r.last_ts AS read_ts
FROM facts m LEFT JOIN fact_reads r ON r.fact_id = m.id
"""  # noqa: S608 - constants only


@dataclass(frozen=True, slots=True)
class FactScope:
    """Filters as SQL over `m` (facts): conditions and their values."""

    sql: str
    values: tuple[object, ...]

    @classmethod
    def of(cls, filters: Filters, now_ms: int) -> FactScope | None:
        """Return the scope, or None where the filters ask for what no fact has: a tool, a file, an event's kind."""
        if filters.tool or filters.client or filters.file or filters.symbol or filters.kind not in (None, OWNER):
            return None
        conditions: list[str] = []
        values: list[Any] = []
        if filters.as_of is not None:
            conditions, values = [HELD_AT], [filters.as_of] * 3
        elif filters.superseded:
            conditions, values = [_BEGUN], [now_ms, now_ms]
        else:
            conditions, values = [VALID, LIVE], [now_ms, now_ms]
        wanted: list[tuple[str, Any]] = [
            ("m.category = ?", filters.type),
            ("m.project = ?", filters.label),
            ("m.session_id GLOB ? || '*'", filters.session and glob_escaped(filters.session)),
            ("m.updated_ts >= ?", filters.since),
            ("m.updated_ts <= ?", filters.until),
            ("(m.origin = 'kept') = ?", {"memory": 1, "fact": 0}.get(filters.source or "")),
        ]
        for condition, value in wanted:
            if value is not None:
                conditions.append(condition)
                values.append(value)
        return cls(" AND ".join(conditions), tuple(values))

    @property
    def accepted(self) -> FactScope:
        """Return the scope without what waits for a person: so other projects see the facts for every one."""
        return FactScope(f"{self.sql.replace(LIVE, LIVE_FOR_OTHERS)} AND NOT m.waits", self.values)
