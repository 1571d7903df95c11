"""Lending the agent's own model to the daemon, where the client offers sampling and the configuration asks for it.

Claude Code offers none today. A client that speaks a protocol without requests from the server offers none either.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types import (
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    SamplingCapability,
    SamplingMessage,
    TextContent,
)

from siftd.errors import SiftdError
from siftd.mcp.link import Link
from siftd.wire.asking import Sampling as Offer
from siftd.wire.requests import Question

MODEL_SECONDS = 60.0
"""How long a client's model may take: as long as the daemon waits for any."""


class Sampling:
    """Waits beside the server for what the daemon wants asked. A middleware, because only a message has a session."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Begin once the client is initialized and offers sampling."""
        result = await call_next(ctx)
        wanted = ClientCapabilities(sampling=SamplingCapability())
        if ctx.method == "notifications/initialized" and ctx.session.check_client_capability(wanted):
            lending = threading.Thread(target=self._lend, args=(ctx.session, asyncio.get_running_loop()), daemon=True)
            lending.start()
        return result

    def _lend(self, session: Any, loop: asyncio.AbstractEventLoop) -> None:
        """Ask the client's model what the daemon wants asked, until that wants no more or is gone."""
        said: dict[str, Any] = {}
        try:
            while (answer := self._link.ask(Offer(**said)))["wanted"]:
                said = {}
                if (ask := answer["ask"]) is not None:
                    said = {"id": ask["id"], "said": self._said(session, loop, ask)}
        except (SiftdError, RuntimeError):  # the daemon cannot be reached, or our loop has ended
            return

    def _said(self, session: Any, loop: asyncio.AbstractEventLoop, ask: Question) -> str | None:
        """Return what the client's model says; None when it says nothing, whatever the reason."""
        future = asyncio.run_coroutine_threadsafe(_create_message(session, ask), loop)
        try:
            return future.result(MODEL_SECONDS)
        except Exception:  # noqa: BLE001 - a client may refuse in any way: the daemon tries later
            return None


async def _create_message(session: Any, ask: Question) -> str | None:
    request = CreateMessageRequest(
        params=CreateMessageRequestParams(
            messages=[SamplingMessage(role="user", content=TextContent(type="text", text=ask["message"]))],
            system_prompt=ask["rules"],
            max_tokens=ask["maxTokens"],
            temperature=0,
        )
    )
    result = await session.send_request(request, CreateMessageResult, request_read_timeout_seconds=MODEL_SECONDS)
    return result.content.text if isinstance(result.content, TextContent) else None
