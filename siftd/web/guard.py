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

from starlette.types import ASGIApp, Scope

from siftd.errors import HttpRefused
from siftd.web.credentials import Credentials, Principal
from siftd.web.gate import Gate, headers_of, token_of
from siftd.web.limits import BODY_BYTES_MAX, Limits, too_often

NAMES = ("127.0.0.1", "localhost")
OPEN = frozenset({"/", "/login", "/health"})
"""Paths that need no token."""
OPEN_BELOW = "/page/"
SAFE = frozenset({"GET", "HEAD"})


class Guard(Gate):
    """Stands before the page's process."""

    def __init__(self, app: ASGIApp, port: int, credentials: Credentials, limits: Limits) -> None:
        super().__init__(app, BODY_BYTES_MAX)
        self._hosts = hosts_of(port)
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._credentials = credentials
        self._limits = limits

    def admit(self, scope: Scope) -> Principal | None:
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
            principal = self._credentials.find(token_of(scope, headers))
            if principal is None:
                raise self._stranger()
        bucket = self._limits.anybody
        if principal is not None:
            bucket = self._limits.reads if method in SAFE else self._limits.writes
        if not bucket.take():
            raise too_often(bucket.wait_seconds)
        return principal

    def _stranger(self) -> HttpRefused:
        if not self._limits.strangers.take():
            return too_often(self._limits.strangers.wait_seconds)
        return HttpRefused(
            401, "needs_token", "this needs a token", hint="log in by `mem web`; programs: run/web.token"
        )


def hosts_of(port: int) -> frozenset[str]:
    """Return what a request's Host may be."""
    return frozenset(f"{name}:{port}" for name in NAMES)


def is_open(path: str) -> bool:
    """Whether a path needs no token: it holds no data."""
    return path in OPEN or path.startswith(OPEN_BELOW)
