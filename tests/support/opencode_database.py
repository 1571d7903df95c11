"""OpenCode's database, made of rows that a real one held."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1] / "data" / "opencode"


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / "rows.jsonl").read_text(encoding="utf-8").splitlines()]


def make_database(path: Path, root: Path | str, *, has_log: bool = False) -> sqlite3.Connection:
    """Fill a database with the recorded session, whose folder is now `root`; return its owner's connection. Unless
    `has_log` that is closed, and no write-ahead log is left beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = wal")
    connection.executescript((DATA / "schema.sql").read_text(encoding="utf-8"))
    for row in rows():
        table = row.pop("table")
        row |= {"slug": "s"} if table == "session" and "slug" not in row else {}
        values = [
            _text(value).replace("/home/dev/project", str(root)) if _is_text(value) else value for value in row.values()
        ]
        names = ", ".join(row)
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", values)
    connection.commit()
    if not has_log:
        connection.close()
    return connection


def _is_text(value: Any) -> bool:
    return isinstance(value, str | dict)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
