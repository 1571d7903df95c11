"""`/ws?project=ID`: what can be found by its meaning from now on, each a text of JSON with `kind`.

Whether somebody may listen is asked of the store when they come and again every minute: a token may be revoked, a
member may leave.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from starlette.websockets import WebSocket

from siftd.errors import SiftdError
from siftd.team_server.gate import Caller
from siftd.team_server.routing import project_of
from siftd.team_server.state import State
from siftd.web.problems import status_of
from siftd.web.streams import NOT_THERE, PROTOCOL, TRY_AGAIN, first_of, left, send_all

NOT_ALLOWED = 4403
ASK_AGAIN_SECONDS = 60.0


async def websocket(state: State, socket: WebSocket) -> None:
    """Serve one listener until it goes, reads too slowly, may listen no more, or the server ends."""
    with ExitStack() as held:
        await _serve(state, socket, held)


async def _serve(state: State, socket: WebSocket, held: ExitStack) -> None:
    caller: Caller = socket.scope["siftd.principal"]
    protocol = PROTOCOL if PROTOCOL in socket.scope.get("subprotocols", []) else None
    try:
        project = project_of(socket.query_params.get("project", ""))
        await state.check_member(caller.token_digest, project)
        held.enter_context(state.limits.hold(caller.token_digest))
        listener = state.hub.listen(project, caller.token_digest)
    except SiftdError as error:
        await socket.accept(protocol)
        await socket.close(_code_of(error), error.code)
        return

    refusal: SiftdError | None = None

    async def stay_allowed() -> None:
        nonlocal refusal
        while refusal is None:
            await asyncio.sleep(ASK_AGAIN_SECONDS)
            try:
                await state.check_member(caller.token_digest, project)
            except SiftdError as error:
                refusal = error if status_of(error) in (401, 403, 404) else None

    try:
        await socket.accept(protocol)
        await first_of(send_all(socket, listener), left(socket), listener.when_cut(), stay_allowed())
        if refusal is not None:
            await socket.close(_code_of(refusal), refusal.code)
        elif listener.is_cut:
            await socket.close(TRY_AGAIN)
    finally:
        state.hub.leave(project, listener)


def _code_of(error: SiftdError) -> int:
    match status_of(error):
        case 404:
            return NOT_THERE
        case 401 | 403:
            return NOT_ALLOWED
        case _:
            return TRY_AGAIN
