"""The served process: it listens, says where, and ends in good order when it is told to.

It starts before PostgreSQL does, and goes on while PostgreSQL is away: whoever asks meanwhile hears 503 and when to
come again. On SIGTERM it takes no new connections, lets go who waits for changes, ends what is being answered, and
stops at the latest after STOP_SECONDS.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import structlog
import uvicorn

from siftd.clock import SystemClock
from siftd.errors import ConfigInvalid, PortTaken
from siftd.team_server import logs
from siftd.team_server.application import make_application
from siftd.team_server.connections import HttpConnection, SocketConnection
from siftd.team_server.embedding import Models
from siftd.team_server.filling import Filling
from siftd.team_server.hub import Hub
from siftd.team_server.intake import Intake
from siftd.team_server.limits import CONNECTIONS_MAX, Limits
from siftd.team_server.notifications import Notifications
from siftd.team_server.reading import Reading
from siftd.team_server.settings import Serving
from siftd.team_server.state import State
from siftd.team_server.store import TeamStore
from siftd.team_server.webhooks import read_hooks
from siftd.web.confirmation import Confirmations
from siftd.web.jobs import Jobs
from siftd.web.listeners import find_listener

log = structlog.get_logger()

STOP_SECONDS = 5
HEADERS_BYTES_MAX = 16 * 1024
MESSAGE_BYTES_MAX = 16 * 1024
"""Of what a websocket says to us."""
LOOK_SECONDS = 0.1
"""How often it is looked whether to end."""


def serve(serving: Serving, on_ready: Callable[[int], None]) -> None:
    """Serve until told to end; `on_ready` is told the port once it listens. Raises PortTaken, ConfigInvalid."""
    logs.configure()
    # uvicorn ends in good order, and then raises the signal again.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with _listening(serving) as listening, suppress(KeyboardInterrupt):
        asyncio.run(_serve(serving, listening, on_ready))


async def _serve(serving: Serving, listening: socket.socket, on_ready: Callable[[int], None]) -> None:
    port = int(listening.getsockname()[1])
    async with _state(serving) as state:
        config = uvicorn.Config(
            make_application(state, serving, port),
            http=HttpConnection,
            ws=SocketConnection,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            limit_concurrency=CONNECTIONS_MAX,
            timeout_graceful_shutdown=STOP_SECONDS,
            h11_max_incomplete_event_size=HEADERS_BYTES_MAX,
            ws_max_size=MESSAGE_BYTES_MAX,
            ssl_certfile=serving.certificate,
            ssl_keyfile=serving.key,
        )
        try:
            config.load()
        except OSError as error:  # ssl.SSLError is one
            raise ConfigInvalid(
                f"the certificate and its key cannot be used ({type(error).__name__})", hint="PEM, without a passphrase"
            ) from error
        server = uvicorn.Server(config)
        watching = asyncio.create_task(_watch(server, state, lambda: on_ready(port)))
        try:
            await server.serve(sockets=[listening])
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
    log.info("server_ended")


@asynccontextmanager
async def _state(serving: Serving) -> AsyncIterator[State]:
    """Give what the routes share, with what works beside them; the nesting is the order of the end."""
    clock = SystemClock()
    models, hub = Models(serving, clock), Hub()
    async with _opened(TeamStore(serving.dsn)) as primary, _replica(serving) as replica:
        notifications = Notifications(serving.listen_dsn or serving.dsn, primary.notify)
        filling = Filling(primary, models, hub, clock)
        state = State(
            Reading(primary, replica), Intake(), notifications, models, filling, hub, Limits(time.monotonic),
            Confirmations(time.monotonic), Jobs(), read_hooks(serving.webhooks or ""), clock,
        )  # fmt: skip
        tasks = [asyncio.create_task(each) for each in (notifications.run(), filling.run())]
        try:
            yield state
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def _replica(serving: Serving) -> AsyncIterator[TeamStore | None]:
    if serving.replica_dsn is None:
        yield None
        return
    store = TeamStore(serving.dsn, read_dsn=serving.replica_dsn)
    async with _opened(store) as replica:
        yield replica


@asynccontextmanager
async def _opened(store: TeamStore) -> AsyncIterator[TeamStore]:
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def _watch(server: uvicorn.Server, state: State, on_ready: Callable[[], None]) -> None:
    while not server.started:
        await asyncio.sleep(0.005)
    on_ready()
    while not server.should_exit:
        await asyncio.sleep(LOOK_SECONDS)
    state.notifications.end()
    state.hub.close()


@contextmanager
def _listening(serving: Serving) -> Iterator[socket.socket]:
    """Listen at the address. Raises PortTaken, which says by whom."""
    family = socket.AF_INET6 if ipaddress.ip_address(serving.address).version == 6 else socket.AF_INET
    # Made with its protocol: asyncio sets TCP_NODELAY on no other, and every answer would take 44 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    with contextlib.closing(listening):
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((serving.address, serving.port))
            listening.listen(512)
        except (OSError, OverflowError) as error:
            by = find_listener(serving.port)
            raise PortTaken(
                f"port {serving.port} cannot be had{f': {by} has it' if by else ''}", hint="--port takes another"
            ) from error
        yield listening
