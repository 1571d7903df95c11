"""What `siftd team serve` is told: where it listens, under which names, before which PostgreSQL, with which embedder.

What is served in clear stays on the loopback or behind a proxy that was named. Secrets are read from private files,
never from arguments, which every user of the machine sees.
"""

from __future__ import annotations

import ipaddress
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from siftd.config import is_loopback as is_loopback_url
from siftd.errors import ConfigInvalid

FILE_BYTES_MAX = 64 * 1024
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
PORT = 7433


@dataclass(frozen=True, slots=True, repr=False)
class Serving:
    """One server. Without a `repr`: a DSN is a secret."""

    dsn: str
    address: str = "127.0.0.1"
    port: int = PORT
    names: tuple[str, ...] = ()
    """What a request's Host may be besides the loopback's names, with a port where it is not the scheme's own."""
    replica_dsn: str | None = None
    listen_dsn: str | None = None
    """Past a pooler, which forgets who listens. Without one the server's own way is tried."""
    certificate: str | None = None
    key: str | None = None
    trusted_proxies: frozenset[str] = frozenset()
    embedders: tuple[str, ...] = ()
    """Models that projects may name besides the built-in ones."""
    embedder_url: str = ""
    embedder_key: str = ""
    webhooks: str | None = None
    """The file that says which project's webhooks are taken, and by which secret they are known."""

    @property
    def is_tls(self) -> bool:
        return self.certificate is not None


def check(serving: Serving) -> Serving:
    """Return settings that hold together. Raises ConfigInvalid with the remedy."""
    if (serving.certificate is None) != (serving.key is None):
        raise ConfigInvalid("a certificate needs its key, and a key its certificate", hint="give both, or neither")
    for path in filter(None, (serving.certificate, serving.key)):
        if not Path(path).is_file():
            raise ConfigInvalid("the certificate or its key is not there", hint="--certificate and --key name files")
    for proxy in serving.trusted_proxies:
        _address_of(proxy, "--trusted-proxy")
    if not is_loopback(serving.address) and not serving.is_tls and not serving.trusted_proxies:
        raise ConfigInvalid(
            "tokens and memories would pass in clear",
            hint="give --certificate and --key, or --trusted-proxy with the address of the proxy that has them,"
            " or listen on 127.0.0.1",
        )
    if not is_loopback(serving.address) and not serving.names:
        raise ConfigInvalid("nobody could reach this server by name", hint="--host NAME, as laptops will call it")
    if serving.embedder_url and not _is_private(serving.embedder_url):
        raise ConfigInvalid(
            "what is remembered would pass to the embedder in clear",
            hint="https://, or http:// to this machine or to a neighbour whose name has no dot (a container's)",
        )
    for name in serving.names:
        if not name or "/" in name or " " in name or name != name.lower():
            raise ConfigInvalid("--host is a name as it stands in an address", hint="team.example.org, or with :PORT")
    return serving


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches an address."""
    return _address_of(address, "--address").is_loopback


def read_secret(path: str) -> str:
    """Return what a private file holds. Raises ConfigInvalid for one that others may read."""
    try:
        with Path(path).open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = file.read(FILE_BYTES_MAX).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"{path} cannot be read ({type(error).__name__})", hint="a file of text") from error
    if mode & 0o007:
        raise ConfigInvalid(f"every user of this machine may open {path}", hint=f"chmod 600 {path}")
    if not text:
        raise ConfigInvalid(f"{path} is empty", hint="one line")
    return text


def _address_of(text: str, option: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        raise ConfigInvalid(f"{option} is no address", hint="as 127.0.0.1, 0.0.0.0 or 10.0.0.7") from None


def _is_private(url: str) -> bool:
    parts = urlsplit(url)
    host = parts.hostname or ""
    is_near = is_loopback_url(url) or (host.isascii() and host.isalnum() and not host.isdigit())
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_near))
