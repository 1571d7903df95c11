"""Rows as answers name them: the wire's names are camelCase, columns are not."""

from __future__ import annotations

import re
import sqlite3
from functools import lru_cache
from typing import Any, TypeVar, overload

Row = TypeVar("Row")
_UNDERSCORE = re.compile(r"_([a-z])")


@overload
def as_rows(cursor: sqlite3.Cursor) -> list[dict[str, Any]]: ...
@overload
def as_rows(cursor: sqlite3.Cursor, kind: type[Row]) -> list[Row]: ...
def as_rows(cursor: sqlite3.Cursor, kind: type[Any] = dict) -> list[Any]:  # noqa: ARG001 - for mypy
    """Return a cursor's rows by the names of their columns, in camelCase.

    `kind` is the TypedDict that the caller knows them to be: whether they are, the tests see of every answer.
    """
    names = [camel(column[0]) for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


@lru_cache(maxsize=512)
def camel(name: str) -> str:
    """Return `sessionId` for `session_id`."""
    return _UNDERSCORE.sub(lambda found: found[1].upper(), name)
