"""OpenCode's database, `opencode.db`: each session as lines, one for itself, one for each message and part.

    {"table":"part","id":"prt_…","message_id":"msg_…","time_created":1795374484083,"data":{"type":"text","text":"…"}}

A message comes before its parts, and messages by age. Rows hold JSON, which is handed on as it stands: what is none is
a line that its reader counts. A subagent's session names the one that it was started from.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from siftd.clients.client import Head, Reader, StoredSession
from siftd.clients.opencode.transcript import SessionReader
from siftd.foreign_database import open_database, text_of

FILE = "opencode.db"
TABLES = ("session", "message", "part")
SESSIONS_MAX = 100_000
"""Of one database. Arbitrary."""
PARENTS_MAX = 20
"""Subagents that start subagents; beyond it is a circle. Arbitrary."""

_SESSIONS = "SELECT id, parent_id, directory, time_updated FROM session ORDER BY time_created LIMIT ?"
_SESSION = "SELECT id, parent_id, directory FROM session WHERE id = ?"
_EXTENTS = "SELECT session_id, count(id), max(time_updated) FROM part GROUP BY session_id"
_MESSAGES = "SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT id, time_created, data FROM part WHERE message_id = ? ORDER BY id"
_PART_BYTES = 1_000
"""Of a part, about, for a progress bar: to measure them takes longer than to read them."""


class Database:
    """`opencode.db` in OpenCode's folder of data."""

    suffix = FILE

    def folder(self, environ: Mapping[str, str], user_home: str) -> str:
        data = environ.get("XDG_DATA_HOME", "")
        return f"{data if data.startswith('/') else f'{user_home}/.local/share'}/opencode"

    def sessions(self, path: str) -> Iterator[StoredSession]:
        with open_database(path, TABLES) as database:
            rows = [
                (text_of(key), text_of(parent), text_of(cwd), updated)
                for key, parent, cwd, updated in database.execute(_SESSIONS, (SESSIONS_MAX,))
            ]
            extents = {text_of(key): (count, updated) for key, count, updated in database.execute(_EXTENTS)}
        parents = {key: parent for key, parent, _, _ in rows}
        for key, parent, cwd, updated in rows:
            count, changed = extents.get(key, (0, 0))
            head = Head(_root(key, parents), cwd or None, key if parent else None)
            when = max(_number(updated), _number(changed))
            yield StoredSession(key, _number(count) * _PART_BYTES, when * 1_000_000, head)

    def lines_of(self, path: str, key: str) -> Iterator[bytes]:
        with open_database(path, TABLES) as database:
            found = database.execute(_SESSION, (key,)).fetchone()
            if found is None:
                return
            root = key
            for _ in range(PARENTS_MAX):
                above = database.execute(_SESSION, (root,)).fetchone()
                if above is None or not text_of(above[1]):
                    break
                root = text_of(above[1])
            agent = {"agent_id": key} if root != key else {}
            yield msgspec.json.encode({"table": "session", "id": root, "directory": text_of(found[2]), **agent})
            for message, created, data in database.execute(_MESSAGES, (key,)):
                yield _line("message", message, created, data)
                yield from self._parts(database, message)

    def _parts(self, database: sqlite3.Connection, message: Any) -> Iterator[bytes]:
        for part, created, data in database.execute(_PARTS, (text_of(message),)):
            yield _line("part", part, created, data)

    def reader(self, session_id: str | None) -> Reader:
        return SessionReader(session_id)

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:  # noqa: ARG002 - its call's part says it
        return {}


def _line(table: str, key: Any, created: Any, data: Any) -> bytes:
    named = {"table": table, "id": text_of(key), "time_created": created if isinstance(created, int) else None}
    raw = data if isinstance(data, bytes) else str(data).encode("utf-8", "replace")
    return msgspec.json.encode({**named, "data": msgspec.Raw(raw)})


def _root(key: str, parents: Mapping[str, str]) -> str:
    for _ in range(PARENTS_MAX):
        if not (above := parents.get(key)):
            break
        key = above
    return key


def _number(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 52 else 0
