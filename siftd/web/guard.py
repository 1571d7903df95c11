"""Who may ask what, for HTTP and websockets alike, before anything is routed.

    Host     exactly 127.0.0.1:PORT or localhost:PORT, else 421: a name that was rebound to this machine is none of ours
    Origin   absent or one of these two, else 403; `null` at the login alone, which a file of ours posts to
    Fetch-   what changes something must not come from another site: 403
    Token    `Authorization: Bearer …`, a websocket's subprotocol `token.…`; else 401. Without one: the empty page, its
             files, the login and `/health`, which hold no data
    Rate     429, with Retry-After
    Body     413, counted while it arrives, whatever its header says

No answer has CORS headers and none sets a cookie. [::1] is no name of ours: nobody of ours listens there, but another
user of the machine could.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from siftd.errors import HttpRefused
from siftd.web.credentials import Credentials, Principal
from siftd.web.limits import BODY_BYTES_MAX, Limits, too_often
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
NAMES = ("127.0.0.1", "localhost")
OPEN = frozenset({"/", "/login", "/health"})
"""Paths that need no token."""
OPEN_BELOW = "/page/"
SAFE = frozenset({"GET", "HEAD"})
_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_POLICY_VIOLATION = 1008


class Guard:
    """Stands before the whole application."""

    def __init__(self, app: ASGIApp, port: int, credentials: Credentials, limits: Limits) -> None:
        self._app = app
        self._hosts = hosts_of(port)
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._credentials = credentials
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            scope["siftd.principal"] = self._admit(scope)
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
            if taken > BODY_BYTES_MAX:
                raise _too_large()
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

    def _admit(self, scope: Scope) -> Principal | None:
        """Return who asks; None for whoever asks for what is open to everybody. Raises HttpRefused."""
        headers = headers_of(scope)
        if headers.get("host", "").lower() not in self._hosts:
            raise HttpRefused(421, "wrong_host", "this is not a name of this server", hint="use the address it printed")
        path, method = scope["path"], scope.get("method", "GET")
        is_login = scope["type"] == "http" and path == "/login"
        origin = headers.get("origin")
        is_foreign = origin is not None and origin not in self._origins and not (is_login and origin == "null")
        site = headers.get("sec-fetch-site", "none")
        is_cross_site = method not in SAFE and site not in ("same-origin", "none") and not is_login
        if is_foreign or is_cross_site:
            raise HttpRefused(403, "foreign_origin", "another page may not ask this", hint="ask from the page itself")
        principal = None
        if not (scope["type"] == "http" and is_open(path)):
            principal = self._credentials.find(_token_of(scope, headers))
            if principal is None:
                raise self._stranger()
        bucket = self._limits.anybody
        if principal is not None:
            bucket = self._limits.reads if method in SAFE else self._limits.writes
        if not bucket.take():
            raise too_often(bucket.wait_seconds)
        if _length(headers) > BODY_BYTES_MAX:
            raise _too_large()
        return principal

    def _stranger(self) -> HttpRefused:
        if not self._limits.strangers.take():
            return too_often(self._limits.strangers.wait_seconds)
        return HttpRefused(
            401, "needs_token", "this needs a token", hint="log in by `mem web`; programs: run/web.token"
        )

    async def _refuse(self, refused: HttpRefused, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})  # before it is accepted: HTTP 403
            return
        response = response_of(refused)
        response.raw_headers = with_headers(response.raw_headers)
        await response(scope, receive, send)


def hosts_of(port: int) -> frozenset[str]:
    """Return what a request's Host may be."""
    return frozenset(f"{name}:{port}" for name in NAMES)


def is_open(path: str) -> bool:
    """Whether a path needs no token: it holds no data."""
    return path in OPEN or path.startswith(OPEN_BELOW)


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


def _length(headers: Mapping[str, str]) -> int:
    """Return what a body's header says of its length; what arrives is counted all the same."""
    said = headers.get("content-length", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 20 else 0


def _too_large() -> HttpRefused:
    return HttpRefused(413, "body_too_large", f"a request has at most {BODY_BYTES_MAX // 1024} KiB")


def _token_of(scope: Scope, headers: Mapping[str, str]) -> str:
    if scope["type"] == "websocket":
        offered: list[Any] = list(scope.get("subprotocols", []))
        tokens = [str(each)[6:] for each in offered if str(each).startswith("token.")]
        if tokens:
            return tokens[0]
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
