"""The served process: it listens, says where, and ends some time after nobody looks any more.

It holds the lock `run/web.lock` for its life, so that a home has one. `run/web.json` says where it listens and
`run/web.token` what a program shows it; both are there from the moment that it listens, and go with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn

import siftd
from siftd.errors import DaemonAlreadyRunning, PortTaken
from siftd.web.application import make_application
from siftd.web.confirmation import Confirmations
from siftd.web.credentials import Credentials
from siftd.web.examining import Examinations
from siftd.web.idleness import Idleness
from siftd.web.jobs import Jobs
from siftd.web.limits import CONNECTIONS_MAX, Limits
from siftd.web.listeners import find_free_port, find_listener
from siftd.web.live import Feeds
from siftd.web.projects import Projects
from siftd.web.shell import Shell
from siftd.web.state import State
from siftd.workspace.home import check_owner, ensure_folder, write_private
from siftd.workspace.paths import Home

ADDRESS = "127.0.0.1"
IDLE_SECONDS = 900.0
"""After so long without a request, a stream or a job the process ends."""
LOOK_SECONDS = 0.5
"""How often it is looked whether to end: streams end then, and are waited for."""
HEADERS_BYTES_MAX = 16 * 1024
MESSAGE_BYTES_MAX = 16 * 1024
"""Of what a websocket says to us."""


def serve(home: Home, environ: Mapping[str, str], port: int, on_ready: Callable[[int], None]) -> None:
    """Serve until idle or told to end; `on_ready` is told the port once it listens.

    Raises PortTaken, DaemonAlreadyRunning where a process of this home serves already, HomeUnusable.
    """
    for folder in (home.run, home.logs):
        ensure_folder(folder)
        check_owner(folder)
    with _held(home.web_lock), _listening(port) as listening:
        for path in (home.web_state, home.web_token, home.web_login):
            Path(path).unlink(missing_ok=True)  # of one that was killed
        taken = listening.getsockname()[1]
        credentials = Credentials(time.monotonic)
        idleness = Idleness(time.monotonic, IDLE_SECONDS)
        projects = Projects(home, environ)
        state = State(
            projects, credentials, Confirmations(time.monotonic), Jobs(), Examinations(home, environ), Feeds(projects)
        )
        limits = Limits(time.monotonic)
        shell = Shell(credentials, limits, lambda: Path(home.web_login).unlink(missing_ok=True))
        application = make_application(state, shell, limits, taken)
        config = uvicorn.Config(
            idleness.watching(application),
            http="h11",
            ws="wsproto",
            lifespan="on",
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            limit_concurrency=CONNECTIONS_MAX,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=HEADERS_BYTES_MAX,
            ws_max_size=MESSAGE_BYTES_MAX,
        )
        try:
            write_private(Path(home.web_token), credentials.program_token.encode())
            said = {"port": taken, "pid": os.getpid(), "version": siftd.__version__}
            write_private(Path(home.web_state), json.dumps(said).encode())
            asyncio.run(_run(uvicorn.Server(config), listening, state, idleness, lambda: on_ready(taken)))
        finally:
            for path in (home.web_state, home.web_token, home.web_login):
                Path(path).unlink(missing_ok=True)


async def _run(
    server: uvicorn.Server, listening: socket.socket, state: State, idleness: Idleness, on_ready: Callable[[], None]
) -> None:
    async def watch() -> None:
        while not server.started:
            await asyncio.sleep(0.005)
        on_ready()
        while not server.should_exit:
            if state.jobs.is_any_running:
                idleness.note_use()
            if idleness.is_over:
                server.should_exit = True
            await asyncio.sleep(min(LOOK_SECONDS, max(0.05, idleness.left_seconds)))
        state.feeds.close()

    watching = asyncio.create_task(watch())
    try:
        await server.serve(sockets=[listening])
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


@contextmanager
def _held(path: str) -> Iterator[None]:
    """Hold the lock of the home's one process. Raises DaemonAlreadyRunning."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DaemonAlreadyRunning("the page is served already", hint="`mem web` opens it") from None
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    """Listen on a port of the loopback; 0 takes a free one. Raises PortTaken, which says by whom."""
    # Made with its protocol: asyncio sets TCP_NODELAY on no other, and every answer would take 44 ms.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    with contextlib.closing(listening):
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((ADDRESS, port))
            listening.listen(128)
        except (OSError, OverflowError) as error:
            raise _port_taken(port, error) from error
        yield listening


def _port_taken(port: int, error: Exception) -> PortTaken:
    if isinstance(error, PermissionError):
        return PortTaken(f"port {port} is not for everybody", hint="take one above 1023, or none for a free one")
    by = find_listener(port)
    free = find_free_port(ADDRESS, port)
    hint = "without --port a free one is taken" if free is None else f"`mem web --port {free}` is free"
    return PortTaken(f"port {port} is taken{f' by {by}' if by else ''}", hint=hint)
