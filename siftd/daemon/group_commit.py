"""Group commit: the one writer of the log and the database.

Captures that arrive while a group is written share the next one:

    BEGIN IMMEDIATE -> identities -> seqs -> log write + fdatasync -> rows, applied seq -> COMMIT -> receipts

The transaction is open across the sync so that nobody can take an id in between. A receipt needs only the sync:
when the lock is not had within 100 ms or the insert fails, the log alone goes on, and what the database misses is
read back from the log before anything new is inserted. Other writes of the daemon (`run`) are jobs between groups.

Groups are written in the event loop itself, jobs in a thread. A thread of its own for groups was slower by a factor
of three: every call into sqlite3 gives the interpreter lock away, and under load the loop keeps it for a switch
interval each time. Syncing in a thread while rows are inserted saved 15 % of a lone capture on an idle machine and
cost as much on a busy one. A sync takes about a tenth of a millisecond, and whoever sends captures waits for it anyway.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sys
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import structlog

from siftd.capture.admission import (
    Captured,
    Redacted,
    RedactedEvent,
    RedactedIntent,
)
from siftd.clock import Clock, uptime_ms
from siftd.daemon.identities import Identities
from siftd.errors import Faltered, LogError, SiftdError, StoreClosed, StoreError, is_transient
from siftd.log.record import Record
from siftd.log.recovery import iter_records
from siftd.log.writer import Entry, LogWriter
from siftd.store import events, opt_outs
from siftd.store.access import Database, DatabaseError
from siftd.store.connection import begin, commit, rollback, translate, wait_for_locks
from siftd.store.ids import last_id
from siftd.store.opt_outs import OFF, Way
from siftd.store.tombstones import FORGOTTEN, Tombstones

log = structlog.get_logger()
T = TypeVar("T")

GROUP_MAX = 128
"""Captures that share one sync at most. Arbitrary: a sync is amortised well before."""
CATCH_UP_SECONDS = 20.0
"""How long a request waits for the database at most. `mem` and MCP wait for 30 s; a forget of ours takes less."""
CATCH_UP_PAUSE_SECONDS = 0.05

_DROPPED = {FORGOTTEN: "forgotten", OFF: "off"}
"""Reasons, and names of counters."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a capture: stored under `event_id`, there already, or refused."""

    event_id: int | None
    seq: int = 0
    """Of the record that keeps it, or that corrects what was there already; 0: there is none."""
    tokens_est: int = 0
    is_duplicate: bool = False
    dropped: str | None = None
    """Why it is not there although nobody refused it: "forgotten", or "off" because it came while capture was."""
    error: SiftdError | None = None


@dataclass(slots=True)
class _Capture:
    event: Redacted
    done: Callable[[Receipt], None]
    way: Way


@dataclass(slots=True)
class _Job:
    work: Callable[[Database], Any]
    future: asyncio.Future[Any]


class Committer:
    """Owns the log's writer and the writing connection. Used from the event loop."""

    def __init__(
        self,
        log_writer: LogWriter,
        log_path: str,
        connection: Database,
        clock: Clock,
        *,
        tombstones: Tombstones | None = None,
        leave_out: Callable[[Record, Exception], None] | None = None,
    ) -> None:
        """Own what is given; without the `tombstones` of `connection` nothing was ever forgotten.

        `leave_out` is given what the log has and no table takes.
        """
        self._leave_out = leave_out or _log_left_out
        self._log = log_writer
        self._log_path = log_path
        self._connection = connection
        self._clock = clock
        self._opt_outs = opt_outs.OptOuts(connection)
        self._last_seq = 0
        self._is_behind = False
        self._refusing: str | None = None
        self.identities = Identities(connection, clock, tombstones, self._is_off)
        self._captures: deque[_Capture] = deque()
        self._jobs: deque[_Job] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._is_in_thread = False
        self._is_scheduled = False
        self._loop: asyncio.AbstractEventLoop

    def start(self, last_seq: int) -> None:
        """Begin to serve; the next seq is one more than the highest of log (`last_seq`) and database.

        Raises StoreError where no thread can be started: found later, it would leave a daemon that answers `hello` and
        nothing else.
        """
        self._loop = asyncio.get_running_loop()
        start_thread(self._thread)
        self._last_seq = max(last_seq, last_id(self._connection))

    def submit(self, event: Redacted, done: Callable[[Receipt], None], *, way: Way = "live") -> None:
        """Keep an event; `done` is called once it would survive a power cut."""
        self._captures.append(_Capture(event, done, way))
        self._schedule()

    def keep(self, event: Redacted, *, way: Way = "live") -> asyncio.Future[Receipt]:
        """Keep an event; the receipt is what one waits for. A future, so that who waits for many needs no tasks."""
        future: asyncio.Future[Receipt] = self._loop.create_future()
        self.submit(event, functools.partial(resolve, future), way=way)
        return future

    async def run(self, work: Callable[[Database], T]) -> T:
        """Run `work` in one transaction of the writing connection, between two groups, and return its result.

        Raises StoreError when the database refuses, for instance because a person holds its lock.
        """
        future: asyncio.Future[T] = self._loop.create_future()
        self._jobs.append(_Job(work, future))
        self._schedule()
        return await future

    async def catch_up(self) -> None:
        """Return once the database has everything that the log has: who asks it now is answered by what was kept last.

        Raises StoreError when that takes longer than CATCH_UP_SECONDS, because somebody holds the lock.
        """
        deadline = self._clock.monotonic() + CATCH_UP_SECONDS
        while self._is_behind:
            try:
                await self.run(lambda _: None)
            except StoreError as error:
                if self._clock.monotonic() > deadline:
                    raise StoreError(f"{error.message} for too long: nothing was changed", hint="try again") from error
                await asyncio.sleep(CATCH_UP_PAUSE_SECONDS)

    async def reread_opt_outs(self) -> None:
        """Obey the opt-outs that the database holds now: a scrub has renamed their sessions."""

        def reread(connection: Database) -> None:
            self._opt_outs = opt_outs.OptOuts(connection)

        await self.run(reread)

    async def seal_log(self) -> None:
        """Seal the log's active segment between two groups. Raises StoreError while a person holds the lock, LogError
        while the segment holds what was refused."""
        await self.run(lambda _: self._log.seal())

    async def leave_lost_log(self) -> bool:
        """Begin a new segment if somebody deleted or replaced the active one; return whether that was so.

        What only the lost one held, the database has. Raises StoreError while a person holds the lock, but only then:
        where nothing was lost, a tick waits for nobody. While a job runs, the log is its own: the next tick looks.
        """
        if self._is_in_thread or self._log.is_in_place:
            return False

        def leave(connection: Database) -> bool:
            if self._log.is_in_place:
                return False
            self._log.seal()
            events.note_lost_log(connection, self._clock.now_ms())
            return True

        return await self.run(leave)

    def off_since(self, session_id: str = opt_outs.EVERY_SESSION) -> int | None:
        """Return since when nothing of a session, or nothing at all, is kept; None while it is. The database may not
        know yet."""
        return self._opt_outs.off_since(session_id)

    def sessions_off(self) -> list[tuple[str, int]]:
        """Return each session of which nothing is kept, with since when; the newest first."""
        return self._opt_outs.open_sessions()

    def off_until_now(self, session_id: str) -> opt_outs.Span | None:
        """Return the time that was off if what is off ends now; None where nothing is."""
        return self._opt_outs.off_until(session_id, self._clock.now_ms(), uptime_ms(self._clock))

    @property
    def is_behind(self) -> bool:
        """Whether the log holds records that the database does not have yet."""
        return self._is_behind

    @property
    def refusing(self) -> str | None:
        """Why captures are refused since the log could last be written; None when it can."""
        return self._refusing

    @property
    def log_bytes(self) -> int:
        """Size of the active segment."""
        return self._log.size

    async def stop(self) -> None:
        """Finish what was submitted, then close log and database."""
        is_busy = True
        while is_busy:
            with contextlib.suppress(StoreError):
                await self.run(lambda _: None)
            is_busy = bool(self._captures or self._jobs)
        self._thread.shutdown()
        self._log.close()
        with contextlib.suppress(LogError):
            self._log.mend()
        self._connection.close()

    def _schedule(self) -> None:
        if not (self._is_scheduled or self._is_in_thread):
            self._is_scheduled = True
            self._loop.call_soon(self._serve)

    def _serve(self) -> None:
        """Write one group, then hand the connection to one job; the job's end brings us back."""
        self._is_scheduled = False
        if self._captures:
            self._commit(self._next_group())
        if self._jobs:
            job = self._jobs.popleft()
            try:
                future = self._loop.run_in_executor(self._thread, self._run_job, job)
            except RuntimeError as error:  # it has been stopped
                future = self._loop.create_future()
                future.set_exception(StoreClosed(f"the store is closed ({error})"))
            self._is_in_thread = True
            future.add_done_callback(functools.partial(self._end_job, job))
        elif self._captures:
            self._schedule()

    def _next_group(self) -> list[_Capture]:
        """Take what shares the next sync. An opt-out is the last in its group: what comes behind obeys it only once it
        is in the log, and neither follows nor outlives one that the log has refused."""
        group: list[_Capture] = []
        while self._captures and len(group) < GROUP_MAX:
            group.append(self._captures.popleft())
            if _is_opt_out(group[-1].event):
                break
        return group

    def _end_job(self, job: _Job, ended: asyncio.Future[Any]) -> None:
        self._is_in_thread = False
        error = ended.exception()
        if error is None:
            resolve(job.future, ended.result())
        elif not job.future.done():
            job.future.set_exception(error)
        if self._captures or self._jobs:
            self._schedule()

    def _run_job(self, job: _Job) -> Any:
        try:
            begin(self._connection)
            if self._is_behind:
                self._catch_up()
            result = job.work(self._connection)
            commit(self._connection)
        except DatabaseError as error:
            raise translate(error) from error
        finally:
            rollback(self._connection)
        return result

    def _commit(self, group: list[_Capture]) -> None:
        try:
            receipts = self._keep_group(group)
        except Exception as error:  # a group's boundary: its failure must not end capture
            rollback(self._connection)
            log.exception("group_failed", count=len(group))
            receipts = [Receipt(None, error=_failure(error)) for _ in group]
        for capture, receipt in zip(group, receipts, strict=True):
            try:
                capture.done(receipt)
            except Exception:  # whoever waits may fail on its own account only
                log.exception("receipt_undelivered")

    def _keep_group(self, group: list[_Capture]) -> list[Receipt]:
        is_locked = self._begin()
        if is_locked:
            self._last_seq = max(self._last_seq, last_id(self._connection))
        receipts, entries = self.identify(group)
        try:
            records = self._log.append(entries) if entries else []
        except LogError as error:
            rollback(self._connection)
            for entry in entries:
                self.identities.remove(entry)
            log.warning("captures_refused", count=len(entries), error=error.code)
            self._refusing = error.code
            # On a full disk CPython (before 3.12.8) leaves half a bytecode file, and no later import survives that.
            sys.dont_write_bytecode = True
            refused = {entry.seq for entry in entries}
            return [
                receipt
                if receipt.is_duplicate and receipt.event_id not in refused and receipt.seq not in refused
                else Receipt(None, error=error)
                for receipt in receipts
            ]
        for entry in entries:
            if isinstance(entry.event, RedactedIntent):
                self._opt_outs.take(entry.event.kind, entry.event.payload_json)
            self.identities.note_logged(entry)
        if records:
            self._refusing = None
        if is_locked:
            self._insert(records, group, receipts)
        return receipts

    def _begin(self) -> bool:
        """Take the database's write lock and catch up; False when the log has to go on alone."""
        try:
            begin(self._connection)
            if self._is_behind:
                self._catch_up()
        except Exception as error:  # noqa: BLE001 - whatever fails here: the log can do without the database
            rollback(self._connection)
            self._fall_behind(error)
            return False
        return True

    def identify(self, group: list[_Capture]) -> tuple[list[Receipt], list[Entry]]:
        """Decide for each capture whether it is new, and give the new ones their uid and seq."""
        receipts = []
        entries = []
        for capture in group:
            event = capture.event
            try:
                known, uid = self.identities.resolve(event, capture.way)
                correction = None if known is None else self.identities.correction(event, known, uid)
            except DatabaseError as error:  # a damaged database: replay finds repeats by their uid later
                self._fall_behind(error)
                known, uid = None, event.uid if isinstance(event, RedactedEvent) else None
                correction = None
            except Exception as error:  # one capture's boundary: those beside it must not fail with it
                log.exception("capture_failed")
                receipts.append(Receipt(None, error=_failure(error)))
                continue
            if known is not None:
                seq = 0
                if correction is not None:
                    seq = self._last_seq = self._last_seq + 1
                    entries.append(Entry(correction, seq, None))
                    self.identities.add(entries[-1])
                event_id = known if known > 0 else None
                receipts.append(Receipt(event_id, seq, is_duplicate=True, dropped=_DROPPED.get(known)))
                continue
            self._last_seq += 1
            entries.append(Entry(event, self._last_seq, uid))
            self.identities.add(entries[-1])
            if isinstance(event, RedactedEvent):
                receipts.append(Receipt(self._last_seq, self._last_seq, event.tokens_est))
            else:
                receipts.append(Receipt(None, self._last_seq))
        return receipts, entries

    def _is_off(self, event: Captured, way: Way) -> bool:
        return self._opt_outs.covers(event.session_id, event.ts, way, self._clock.now_ms())

    def _insert(self, records: list[Record], group: list[_Capture], receipts: list[Receipt]) -> None:
        try:
            events.apply_records(self._connection, records)
            self._count(group, receipts)
            commit(self._connection)
            self.identities.note_stored()
        except Exception as error:  # noqa: BLE001 - they are in the log; one that no table takes is left out from there
            rollback(self._connection)
            self._fall_behind(error)

    def _count(self, group: list[_Capture], receipts: list[Receipt]) -> None:
        dropped = Counter(receipt.dropped for receipt in receipts if receipt.dropped is not None)
        known = sum(receipt.is_duplicate for receipt in receipts)
        for name, number in (
            ("accepted", len(receipts) - known),
            ("duplicates", known - dropped.total()),
            *dropped.items(),
            ("spooled", sum(capture.way == "spooled" for capture in group)),
        ):
            if number:
                events.count(self._connection, name, number)

    def _fall_behind(self, error: Exception) -> None:
        if not self._is_behind:
            reason = translate(error).code if isinstance(error, DatabaseError) else type(error).__name__
            log.warning("store_behind", error=reason)
            wait_for_locks(self._connection, waits=False)  # one wait is enough: the log alone is quick
        self._is_behind = True

    def _catch_up(self) -> None:
        """Apply what the log alone has. Raises DatabaseError, or StoreError while the log holds what was refused."""
        try:
            self._log.mend()
        except LogError as error:
            raise StoreError("the log cannot be read while its disk fails", hint=error.hint) from error
        applied = events.applied_seq(self._connection)
        records = iter_records(self._log_path, after=applied)
        added = events.replay_records(self._connection, records, self._leave_out)
        commit(self._connection)
        self._is_behind = False
        wait_for_locks(self._connection, waits=True)
        self.identities.note_stored()
        log.info("store_caught_up", added=added)
        begin(self._connection)


def start_thread(executor: ThreadPoolExecutor) -> None:
    """Start the one thread of an executor now. Raises StoreError where the system has none left for us."""
    try:
        executor.submit(int).result()
    except RuntimeError as error:
        raise StoreError(
            "no thread can be started", hint="the user has too many processes, or too little memory"
        ) from error


def _failure(error: Exception) -> SiftdError:
    """Return what whoever sent a capture is told when it failed for a reason that nobody foresaw."""
    kind = Faltered if is_transient(error) else SiftdError
    return kind(f"the capture failed ({type(error).__name__})", hint="see `mem logs`")


def _log_left_out(record: Record, error: Exception) -> None:
    log.error("record_invalid", seq=record.seq, kind=record.kind, error=type(error).__name__)


def _is_opt_out(event: Redacted) -> bool:
    return isinstance(event, RedactedIntent) and event.kind in opt_outs.KINDS


def resolve(future: asyncio.Future[T], result: T) -> None:
    if not future.done():
        future.set_result(result)
