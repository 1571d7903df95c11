"""The application: the table's routes, the websocket and the description, behind the gate."""

from __future__ import annotations

from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp

from siftd.team_server.gate import TeamGate
from siftd.team_server.settings import Serving
from siftd.team_server.sockets import websocket
from siftd.team_server.state import State
from siftd.team_server.table import ABOUT, ROUTES
from siftd.web.application import refused
from siftd.web.openapi import describe
from siftd.web.types import encode


def make_application(state: State, serving: Serving, port: int) -> ASGIApp:
    """Return what uvicorn serves."""
    inner = Starlette(routes=list_routes(state), exception_handlers={HTTPException: refused})
    inner.router.redirect_slashes = False
    return TeamGate(inner, serving, port, state.limits)


def list_routes(state: State) -> list[BaseRoute]:
    """Return everything that is served."""
    return [
        Route("/openapi.json", _description),
        WebSocketRoute("/ws", partial(websocket, state)),
        *(each.served(state) for each in ROUTES),
    ]


async def _description(_: Request) -> Response:
    return Response(encode(describe(ROUTES, ABOUT)), media_type="application/json")
