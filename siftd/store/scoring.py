"""What was set for this project's searches: kept by `scoring` records, read by each search.

scoring  {"w_fts": 0.4, "half_life": null}     these numbers from now on; null: no longer set here
         {"label": "billing", …}               the same for what is kept under a label alone
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from typing import Any

from siftd.log.record import Record
from siftd.store import meta

_KEY = "scoring"


def read_scoring(connection: sqlite3.Connection, label: str | None = None) -> dict[str, float]:
    """Return the numbers that were set, for everything or for what is kept under a label."""
    stored: dict[str, float] = json.loads(meta.get(connection, _key(label)) or "{}")
    return stored


def apply(connection: sqlite3.Connection, payload: dict[str, Any], _: Record) -> None:
    """Do what a `scoring` record asks for."""
    label = payload.get("label")
    numbers = {name: value for name, value in payload.items() if name != "label"}
    stored = read_scoring(connection, label) | numbers
    meta.put(connection, _key(label), json.dumps({name: each for name, each in stored.items() if each is not None}))


def _key(label: str | None) -> str:
    """Return the row of a label's numbers. It holds a hash: rules of redaction that come later need not look there."""
    return _KEY if label is None else f"{_KEY} {hashlib.sha256(label.encode()).hexdigest()[:32]}"
