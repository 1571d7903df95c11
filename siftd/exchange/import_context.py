"""What every line of an import needs: admitted, kept through the log, named the same at every import."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import msgspec

from siftd.capture.admission import Redacted
from siftd.capture.intake import Intake
from siftd.clock import Clock
from siftd.consolidate.drain import Store
from siftd.errors import SiftdError
from siftd.exchange.format import Header
from siftd.model import SaidBy
from siftd.store import meta
from siftd.store.access import Database

T = TypeVar("T")


class Receipt(Protocol):
    """What became of one record: the committer's receipt."""

    @property
    def event_id(self) -> int | None: ...

    @property
    def seq(self) -> int: ...

    @property
    def is_duplicate(self) -> bool: ...

    @property
    def error(self) -> SiftdError | None: ...


class Forgotten(Exception):
    """A line tells of what was forgotten here."""


class ImportContext:
    """One import's way into the store."""

    def __init__(
        self,
        header: Header,
        intake: Intake,
        keep: Callable[[Redacted], Awaitable[Receipt]],
        store: Store,
        clock: Clock,
        *,
        own: bool = False,
    ) -> None:
        """`own`: a person says that the file is an export of their own, so that it is believed who said what."""
        self.intake = intake
        self.keep = keep
        self.store = store
        self.clock = clock
        self._own = own
        self._header = header
        self._is_own: bool | None = None
        self._asked: list[tuple[Callable[[Database], Any], asyncio.Future[Any]]] = []
        self._answering: asyncio.Task[None] | None = None

    async def ask(self, work: Callable[[Database], T]) -> T:
        """Return what `work` reads of the store. Questions of lines that are taken together are answered together: a
        turn of the reading thread for each of them took most of an import's time.
        """
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._asked.append((work, answer))
        if len(self._asked) == 1:
            self._answering = asyncio.create_task(self._answer())
        return await answer

    async def _answer(self) -> None:
        await asyncio.sleep(0)  # until every line of the run has asked
        asked, self._asked = self._asked, []
        try:
            answers = await self.store.read(lambda c: [work(c) for work, _ in asked])
        except Exception as error:  # noqa: BLE001 - who has asked is told
            for _, waiting in asked:
                if not waiting.done():
                    waiting.set_exception(error)
            return
        for (_, waiting), answer in zip(asked, answers, strict=True):
            if not waiting.done():
                waiting.set_result(answer)

    def admit_intent(self, kind: str, given: dict[str, Any], session_id: str = "") -> Any:
        payload = {name: value for name, value in given.items() if value is not None}
        admit = self.intake.admission.admit_intent
        return admit(kind, payload, ts=self.clock.now_ms(), session_id=session_id)

    def said_by(self, given: SaidBy | None) -> SaidBy:
        """Return whose words a line brings: a file from anybody is from outside, whatever it says."""
        return given or "outside" if self._own else "outside"

    @property
    def is_own_export(self) -> bool:
        """Whether a person says that the file is an export of their own."""
        return self._own

    async def keep_or_raise(self, record: Redacted) -> int:
        receipt = await self.keep(record)
        if receipt.error is not None:
            raise receipt.error
        return receipt.seq

    def named(self, what: str, number: int) -> str:
        """Return a uid for a row that a person inserted without one: the same at every import of this store."""
        return hashlib.sha256(f"{self._header.store}:{what}:{number}".encode()).hexdigest()[:32]

    async def is_own_store(self) -> bool:
        if self._is_own is None:
            own = await self.store.read(lambda c: meta.get(c, "store"))
            self._is_own = own == self._header.store
        return self._is_own


def here(ids: dict[int, T | None], number: int) -> T:
    """Return what an id of the file is here. Raises KeyError for one that was not taken in, or Forgotten."""
    found = ids[number]
    if found is None:
        raise Forgotten
    return found


def payload_of(intent: Any) -> dict[str, Any]:
    """Return the payload of an intent, redacted as it will be kept."""
    given: dict[str, Any] = msgspec.json.decode(intent.payload_json)
    return given
