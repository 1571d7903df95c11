"""mem0's memories: its history, `~/.mem0/history.db` as of 2.2 (`mem0/memory/storage.py`), or what `get_all` answers.

The memories themselves lie in a vector store of the person's choice; the history, which mem0 always keeps beside it,
tells what each of them says now. Of the hosted service there is the JSON that its `get_all` answers:

    {"results":[{"id":"…","memory":"Uses pnpm","created_at":"2026-01-02T03:04:05Z","categories":["tools"]}]}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from siftd import foreign_file
from siftd.foreign_database import open_database, text_of
from siftd.other_memories.model import TEXT_BYTES_MAX, Item, LeftBehind, Memory, OtherMemory, moment

TABLES = ("history",)
_HISTORY = "SELECT memory_id, new_memory, event, created_at, updated_at FROM history ORDER BY rowid"
_SQLITE = b"SQLite format 3\x00"


def _read(path: str) -> Iterator[Item]:
    with foreign_file.open_regular(path, follow=True) as file:
        is_database = file.read(len(_SQLITE)) == _SQLITE
    yield from _read_history(path) if is_database else _read_answer(path)


def _read_history(path: str) -> Iterator[Item]:
    current: dict[str, Memory | None] = {}
    with open_database(path, TABLES) as database:
        for row in database.execute(_HISTORY):
            key, text, event, created, updated = map(text_of, row)
            first = current.get(key)
            ts = moment(created) or (first.ts if first else None)
            is_gone = event == "DELETE" or not text
            memory = Memory(key=key, text=text, ts=first.ts if first else ts, updated_ts=moment(updated) or ts)
            current[key] = None if is_gone else memory
    for each in current.values():
        yield each or LeftBehind(why="a memory that was deleted there")


def _read_answer(path: str) -> Iterator[Item]:
    try:
        found: Any = msgspec.json.decode(foreign_file.read(path, TEXT_BYTES_MAX, follow=True))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError("it is neither mem0's history nor JSON") from error
    for each in _results(found):
        key, text = each.get("id"), each.get("memory")
        if not isinstance(key, str) or not isinstance(text, str) or not text.strip():
            yield LeftBehind(why="a result without an id or a text")
            continue
        tags = each.get("categories")
        yield Memory(
            key=key,
            text=text,
            ts=moment(each.get("created_at")),
            updated_ts=moment(each.get("updated_at")),
            tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        )


def _results(found: Any) -> list[dict[str, Any]]:
    results = found.get("results", []) if isinstance(found, dict) else found
    return [each for each in results if isinstance(each, dict)] if isinstance(results, list) else []


MEM0 = OtherMemory(name="mem0", title="mem0", default=lambda places: f"{places.user_home}/.mem0/history.db", read=_read)
