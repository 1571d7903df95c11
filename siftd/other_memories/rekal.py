"""rekal's store, `~/.rekal/memory.db`, as of 1.8.0 (`rekal/adapters/sqlite_adapter.py` of its source distribution).

Its conversations are left behind: they name sessions of which nothing else is known.
"""

from __future__ import annotations

from collections.abc import Iterator

from siftd.facts.model import Category
from siftd.foreign_database import open_database, text_of
from siftd.other_memories.model import Item, LeftBehind, Link, Memory, OtherMemory, list_of_texts, moment

TABLES = ("memories", "memory_links", "conversations")
_TYPES: dict[str, Category] = {
    "fact": "fact",
    "preference": "preference",
    "procedure": "procedure",
    "context": "context",
    "episode": "episode",
    "decision": "decision",
    "instruction": "instruction",
}
_MEMORIES = """
SELECT id, content, memory_type, project, tags, created_at, updated_at FROM memories ORDER BY created_at, id
"""
_LINKS = "SELECT from_id, to_id, relation, created_at FROM memory_links ORDER BY created_at, from_id, to_id, relation"
_CONVERSATIONS = "SELECT count(*) FROM conversations"


def _read(path: str) -> Iterator[Item]:
    with open_database(path, TABLES) as database:
        for row in database.execute(_MEMORIES):
            key, text, kind, project, tags, created, updated = map(text_of, row)
            yield Memory(
                key=key,
                text=text,
                category=_TYPES.get(kind, "fact"),
                ts=moment(created),
                updated_ts=moment(updated),
                tags=list_of_texts(tags),
                project=project or None,
            )
        for row in database.execute(_LINKS):
            from_key, to_key, relation, created = map(text_of, row)
            yield Link(from_key=from_key, to_key=to_key, relation=relation, ts=moment(created))
        (conversations,) = database.execute(_CONVERSATIONS).fetchone()
        if conversations:
            yield LeftBehind(
                why="a conversation: it names a session of which nothing else is known", many=conversations
            )


REKAL = OtherMemory(
    name="rekal", title="rekal", default=lambda places: f"{places.user_home}/.rekal/memory.db", read=_read
)
