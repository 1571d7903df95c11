"""Candidates for search: rows with scores from one index each, already without what is hidden or filtered out.

Superseded summaries, and events all of whose summaries are superseded, are gone here, before any cut; so are rows
that a filter excludes. Fusion is not this room's matter.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from siftd.messages import Filters

_LIVE = "NOT EXISTS (SELECT 1 FROM summary_supersedes x WHERE x.older_id = s.id)"
_SHOWN = f"""
(NOT EXISTS (SELECT 1 FROM summaries s WHERE s.event_id = e.id)
 OR EXISTS (SELECT 1 FROM summaries s WHERE s.event_id = e.id AND {_LIVE}))
"""  # noqa: S608 - constants only
_TOOL_EVENT = "e.tool NOT IN ('UserPromptSubmit', 'Stop', 'SubagentStop')"
_KINDS = {
    "summary": "EXISTS (SELECT 1 FROM summaries k WHERE k.event_id = e.id)",
    "event": "NOT EXISTS (SELECT 1 FROM summaries k WHERE k.event_id = e.id)",
    "tool": _TOOL_EVENT,
    "prompt": "e.tool = 'UserPromptSubmit'",
    "stop": "e.tool IN ('Stop', 'SubagentStop')",
    "failure": "e.outcome = 'failed'",
    "memory": "0",  # no event is one: see `memories`
}
KINDS = tuple(_KINDS)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One row of one index. A higher score is better; only its order within the index means anything."""

    event_id: int
    summary_id: int | None
    score: float


@dataclass(frozen=True, slots=True)
class Scope:
    """Filters as SQL over `e` (events): conditions and their values."""

    sql: str
    values: tuple[object, ...]
    superseded: bool

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
            add("e.session_id GLOB ? || '*'", glob_escaped(filters.session))
        if filters.since is not None:
            add("e.ts >= ?", filters.since)
        if filters.until is not None:
            add("e.ts <= ?", filters.until)
        if filters.file is not None:
            add(_FILE, filters.file, _like_escaped(filters.file), filters.file, filters.file)
        if filters.symbol is not None:
            add(_SYMBOL, filters.symbol)
        if filters.kind is not None:
            add(_KINDS[filters.kind])
        return cls(" AND ".join(["1", *conditions]), tuple(values), filters.superseded)

    @property
    def is_open(self) -> bool:
        """Whether nothing is filtered out."""
        return not self.values and self.sql == "1"


_FILE = r"""
EXISTS (SELECT 1 FROM event_facets f WHERE f.event_id = e.id AND f.facet = 'file'
        AND (f.value = ? OR f.value LIKE '%/' || ? ESCAPE '\' OR f.value GLOB ?
             OR f.value GLOB '*/' || ?))
"""
_SYMBOL = """
EXISTS (SELECT 1 FROM event_facets f WHERE f.event_id = e.id AND f.facet = 'symbol' AND f.value = ? COLLATE NOCASE)
"""


def by_words(connection: sqlite3.Connection, match: str, scope: Scope, limit: int) -> list[Candidate]:
    """Return the summaries that match an FTS5 expression over words, best first by bm25."""
    ranked = _RANKED.format(table="summaries_fts", score="bm25(summaries_fts, 1.0, 0.6)")
    return _best(connection, ranked, _SUMMARY_OF, _LIVE, match, scope, limit)


def by_trigrams(connection: sqlite3.Connection, match: str, scope: Scope, limit: int) -> list[Candidate]:
    """Return the summaries that match an FTS5 expression over trigrams, best first by bm25."""
    ranked = _RANKED.format(table="summaries_trigrams", score="bm25(summaries_trigrams)")
    return _best(connection, ranked, _SUMMARY_OF, _LIVE, match, scope, limit)


def by_raw_words(connection: sqlite3.Connection, match: str, scope: Scope, limit: int) -> list[Candidate]:
    """Return the events whose first 4 KB match an FTS5 expression, best first by bm25."""
    ranked = _RANKED.format(table="events_fts", score="bm25(events_fts)")
    return _best(connection, ranked, _EVENT_OF, _SHOWN, match, scope, limit)


_RANKED = "(SELECT rowid AS id, {score} AS score FROM {table} WHERE {table} MATCH ? {{window}}) r"
_SUMMARY_OF = (
    "s.event_id, s.id, -r.score FROM {ranked} JOIN summaries s ON s.id = r.id JOIN events e ON e.id = s.event_id"
)
_EVENT_OF = "e.id, NULL, -r.score FROM {ranked} JOIN events e ON e.id = r.id"
_SCORED_MAX = 400
"""Matches that are scored where nothing filters, newest first: bm25 takes about 4 microseconds a row."""
_WINDOW = 4
"""How many times the wanted rows are looked at first where nothing filters: nearly all of them are shown."""


def _best(
    connection: sqlite3.Connection, ranked: str, columns: str, shown: str, match: str, scope: Scope, limit: int
) -> list[Candidate]:
    """Return the best `limit` of the ranked rows that are shown and within the scope.

    Without filters only the newest matches are scored and the best of them looked up; all are where that gives too few.
    """
    found: list[Candidate] = []
    newest = ranked.format(window=f"ORDER BY rowid DESC LIMIT {_SCORED_MAX}")
    best_of_newest = f"(SELECT id, score FROM {newest} ORDER BY score LIMIT {_WINDOW * limit}) r"  # noqa: S608
    for rows in [best_of_newest, ranked.format(window="")][not scope.is_open :]:
        source = columns.format(ranked=rows)
        sql = f"""
            SELECT {source} WHERE {"1" if scope.superseded else shown} AND {scope.sql} ORDER BY r.score LIMIT ?
        """
        found = _candidates(connection.execute(sql, (match, *scope.values, limit)))
        if len(found) == limit:
            break
    return found


def latest(connection: sqlite3.Connection, scope: Scope, limit: int) -> list[Candidate]:
    """Return the latest events within the scope, newest first."""
    sql = f"""
        SELECT e.id, NULL, e.ts FROM events e WHERE {"1" if scope.superseded else _SHOWN} AND {scope.sql}
        ORDER BY e.ts DESC, e.id DESC LIMIT ?
    """  # noqa: S608 - constants and placeholders only
    return _candidates(connection.execute(sql, (*scope.values, limit)))


def document_counts(connection: sqlite3.Connection, table: str, terms: Iterable[str]) -> dict[str, int]:
    """Return in how many rows each term occurs; `table` is summaries_terms or events_terms."""
    counts = {}
    for term in terms:
        row = connection.execute(f"SELECT doc FROM {table} WHERE term = ?", (term,)).fetchone()  # noqa: S608
        if row is not None:
            counts[term] = int(row[0])
    return counts


def iter_allowed(connection: sqlite3.Connection, summary_ids: Sequence[int], scope: Scope) -> Iterator[Candidate]:
    """Yield those of `summary_ids` that are live and within the scope, in their order (score 0)."""
    sql = f"""
        SELECT s.event_id, s.id, 0.0 FROM summaries s JOIN events e ON e.id = s.event_id
        WHERE s.id = ? AND {"1" if scope.superseded else _LIVE} AND {scope.sql}
    """  # noqa: S608 - constants and placeholders only
    for summary_id in summary_ids:
        row = connection.execute(sql, (summary_id, *scope.values)).fetchone()
        if row is not None:
            yield Candidate(*row)


def allowed_ids(connection: sqlite3.Connection, scope: Scope) -> list[int]:
    """Return the ids of every live summary within the scope."""
    sql = f"""
        SELECT s.id FROM summaries s JOIN events e ON e.id = s.event_id
        WHERE {"1" if scope.superseded else _LIVE} AND {scope.sql}
    """  # noqa: S608 - constants and placeholders only
    return [int(row[0]) for row in connection.execute(sql, scope.values)]


# Vectors


def last_vector_change(connection: sqlite3.Connection) -> int:
    """Return the newest entry of the journal of vector changes."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'vector_changes'").fetchone()
    return int(row[0]) if row else 0


def vector_changes(connection: sqlite3.Connection, since: int) -> list[int]:
    """Return the summaries whose vector was added, changed or deleted after journal entry `since`."""
    rows = connection.execute("SELECT DISTINCT summary_id FROM vector_changes WHERE id > ?", (since,))
    return [int(row[0]) for row in rows]


def oldest_vector_change(connection: sqlite3.Connection) -> int:
    """Return the oldest entry that the journal still has; the next one that it will have when it is empty."""
    row = connection.execute("SELECT min(id) FROM vector_changes").fetchone()
    return last_vector_change(connection) + 1 if row[0] is None else int(row[0])


def find_vector(connection: sqlite3.Connection, embedder: str, dim: int, summary_id: int) -> bytes | None:
    """Return the packed vector of a summary in this embedder's space."""
    row = connection.execute(
        "SELECT vec FROM summary_embeddings WHERE summary_id = ? AND embedder = ? AND dim = ?",
        (summary_id, embedder, dim),
    ).fetchone()
    return bytes(row[0]) if row and len(row[0]) == 4 * dim else None


def vector_changes_after(connection: sqlite3.Connection, since: int, limit: int) -> list[tuple[int, int]]:
    """Return (journal entry, summary id) after entry `since`, in order."""
    rows = connection.execute(
        "SELECT id, summary_id FROM vector_changes WHERE id > ? ORDER BY id LIMIT ?", (since, limit)
    )
    return [(int(row[0]), int(row[1])) for row in rows]


def has_summaries(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM summaries LIMIT 1").fetchone() is not None


def iter_vectors(connection: sqlite3.Connection, embedder: str, dim: int) -> Iterator[tuple[int, bytes]]:
    """Yield (summary id, packed vector) of one embedder's space; rows of a wrong size are left out."""
    rows = connection.execute(
        "SELECT summary_id, vec FROM summary_embeddings WHERE embedder = ? AND dim = ? AND length(vec) = ?",
        (embedder, dim, 4 * dim),
    )
    for summary_id, vector in rows:
        yield int(summary_id), bytes(vector)


def _candidates(rows: Iterable[tuple[int, int | None, float]]) -> list[Candidate]:
    return [Candidate(*row) for row in rows]


def _like_escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def glob_escaped(text: str) -> str:
    """Return `text` as a GLOB pattern that matches only itself."""
    return "".join(f"[{each}]" if each in "*?[" else each for each in text)
