"""What stands before an application, whoever may ask it: what every answer says, how long a body is, how it is refused.

The rules of who may ask are `Gate.admit` of the page's process (`guard.py`) and of a team's server.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from siftd.errors import HttpRefused
from siftd.web.problems import response_of

CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
"""Of every answer."""
_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_POLICY_VIOLATION = 1008


class Gate(ABC):
    """Stands before the whole application."""

    def __init__(self, app: ASGIApp, body_bytes_max: int) -> None:
        self._app = app
        self._body_bytes_max = body_bytes_max

    @abstractmethod
    def admit(self, scope: Scope) -> Any:
        """Return who asks, for `siftd.principal` of the scope. Raises HttpRefused."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            scope["siftd.principal"] = self.admit(scope)
            if said_length(headers_of(scope)) > self._body_bytes_max:
                raise self._too_large()
        except HttpRefused as refused:
            await self._refuse(refused, scope, receive, send)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request that may be served; its body ends where it is too long."""
        has_begun = False
        taken = 0

        async def receiving() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._body_bytes_max:
                raise self._too_large()
            return message

        async def sending(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                message = {**message, "headers": with_headers(message.get("headers", []))}
            await send(message)

        try:
            await self._app(scope, receiving, sending)
        except HttpRefused as refused:
            if has_begun:
                raise
            await self._refuse(refused, scope, receive, send)

    async def _refuse(self, refused: HttpRefused, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})  # before it is accepted: HTTP 403
            return
        response = response_of(refused)
        response.raw_headers = with_headers(response.raw_headers)
        await response(scope, receive, send)

    def _too_large(self) -> HttpRefused:
        return HttpRefused(413, "body_too_large", f"a request has at most {self._body_bytes_max // 1024} KiB")


def headers_of(scope: Scope) -> Mapping[str, str]:
    """Return the headers; of one that comes twice the values together, which no name of ours is."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        found[key] = f"{found[key]}, {value.decode('latin-1')}" if key in found else value.decode("latin-1")
    return found


def with_headers(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return an answer's headers with those of every answer; what it says itself holds."""
    own = list(headers)
    names = {name.lower() for name, _ in own}
    return own + [(name, value) for name, value in _HEADERS if name not in names]


def said_length(headers: Mapping[str, str]) -> int:
    """Return what a body's header says of its length; what arrives is counted all the same."""
    said = headers.get("content-length", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 20 else 0


def token_of(scope: Scope, headers: Mapping[str, str]) -> str:
    """Return the token that is shown; empty where there is none."""
    if scope["type"] == "websocket":
        offered: list[Any] = list(scope.get("subprotocols", []))
        tokens = [str(each)[6:] for each in offered if str(each).startswith("token.")]
        if tokens:
            return tokens[0]
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
