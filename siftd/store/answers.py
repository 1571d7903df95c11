"""Rows as answers name them: the wire's names are camelCase, columns are not."""

from __future__ import annotations

import re
import sqlite3
from functools import lru_cache
from typing import Any

_UNDERSCORE = re.compile(r"_([a-z])")


def as_rows(cursor: sqlite3.Cursor) -> list[dict[str, Any]]:
    """Return a cursor's rows by the names of their columns, in camelCase."""
    names = [camel(column[0]) for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


@lru_cache(maxsize=512)
def camel(name: str) -> str:
    """Return `sessionId` for `session_id`."""
    return _UNDERSCORE.sub(lambda found: found[1].upper(), name)
