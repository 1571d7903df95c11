"""A route as the table lists it, and the way from an HTTP request to what answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import anyio.to_thread
import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Served

from siftd.errors import HttpRefused, RequestInvalid, SiftdError
from siftd.web.credentials import Principal
from siftd.web.problems import response_of
from siftd.web.types import NoQuery, encode

if TYPE_CHECKING:
    from siftd.web.state import State

Method = Literal["GET", "POST", "DELETE"]
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Call:
    """One request, read: what stands in its path, its query and its body."""

    state: State
    principal: Principal
    path: Mapping[str, str]
    query: Any
    body: Any


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with another status than the route's own."""

    status: int
    answer: object


@dataclass(frozen=True, slots=True)
class Route:
    """One route. `work` runs in a thread, and may wait for a daemon; it raises SiftdError to refuse."""

    method: Method
    path: str
    summary: str
    work: Callable[[Call], object]
    answer: Any
    query: type[Any] = NoQuery
    body: type[Any] | None = None
    status: int = 200
    others: Mapping[int, Any] = field(default_factory=dict)
    """Answers with another status, by it."""
    is_for_a_person: bool = False
    """Whether a program's token is not enough."""

    def served(self, state: State) -> Served:
        """Return the route as Starlette has it."""
        return Served(self.path, partial(_serve, self, state), methods=[self.method])


async def _serve(route: Route, state: State, request: Request) -> Response:
    try:
        principal: Principal = request.scope["siftd.principal"] or "program"
        if route.is_for_a_person and principal != "person":
            raise HttpRefused(403, "person_only", "only a person may do this", hint="on the page that `mem web` opens")
        body = None if route.body is None else decode_body(request, await request.body(), route.body)
        call = Call(state, principal, request.path_params, decode_query(request, route.query), body)
        result = await anyio.to_thread.run_sync(route.work, call)
    except SiftdError as error:
        return response_of(error)
    reply = result if isinstance(result, Reply) else Reply(route.status, result)
    return Response(encode(reply.answer), reply.status, media_type=JSON)


def decode_query(request: Request, kind: type[Any]) -> Any:
    """Return what a request's query says. Raises RequestInvalid."""
    given = request.query_params.multi_items()
    names = [name for name, _ in given]
    if len(set(names)) < len(names):
        raise RequestInvalid("a parameter is given twice")
    try:
        return msgspec.convert(dict(given), kind, strict=False)
    except msgspec.ValidationError as error:
        raise _invalid("the query", error) from None


def decode_body(request: Request, body: bytes, kind: type[Any]) -> Any:
    """Return what a body says. Raises HttpRefused for one that is no JSON, RequestInvalid for one of another form."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise HttpRefused(415, "not_json", "the body is no JSON", hint=f"say `content-type: {JSON}`")
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _invalid("the body", error) from None


def _invalid(what: str, error: Exception) -> RequestInvalid:
    """Return a refusal that names the field; what stands in it is never quoted."""
    where = str(error).rpartition(" - at ")[2]
    field_ = where.strip("`$.") if where.startswith("`$") else ""
    hint = f"see `{field_}` in /openapi.json" if field_ else "see /openapi.json"
    return RequestInvalid(f"{what} is not as described", hint=hint)
