"""The hot path: a capture's message becomes a redacted event, is kept, and is acknowledged.

Small messages are redacted in the event loop, large ones in a thread, and those beyond that in a process of their own
(`apart.py`): a thread that decodes megabytes in one call lets nobody else be answered. Every accepted capture leaves
one line in the log (event id, tool, session, bytes, milliseconds; no text) and so does every rejection (its reason), so
that the absence of a line proves that no frame arrived.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from siftd.capture.admission import Captured, RedactedEvent
from siftd.capture.intake import Ignored, Intake, OptedOut
from siftd.daemon.connection import Answer
from siftd.daemon.group_commit import Committer, Receipt
from siftd.daemon.ingest.large_messages import Apart, NoCapture
from siftd.errors import EnvelopeRejected, Faltered, SiftdError, WrongWorkspace, is_transient
from siftd.store import events
from siftd.wire.requests import Capture, ok, refused

log = structlog.get_logger()

Inject = Callable[[Captured, Answer], None]
"""Answers a hook once more, when its event is stored: with what its agent is given."""

WARNING_SECONDS = 60.0

LARGE_BYTES = 4 * 1024
"""Beyond this a message leaves the event loop. Of ordinary text it would take a tenth of a millisecond, but 4 µs a byte
where every word looks like a secret."""
APART_BYTES = 256 * 1024
"""Beyond this it leaves the process. Hooks leave such messages to their couriers; one result of a thousand is."""


class Captures:
    """Takes captures in and answers them."""

    def __init__(
        self,
        intake: Intake,
        apart: Apart,
        committer: Committer,
        now_ms: Callable[[], int],
        on_captured: Callable[[Captured, int | None], None],
    ) -> None:
        self._intake = intake
        self._apart = apart
        self._committer = committer
        self._now_ms = now_ms
        self._on_captured = on_captured
        self._background: set[asyncio.Task[None]] = set()
        self._warned_at: dict[str, float] = {}

    def take_hook(self, message: bytes, answer: Answer, inject: Inject | None = None) -> None:
        """Store what a hook frame says. `inject` is called once that is done, and ends the answer."""
        if len(message) > APART_BYTES:
            self._spawn(self._take_apart(message, answer, time.perf_counter()))
            return
        self._take(functools.partial(self._intake.from_hook, message), len(message), answer, inject)

    def take_capture(self, request: Capture, size: int, answer: Answer) -> None:
        """Keep what a `capture` request says."""
        self._take(functools.partial(self._intake.from_capture, request, size), size, answer)

    def take_request(self, message: bytes, answer: Answer, otherwise: Callable[[], None]) -> None:
        """Keep what a large JSON message says; `otherwise` is called for a request that is no capture."""
        self._spawn(self._take_apart(message, answer, time.perf_counter(), otherwise))

    def count_rejection(self, error: SiftdError, size: int) -> None:
        """Leave the trace of something that could not be taken in: a line in the log and a counted reason."""
        reason = getattr(error, "reason", error.code)
        log.info("capture_rejected", reason=reason, bytes=size)
        self._spawn(self._count_rejection(reason))

    def _take(self, admit: Callable[[], Captured], size: int, answer: Answer, inject: Inject | None = None) -> None:
        started = time.perf_counter()
        if size > LARGE_BYTES:
            self._spawn(self._take_large(admit, size, answer, started, inject))
            return
        try:
            event = _admitted(admit)
        except SiftdError as error:
            self._refuse(error, size, answer)
        else:
            self._keep(event, size, answer, started, inject)

    async def _take_large(
        self, admit: Callable[[], Captured], size: int, answer: Answer, started: float, inject: Inject | None
    ) -> None:
        try:
            event = await asyncio.to_thread(_admitted, admit)
        except SiftdError as error:
            self._refuse(error, size, answer)
        except RuntimeError as error:  # no thread can be started
            self._refuse(_fault(error), size, answer)
        else:
            self._keep(event, size, answer, started, inject)

    async def _take_apart(
        self, message: bytes, answer: Answer, started: float, otherwise: Callable[[], None] | None = None
    ) -> None:
        try:
            event = await self._apart.admit(message)
        except SiftdError as error:
            self._refuse(error, len(message), answer)
        except NoCapture:
            if otherwise is not None:
                otherwise()
        except (OSError, RuntimeError, MemoryError) as error:  # no process can be started
            self._refuse(_fault(error), len(message), answer)
        else:
            self._keep(event, len(message), answer, started)

    def _keep(self, event: Captured, size: int, answer: Answer, started: float, inject: Inject | None = None) -> None:
        self._committer.submit(event, functools.partial(self._acknowledge, event, size, answer, started, inject))

    def _acknowledge(
        self, event: Captured, size: int, answer: Answer, started: float, inject: Inject | None, receipt: Receipt
    ) -> None:
        if receipt.error is not None:
            answer.send(refused(receipt.error))
            return
        event_id = receipt.event_id
        is_forgotten = receipt.is_duplicate and event_id is None
        fields: dict[str, Any] = {"duplicate": True} if receipt.is_duplicate else {}
        fields |= {
            "id": None if event_id is None else f"e{event_id}",
            "eventId": event_id,
            "tokensEst": receipt.tokens_est,
        }
        if inject is None:
            answer.send(ok(**fields))
        else:
            answer.progress(ok(more=True, **fields))
            inject(event, answer)
        self._on_captured(event, None if receipt.is_duplicate else event_id)
        log.info(
            "capture_accepted",
            event_id=event_id,
            tool=event.tool if isinstance(event, RedactedEvent) else f"session_{event.change}",
            session=None if is_forgotten else event.session_id,
            bytes=size,
            duplicate=receipt.is_duplicate,
            ms=round((time.perf_counter() - started) * 1000, 2),
        )

    def _refuse(self, error: SiftdError, size: int, answer: Answer) -> None:
        if isinstance(error, OptedOut):
            intent = self._intake.opt_out(error.session_id, error.ts)
            self._committer.submit(intent, functools.partial(self._answer_ignored, answer))
            return
        if isinstance(error, Ignored):
            self._answer_ignored(answer, Receipt(None))
            return
        if error.retry:  # the courier repeats it, and then its spool keeps the frame, where its folder belongs
            self._warn(error)
            answer.send(refused(error))
            return
        self.count_rejection(error, size)  # first: whoever has the answer finds the line
        answer.send(refused(error))

    def _warn(self, error: SiftdError) -> None:
        """Say once a minute why a hook is told to come again: its courier tries for two seconds."""
        if time.monotonic() - self._warned_at.get(error.code, -WARNING_SECONDS) >= WARNING_SECONDS:
            self._warned_at[error.code] = time.monotonic()
            is_strange = isinstance(error, WrongWorkspace)
            log.warning("capture_of_another_workspace" if is_strange else "capture_postponed", error=error.code)

    def _answer_ignored(self, answer: Answer, receipt: Receipt) -> None:
        if receipt.error is not None:
            answer.send(refused(receipt.error))
        else:
            answer.send(ok(id=None, eventId=None, tokensEst=0, ignored=True))

    async def _count_rejection(self, reason: str) -> None:
        try:
            await self._committer.run(lambda c: events.count_rejection(c, reason, self._now_ms()))
        except SiftdError as error:
            log.warning("rejection_not_counted", error=error.code)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def _admitted(admit: Callable[[], Captured]) -> Captured:
    """Return the event. A lack of descriptors, memory or threads is over soon, and the event no worse for it; what else
    fails for a reason of our own is a rejection, so that its sender ends trying."""
    try:
        return admit()
    except SiftdError:
        raise
    except Exception as error:
        if is_transient(error):
            raise _fault(error) from error
        log.exception("capture_failed")
        raise EnvelopeRejected("internal", f"the daemon failed ({type(error).__name__})") from error


def _fault(error: Exception) -> Faltered:
    return Faltered(f"the daemon lacks something ({type(error).__name__})", hint="see `mem logs`")
