"""Merging an exported file into a store: nothing is mixed up, nothing is added twice, everything is redacted anew.

Ids of the file are translated as they come: events and memories are known by their uid, summaries by their event and
text, what hangs on them by what they became here. All of it goes through the log, so that a rebuild brings it back.
What is here already stays as it is: a pair that a person took apart stays apart, a forgotten event forgotten.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from siftd.admission import Redacted, RedactedEvent
from siftd.clock import Clock
from siftd.consolidate.drain import Store
from siftd.errors import EnvelopeRejected, SiftdError
from siftd.exchange.lines import (
    COUNTED,
    ApartLine,
    EventLine,
    Header,
    Line,
    LinkLine,
    MemoryLine,
    SessionLine,
    SummaryLine,
    SupersedeLine,
)
from siftd.exchange.result import ImportResult
from siftd.intake import Intake, plain
from siftd.model import SessionChange
from siftd.store import events, exchange, memories, summaries

CLIENT = "import"
"""Who did the work, where the file does not say."""
T = TypeVar("T")
Numbered = tuple[int, Line]
"""A line and its number in the file."""


class Kept(Protocol):
    """What became of one record: the committer's receipt."""

    @property
    def event_id(self) -> int | None: ...

    @property
    def seq(self) -> int: ...

    @property
    def is_duplicate(self) -> bool: ...

    @property
    def error(self) -> SiftdError | None: ...


class Fact(NamedTuple):
    """What a line's event is here."""

    event_id: int
    uid: str | None
    session_id: str
    ts: int


class Forgotten(Exception):
    """A line tells of what was forgotten here."""


class Importer:
    """Takes the lines of one file in, in their order. An id of the file that leads to None is of what was forgotten."""

    def __init__(
        self, header: Header, intake: Intake, keep: Callable[[Redacted], Awaitable[Kept]], store: Store, clock: Clock
    ) -> None:
        self.result = ImportResult()
        self._header = header
        self._intake = intake
        self._keep = keep
        self._store = store
        self._clock = clock
        self._events: dict[int, Fact | None] = {}
        self._summaries: dict[int, list[Any] | None] = {}
        """The file's id of a summary to [event here, hash of the text]."""
        self._memories: dict[int, int | None] = {}
        self._merged: set[int] = set()
        """Memories here that said the same before; the file's history must not hide them."""
        self._texts: dict[str, int] | None = None
        """What the memories say that were here before the first of the file's."""
        self._is_own: bool | None = None

    async def take(self, lines: Iterable[Numbered]) -> None:
        """Take lines in. Raises LogError when nothing can be kept any more."""
        for kind, run in groupby(lines, key=lambda each: type(each[1])):
            if kind is EventLine:
                await self._take_events(list(run))  # type: ignore[arg-type]
                continue
            if kind is MemoryLine and self._texts is None:
                now_ms = self._clock.now_ms()
                self._texts = await self._store.read(functools.partial(memories.list_live_texts, now_ms=now_ms))
            await asyncio.gather(*(self._take_counted(*each) for each in run))  # together, so that they share syncs

    async def _take_counted(self, number: int, line: Line) -> None:
        try:
            is_new = await self._take_one(line)
        except EnvelopeRejected as error:
            self.result.note_error(number, error.reason)
        except KeyError:
            self.result.note_error(number, "it names what was not taken in")
        except Forgotten:
            self.result.forgotten += 1
        else:
            self.result.count(COUNTED[type(line)], is_new=is_new)

    async def _take_one(self, line: Line) -> bool:
        """Return whether the line told something new."""
        match line:
            case SessionLine():
                return await self._take_session(line)
            case SummaryLine():
                return await self._take_summary(line)
            case SupersedeLine():
                return await self._take_supersede(line)
            case ApartLine():
                return await self._take_apart(line)
            case MemoryLine():
                return await self._take_memory(line)
            case LinkLine():
                return await self._take_link(line)
            case _:
                raise EnvelopeRejected("misplaced_line")

    # Events and sessions

    async def _take_events(self, run: Sequence[tuple[int, EventLine]]) -> None:
        new = [each for each in run if not await self._is_unnamed_here(each[1])]
        admitted = await asyncio.to_thread(lambda: [self._admit(*each) for each in new])
        kept = [(line, event) for (_, line), event in zip(new, admitted, strict=True) if event is not None]
        receipts = await asyncio.gather(*(self._keep(event) for _, event in kept))
        for (line, event), receipt in zip(kept, receipts, strict=True):
            if receipt.error is not None:
                raise receipt.error
            if not receipt.event_id:
                self._events[line.id] = None
                self.result.forgotten += 1
                continue
            self._events[line.id] = Fact(receipt.event_id, event.uid, event.session_id, event.ts)
            self.result.count("events", is_new=not receipt.is_duplicate)

    async def _is_unnamed_here(self, line: EventLine) -> bool:
        """Whether it is a row of this very store that a person inserted: no uid tells, but its id does."""
        if line.uid is not None or not await self._is_own_store():
            return False
        names = line.id, line.ts, line.session_id, line.tool
        if not await self._store.read(lambda c: exchange.has_unnamed_event(c, *names)):
            return False
        self._events[line.id] = Fact(line.id, None, line.session_id, line.ts)
        self.result.count("events", is_new=False)
        return True

    def _admit(self, number: int, line: EventLine) -> RedactedEvent | None:
        """Return the event redacted once more; None, and counted, for one that cannot be."""
        try:
            payload = _object(line.payload)
            kept = {name: getattr(line, name) for name in line.__struct_fields__}
            client = payload.get("_source")
            redact = self._intake.redactor.text
            admitted = self._intake.admission.readmit(
                kept
                | {
                    "kind": "capture",
                    "payload": payload,
                    "session_id": redact(line.session_id),
                    "tool": redact(line.tool),
                    "uid": line.uid or self._named("event", line.id),
                    "client": client if isinstance(client, str) else CLIENT,
                }
            )
        except EnvelopeRejected as error:
            self.result.note_error(number, error.reason)
            return None
        assert isinstance(admitted, RedactedEvent)
        return admitted

    async def _take_session(self, line: SessionLine) -> bool:
        """Note a session's folder, beginning and end, where this store knows less."""
        here = await self._store.read(lambda c: exchange.find_session(c, line.session_id))
        changes = []
        if here is None or here["started_ts"] > line.started_ts or (here["cwd"] is None and line.cwd):
            changes.append(("start", line.started_ts))
        last_ts = here["last_ts"] if here else line.started_ts
        if line.ended_ts is not None and last_ts <= line.ended_ts and not (here and here["ended_ts"]):
            changes.append(("end", line.ended_ts))
        elif last_ts < line.last_ts:
            changes.append(("compact", line.last_ts))
        for change, ts in changes:
            told = SessionChange(
                client=line.source or CLIENT,
                session_id=line.session_id,
                change=change,  # type: ignore[arg-type]
                ts=ts,
                cwd=line.cwd,
            )
            await self._kept(self._intake.admission.admit_change(told))
        return here is None

    # Summaries

    async def _take_summary(self, line: SummaryLine) -> bool:
        self._summaries[line.id] = None
        fact = _here(self._events, line.event_id)
        told = {
            "event": fact.event_id,
            "uid": fact.uid,
            "eventTs": fact.ts,
            "ts": line.ts,
            "model": line.model,
            "promptHash": line.prompt_hash,
            "text": line.text,
            "tokensIn": line.tokens_in,
            "tokensOut": line.tokens_out,
            "confidence": line.confidence,
        }
        intent = self._admit_intent("summary", told, fact.session_id)
        text_sha = exchange.text_hash(_told(intent)["text"])
        self._summaries[line.id] = [fact.event_id, text_sha]
        if await self._store.read(lambda c: exchange.find_summary(c, fact.event_id, text_sha)) is not None:
            return False
        await self._kept(intent)
        return True

    async def _take_supersede(self, line: SupersedeLine) -> bool:
        newer, older = _here(self._summaries, line.newer), _here(self._summaries, line.older)
        if newer == older or await self._store.read(lambda c: exchange.is_superseding(c, newer, older)):
            return False
        told = {"newer": newer, "older": older, "cosine": line.cosine, "ts": line.ts}
        await self._kept(self._admit_intent("supersede", told))
        return True

    async def _take_apart(self, line: ApartLine) -> bool:
        pair = _here(self._events, line.a).event_id, _here(self._events, line.b).event_id
        if await self._store.read(lambda c: summaries.are_kept_apart(c, *pair)):
            return False
        await self._kept(self._admit_intent("undo", {"pairs": [pair]}))
        return True

    # Memories

    async def _take_memory(self, line: MemoryLine) -> bool:
        uid = line.uid or self._named("memory", line.id)
        self._memories[line.id] = None
        if await self._store.read(lambda c: exchange.is_forgotten_memory(c, uid)):
            raise Forgotten
        told = {
            "uid": uid,
            "ts": line.ts,
            "updatedTs": line.updated_ts,
            "type": line.type,
            "text": line.text,
            "tags": line.tags,
            "importance": line.importance,
            "confidence": line.confidence,
            "from": line.valid_from,
            "until": line.valid_to,
            "pin": line.pinned,
            "source": line.source,
        }
        intent = self._admit_intent("remember", told, line.session_id or "")
        known = await self._find_memory(line, uid, _told(intent)["text"])
        self._memories[line.id] = await self._kept(intent) if known is None else known
        return known is None

    async def _find_memory(self, line: MemoryLine, uid: str, text: str) -> int | None:
        """Return the memory here that the line tells of: by its uid, by its id in this very store, by its words."""
        if (known := await self._store.read(lambda c: exchange.find_memory(c, uid))) is not None:
            return known
        is_unnamed = line.uid is None and await self._is_own_store()
        if is_unnamed and await self._store.read(lambda c: exchange.has_unnamed_memory(c, line.id, line.ts)):
            return line.id
        if (same := (self._texts or {}).get(text)) is not None:
            self._merged.add(same)
        return same

    async def _take_link(self, line: LinkLine) -> bool:
        from_id, to_id = _here(self._memories, line.from_id), _here(self._memories, line.to_id)
        hides_ours = line.relation == "supersedes" and to_id in self._merged
        names = from_id, to_id, line.relation
        if from_id == to_id or hides_ours or await self._store.read(lambda c: exchange.has_link(c, *names)):
            return False
        told = {"from": from_id, "to": to_id, "relation": line.relation, "ts": line.ts}
        await self._kept(self._admit_intent("link", told))
        return True

    # Keeping

    def _admit_intent(self, kind: str, told: dict[str, Any], session_id: str = "") -> Any:
        payload = {name: value for name, value in told.items() if value is not None}
        admit = self._intake.admission.admit_intent
        return admit(kind, payload, ts=self._clock.now_ms(), session_id=session_id)

    async def _kept(self, record: Redacted) -> int:
        receipt = await self._keep(record)
        if receipt.error is not None:
            raise receipt.error
        return receipt.seq

    def _named(self, what: str, number: int) -> str:
        """Return a uid for a row that a person inserted without one: the same at every import of this store."""
        return hashlib.sha256(f"{self._header.store}:{what}:{number}".encode()).hexdigest()[:32]

    async def _is_own_store(self) -> bool:
        if self._is_own is None:
            own = await self._store.read(lambda c: events.get_meta(c, "store"))
            self._is_own = own == self._header.store
        return self._is_own


def _here(ids: dict[int, T | None], number: int) -> T:
    """Return what an id of the file is here. Raises KeyError for one that was not taken in, or Forgotten."""
    found = ids[number]
    if found is None:
        raise Forgotten
    return found


def _object(payload: Any) -> dict[str, Any]:
    """Return a payload that canonical JSON can carry. Raises EnvelopeRejected."""
    if not isinstance(payload, dict):
        raise EnvelopeRejected("payload_no_object")
    plain(payload)
    return payload


def _told(intent: Any) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.json.decode(intent.payload_json)
    return told
