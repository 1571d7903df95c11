"""A URL that a person named, fetched once: nothing else is ever fetched, and no link of a page is followed.

A name may lead anywhere, and elsewhere a moment later. Each host is looked up here, all of its addresses are judged,
and the connection is made to the very address that was judged, with the name kept for TLS and for the server. Each
redirect goes the same way. Proxies of the environment are not asked, for they would look the name up once more.

Limits: five redirects, `BYTES_MAX` after decompression, `SECONDS_MAX` for all of it, whatever the server does.
"""

from __future__ import annotations

import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import NamedTuple
from urllib.parse import urljoin

import anyio
import httpx

from siftd.documents.addresses import is_public
from siftd.documents.kinds import find_kind_of_media
from siftd.documents.model import DocumentKind
from siftd.errors import DocumentRefused

BYTES_MAX = 16 * 1024 * 1024
SECONDS_MAX = 30.0
REDIRECTS_MAX = 5
URL_CHARS_MAX = 2000
_ASKED = {
    "User-Agent": "siftd (mem ingest)",
    "Accept-Encoding": "identity",
    "Accept": "text/*, application/pdf, */*;q=0.5",
}
_REDIRECTS = (301, 302, 303, 307, 308)
_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}

Allowed = Callable[[str], bool]
Resolver = Callable[[str, int], Awaitable[list[str]]]


class Fetched(NamedTuple):
    """What a URL gave."""

    url: str
    """Where it was found in the end."""
    data: bytes
    kind: DocumentKind
    encoding: str
    """What the server says that it is in; empty where it says nothing."""


def fetch(
    url: str, *, is_allowed: Allowed = is_public, seconds_max: float = SECONDS_MAX, resolver: Resolver | None = None
) -> Fetched:
    """Return what is at a URL. DocumentRefused says why nothing is.

    `is_allowed` judges each address that would be connected to; `resolver` stands in for the system's.
    """

    async def bounded() -> Fetched:
        try:
            with anyio.fail_after(seconds_max):
                return await _followed(url, resolver or resolve, is_allowed)
        except TimeoutError:
            raise DocumentRefused(
                "too slow", f"it is not there within {seconds_max:g} seconds", hint="try again, or save it to a file"
            ) from None

    return anyio.run(bounded)


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a name, by the system's resolver."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


async def _followed(url: str, resolver: Resolver, is_allowed: Allowed) -> Fetched:
    # Certificates are checked; nothing of the environment is asked for proxies, certificates or .netrc's passwords.
    async with httpx.AsyncClient(trust_env=False, timeout=10.0, headers=_ASKED) as client:
        here = url
        for _ in range(REDIRECTS_MAX + 1):
            parsed = _checked(here)
            address = await _address(parsed, resolver, is_allowed)
            target = parsed.copy_with(host=address)
            name = {"sni_hostname": parsed.raw_host.decode("ascii")}
            request = client.build_request(
                "GET", target, headers={"Host": parsed.netloc.decode("ascii")}, extensions=name
            )
            try:
                response = await client.send(request, stream=True)
                try:
                    if response.status_code not in _REDIRECTS or "location" not in response.headers:
                        return await _read(here, parsed, response)
                    here = urljoin(here, response.headers["location"])
                finally:
                    await response.aclose()
            except (httpx.HTTPError, httpx.InvalidURL, zlib.error) as error:
                raise DocumentRefused(
                    "unreachable", f"it cannot be fetched: {_cause(error)}", hint="try again"
                ) from error
    raise DocumentRefused("unreachable", f"it redirects more than {REDIRECTS_MAX} times", hint="name where it leads to")


def _checked(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
        is_named = bool(parsed.host) and len(url) <= URL_CHARS_MAX
    except (httpx.InvalidURL, ValueError, TypeError):
        is_named = False
    if not is_named or parsed.scheme not in ("http", "https"):
        raise DocumentRefused("no url", "it is no address of the web", hint="http://… or https://…")
    if parsed.userinfo:
        raise DocumentRefused("secret", "a name or a password stands in it", hint="fetch it yourself, ingest the file")
    return parsed.copy_with(fragment=None)


async def _address(url: httpx.URL, resolver: Resolver, is_allowed: Allowed) -> str:
    """Return the address to connect to; one that is not public among a name's refuses all of them."""
    try:
        found = await resolver(url.raw_host.decode("ascii"), url.port or (443 if url.scheme == "https" else 80))
    except (OSError, UnicodeError):
        found = []
    if not found:
        raise DocumentRefused("unreachable", "its host has no address", hint="look at the name, and at the network")
    if not all(map(is_allowed, found)):
        raise DocumentRefused(
            "private", "it leads to an address that is not public", hint="`--private` allows it, where it is your own"
        )
    return found[0].partition("%")[0]


async def _read(place: str, url: httpx.URL, response: httpx.Response) -> Fetched:
    if response.status_code != 200:
        raise DocumentRefused("unreachable", f"the server answers {response.status_code}", hint="open it in a browser")
    media, _, parameters = response.headers.get("content-type", "").partition(";")
    kind = find_kind_of_media(media.strip().lower(), url.path)
    if kind is None:
        raise DocumentRefused("binary", "the server says that it is no document", hint="name a page, a text or a PDF")
    data = bytearray()
    async for part in _decompressed(response):
        data += part
        if len(data) > BYTES_MAX:
            raise DocumentRefused("too large", f"it is larger than {BYTES_MAX >> 20} MiB", hint="save a part of it")
    if data[:5] == b"%PDF-" and kind != "pdf":
        raise DocumentRefused(
            "binary", "it is a PDF, and the server says that it is none", hint="save it, ingest the file"
        )
    return Fetched(str(_checked(place)), bytes(data), kind, _charset(parameters))


async def _decompressed(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the body, never much more than was asked for of what a small compressed one becomes."""
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding in ("identity", ""):
        async for raw in response.aiter_raw(65_536):
            yield raw
        return
    if coding not in _WINDOW_BITS:
        raise DocumentRefused(
            "unreachable", "the server compresses it in a way nobody asked for", hint="save it to a file"
        )
    inflate = zlib.decompressobj(_WINDOW_BITS[coding])
    async for raw in response.aiter_raw(65_536):
        yield inflate.decompress(raw, BYTES_MAX + 1)
        if inflate.unconsumed_tail:
            yield inflate.decompress(inflate.unconsumed_tail, BYTES_MAX + 1)


def _charset(parameters: str) -> str:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return {"iso-8859-1": "cp1252", "latin1": "cp1252", "utf8": "utf-8", "shift-jis": "shift_jis"}.get(
                encoding := value.strip(" \"'").lower()[:40], encoding
            )
    return ""


def _cause(error: Exception) -> str:
    """What kind of failure it was: its own words may quote the page's."""
    return type(error).__name__
