"""What happens in a workspace, as a stream of Server-Sent Events for pages and as a websocket for programs.

A stream ends when its reader is gone, when it reads too slowly, and when the process ends; whoever comes back with the
last id goes on from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from siftd.errors import HttpRefused, SiftdError
from siftd.web.live import Listener, Said
from siftd.web.problems import response_of
from siftd.web.state import State
from siftd.web.types import encode

ALIVE_SECONDS = 15.0
"""A stream that is silent for so long says that it is there: what is between us and the reader ends idle ones."""
PROTOCOL = "siftd.v1"
OF_PROGRAMS = frozenset({"memory:indexed", "drain", "forgotten"})
"""What a websocket tells."""
TRY_AGAIN, NOT_THERE = 1013, 4404
LAST_SECONDS = 0.2
"""How long the end of a stream is offered to a reader that reads too slowly."""


class EventStream:
    """`GET /api/projects/{project}/events`: one event each, `id` its place, `data` a line of JSON."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":  # HEAD, which Starlette lets through beside it
            await Response(media_type="text/event-stream")(scope, receive, send)
            return
        request = Request(scope, receive)
        key = request.path_params["project"]
        try:
            await asyncio.to_thread(self._state.projects.client, key)
            listener = self._state.feeds.listen(key, request.headers.get("last-event-id", ""))
        except SiftdError as error:
            await response_of(error)(scope, receive, send)
            return
        try:
            headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await _body(send, b": siftd\n\n")
            await first_of(self._send_on(listener, send), _gone(receive), listener.when_cut())
            with suppress(TimeoutError):
                await asyncio.wait_for(send({"type": "http.response.body", "body": b""}), LAST_SECONDS)
        finally:
            self._state.feeds.leave(key, listener)

    async def _send_on(self, listener: Listener, send: Send) -> None:
        while True:
            try:
                said = await asyncio.wait_for(listener.next(), ALIVE_SECONDS)
            except TimeoutError:
                await _body(send, b": still here\n\n")
                continue
            if not said:
                return
            await _body(send, b"".join(map(_as_event, said)))


async def websocket(state: State, socket: WebSocket) -> None:
    """`/ws?project=KEY&after=ID`: what happens in one project, each a text of JSON with `kind` and `seq`."""
    key = socket.query_params.get("project", "")
    try:
        await asyncio.to_thread(state.projects.client, key)
        listener = state.feeds.listen(key, socket.query_params.get("after", ""))
    except SiftdError as error:
        await socket.accept(PROTOCOL)
        is_missing = isinstance(error, HttpRefused) and error.status != 429
        await socket.close(NOT_THERE if is_missing else TRY_AGAIN, error.code)
        return
    try:
        await socket.accept(PROTOCOL if PROTOCOL in socket.scope.get("subprotocols", []) else None)
        await first_of(send_all(socket, listener), left(socket), listener.when_cut())
        if listener.is_cut:
            await socket.close(TRY_AGAIN)
    finally:
        state.feeds.leave(key, listener)


async def send_all(socket: WebSocket, listener: Listener) -> None:
    """Send what there is to say to programs, until the listener is cut."""
    while said := await listener.next():
        for each in said:
            if each.kind in OF_PROGRAMS or each.kind == "reset":
                await socket.send_text(_as_message(each))


async def left(socket: WebSocket) -> None:
    """Wait until the other end is gone. What it says is nothing to us."""
    try:
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
    except (WebSocketDisconnect, RuntimeError):
        return


async def _gone(receive: Receive) -> None:
    while True:
        message: Message = await receive()
        if message["type"] == "http.disconnect":
            return


async def first_of(*works: Awaitable[None]) -> None:
    """Do several things until one has ended; a reader that is gone meanwhile is no error."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _body(send: Callable[[Message], Awaitable[None]], data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})


def _as_event(said: Said) -> bytes:
    place = f"id: {said.id}\n".encode() if said.id else b""
    return b"%sevent: %s\ndata: %s\n\n" % (place, said.kind.encode(), said.json)


def _as_message(said: Said) -> str:
    head = encode({"kind": said.kind, "seq": said.id})[:-1]
    return (head + (b"," if len(said.json) > 2 else b"") + said.json[1:]).decode()
