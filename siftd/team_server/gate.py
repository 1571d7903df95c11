"""Who may ask a team's server, for HTTP and websockets alike, before anything is routed.

    Peer     behind a named proxy: that proxy alone, which says that it was asked by https; or the machine itself
    Host     one of the names that the server was given, or the loopback's with its port: else 421
    Origin   absent or the server's own, else 403; what changes something must not come from another site
    Token    `Authorization: Bearer …`, a websocket's subprotocol `token.…`. Here it becomes a digest; whether it holds
             is said by the store alone, in the same statement that does the work
    Rate     429 with Retry-After: what an address may try with tokens that were never accepted
    Body     413, counted while it arrives, whatever its header says

No answer has CORS headers and none sets a cookie.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.types import ASGIApp, Scope

from siftd.errors import HttpRefused
from siftd.team_server.limits import BODY_BYTES_MAX, Limits
from siftd.team_server.settings import LOOPBACK_NAMES, Serving
from siftd.web.gate import Gate, headers_of, token_of

OPEN = frozenset({"/health", "/openapi.json", "/api/v1/hello", "/api/v1/join"})
"""Paths that need no token: they hold no data of a team, or the token's place is taken by an invitation."""
WEBHOOKS = "/webhooks"
"""How a path ends that a signature opens."""
SAFE = frozenset({"GET", "HEAD"})
TOKEN_CHARS_MAX = 256
_LOOPBACKS = ("127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever asks."""

    digest: bytes | None
    """SHA-256 of the token that was shown; None without one."""
    address: str

    @property
    def token_digest(self) -> bytes:
        """The digest. Raises HttpRefused without one."""
        if self.digest is None:
            raise needs_token()
        return self.digest


class TeamGate(Gate):
    """Stands before a team's server."""

    def __init__(self, app: ASGIApp, serving: Serving, port: int, limits: Limits) -> None:
        super().__init__(app, BODY_BYTES_MAX)
        scheme = "https" if serving.is_tls or serving.trusted_proxies else "http"
        standard = 443 if scheme == "https" else 80
        names = {f"{name}:{port}" for name in LOOPBACK_NAMES} | set(serving.names)
        names |= {f"{name}:{port}" for name in serving.names if ":" not in name}
        names |= set(LOOPBACK_NAMES) if port == standard else set()
        self._hosts = frozenset(names)
        self._origins = frozenset(f"{scheme}://{name}" for name in names)
        self._proxies = serving.trusted_proxies
        self._limits = limits

    def admit(self, scope: Scope) -> Caller:
        """Return who asks. Raises HttpRefused."""
        headers = headers_of(scope)
        address = self._address(scope, headers)
        if headers.get("host", "").lower() not in self._hosts:
            raise HttpRefused(421, "wrong_host", "this is not a name of this server", hint="--host of its command")
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        is_foreign = origin is not None and origin not in self._origins
        if is_foreign or (scope.get("method", "GET") not in SAFE and site not in ("same-origin", "none")):
            raise HttpRefused(403, "foreign_origin", "another page may not ask this", hint="programs send no Origin")
        token = token_of(scope, headers)
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest() if token else None
        path = scope["path"]
        is_webhook = path.endswith(WEBHOOKS)  # a signature takes a token's place: who has none is counted there
        if path != "/health" and not is_webhook:
            self._limits.take_stranger(digest, address)
        is_open = scope["type"] == "http" and (path in OPEN or is_webhook)
        if not is_open and (digest is None or len(token) > TOKEN_CHARS_MAX):
            raise needs_token()
        return Caller(digest, address)

    def _address(self, scope: Scope, headers: Mapping[str, str]) -> str:
        """Return who asks, past the proxy that was named."""
        peer = str((scope.get("client") or ("",))[0])
        if not self._proxies:
            return peer
        if peer in self._proxies:
            if headers.get("x-forwarded-proto", "").lower() not in ("https", "wss"):
                raise HttpRefused(403, "not_private", "this came in clear", hint="ask by https://")
            return headers.get("x-forwarded-for", peer).rpartition(",")[2].strip()[:64] or peer
        if peer in _LOOPBACKS:
            return peer
        raise HttpRefused(403, "not_the_proxy", "this server is asked by its proxy alone", hint="--trusted-proxy")


def needs_token() -> HttpRefused:
    """Return the refusal of whoever shows no token."""
    return HttpRefused(401, "needs_token", "this needs a token", hint="`mem team join` with an invitation")
