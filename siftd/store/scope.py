"""What a search may see: its filters as SQL over `e` (events), and what of them an event's own columns tell.

SQL says it all. What ranking keeps of rows answers the same for thousands of rows at once, as far as it goes: tool,
kind, session and time. Files, symbols and outcomes are asked of the database once, as a list of events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from siftd.filters import Filters
from siftd.store.clients import OF_A_CLIENT

_TRUE = "1"
_SESSION = "e.session_id >= ? AND e.session_id < ? || char(1114111) AND e.session_id GLOB ? || '*'"
"""The bounds say what GLOB says, of a beginning that is no constant, in a way that an index is used for."""
_FILE = r"""
SELECT f.event_id AS id FROM event_facets f WHERE f.facet = 'file'
AND (f.value = ? OR f.value LIKE '%/' || ? ESCAPE '\' OR f.value GLOB ? OR f.value GLOB '*/' || ?)
"""
_SYMBOL = "SELECT f.event_id AS id FROM event_facets f WHERE f.facet = 'symbol' AND f.value = ? COLLATE NOCASE"
_CLIENT = f"SELECT m.id AS id FROM events m WHERE m.session_id IN ({OF_A_CLIENT})"  # noqa: S608 - constants only
_FAILED = "SELECT id FROM events WHERE outcome = 'failed'"
_LIVE = "NOT EXISTS (SELECT 1 FROM summary_supersedes x WHERE x.older_id = s.id)"
_LIVE_THEN = """
NOT EXISTS (SELECT 1 FROM summary_supersedes x JOIN summaries n ON n.id = x.newer_id JOIN events later
            ON later.id = n.event_id WHERE x.older_id = s.id AND later.ts <= {moment:d})
"""
_SHOWN = """
(NOT EXISTS (SELECT 1 FROM summaries s WHERE s.event_id = e.id)
 OR EXISTS (SELECT 1 FROM summaries s WHERE s.event_id = e.id AND {live}))
"""
_KINDS_OF_EVENTS = {
    "tool": ("tool",),
    "prompt": ("prompt",),
    "stop": ("turn_end", "subagent_end"),
    "text": ("assistant_text", "compaction"),
}
"""The kinds to be asked for that an event's own kind tells alone."""
_KINDS = {
    "summary": "EXISTS (SELECT 1 FROM summaries k WHERE k.event_id = e.id)",
    "event": "NOT EXISTS (SELECT 1 FROM summaries k WHERE k.event_id = e.id)",
    **{
        asked: f"e.kind IN ({', '.join(repr(each) for each in kinds)}) AND e.kind <> 'tool'"  # for the partial index
        for asked, kinds in _KINDS_OF_EVENTS.items()
    },
    "tool": "e.kind = 'tool'",
    "failure": "e.outcome = 'failed'",
    "memory": "0",  # no event is one: see `memories`
}
KINDS = tuple(_KINDS)
BEGINNING, END = -(2**63), 2**63 - 1
_HAS_SUMMARY = {"summary": True, "event": False}


@dataclass(frozen=True, slots=True)
class Columns:
    """What a scope asks of an event's own tool, kind, session and time: the same as its SQL does."""

    tool: bytes | None = None
    kinds: tuple[bytes, ...] | None = None
    session: bytes = b""
    since: int = BEGINNING
    until: int = END

    def allows(self, tool: bytes, kind: bytes) -> bool:
        is_tool = self.tool is None or tool.lower() == self.tool.lower()
        return is_tool and (self.kinds is None or kind in self.kinds)

    def allows_session(self, session: bytes) -> bool:
        return session.startswith(self.session)


EVERY_EVENT = Columns()


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of SQL and its values."""

    sql: str
    values: tuple[object, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it is a condition that everything fulfils."""
        return self.sql == _TRUE


@dataclass(frozen=True, slots=True)
class Scope:
    """Filters as SQL over `e` (events): conditions and their values."""

    own: Part
    """What is asked of an event's own row, and of whether it has a summary."""
    facets: tuple[Part, ...]
    """What is asked of files, symbols and clients: each selects the ids of events."""
    live: str
    """Of a summary `s`: whether nothing hides it, at the time that is asked about."""
    columns: Columns
    """What an event's own tool, kind, session and time tell."""
    has_failed: bool
    """Whether only events that failed are asked for."""
    has_summary: bool | None
    """Whether events with a summary are asked for, or those without; None for both."""

    @classmethod
    def of(cls, filters: Filters) -> Scope:
        conditions: list[str] = []
        values: list[object] = []

        def add(condition: str, *condition_values: object) -> None:
            conditions.append(condition)
            values.extend(condition_values)

        if filters.tool is not None:
            add("e.tool = ? COLLATE NOCASE", filters.tool)
        if filters.session is not None:
            add(_SESSION, filters.session, filters.session, glob_escaped(filters.session))
        if filters.since is not None:
            add("e.ts >= ?", filters.since)
        if filters.until is not None:
            add("e.ts <= ?", filters.until)
        if filters.as_of is not None:
            add("e.ts <= ?", filters.as_of)
        if filters.kind is not None:
            add(_KINDS[filters.kind])
        if filters.type is not None:
            add("0")
        live = _LIVE if filters.as_of is None else _LIVE_THEN.format(moment=filters.as_of)
        return cls(
            own=Part(" AND ".join([_TRUE, *conditions]), tuple(values)),
            facets=tuple(_facets(filters)),
            live=_TRUE if filters.superseded else live,
            columns=_columns(filters),
            has_failed=filters.kind == "failure",
            has_summary=_HAS_SUMMARY.get(filters.kind or ""),
        )

    @property
    def whole(self) -> Part:
        """All of it, as one condition."""
        sql = " AND ".join([self.own.sql, *(f"e.id IN ({each.sql})" for each in self.facets)])
        return Part(sql, (*self.own.values, *(value for each in self.facets for value in each.values)))

    @property
    def listed(self) -> Part | None:
        """The ids of all events that have what no column tells: files, symbols, client, outcome. None for any."""
        parts = [*self.facets, *([Part(_FAILED)] if self.has_failed else [])]
        sql = " INTERSECT ".join(each.sql for each in parts)
        return Part(sql, tuple(value for each in parts for value in each.values)) if parts else None

    @property
    def shown(self) -> str:
        """Of an event `e`: whether it has no summary yet, or one that nothing hides."""
        return _SHOWN.format(live=self.live)

    @property
    def is_open(self) -> bool:
        """Whether nothing is filtered out."""
        return self.own.is_open and not self.facets

    @property
    def hides_superseded(self) -> bool:
        """Whether anything that is superseded is hidden."""
        return self.live != _TRUE

    @property
    def is_now(self) -> bool:
        """Whether all that is superseded by now is hidden."""
        return self.live == _LIVE


def _columns(filters: Filters) -> Columns:
    untils = (filters.until, filters.as_of)
    kinds = _KINDS_OF_EVENTS.get(filters.kind or "")
    return Columns(
        tool=None if filters.tool is None else filters.tool.encode(),
        kinds=None if kinds is None else tuple(each.encode() for each in kinds),
        session=(filters.session or "").encode(),
        since=BEGINNING if filters.since is None else filters.since,
        until=min((until for until in untils if until is not None), default=END),
    )


def _facets(filters: Filters) -> Iterator[Part]:
    if filters.file is not None:
        yield Part(_FILE, (filters.file, _like_escaped(filters.file), filters.file, filters.file))
    if filters.client is not None:
        yield Part(_CLIENT, (filters.client,))
    if filters.symbol is not None:
        yield Part(_SYMBOL, (filters.symbol,))


def _like_escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def glob_escaped(text: str) -> str:
    """Return `text` as a GLOB pattern that matches only itself."""
    return "".join(f"[{each}]" if each in "*?[" else each for each in text)
