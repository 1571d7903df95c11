"""Connections to PostgreSQL: as the server's role, which may execute functions and nothing else.

No prepared statements and no settings of a session, so that PgBouncer may stand between in transaction mode. A call is
one statement and one transaction; what is not committed when a connection breaks has not happened.

A PostgreSQL that hangs answers nothing and breaks nothing, and none of its own limits strikes: what has no answer in
time has its connection taken down here, which is then like any that broke.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, LiteralString

import msgspec
import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool

from siftd.team_server.refusals import refusal
from siftd.team_server.vectors import register_vectors

Row = dict[str, Any]
RECONNECT_SECONDS = 3.0
"""Then the next who asks tries again: the pauses of a longer try grow to minutes, and PostgreSQL is back by then."""
WAIT_SECONDS = 5.0
"""For a free connection: then whoever asked is told to come again, rather than pile up."""
ANSWER_SECONDS = 15.0
"""For a statement, which PostgreSQL itself ends before: `statement_timeout` and `lock_timeout` of the role."""


class Pool:
    """A pool of connections to one server, or to the first of several that takes writes."""

    def __init__(self, dsn: str, *, connections: int = 8) -> None:
        self._pool: AsyncConnectionPool[psycopg.AsyncConnection[Row]] = AsyncConnectionPool(
            dsn,
            min_size=1,
            max_size=connections,
            timeout=WAIT_SECONDS,
            max_waiting=connections * 16,
            max_lifetime=1800,
            reconnect_timeout=RECONNECT_SECONDS,
            open=False,
            kwargs={"row_factory": dict_row, "prepare_threshold": None, "connect_timeout": 5, "autocommit": True},
            configure=_configure,
            check=_check,
        )

    async def open(self) -> None:
        """Begin to connect; nobody waits for it here, so that a server starts while PostgreSQL is away."""
        await self._pool.open(wait=False)

    async def close(self) -> None:
        await self._pool.close()

    async def rows(self, query: LiteralString, values: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and return its rows. Raises Refused."""
        async with self._connected() as connection:
            # Values are always handed over, none too: that is the protocol in which one text is one statement.
            cursor = await connection.execute(query, values, binary=False)
            return await cursor.fetchall() if cursor.description else []

    async def row(self, query: LiteralString, values: Sequence[Any] = ()) -> Row:
        """Run one statement and return its first row. Raises Refused."""
        return (await self.rows(query, values))[0]

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[psycopg.AsyncConnection[Row]]:
        try:
            async with self._pool.connection() as connection:
                with _deadline(connection):
                    yield connection
        except Exception as error:
            refused = refusal(error)
            if refused is None:
                raise
            raise refused from error


async def _configure(connection: psycopg.AsyncConnection[Row]) -> None:
    set_json_loads(msgspec.json.decode, connection)
    with _deadline(connection):
        await register_vectors(connection)


async def _check(connection: psycopg.AsyncConnection[Row]) -> None:
    """Raise psycopg.OperationalError for a connection that broke while nobody used it.

    Asking PostgreSQL takes as long as a small statement does, so it is asked only where its end has something to say:
    that it has closed, for one. What breaks without a word is found by the statement as soon as it would be by this.
    """
    ready = select.poll()
    ready.register(connection.fileno(), select.POLLIN)
    if ready.poll(0):
        with _deadline(connection):
            await connection.execute("")


@contextmanager
def _deadline(connection: psycopg.AsyncConnection[Row]) -> Iterator[None]:
    """Take the connection down where the block lasts too long. To cancel it would wait for PostgreSQL, which hangs."""
    timer = asyncio.get_running_loop().call_later(ANSWER_SECONDS, _take_down, connection)
    try:
        yield
    finally:
        timer.cancel()


def _take_down(connection: psycopg.AsyncConnection[Row]) -> None:
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as same:
        same.shutdown(socket.SHUT_RDWR)
