"""The answers of rekal 1.8.0, made from siftd's rows. Times are UTC, `YYYY-MM-DD HH:MM:SS`.

memory        id content memory_type project conversation_id tags created_at updated_at access_count last_accessed_at
              score (null where nothing was searched)
conflict      memory_id content related_id related_content relation created_at
topic         topic count latest
conversation  id title project started_at memory_count
link          from_id to_id relation created_at
stale         id title project started_at last_memory_at days_inactive
health        total_memories total_conversations total_links total_conflicts oldest_memory newest_memory
              memories_by_type memories_by_project ("<none>": without a project)
"""

from __future__ import annotations

import time
from calendar import timegm
from contextlib import suppress
from typing import Any

from siftd.config import MS_PER_DAY
from siftd.timestamps import parse_moment
from siftd.wire.requests import Conflict, Conversation, Health, ListedMemory, Topic

Row = dict[str, Any]
_FORMATS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d")


def memory(row: ListedMemory, cited: str, score: float | None = None) -> Row:
    """Return a memory; `cited` is its id with its letter."""
    return {
        "id": cited,
        "content": row["text"],
        "memory_type": row["type"],
        "project": row["project"],
        "conversation_id": row["sessionId"],
        "tags": row["tags"],
        "created_at": utc(row["ts"]),
        "updated_at": utc(row["updatedTs"]),
        "access_count": row["reads"],
        "last_accessed_at": utc(row["readTs"]),
        "score": score,
    }


def conflict(row: Conflict, letter: str) -> Row:
    return {
        "memory_id": f"{letter}{row['aId']}",
        "content": row["aText"],
        "related_id": f"{letter}{row['bId']}",
        "related_content": row["bText"],
        "relation": "contradicts",
        "created_at": utc(row["ts"]),
    }


def topic(row: Topic) -> Row:
    return {"topic": row["topic"], "count": row["count"], "latest": utc(row["latest"])}


def conversation(row: Conversation) -> Row:
    return {
        "id": row["id"],
        "title": row["title"] or None,
        "project": row["project"],
        "started_at": utc(row["startedTs"]),
        "memory_count": row["memories"],
    }


def links(row: Conversation) -> list[Row]:
    """Return what a conversation follows up on and branches from."""
    parents = [(row["parentId"], row["relation"]), (row["branchesFrom"], "branches_from")]
    return [
        {"from_id": row["id"], "to_id": parent, "relation": relation, "created_at": utc(row["startedTs"])}
        for parent, relation in parents
        if parent
    ]


def stale(row: Conversation, now_ms: int) -> Row:
    return {
        "id": row["id"],
        "title": row["title"] or None,
        "project": row["project"],
        "started_at": utc(row["startedTs"]),
        "last_memory_at": utc(row["rememberedTs"] or None),
        "days_inactive": max(0, now_ms - max(row["lastTs"], row["rememberedTs"])) // MS_PER_DAY,
    }


def health(row: Health) -> Row:
    return {
        "total_memories": row["total"],
        "total_conversations": row["conversations"],
        "total_links": row["links"],
        "total_conflicts": row["contradictions"],
        "oldest_memory": utc(row["oldestTs"]),
        "newest_memory": utc(row["newestCreatedTs"]),
        "memories_by_type": row["byType"],
        "memories_by_project": {"<none>" if label is None else label: count for label, count in row["byLabel"]},
    }


def span(memories: list[Row]) -> str:
    """Return the line that tells from when to when these memories are."""
    if not memories:
        return "No memories found"
    created = [each["created_at"] for each in memories]
    return f"{len(memories)} memories from {min(created)} to {max(created)}"


def utc(ts: int | None) -> str | None:
    """Return a moment as rekal writes it."""
    return None if ts is None else time.strftime(_FORMATS[0], time.gmtime(ts / 1000))


def moment(text: str, now_ms: int) -> int:
    """Return the milliseconds of a moment as rekal's users write it, or as siftd's do. Raises RequestInvalid."""
    for form in _FORMATS:
        with suppress(ValueError):
            return timegm(time.strptime(text.strip(), form)) * 1000
    return parse_moment(text, now_ms)
