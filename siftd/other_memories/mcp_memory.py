"""The memory of `@modelcontextprotocol/server-memory`, a graph as JSON lines (`dist/index.js` of its npm package).

    {"type":"entity","name":"auth","entityType":"service","observations":["checks tokens"]}
    {"type":"relation","from":"auth","to":"db","relationType":"reads"}

An observation is a memory that names its entity, a relation one that names both. Neither has a date.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from siftd import foreign_file
from siftd.other_memories.model import TEXT_BYTES_MAX, Item, LeftBehind, Memory, OtherMemory


class _Entity(msgspec.Struct, tag="entity"):
    name: str
    observations: list[Any] = []
    entityType: str = ""  # noqa: N815 - as the file names it


class _Relation(msgspec.Struct, tag="relation", rename={"from_": "from"}):
    from_: str
    to: str
    relationType: str  # noqa: N815


_DECODER = msgspec.json.Decoder(_Entity | _Relation)


def _read(path: str) -> Iterator[Item]:
    for line in foreign_file.read(path, TEXT_BYTES_MAX, follow=True).splitlines():
        if not line.strip():
            continue
        try:
            found = _DECODER.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            yield LeftBehind(why="a line that is neither an entity nor a relation")
            continue
        if isinstance(found, _Relation):
            yield _memory(f"{found.from_} {found.relationType.replace('_', ' ')} {found.to}", "relation")
            continue
        said = [each for each in found.observations if isinstance(each, str) and each.strip()]
        if not said:
            yield LeftBehind(why="an entity of which nothing is said")
        kind = f" ({found.entityType})" if found.entityType else ""
        for each in said:
            yield _memory(f"{found.name}{kind}: {each}", found.entityType)


def _memory(text: str, tag: str) -> Memory:
    key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Memory(key=key, text=text, tags=(tag,) if tag else ())


MCP_MEMORY = OtherMemory(
    name="mcp-memory",
    title="the memory server of the Model Context Protocol",
    default=lambda places: f"{places.project}/memory.jsonl",
    read=_read,
)
