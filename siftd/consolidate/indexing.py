"""Indexing raw events: the words of their first 4 KB, their files and their symbols, within a second of capture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from siftd.consolidate.drain import Store
from siftd.embed.words import index_words
from siftd.store import facets
from siftd.store.facets import Facets
from siftd.store.payload import find_object

BATCH = 64
TEXT_CHARS_MAX = 4_096
_PATH_KEYS = ("file_path", "notebook_path", "path")
_NOT_CONTENT = ("_source", "symbols", "structuredPatch", "originalFile", "oldString", "newString")
"""Stamps, and what an edit's response repeats of its input."""


class RawIndexer:
    """Keeps `event_words` and `event_facets` complete."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._upto = 0

    async def run(self) -> int:
        """Index one batch of what was captured since the last call; return how many events that were."""
        ids = await self._store.read(lambda c: facets.list_unindexed_after(c, self._upto, BATCH))
        return await self._index(ids)

    async def run_all(self) -> None:
        """Index everything that is not, what a person changed by hand included."""
        while ids := await self._store.read(lambda c: facets.list_unindexed(c, BATCH)):
            await self._index(ids)

    async def _index(self, ids: list[int]) -> int:
        if ids:
            rows = await self._store.read(
                lambda c: [
                    (each, *facets_of(*found)) for each in ids if (found := facets.find_payload(c, each)) is not None
                ]
            )
            await self._store.write(lambda c: facets.insert(c, [Facets(*row) for row in rows]))
            self._upto = max(self._upto, *ids)
        return len(ids)


def facets_of(tool: str, payload_json: str) -> tuple[str, list[str], list[str]]:
    """Return (index words, files, symbols) of an event."""
    payload = find_object(payload_json)
    if payload is None:
        return index_words(payload_json[:TEXT_CHARS_MAX]), [], []
    stamped = payload.get("symbols")
    symbols = [each for each in stamped if isinstance(each, str)] if isinstance(stamped, list) else []
    text = f"{tool}\n{' '.join(symbols)}\n{_first_text(payload)}"
    return index_words(text), sorted(set(_files(payload))), symbols


def _first_text(payload: dict[str, Any]) -> str:
    pieces: list[str] = []
    room = TEXT_CHARS_MAX
    for piece in _texts(payload):
        pieces.append(piece[:room])
        room -= len(piece)
        if room <= 0:
            break
    return "\n".join(pieces)


def _texts(value: Any) -> Iterator[str]:
    """Yield the strings of a payload, what was asked before what was answered."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key in sorted(value, key=lambda key: (key != "tool_input", key)):
            if key not in _NOT_CONTENT:
                yield from _texts(value[key])
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _files(payload: dict[str, Any]) -> Iterator[str]:
    tool_input = payload.get("tool_input")
    if isinstance(tool_input, dict):
        for key in _PATH_KEYS:
            if isinstance(path := tool_input.get(key), str) and path:
                yield path
