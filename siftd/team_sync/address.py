"""Where a team's server is: https, or http on this machine alone."""

from __future__ import annotations

from urllib.parse import urlsplit

from siftd.config import is_loopback
from siftd.errors import RequestInvalid

URL_CHARS_MAX = 500
_HINT = "give https://team.example, or http://127.0.0.1:PORT on this machine"


def checked_url(text: str) -> str:
    """Return the address that requests begin with. Raises RequestInvalid for what is none, or is not to be trusted."""
    text = text.strip()
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise RequestInvalid("this is no address of a server", hint=_HINT) from error
    if len(text) > URL_CHARS_MAX or not host or not text.isascii() or any(each <= " " for each in text):
        raise RequestInvalid("this is no address of a server", hint=_HINT)
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise RequestInvalid("an address holds no name, password, question mark or number sign", hint=_HINT)
    if parts.scheme == "http" and not is_loopback(text):
        raise RequestInvalid("http is for this machine alone: what is shared would be readable on its way", hint=_HINT)
    if parts.scheme not in ("http", "https"):
        raise RequestInvalid("a team's server is asked by https", hint=_HINT)
    del port  # it was read to see that it is one
    return text.rstrip("/")
