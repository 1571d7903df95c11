"""The application: the table's routes, the page, the login, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp

from siftd.errors import HttpRefused
from siftd.web.guard import Guard, hosts_of
from siftd.web.limits import Limits
from siftd.web.mcp_endpoint import PATH, McpEndpoint
from siftd.web.openapi import describe
from siftd.web.problems import response_of
from siftd.web.shell import Shell
from siftd.web.state import State
from siftd.web.streams import EventStream, websocket
from siftd.web.table import ROUTES
from siftd.web.types import encode

_CODES = {404: ("not_found", "there is nothing at this path"), 405: ("wrong_method", "not with this method")}


def make_application(state: State, shell: Shell, limits: Limits, port: int) -> ASGIApp:
    """Return what uvicorn serves."""
    mcp = McpEndpoint(state.projects, hosts_of(port))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with mcp.running():
            yield

    routes = list_routes(state, shell, mcp)
    inner = Starlette(routes=routes, exception_handlers={HTTPException: refused}, lifespan=lifespan)
    inner.router.redirect_slashes = False
    return Guard(inner, port, state.credentials, limits)


def list_routes(state: State, shell: Shell, mcp: McpEndpoint) -> list[BaseRoute]:
    """Return everything that is served. The tests refuse each of them in every way that it can be refused."""
    return [
        Route("/", shell.index),
        Route("/login", shell.log_in, methods=["POST"]),
        Route("/page/{path:path}", shell.file),
        Route("/openapi.json", _description),
        Route("/api/projects/{project}/events", EventStream(state), methods=["GET"]),
        Route(PATH, mcp, methods=["POST"]),
        WebSocketRoute("/ws", partial(websocket, state)),
        *(each.served(state) for each in ROUTES),
    ]


async def _description(_: Request) -> Response:
    return Response(encode(describe(ROUTES)), media_type="application/json")


async def refused(_: Request, error: Exception) -> Response:
    """Say as our own what Starlette refuses: a path, a method, a form that is none."""
    assert isinstance(error, HTTPException)
    code, message = _CODES.get(error.status_code, ("bad_request", "this cannot be read"))
    response = response_of(HttpRefused(error.status_code, code, message, hint="see /openapi.json"))
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response
