"""A route of the team's server as the table lists it, and the way from a request to what answers it."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route as Served

from siftd.errors import HttpRefused, SiftdError
from siftd.team_server.gate import Caller
from siftd.team_server.limits import WRITE_BYTES, Kind
from siftd.web.problems import response_of, status_of
from siftd.web.routing import JSON, decode_body, decode_query
from siftd.web.types import NoQuery, encode

if TYPE_CHECKING:
    from siftd.team_server.state import State

Method = Literal["GET", "POST", "DELETE"]
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Call:
    """One request, read: who asks, and what stands in its path, its query and its body."""

    state: State
    caller: Caller
    path: Mapping[str, str]
    query: Any
    body: Any
    headers: Mapping[str, str]

    @property
    def digest(self) -> bytes:
        return self.caller.token_digest

    @property
    def project(self) -> uuid.UUID:
        """The project of the path. Raises HttpRefused where that is none."""
        return project_of(self.path["project"])

    @property
    def item(self) -> uuid.UUID:
        """The item of the path. Raises HttpRefused where that is none."""
        try:
            return uuid.UUID(self.path["id"])
        except ValueError:
            raise HttpRefused(404, "not_found", "there is no such item", hint="an id is a UUID") from None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with another status than the route's own."""

    status: int
    answer: object


@dataclass(frozen=True, slots=True)
class Route:
    """One route. `work` raises SiftdError to refuse."""

    method: Method
    path: str
    summary: str
    work: Callable[[Call], Awaitable[object]]
    answer: Any
    query: type[Any] = NoQuery
    body: type[Any] | None = None
    status: int = 200
    others: Mapping[int, Any] = field(default_factory=dict)
    """Answers with another status, by it."""
    kind: Kind | None = None
    """As what it counts for whoever asks it; None: it needs no token."""
    is_raw: bool = False
    """Whether `work` is given the body's bytes, of which a signature tells."""

    def served(self, state: State) -> Served:
        """Return the route as Starlette has it."""
        return Served(self.path, partial(_serve, self, state), methods=[self.method])


async def _serve(route: Route, state: State, request: Request) -> Response:
    caller: Caller = request.scope["siftd.principal"]
    try:
        if route.kind is not None:
            state.limits.take(route.kind, caller.token_digest)
        body: Any = None
        if route.is_raw:
            body = await request.body()
        elif route.body is not None:
            data = await request.body()
            if route.kind == "write" and len(data) > WRITE_BYTES:
                state.limits.take(route.kind, caller.token_digest, len(data) // WRITE_BYTES)
            body = decode_body(request, data, route.body)
        call = Call(state, caller, request.path_params, decode_query(request, route.query), body, request.headers)
        result = await route.work(call)
        if route.kind is not None:
            state.limits.accept(caller.token_digest)
    except ClientDisconnect:
        return Response(status_code=400)  # nobody reads it
    except SiftdError as error:
        if status_of(error) == 401 and caller.digest is not None:
            state.limits.reject(caller.digest)
        return response_of(error)
    except Exception:
        log.exception("request_failed", route=f"{route.method} {route.path}")
        return response_of(SiftdError("the server failed at this", hint="its log says where"))
    reply = result if isinstance(result, Reply) else Reply(route.status, result)
    return Response(encode(reply.answer), reply.status, media_type=JSON)


def project_of(text: str) -> uuid.UUID:
    """Return a project's id. Raises HttpRefused."""
    try:
        return uuid.UUID(text)
    except ValueError:
        raise HttpRefused(404, "not_found", "there is no such project", hint="an id is a UUID") from None
