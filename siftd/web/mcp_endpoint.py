"""`POST /mcp?project=KEY`: the agent's tools over MCP's streamable HTTP, for agents that do not run on this machine's
standard streams. Behind the same guard as everything else.

Each request stands for itself: no session is held here, and so the whole surface is not offered, whose
`memory_set_project` says something for all calls that follow. The SDK is loaded by the first request.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from siftd.errors import SiftdError
from siftd.web.limits import BODY_BYTES_MAX
from siftd.web.problems import response_of
from siftd.web.projects import Projects

PATH = "/mcp"


class McpEndpoint:
    """One server for each project that was asked for."""

    def __init__(self, projects: Projects, hosts: Collection[str]) -> None:
        """`hosts` are the names that the process answers to: the SDK compares them once more."""
        self._projects = projects
        self._hosts = sorted(hosts)
        self._servers: dict[str, Starlette] = {}
        self._wanted: asyncio.Queue[tuple[str, asyncio.Future[Starlette]]] = asyncio.Queue()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Begin servers as they are wanted, for as long as this is open. They begin and end in one task, as their own
        task groups must."""
        task = asyncio.create_task(self._begin_all())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = Request(scope).query_params.get("project", "")
        try:
            await asyncio.to_thread(self._projects.client, key)
        except SiftdError as error:
            await response_of(error)(scope, receive, send)
            return
        server = self._servers.get(key)
        if server is None:
            begun: asyncio.Future[Starlette] = asyncio.get_running_loop().create_future()
            self._wanted.put_nowait((key, begun))
            server = await begun
        await server(scope, receive, send)

    async def _begin_all(self) -> None:
        async with AsyncExitStack() as stack:
            while True:
                key, begun = await self._wanted.get()
                try:
                    if key not in self._servers:
                        server = await asyncio.to_thread(self._make, key)
                        await stack.enter_async_context(server.router.lifespan_context(server))
                        self._servers[key] = server
                except Exception as error:  # noqa: BLE001 - the task's boundary: whoever asked is told, others are served
                    if not begun.done():
                        begun.set_exception(error)
                else:
                    if not begun.done():
                        begun.set_result(self._servers[key])

    def _make(self, key: str) -> Starlette:
        from mcp.server.transport_security import TransportSecuritySettings

        from siftd.mcp.link import Link
        from siftd.mcp.serve import make_server

        server: Starlette = make_server(Link(self._projects.client(key))).streamable_http_app(
            streamable_http_path=PATH,
            stateless_http=True,
            json_response=True,
            max_request_body_size=BODY_BYTES_MAX,
            transport_security=TransportSecuritySettings(
                allowed_hosts=self._hosts, allowed_origins=[f"http://{host}" for host in self._hosts]
            ),
        )
        return server
