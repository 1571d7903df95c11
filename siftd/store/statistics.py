"""How much happened when, and what became of what agents were given: what `mem stats` shows."""

from __future__ import annotations

import sqlite3
from typing import Any

from siftd.store import injection_ledger
from siftd.store.answers import as_rows

NOTHING: dict[str, Any] = {"days": [], "tools": [], "injections": {"pieces": 0, "sessions": 0, "touched": 0}}
TOOLS_MAX = 8
INJECTIONS_MAX = 2_000
"""Of how many pieces given it is worked out whether the session then touched them: the newest."""

_DAYS = """
SELECT date(ts / 1000, 'unixepoch', 'localtime') AS day, count(*) AS events, count(DISTINCT session_id) AS sessions
FROM events WHERE ts >= (SELECT max(ts) FROM events) - ? * 86400000 GROUP BY day ORDER BY day
"""
_TOOLS = "SELECT tool, count(*) AS events FROM events GROUP BY tool COLLATE NOCASE ORDER BY 2 DESC, 1 LIMIT ?"


def read_statistics(connection: sqlite3.Connection, days: int) -> dict[str, Any]:
    """Return events and sessions of the last days that had any, the tools used most, and what agents were given."""
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
