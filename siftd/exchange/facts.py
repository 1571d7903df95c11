"""Facts and the links between them, from an exported file: known by their uid, else by what they say."""

from __future__ import annotations

from collections.abc import Callable

from siftd.errors import EnvelopeRejected
from siftd.exchange.format import LinkLine, MemoryLine, VerdictLine
from siftd.exchange.import_context import Forgotten, ImportContext, here, payload_of
from siftd.facts.model import CATEGORIES
from siftd.store import exchange, facts
from siftd.store.fact_changes import RELATIONS, TAG_CHARS_MAX, TAGS_MAX, TEXT_CHARS_MAX
from siftd.store.fact_verdicts import GENTLE

CLIENT = "import"
"""The way by which these came."""


class FactImporter:
    """Takes them in. `ids` leads from the file's ids to those here; to None from what was forgotten here."""

    def __init__(self, context: ImportContext, find_event: Callable[[int], int | None], *, is_global: bool) -> None:
        """`find_event` leads from the file's id of an event to the one here; to None from what is not here."""
        self.ids: dict[int, int | None] = {}
        self._context = context
        self._find_event = find_event
        self._is_global = is_global
        self._merged: set[int] = set()
        """Facts here that said the same before; the file's history must not hide them."""
        self._texts: dict[str, int] | None = None

    async def begin(self) -> None:
        """See what the facts say that were here before the first of the file's."""
        if self._texts is None:
            now_ms = self._context.clock.now_ms()
            self._texts = await self._context.ask(lambda c: facts.list_live_texts(c, now_ms))

    async def take_fact(self, line: MemoryLine) -> bool:
        """Keep a fact, unless it is here; return whether it is new. Raises Forgotten."""
        _check(line)
        if line.person is not None and not self._context.is_own_export:
            raise EnvelopeRejected("private_to_another")
        uid = line.uid or self._context.named("memory", line.id)
        self.ids[line.id] = None
        if await self._context.ask(lambda c: exchange.is_forgotten_fact(c, uid)):
            raise Forgotten
        sources = [each for number in line.sources if (each := self._find_event(number)) is not None]
        if line.origin != "kept" and line.sources and not sources:
            raise Forgotten
        fields = {
            "uid": uid,
            "ts": line.ts,
            "updatedTs": line.updated_ts,
            "category": line.type,
            "text": line.text,
            "tags": line.tags,
            "importance": line.importance,
            "confidence": line.confidence,
            "from": line.valid_from,
            "until": line.valid_to,
            "pin": line.pinned,
            "source": CLIENT,
            "label": line.project,
            "saidBy": self._context.said_by(line.said_by),
            "waits": line.pinned or self._is_global,
            "status": line.status,
            "scope": line.scope,
            "origin": line.origin,
            "topic": line.topic,
            "quote": line.quote if len(sources) == len(line.sources) else None,
            "client": line.client,
            "sources": sources,
        }
        given = {name: value for name, value in fields.items() if value is not None}
        intent = self._context.admit_intent("remember", given, line.session_id or "")
        known = await self._find_fact(line, uid, payload_of(intent)["text"])
        self.ids[line.id] = await self._context.keep_or_raise(intent) if known is None else known
        return known is None

    async def _find_fact(self, line: MemoryLine, uid: str, text: str) -> int | None:
        """Return the fact here that the line tells of: by its uid, by its id in this very store, by its words."""
        if (known := await self._context.ask(lambda c: exchange.find_fact(c, uid))) is not None:
            return known
        is_unnamed = line.uid is None and await self._context.is_own_store()
        if is_unnamed and await self._context.ask(lambda c: exchange.has_unnamed_fact(c, line.id, line.ts)):
            return line.id
        if (same := (self._texts or {}).get(text)) is not None:
            self._merged.add(same)
        return same

    async def take_link(self, line: LinkLine) -> bool:
        """Keep a link, unless it is here or would hide what was remembered here. Raises KeyError, Forgotten."""
        if line.relation not in RELATIONS:
            raise EnvelopeRejected("unknown_relation")
        from_id, to_id = here(self.ids, line.from_id), here(self.ids, line.to_id)
        hides_ours = line.relation == "supersedes" and to_id in self._merged
        names = from_id, to_id, line.relation
        if from_id == to_id or hides_ours or await self._context.ask(lambda c: exchange.has_link(c, *names)):
            return False
        fields = {"from": from_id, "to": to_id, "relation": line.relation, "ts": line.ts}
        await self._context.keep_or_raise(self._context.admit_intent("link", fields))
        return True

    async def take_verdict(self, line: VerdictLine) -> bool:
        """Keep what was said of a fact, unless it is here, or would hide what was remembered here. Raises KeyError,
        Forgotten."""
        fact_id = here(self.ids, line.fact)
        hides_ours = line.what not in GENTLE and fact_id in self._merged
        if hides_ours or await self._context.ask(lambda c: exchange.is_judged(c, fact_id, line.ts, line.what)):
            return False
        fields = {
            "fact": fact_id,
            "what": line.what,
            "ts": line.ts,
            "by": None if line.by is None else self.ids.get(line.by),
            "who": self._context.said_by("person") if line.who == "person" else line.who,
            "why": line.why,
            "oldText": line.old_text,
        }
        given = {name: value for name, value in fields.items() if value is not None}
        await self._context.keep_or_raise(self._context.admit_intent("verdict", given))
        return True


def _check(line: MemoryLine) -> None:
    """Raise EnvelopeRejected for what could not have been remembered here either."""
    if len(line.text) > TEXT_CHARS_MAX:
        raise EnvelopeRejected("text_too_long")
    if line.type not in CATEGORIES or not 1 <= line.importance <= 5:
        raise EnvelopeRejected("no_such_memory")
    if len(line.tags) > TAGS_MAX or any(not 0 < len(tag) <= TAG_CHARS_MAX for tag in line.tags):
        raise EnvelopeRejected("bad_tags")
