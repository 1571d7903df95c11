"""Merging an exported file into a store: nothing is mixed up, nothing is added twice, everything is redacted anew.

The file may be anybody's, and say anything: its words are from outside (unless a person says that it is an export of
their own), its pins wait, its summaries are as short as ours and bear the mark of where they come from.

Ids of the file are translated as they come: events and memories are known by their uid, summaries by their event and
text, what hangs on them by what they became here. All of it goes through the log, so that a rebuild brings it back.
What is here already stays as it is: a pair that a person took apart stays apart, a forgotten event forgotten.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from siftd.capture.admission import Redacted, RedactedEvent
from siftd.capture.intake import Intake, plain
from siftd.clock import Clock
from siftd.consolidate.drain import Store
from siftd.errors import EnvelopeRejected, SiftdError
from siftd.exchange.documents import take_document
from siftd.exchange.facts import FactImporter
from siftd.exchange.format import (
    COUNTED,
    SNAPSHOTS,
    ApartLine,
    ConversationLine,
    DocumentLine,
    EventLine,
    Header,
    InjectionLine,
    Line,
    LinkLine,
    MemberLine,
    MemoryLine,
    MergeLine,
    MutedLine,
    PodLine,
    SessionLine,
    SnapshotLine,
    SummaryLine,
    SupersedeLine,
    VerdictLine,
)
from siftd.exchange.import_context import Forgotten, ImportContext, Receipt, here, payload_of
from siftd.exchange.merges import MergeImporter
from siftd.exchange.pods import PodImporter
from siftd.exchange.result import ImportResult
from siftd.knowledge import file
from siftd.knowledge.changing import of_elsewhere, renewed
from siftd.knowledge.format import from_plain
from siftd.model import SessionChange
from siftd.store import conversations, exchange, muted, summaries
from siftd.summarise.contract import MAX_SUMMARY_CHARS

CLIENT = "import"
"""Who did the work, where the file does not say."""
_NAMES_MAX = 4_096
MARK = "import:"
"""Before the name of a summary's model: nobody here asked it."""
_MODEL = re.compile(r"[\w.:/@+-]{1,100}", re.ASCII)
Numbered = tuple[int, Line]
"""A line and its number in the file."""


class Fact(NamedTuple):
    """What a line's event is here."""

    event_id: int
    uid: str | None
    session_id: str
    ts: int


class Importer:
    """Takes the lines of one file in, in their order. An id of the file that leads to None is of what was forgotten."""

    def __init__(
        self,
        header: Header,
        intake: Intake,
        keep: Callable[[Redacted], Awaitable[Receipt]],
        store: Store,
        clock: Clock,
        *,
        own: bool = False,
        is_global: bool = False,
        snapshot: str = "",
    ) -> None:
        self._snapshot = snapshot
        self.result = ImportResult()
        self._context = ImportContext(header, intake, keep, store, clock, own=own)
        self._events: dict[int, Fact | None] = {}
        self._summaries: dict[int, list[Any] | None] = {}
        """The file's id of a summary to [event here, hash of the text]."""
        self._facts = FactImporter(self._context, self._find_event, is_global=is_global)
        self._pods = PodImporter(self._context, self._facts.ids)
        self._merges = MergeImporter(self._context)
        # Thousands of lines have the same; admission looks at each of them once more.
        self._redacted_name = lru_cache(maxsize=_NAMES_MAX)(lambda name: self._context.intake.redactor.text(name))

    def _find_event(self, number: int) -> int | None:
        found = self._events.get(number)
        return None if found is None else found.event_id

    async def take(self, lines: Iterable[Numbered]) -> None:
        """Take lines in. Raises LogError when nothing can be kept any more."""
        for kind, run in groupby(lines, key=lambda each: type(each[1])):
            if kind is EventLine:
                await self._take_events(list(run))  # type: ignore[arg-type]
                continue
            if kind is MemoryLine:
                await self._facts.begin()
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
            self.result.count(COUNTED.get(type(line), SNAPSHOTS), is_new=is_new)

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
            case MutedLine():
                return await self._mute(line)
            case MemoryLine():
                return await self._facts.take_fact(line)
            case LinkLine():
                return await self._facts.take_link(line)
            case PodLine():
                return await self._pods.take_pod(line)
            case MemberLine():
                return await self._pods.take_member(line)
            case VerdictLine():
                return await self._facts.take_verdict(line)
            case ConversationLine():
                return await self._take_conversation(line)
            case MergeLine():
                return await self._merges.take_merge(line)
            case InjectionLine():
                return await self._take_injection(line)
            case DocumentLine():
                return await take_document(self._context, line)
            case SnapshotLine():
                return await asyncio.to_thread(self._take_snapshot, line)
            case _:
                raise EnvelopeRejected("misplaced_line")

    def _take_snapshot(self, line: SnapshotLine) -> bool:
        """Keep the snapshot of the codebase, unless there is one here: that is of this very work tree."""
        if not self._snapshot:
            raise EnvelopeRejected("misplaced_line")
        try:
            snapshot = from_plain(line.snapshot)
            if Path(self._snapshot).exists():
                return False
            scrub = self._context.intake.admission.scrub_text
            return file.put(self._snapshot, renewed(of_elsewhere(snapshot), scrub))
        except (SiftdError, OSError) as error:
            raise EnvelopeRejected("no_snapshot") from error

    # Events and sessions

    async def _take_events(self, run: Sequence[tuple[int, EventLine]]) -> None:
        new = [each for each in run if not await self._is_unnamed_here(each[1])]
        admitted = await asyncio.to_thread(lambda: [self._admit(*each) for each in new])
        taken = [(line, event) for (_, line), event in zip(new, admitted, strict=True) if event is not None]
        receipts = await asyncio.gather(*(self._context.keep(event) for _, event in taken))
        for (line, event), receipt in zip(taken, receipts, strict=True):
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
        if line.uid is not None or not await self._context.is_own_store():
            return False
        names = line.id, line.ts, line.session_id, line.tool
        if not await self._context.ask(lambda c: exchange.has_unnamed_event(c, *names)):
            return False
        self._events[line.id] = Fact(line.id, None, line.session_id, line.ts)
        self.result.count("events", is_new=False)
        return True

    def _admit(self, number: int, line: EventLine) -> RedactedEvent | None:
        """Return the event redacted once more; None, and counted, for one that cannot be."""
        try:
            payload = _object(line.payload)
            taken = {name: getattr(line, name) for name in line.__struct_fields__}
            client = payload.get("_source")
            admitted = self._context.intake.admission.readmit(
                taken
                | {
                    "kind": "capture",
                    "payload": payload,
                    "session_id": self._redacted_name(line.session_id),
                    "tool": self._redacted_name(line.tool),
                    "uid": line.uid or self._context.named("event", line.id),
                    "client": client if isinstance(client, str) else CLIENT,
                    "said_by": self._context.said_by(line.said_by),
                }
            )
        except EnvelopeRejected as error:
            self.result.note_error(number, error.reason)
            return None
        assert isinstance(admitted, RedactedEvent)
        return admitted

    async def _take_session(self, line: SessionLine) -> bool:
        """Note a session's folder, beginning and end, where this store knows less."""
        here = await self._context.ask(lambda c: exchange.find_session(c, line.session_id))
        changes = []
        if here is None or here["startedTs"] > line.started_ts or (here["cwd"] is None and line.cwd):
            changes.append(("start", line.started_ts))
        last_ts = here["lastTs"] if here else line.started_ts
        if line.ended_ts is not None and last_ts <= line.ended_ts and not (here and here["endedTs"]):
            changes.append(("end", line.ended_ts))
        elif last_ts < line.last_ts:
            changes.append(("compact", line.last_ts))
        for change, ts in changes:
            fields = SessionChange(
                client=line.source or CLIENT,
                session_id=line.session_id,
                change=change,  # type: ignore[arg-type]
                ts=ts,
                cwd=line.cwd,
            )
            await self._context.keep_or_raise(self._context.intake.admission.admit_change(fields))
        return here is None

    # Summaries

    async def _take_summary(self, line: SummaryLine) -> bool:
        self._summaries[line.id] = None
        fact = here(self._events, line.event_id)
        # Redacted before it is cut: half a secret is one that no rule knows.
        is_long = len(line.text) > MAX_SUMMARY_CHARS
        text = self._context.intake.redactor.text(line.text)[:MAX_SUMMARY_CHARS] if is_long else line.text
        fields = {
            "event": fact.event_id,
            "uid": fact.uid,
            "eventTs": fact.ts,
            "ts": line.ts,
            "model": _marked(line.model),
            "promptHash": line.prompt_hash,
            "text": text,
            "tokensIn": line.tokens_in,
            "tokensOut": line.tokens_out,
            "confidence": line.confidence,
            "scope": line.scope,
            "cites": [here(self._events, each).event_id for each in line.cites],
        }
        intent = self._context.admit_intent("summary", fields, fact.session_id)
        text = payload_of(intent)["text"]
        if len(text) > MAX_SUMMARY_CHARS:  # placeholders made it longer
            fields["text"] = text[:MAX_SUMMARY_CHARS]
            intent = self._context.admit_intent("summary", fields, fact.session_id)
            text = payload_of(intent)["text"]
        text_sha = exchange.text_hash(text)
        self._summaries[line.id] = [fact.event_id, text_sha]
        if await self._context.ask(lambda c: exchange.find_summary(c, fact.event_id, text_sha)) is not None:
            return False
        await self._context.keep_or_raise(intent)
        return True

    async def _take_supersede(self, line: SupersedeLine) -> bool:
        newer, older = here(self._summaries, line.newer), here(self._summaries, line.older)
        if newer == older or await self._context.ask(lambda c: exchange.is_superseding(c, newer, older)):
            return False
        fields = {"newer": newer, "older": older, "cosine": line.cosine, "ts": line.ts}
        await self._context.keep_or_raise(self._context.admit_intent("supersede", fields))
        return True

    async def _take_apart(self, line: ApartLine) -> bool:
        pair = here(self._events, line.a).event_id, here(self._events, line.b).event_id
        if await self._context.ask(lambda c: summaries.are_held_apart(c, *pair)):
            return False
        await self._context.keep_or_raise(self._context.admit_intent("undo", {"pairs": [pair]}))
        return True

    async def _mute(self, line: MutedLine) -> bool:
        event_id = here(self._events, line.event).event_id
        if await self._context.ask(lambda c: muted.is_muted(c, event_id)):
            return False
        fields = {"event": event_id, "muted": True, "ts": line.ts}
        await self._context.keep_or_raise(self._context.admit_intent("mute", fields))
        return True

    # What hangs on sessions

    async def _take_conversation(self, line: ConversationLine) -> bool:
        fields = {
            "id": line.session_id,
            "title": line.title,
            "parent": line.parent_id,
            "relation": line.relation,
            "label": line.project,
            "branchesFrom": line.branches_from,
            "ts": line.ts,
        }
        intent = self._context.admit_intent("conversation", fields, line.session_id)
        if await self._context.ask(lambda c: conversations.is_named(c, payload_of(intent)["id"])):
            return False
        await self._context.keep_or_raise(intent)
        return True

    async def _take_injection(self, line: InjectionLine) -> bool:
        fields: dict[str, Any] = {"session": line.session_id, "hook": line.hook, "ts": line.ts, "why": line.why}
        fields["after"] = fact.event_id if (fact := self._events.get(line.after_id)) else 0
        if line.memory_id is not None:
            fields["memory"] = here(self._facts.ids, line.memory_id)
        elif line.event_id is not None:
            fact = here(self._events, line.event_id)
            fields |= {"event": fact.event_id, "uid": fact.uid, "eventTs": fact.ts}
            fields["text"] = (self._summaries.get(line.summary_id or 0) or [0, None])[1]
        else:
            raise EnvelopeRejected("nothing_injected")
        intent = self._context.admit_intent("injection", fields, line.session_id)
        if await self._context.ask(lambda c: exchange.has_injection(c, payload_of(intent))):
            return False
        await self._context.keep_or_raise(intent)
        return True


def _marked(model: str) -> str:
    """Return the name of whoever wrote a summary, as one that was not written here; no name at all is left out."""
    name = model.removeprefix(MARK)
    return f"{MARK}{name if _MODEL.fullmatch(name) else 'unknown'}"


def _object(payload: Any) -> dict[str, Any]:
    """Return a payload that canonical JSON can carry. Raises EnvelopeRejected."""
    if not isinstance(payload, dict):
        raise EnvelopeRejected("payload_no_object")
    plain(payload)
    return payload
