"""A device of a team in memory, on the wire's types alone: what a laptop and a server are both held to.

It does what the protocol asks of a laptop and nothing else: keep what is dirty, push it, answer what is ignored, pull
puts and tombstones in one order, begin anew where the epoch is another. Whatever carries its messages is given to it.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec
from team_people import item

from siftd.errors import HttpRefused
from siftd.team.items import NATURAL, Forget, Put, document_id
from siftd.team.protocol import Changed, Changes, Gone, Ignored, Push, Pushed

CONFLICT = 409


class Wire(Protocol):
    """What carries the messages of one device about one project."""

    async def push(self, asked: Push) -> Pushed: ...

    async def changes(self, after: int, limit: int, applied: int) -> Changes: ...


@dataclass
class ScriptedDevice:
    """One device: its own items, which of them are dirty, and its replica of the project."""

    project: uuid.UUID
    epoch: uuid.UUID
    wire: Wire
    name: str = "laptop"
    own: dict[uuid.UUID, Put | Forget] = field(default_factory=dict)
    dirty: set[uuid.UUID] = field(default_factory=set)
    parked: dict[uuid.UUID, str] = field(default_factory=dict)
    replica: dict[uuid.UUID, Changed] = field(default_factory=dict)
    cursor: int = 0
    applied: list[int] = field(default_factory=list)
    """Each seq, as it was applied."""

    # What its person does

    def put(self, reference: str, text: str, **fields: Any) -> Put:
        """Say something, or something else under the same reference."""
        known = self.own.get(document_id(self.project, fields.get("source", "memory"), reference))
        put = item(self.project, reference, text, **{"rev": known.rev + 1 if known else 1, **fields})
        self.own[put.id] = put
        self.dirty.add(put.id)
        return put

    def forget(self, identity: uuid.UUID) -> None:
        self.own[identity] = Forget(id=identity, rev=self.own[identity].rev + 1)
        self.dirty.add(identity)

    # What it does of itself

    async def sync(self) -> None:
        """Push what is dirty, then pull to the head."""
        await self.push()
        await self.pull()

    async def push(self, at_once: int = 500) -> None:
        """Push until nothing is dirty that a server would take."""
        while waiting := [each for each in sorted(self.dirty) if each not in self.parked][:at_once]:
            sent = [self.own[each] for each in waiting]
            try:
                pushed = await self.wire.push(Push(epoch=self.epoch, items=sent))
            except HttpRefused as error:
                if error.status != CONFLICT:
                    raise
                await self.pull(at_once)  # a restored server is met here too
                continue
            ignored = {each.id: each for each in pushed.ignored}
            for each in sent:
                self._heard(each, ignored.get(each.id))

    def _heard(self, sent: Put | Forget, refusal: Ignored | None) -> None:
        if refusal is None or refusal.hash == getattr(sent, "hash", ""):
            self.dirty.discard(sent.id)
        elif refusal.why == "forgotten":
            self._drop(sent.id)
        elif refusal.why in ("older", "conflict") and isinstance(sent, Put) and refusal.rev is not None:
            if sent.source in NATURAL:
                self.dirty.discard(sent.id)  # who told it has seen a later state of it
            else:
                self.own[sent.id] = msgspec.structs.replace(sent, rev=refusal.rev + 1)
        else:
            self.parked[sent.id] = refusal.why

    def _drop(self, identity: uuid.UUID) -> None:
        self.own.pop(identity, None)
        self.dirty.discard(identity)

    async def pull(self, page: int = 500) -> None:
        """Apply the feed up to its head."""
        while True:
            heard = await self.wire.changes(self.cursor, page, self.cursor)
            if heard.epoch != self.epoch or heard.head < self.cursor:
                self.restart(heard.epoch)
                continue
            for change in heard.changes:
                self._apply(change)
            self.cursor = heard.cursor
            if heard.cursor >= heard.head:
                return

    def restart(self, epoch: uuid.UUID) -> None:
        """Take a server that was restored for what it is: everything of one's own goes up again, all is pulled."""
        self.epoch, self.cursor = epoch, 0
        self.replica.clear()
        self.applied.clear()
        self.dirty = set(self.own)
        self.parked.clear()

    def _apply(self, change: Changed | Gone) -> None:
        self.applied.append(change.seq)
        if isinstance(change, Changed):
            self.replica[change.item.id] = change
        else:
            self.replica.pop(change.id, None)
            if isinstance(self.own.get(change.id), Put) and change.id not in self.dirty:
                self._drop(change.id)  # forgotten by another device of the same person, or by an admin

    @property
    def texts(self) -> dict[uuid.UUID, str]:
        """What the device would show of the team."""
        return {each: change.item.text for each, change in self.replica.items()}
