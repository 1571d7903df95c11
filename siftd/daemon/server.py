"""Serving: connections, requests, the background, the reasons to end."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import structlog
from anyio.abc import TaskGroup

import siftd
from siftd.capture.admission import Captured, RedactedEvent
from siftd.clock import Clock, SystemClock
from siftd.daemon import logs
from siftd.daemon.connection import Answer, Connection
from siftd.daemon.endpoint import Endpoint
from siftd.daemon.ingest.captures import APART_BYTES, Captures
from siftd.daemon.ingest.large_messages import Apart
from siftd.daemon.loop_errors import LoopErrors
from siftd.daemon.storage import Storage
from siftd.daemon.upgrade_guard import UpgradeGuard
from siftd.errors import RequestFailed, SiftdError, StopUnheld, StoreClosed, StoreCorrupt
from siftd.wire.frames import CONTEXT_MARK, HOOK_MARK, PROTOCOL, split_hook
from siftd.wire.requests import (
    AnyRequest,
    Capture,
    Hello,
    HelloAnswer,
    HookHeader,
    decode_header,
    decode_request,
    ok,
    refused,
)
from siftd.workspace.home import LoadedSettings
from siftd.workspace.identity import Workspace, path_as_text
from siftd.workspace.paths import GLOBAL, WorkspacePaths

if TYPE_CHECKING:
    from siftd.daemon.context_injection import ContextInjector
    from siftd.daemon.handlers.router import Handlers
    from siftd.daemon.notes_sync import Trigger
    from siftd.daemon.services import Services

log = structlog.get_logger()

IN_FLIGHT_SECONDS = 5.0
"""How long a stop waits for requests in flight. A hook waits for 0.25 s, a courier for 2."""
CONNECTIONS_MAX = 512


def serve_until_stopped(
    workspace: Workspace,
    paths: WorkspacePaths,
    loaded: LoadedSettings,
    endpoint: Endpoint,
    package: UpgradeGuard,
    on_ready: Callable[[], None],
) -> None:
    """Open the workspace and serve it. Raises SiftdError when it cannot be opened."""
    logs.configure(paths.daemon_log)
    anyio.run(_serve, workspace, paths, loaded, endpoint, package, on_ready)


async def _serve(
    workspace: Workspace,
    paths: WorkspacePaths,
    loaded: LoadedSettings,
    endpoint: Endpoint,
    package: UpgradeGuard,
    on_ready: Callable[[], None],
) -> None:
    storage = Storage(workspace, paths, loaded, SystemClock())
    failure: SiftdError | None = None
    try:
        async with anyio.create_task_group() as tasks:
            daemon = Daemon(storage, endpoint, tasks, SystemClock())
            await daemon.accept()
            tasks.start_soon(package.watch, daemon.stopped.set)
            try:
                await daemon.start_services()
            except SiftdError as error:
                failure = error
                if isinstance(error, StoreCorrupt):  # where the opening has not looked
                    Path(paths.rebuild).touch(mode=0o600)
            else:
                Path(paths.start).write_bytes(b"")
                Path(paths.slow).unlink(missing_ok=True)  # a hook that came while we started has waited in vain, once
                on_ready()
                log.info("daemon_started", pid=storage.pid, workspace=workspace.key)
                await daemon.stopped.wait()
            await daemon.finish()
            tasks.cancel_scope.cancel()
    finally:
        await storage.close()
        log.info("daemon_stopped")
    if failure is not None:
        from siftd.wire.launch import note_failure

        note_failure(paths, failure.message)
        raise failure


def load_services() -> tuple[type[Services], type[Handlers]]:
    """Import everything that captures do not need."""
    from siftd.daemon.handlers.router import Handlers
    from siftd.daemon.services import Services

    return Services, Handlers


_SYNCED: dict[str, Trigger] = {"end": "session-end", "compact": "pre-compact"}
"""The changes of a session at which notes are brought up to date."""


def _header_of(message: bytes) -> HookHeader | None:
    """Return the header of a hook frame; None for one that is none, which whoever keeps it says."""
    try:
        return decode_header(split_hook(message)[0])
    except SiftdError:
        return None


class Daemon:
    """The running parts of one daemon: captures and `hello` from the first moment, the rest once the services are."""

    def __init__(self, storage: Storage, endpoint: Endpoint, tasks: TaskGroup, clock: Clock) -> None:
        self._storage = storage
        self._endpoint = endpoint
        self._tasks = tasks
        self._clock = clock
        self._connections: set[Connection] = set()
        self._in_flight = 0
        self._idle_since = clock.monotonic()
        apart = Apart(storage.paths, storage.workspace.root, storage.intake)
        self._captures = Captures(storage.intake, apart, storage.committer, clock.now_ms, self._note_captured)
        self._opened: asyncio.Future[tuple[Services, Handlers]] = asyncio.get_running_loop().create_future()
        self._captured_early: list[Captured] = []
        self._server: asyncio.Server
        self.stopped = anyio.Event()

    @property
    def _services(self) -> Services | None:
        """What works on the storage, once it is there."""
        is_open = self._opened.done() and self._opened.exception() is None
        return self._opened.result()[0] if is_open else None

    async def accept(self) -> None:
        """Begin to accept, and to watch for signals."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(LoopErrors(self._clock))
        options: dict[str, bool] = {"cleanup_socket": False} if sys.version_info >= (3, 13) else {}
        self._server = await loop.create_unix_server(self._connect, sock=self._endpoint.socket, **options)  # type: ignore[arg-type]
        self._tasks.start_soon(self._watch_signals)

    async def start_services(self) -> None:
        """Import what works on the storage, off the loop, and set it up. Raises SiftdError."""
        try:
            services, handlers = await self._make_services()
        except SiftdError as error:
            self._opened.set_exception(error)
            raise
        self._opened.set_result((services, handlers))
        self._tasks.start_soon(self._load_rules)
        self._tasks.start_soon(services.consolidator.run)
        self._tasks.start_soon(services.consolidator.run_indexer)
        self._tasks.start_soon(services.injector.run)
        self._tasks.start_soon(services.team_sync.run)
        for captured in self._captured_early:
            self._note_captured(captured)
        self._captured_early.clear()
        self._idle_since = self._clock.monotonic()  # to load all this was no idleness
        self._tasks.start_soon(self._watch_idleness)

    async def _make_services(self) -> tuple[Services, Handlers]:
        try:
            make_services, make_handlers = await asyncio.to_thread(load_services)
        except SiftdError:
            raise
        except Exception as error:
            log.exception("installation_incomplete")
            raise SiftdError(f"siftd cannot be loaded ({type(error).__name__})", hint="install it again") from error
        services = make_services(self._storage, self.stopped.set)
        return services, make_handlers(services, self._stop)

    async def _load_rules(self) -> None:
        """Read the rules of redaction, so that the first hook need not wait for them: on a busy machine in vain."""
        try:
            await asyncio.to_thread(self._storage.intake.redactor.load)
        except Exception:
            log.exception("rules_not_loaded")  # as each capture will say

    async def finish(self) -> None:
        """Stop accepting, answer what is in flight, finish the batch that runs; nothing new is summarised."""
        self._server.close()
        services = self._services
        if services is not None:
            services.consolidator.stop()
            services.samplers.close()
            services.live.close()
        with anyio.move_on_after(IN_FLIGHT_SECONDS):
            while self._in_flight or any(connection.is_answering for connection in self._connections):
                await anyio.sleep(0.01)
            if services is not None:
                await services.finish()
        for connection in list(self._connections):
            connection.close()
        if services is not None:
            services.close()

    def _connect(self) -> Connection:
        return Connection(self._handle, self._connections, most=CONNECTIONS_MAX)

    def _handle(self, message: bytes, answer: Answer) -> None:
        """Take one message: captures at once, everything else in a task of its own."""
        self._idle_since = self._clock.monotonic()
        is_large = len(message) > APART_BYTES
        if message[0] == HOOK_MARK:
            header = None if is_large else _header_of(message)
            inject = partial(self._inject_for, header) if header is not None and header.tell else None
            self._captures.take_hook(message, answer, inject)
            if header is not None and header.told:
                self._tasks.start_soon(self._note_printed, message)
        elif message[0] == CONTEXT_MARK and is_large:
            answer.send(ok())  # nobody types so much, and its capture comes as a frame of its own
        elif message[0] == CONTEXT_MARK:
            self._tasks.start_soon(
                self._inject, lambda injector: injector.answer_hook(message, answer.is_wanted_now), answer
            )
        elif is_large:
            self._captures.take_request(message, answer, lambda: self._take_request(message, answer))
        else:
            self._take_request(message, answer)

    def _take_request(self, message: bytes, answer: Answer) -> None:
        try:
            request = decode_request(message)
        except SiftdError as error:
            self._captures.count_rejection(error, len(message))
            answer.send(refused(error))
            return
        if isinstance(request, Capture):
            self._captures.take_capture(request, len(message), answer)
        elif isinstance(request, Hello):
            answer.send(ok(**self._hello()))
        else:
            self._tasks.start_soon(self._answer, request, answer)

    def _hello(self) -> HelloAnswer:
        storage = self._storage
        return {
            "version": siftd.__version__,
            "protocol": PROTOCOL,
            "workspace": {"root": path_as_text(storage.workspace.root), "key": storage.workspace.key},
            "pid": storage.pid,
            "uptimeMs": storage.uptime_ms(),
        }

    def _inject_for(self, header: HookHeader, captured: Captured, answer: Answer) -> None:
        """Tell an agent whose folder is of this workspace; what is kept may come from one that is gone."""
        if self._storage.intake.is_ours(header):
            self._tasks.start_soon(
                self._inject, lambda injector: injector.answer(captured, answer.is_wanted_now), answer
            )
        else:
            answer.send(ok())

    async def _inject(self, ask: Callable[[ContextInjector], Awaitable[dict[str, Any]]], answer: Answer) -> None:
        """Answer a hook that asks for the agent; whatever fails here gives the agent nothing."""
        output: dict[str, Any] = {}
        try:
            services, _ = await self._opened
            output = await ask(services.injector)
        except Exception:
            log.exception("context_failed")
        answer.send(ok(**output))

    async def _note_printed(self, message: bytes) -> None:
        try:
            services, _ = await self._opened
            await services.injector.note_printed(message)
        except SiftdError as error:
            log.info("printed_brief_not_recorded", reason=error.code)

    async def _answer(self, request: AnyRequest, answer: Answer) -> None:
        """A request's boundary: whatever fails here costs this request only."""
        self._in_flight += 1
        try:
            services, handlers = await self._opened
            fields = await handlers.answer(request, answer)
            if request.changes_brief:
                services.injector.note_change()
                if services.paths.key == GLOBAL:
                    self._tasks.start_soon(services.refresh_hot_context)
            answer.send(ok(**fields))
        except StoreClosed:
            answer.refuse_stream()
        except SiftdError as error:
            answer.send(refused(error))
        except Exception as error:
            log.exception("request_failed", kind=type(request).__name__)
            failure = RequestFailed(f"the daemon failed ({type(error).__name__})", hint="see `mem logs`")
            answer.send(refused(failure))
        finally:
            self._in_flight -= 1
            self._idle_since = self._clock.monotonic()

    def _note_captured(self, captured: Captured, event_id: int | None = None) -> None:
        services = self._services
        if services is None:
            self._captured_early.append(captured)
            return
        services.consolidator.note_capture()
        if isinstance(captured, RedactedEvent):
            if event_id is not None:
                services.live.note_captured(captured, event_id)
            if captured.event_kind == "turn_end":
                services.injector.note_change()
            if captured.event_kind in ("turn_end", "subagent_end"):
                self._tasks.start_soon(services.read_transcripts)
            return
        if trigger := _SYNCED.get(captured.change):
            self._tasks.start_soon(services.sync_notes, captured.session_id, captured.cwd, trigger)
        if captured.change == "start":
            self._tasks.start_soon(services.injector.warm)
        elif captured.change == "end":
            self._tasks.start_soon(services.refresh_hot_context)

    async def _stop(self, hold: bool) -> None:
        log.info("stop_requested", hold=hold)
        self.stopped.set()
        if hold:
            try:
                Path(self._storage.paths.hold).touch(mode=0o600)
            except OSError as error:
                raise StopUnheld(
                    f"the daemon ends, but the next hook may start it again: {error.strerror}",
                    hint="make room, then `mem stop` once more",
                ) from error

    async def _watch_signals(self) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for received in signals:
                log.info("signal_received", signal=received.name)
                self.stopped.set()

    async def _watch_idleness(self) -> None:
        idle_exit = self._storage.settings.daemon_idle_exit_ms / 1000
        while True:
            if self._connections:
                self._idle_since = self._clock.monotonic()
            left = self._idle_since + idle_exit - self._clock.monotonic()
            if left <= 0:
                log.info("idle_exit")
                self.stopped.set()
                return
            await anyio.sleep(max(left, 0.05))
