"""Indexing raw events: the words of what was asked, done and answered, files, symbols, within a second of capture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from siftd.clients.own import is_own_traffic
from siftd.consolidate.drain import Store
from siftd.consolidate.planning import is_own_turn
from siftd.crash_guard import CrashGuard
from siftd.embed.words import index_words
from siftd.errors import StoreCorrupt
from siftd.store import event_index
from siftd.store.access import Database
from siftd.store.connection import SET_ASIDE
from siftd.store.event_index import Captured, Facets
from siftd.store.payload import find_object, texts_of

BATCH = 64
TEXT_CHARS_MAX = 4_096
"""Of what was asked, said or done."""
ANSWER_CHARS_MAX = 1_024
"""Of what came back: its end, where commands say how it went."""
_PATH_KEYS = ("file_path", "notebook_path", "path")
_NOT_CONTENT = ("_source", "_branch", "symbols")
_ANSWER_KEYS = ("tool_response", "error")
_LOOKS = ("read", "search")
"""Actions whose answer is what the work tree holds, not what was done: half the words, and none of the meaning."""
_REPEATS = ("structuredPatch", "originalFile", "oldString", "newString", "oldTodos", "newTodos", "filePath", "content")
"""What an answer repeats of its input."""


class RawIndexer:
    """Keeps `event_words` and `event_facets` complete."""

    def __init__(self, store: Store, crash_guard: CrashGuard | None = None) -> None:
        self._store = store
        self._crash_guard = crash_guard or CrashGuard()
        self._upto = 0

    @property
    def upto(self) -> int:
        """Up to which id everything captured is indexed."""
        return self._upto

    async def run(self) -> int:
        """Index one batch of what was captured since the last call; return how many events that were."""
        ids: list[int] = []
        before = -1
        while not ids and before < self._upto:
            before = self._upto
            ids, upto = await self._store.read(lambda c, b=before: event_index.list_unindexed_after(c, b, BATCH))  # type: ignore[misc]
            await self.index_batch(ids)
            self._upto = max(self._upto, upto)
        return len(ids)

    async def run_all(self, goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Index everything that is there now, what a person changed by hand included; return whether nothing is left.

        Raises StoreCorrupt when it comes to nothing: a damaged page whose events the index alone still knows.
        """
        newest = await self._store.read(event_index.newest)
        before: list[int] = []
        while ids := await self._store.read(lambda c: event_index.list_unindexed(c, newest, BATCH)):
            if not goes_on():
                return False
            if ids == before:
                raise StoreCorrupt("events cannot be read that the database lists", hint=SET_ASIDE)
            await self.index_batch(ids)
            before = ids
        return True

    async def index_batch(self, ids: list[int]) -> None:
        for batch in self._crash_guard.split("index", ids, BATCH):
            if self._crash_guard.is_quarantined("index", batch[0]):
                rows = [Facets(batch[0], "", [], [])]
            else:
                with self._crash_guard.on("index", batch):
                    rows = await self._store.read(lambda c, b=batch: _rows(c, b))  # type: ignore[misc]
            await self._store.write(lambda c, r=rows: event_index.insert(c, r))  # type: ignore[misc]


def _rows(connection: Database, ids: list[int]) -> list[Facets]:
    found = [(each, event_index.find_payload(connection, each)) for each in ids]
    return [
        Facets(each, "", [], [])
        if event.kind == "turn_end" and is_own_turn(connection, event.session_id, each)
        else Facets(each, *facets_of(event))
        for each, event in found
        if event is not None
    ]


def facets_of(event: Captured) -> tuple[str, list[str], list[str]]:
    """Return (index words, files, symbols) of an event."""
    payload = find_object(event.payload_json)
    if payload is None:
        return index_words(event.payload_json[:TEXT_CHARS_MAX]), [], []
    if is_own_traffic(event.kind, event.action, event.tool, payload):
        return "", [], []
    stamped = payload.get("symbols")
    symbols = [each for each in stamped if isinstance(each, str)] if isinstance(stamped, list) else []
    text = "\n".join(
        [event.tool, " ".join(symbols), *_content(payload), *([] if event.action in _LOOKS else _answered(payload))]
    )
    return index_words(text), sorted(set(_files(payload))), symbols


def _content(payload: dict[str, Any]) -> Iterator[str]:
    """Yield what was asked, said or done, as far as there is room."""
    content = {key: value for key, value in payload.items() if key not in _NOT_CONTENT + _ANSWER_KEYS}
    room = TEXT_CHARS_MAX
    for piece in texts_of(content):
        yield piece[:room]
        room -= len(piece)
        if room <= 0:
            return


def _answered(payload: dict[str, Any]) -> Iterator[str]:
    """Yield the end of what came back."""
    answer = "\n".join(texts_of([payload.get(key) for key in _ANSWER_KEYS], _REPEATS))
    yield answer[-ANSWER_CHARS_MAX:]


def _files(payload: dict[str, Any]) -> Iterator[str]:
    tool_input = payload.get("tool_input")
    if isinstance(tool_input, dict):
        for key in _PATH_KEYS:
            if isinstance(path := tool_input.get(key), str) and path:
                yield path
