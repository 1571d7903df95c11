"""What was set for this project's searches: kept by `scoring` records, read by each search.

scoring  {"w_fts": 0.4, "half_life": null}     these numbers from now on; null: no longer set here
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from siftd.log.record import Record
from siftd.store import meta

_KEY = "scoring"


def read_scoring(connection: sqlite3.Connection) -> dict[str, float]:
    """Return the numbers that were set."""
    kept: dict[str, float] = json.loads(meta.get(connection, _KEY) or "{}")
    return kept


def apply(connection: sqlite3.Connection, payload: dict[str, Any], _: Record) -> None:
    """Do what a `scoring` record asks for."""
    kept = read_scoring(connection) | payload
    meta.put(connection, _KEY, json.dumps({name: each for name, each in kept.items() if each is not None}))
