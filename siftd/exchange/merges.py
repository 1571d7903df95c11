"""Merges of entities, from an exported file: by names there, by keyed hashes of names here."""

from __future__ import annotations

from siftd.errors import EnvelopeRejected
from siftd.exchange.format import MergeLine
from siftd.exchange.import_context import Forgotten, ImportContext
from siftd.graph.model import ENTITY_TYPES, EntityType, Named, is_name
from siftd.graph.names import name_key
from siftd.store import graph_merges

_TYPES: dict[str, EntityType] = {each: each for each in ENTITY_TYPES}


class MergeImporter:
    """Takes them in; the entities may come later, when the graph is read."""

    def __init__(self, context: ImportContext) -> None:
        self._context = context

    async def take_merge(self, line: MergeLine) -> bool:
        """Keep a merge, unless it is here; return whether it is new."""
        src, dst = self._mark(line.src_type, line.src_name), self._mark(line.dst_type, line.dst_name)
        known = await self._context.ask(graph_merges.list_merges)
        if any((each.src_mark, each.dst_mark) == (src, dst) for each in known):
            return False
        fields = {"from": src, "into": dst, "ts": line.ts}
        if not await self._context.keep_or_raise(self._context.admit_intent("entity_merge", fields)):
            raise Forgotten
        return True

    def _mark(self, kind: str, name: str) -> str:
        known = _TYPES.get(kind)
        if known is None or not is_name(name):
            raise EnvelopeRejected("no_such_entity")
        return self._context.intake.marks.of(known, name_key(Named(known, name)))
