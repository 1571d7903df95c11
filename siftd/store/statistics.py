"""How much happened when, what became of what agents were given, what takes room: what `mem stats` and pages show."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Sequence
from typing import Any

from siftd.config import MS_PER_DAY
from siftd.store import injection_ledger
from siftd.store.answers import as_rows
from siftd.wire.requests.finding import Injection
from siftd.wire.requests.overview import PieceGiven, StoredKind, WeekGiven

NOTHING: dict[str, Any] = {"days": [], "tools": [], "injections": {"pieces": 0, "sessions": 0, "touched": 0}}
TOOLS_MAX = 8
INJECTIONS_MAX = 2_000
"""Of how many pieces given it is worked out whether the session then touched them: the newest."""

_DAYS = """
SELECT date(ts / 1000, 'unixepoch', 'localtime') AS day, count(*) AS events, count(DISTINCT session_id) AS sessions
FROM events WHERE ts >= (SELECT max(ts) FROM events) - ? * 86400000 GROUP BY day ORDER BY day
"""
_TOOLS = "SELECT tool, count(*) AS events FROM events GROUP BY tool COLLATE NOCASE ORDER BY 2 DESC, 1 LIMIT ?"


def read_statistics(
    connection: sqlite3.Connection, days: int, given: Sequence[Injection] | None = None
) -> dict[str, Any]:
    """Return events and sessions of the last days that had any, the tools used most, and what agents were given.

    `given` is the list of that, where it was read already.
    """
    if given is None:
        given = injection_ledger.list_injections(connection, None, None, INJECTIONS_MAX)
    return {
        "days": as_rows(connection.execute(_DAYS, (days,)))[-days:],
        "tools": as_rows(connection.execute(_TOOLS, (TOOLS_MAX,))),
        "injections": {
            "pieces": len(given),
            "sessions": len({each["sessionId"] for each in given}),
            "touched": sum(each["touchedBy"] is not None for each in given),
        },
    }


OFFENDERS_MAX = 10
OFTEN = 2
"""How often a piece was given before it counts as one that does not help."""

_TABLES = "SELECT name, sum(pgsize) FROM dbstat GROUP BY name"
_KINDS = (
    ("full text", ("_fts", "_trigrams", "event_words", "event_facets")),
    ("vectors", ("embeddings", "vector_changes")),
    ("summaries", ("summaries", "summary_", "provenance_edges", "edges_by_")),
    ("memories", ("facts", "fact_", "pod", "note")),
    ("events", ("event", "sessions", "session_")),
)
"""Which tables and indexes belong to what a person knows, by what is in their names; the first that fits."""


def by_week(given: Iterable[Injection]) -> list[WeekGiven]:
    """Return what was given week by week, the oldest first."""
    weeks: dict[str, WeekGiven] = {}
    for each in given:
        week = _monday_of(each["ts"])
        found = weeks.setdefault(week, {"week": week, "pieces": 0, "touched": 0})
        found["pieces"] += 1
        found["touched"] += each["touchedBy"] is not None
    return sorted(weeks.values(), key=lambda each: each["week"])


def list_offenders(given: Iterable[Injection]) -> list[PieceGiven]:
    """Return the pieces that were given again and again and helped least."""
    pieces: dict[str, PieceGiven] = {}
    for each in given:
        first: PieceGiven = {
            "piece": each["piece"],
            "given": 0,
            "touched": 0,
            "lastTs": each["ts"],
            "text": each["text"],
        }
        found = pieces.setdefault(each["piece"], first)
        found["given"] += 1
        found["touched"] += each["touchedBy"] is not None
    often = [each for each in pieces.values() if each["given"] >= OFTEN and each["touched"] < each["given"]]
    return sorted(often, key=lambda each: (each["touched"] - each["given"], each["piece"]))[:OFFENDERS_MAX]


def list_stored(connection: sqlite3.Connection) -> list[StoredKind]:
    """Return what takes room in the database, the most first; all is `other` where SQLite has no `dbstat`."""
    try:
        rows = connection.execute(_TABLES).fetchall()
    except sqlite3.OperationalError:
        pages, size = (int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "page_size"))
        rows = [("", pages * size)]
    kinds: dict[str, int] = {}
    for name, size in rows:
        kind = next((kind for kind, parts in _KINDS if any(part in name for part in parts)), "other")
        kinds[kind] = kinds.get(kind, 0) + int(size)
    return [{"kind": kind, "bytes": size} for kind, size in sorted(kinds.items(), key=lambda each: -each[1])]


def _monday_of(ts: int) -> str:
    weekday = time.localtime(ts / 1000).tm_wday
    return time.strftime("%Y-%m-%d", time.localtime((ts - weekday * MS_PER_DAY) / 1000))
