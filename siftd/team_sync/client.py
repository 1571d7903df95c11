"""Asking a team's server: one message out, one in, bounded in bytes and time, decoded strictly.

Nothing that it answers is believed further than its type goes: no redirect is followed, no proxy or certificate is
taken from the environment, what is larger than any page may be is cut off, and its words for people are shown as
somebody else's.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

import anyio
import msgspec

from siftd.harmless import harmless
from siftd.team.protocol import (
    BODY_BYTES_MAX,
    VERSION,
    VERSION_MIN,
    WAIT_SECONDS_MAX,
    Changes,
    Hello,
    Join,
    Joined,
    Leave,
    Left,
    Members,
    Push,
    Pushed,
    Renew,
)
from siftd.team.searching import SearchFound
from siftd.team_sync.errors import (
    TeamAway,
    TeamDenied,
    TeamOtherEpoch,
    TeamOtherVersion,
    TeamReadOnly,
    TeamRefused,
    TeamTooLarge,
)
from siftd.team_sync.token_file import REJOIN

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

ANSWER_SECONDS = 20.0
"""For anything but waiting for changes."""
CONNECT_SECONDS = 10.0
ANSWER_BYTES_MAX = BODY_BYTES_MAX + 1024 * 1024
"""Of a page of changes: the items, and who told them."""
AFTER_SECONDS_MAX = 600.0
"""A server may ask for rest, but not for ever."""
SAID_CHARS_MAX = 200


class _Said(msgspec.Struct):
    code: str = ""
    message: str = ""
    hint: str = ""


class _Refusal(msgspec.Struct):
    error: _Said = msgspec.field(default_factory=_Said)


class TeamClient:
    """One server, asked with one token. An async context manager; httpx is imported when it is entered."""

    def __init__(self, url: str, token: str | None = None, *, ca_file: str = "") -> None:
        """`ca_file` holds the certificates that are trusted in the place of the usual ones."""
        self._url = url
        self._token = token
        self._ca_file = ca_file
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> TeamClient:
        import httpx

        try:
            trusted = _trusted(self._ca_file)
        except (OSError, ssl.SSLError) as error:
            raise TeamAway("the certificates of `team.caFile` cannot be read", hint="correct config.json") from error
        self._client = httpx.AsyncClient(
            verify=trusted,
            trust_env=False,
            follow_redirects=False,
            timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=4, max_keepalive_connections=2),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            with anyio.CancelScope(shield=True), anyio.move_on_after(1):
                await self._client.aclose()

    # What is asked

    async def hello(self) -> Hello:
        """Return what the server speaks. Raises TeamOtherVersion where that is nothing of ours."""
        found = await self._ask("GET", "/api/v1/hello", None, Hello)
        if found.version_min > VERSION or found.version_max < VERSION_MIN:
            raise other_version(found)
        return found

    async def join(self, join: Join) -> Joined:
        return await self._ask("POST", "/api/v1/join", join, Joined)

    async def push(self, project: str, push: Push) -> Pushed:
        return await self._ask("POST", f"/api/v1/projects/{project}/push", push, Pushed)

    async def changes(
        self, project: str, *, after: int, limit: int, wait: int = 0, applied: int | None = None
    ) -> Changes:
        query = {"after": after, "limit": limit, "wait": min(wait, WAIT_SECONDS_MAX)}
        query |= {} if applied is None else {"applied": applied}
        path = f"/api/v1/projects/{project}/changes?" + "&".join(f"{name}={value}" for name, value in query.items())
        return await self._ask("GET", path, None, Changes, seconds=ANSWER_SECONDS + wait)

    async def members(self, project: str) -> Members:
        return await self._ask("GET", f"/api/v1/projects/{project}/members", None, Members)

    async def search(self, project: str, query: dict[str, str]) -> SearchFound:
        return await self._ask("GET", f"/api/projects/{project}/memory/search?{urlencode(query)}", None, SearchFound)

    async def renew(self, project: str, renew: Renew) -> Joined:
        return await self._ask("POST", f"/api/v1/projects/{project}/device", renew, Joined)

    async def leave(self, project: str, leave: Leave) -> Left:
        return await self._ask("POST", f"/api/v1/projects/{project}/leave", leave, Left)

    # How it is asked

    async def _ask(
        self, method: str, path: str, message: Any, answer: type[T], *, seconds: float = ANSWER_SECONDS
    ) -> T:
        import httpx

        assert self._client is not None, "enter it first"
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        content = None
        if message is not None:
            content = msgspec.json.encode(message)
            headers["Content-Type"] = "application/json"
        request = self._client.build_request(
            method,
            f"{self._url}{path}",
            headers=headers,
            content=content,
            timeout=httpx.Timeout(seconds, connect=CONNECT_SECONDS),
        )
        try:
            with anyio.fail_after(seconds + CONNECT_SECONDS):
                response = await self._client.send(request, stream=True)
                try:
                    body = await self._read(response)
                finally:
                    await response.aclose()
        except TimeoutError as error:
            raise TeamAway("the team's server does not answer in time") from error
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError, OSError) as error:
            raise TeamAway(f"the team's server cannot be reached ({type(error).__name__})") from error
        if not 200 <= response.status_code < 300:
            invite = message.invite if isinstance(message, Join) else None
            raise _refusal(response.status_code, response.headers.get("retry-after", ""), body, (self._token, invite))
        try:
            return msgspec.json.decode(body, type=answer)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise TeamAway("the team's server answered with what is no message of the protocol") from error

    async def _read(self, response: httpx.Response) -> bytes:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TeamAway("the team's server answered in an encoding that was not asked for")
        parts, size = [], 0
        async for part in response.aiter_raw():
            size += len(part)
            if size > ANSWER_BYTES_MAX:
                raise TeamTooLarge("the team's server answered with more than a page may hold")
            parts.append(part)
        return b"".join(parts)


@lru_cache(maxsize=2)
def _trusted(ca_file: str) -> ssl.SSLContext:
    """Return what certificates are checked by: to read those of the world takes longer than to ask."""
    import httpx

    if ca_file:
        return ssl.create_default_context(cafile=str(Path(ca_file).expanduser()))
    return httpx.create_ssl_context(trust_env=False)


def other_version(hello: Hello) -> TeamOtherVersion:
    """Return what is said where the versions do not meet."""
    is_older = hello.version_max < VERSION_MIN
    return TeamOtherVersion(
        f"the team's server speaks version {hello.version_min} to {hello.version_max} of the protocol,"
        f" this siftd {VERSION_MIN} to {VERSION}",
        hint="ask for a newer server" if is_older else "install the newer siftd",
    )


def _refusal(status: int, retry_after: str, body: bytes, secrets: Iterable[str | None]) -> Exception:
    """Return the error for a status; what the server says for people is quoted, on one line. It is noted and logged: a
    secret that the server repeats is not."""
    try:
        said = msgspec.json.decode(body, type=_Refusal).error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        said = _Said()
    message = said.message
    for each in filter(None, secrets):
        message = message.replace(each, "…")
    quoted = harmless(message, SAID_CHARS_MAX)
    words = f': "{quoted}"' if quoted else ""
    match status:
        case 401:
            return TeamDenied(f"the team's server knows this token no more{words}", hint=REJOIN)
        case 403 if said.code == "reader":
            return TeamReadOnly(f"in this team's project you may only read{words}", hint="ask the team's admin")
        case 403:
            return TeamDenied(f"the team's server says that this is no member{words}", hint=REJOIN, is_no_member=True)
        case 409:
            return TeamOtherEpoch(f"the team's server has another state than was known{words}")
        case 413:
            return TeamTooLarge(f"it is too large for the team's server{words}")
        case 426:
            return TeamOtherVersion(f"the team's server speaks another version{words}", hint="install the newer siftd")
        case 408 | 425 | 429:
            return TeamAway(f"the team's server asks for rest ({status}){words}", after_seconds=_seconds(retry_after))
        case _ if status >= 500:
            return TeamAway(f"the team's server failed ({status}){words}", after_seconds=_seconds(retry_after))
        case _ if 300 <= status < 400:
            return TeamAway(f"the team's server answered with a redirect ({status}), and none is followed")
        case _:
            return TeamRefused(f"the team's server refused it ({status}){words}")


def _seconds(text: str) -> float | None:
    return min(AFTER_SECONDS_MAX, float(text)) if text.isascii() and text.isdigit() and len(text) < 9 else None
