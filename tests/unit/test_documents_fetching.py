"""A URL that a person named: fetched from the address that was judged, within limits, or refused with a reason."""

from __future__ import annotations

import functools
import gzip
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from siftd.documents import fetching
from siftd.documents.addresses import is_public
from siftd.documents.fetching import Fetched, fetch
from siftd.errors import DocumentRefused

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=ISO-8859-1\r\nConnection: close\r\n\r\n<h1>Guide</h1>"
Answer = Callable[[socket.socket], None]


@contextmanager
def _server(*answers: bytes | Answer, is_spoken_to: bool = True) -> Iterator[tuple[int, list[bytes]]]:
    """Serve one answer a connection; yield the port, and what was asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for answer in answers:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    if is_spoken_to:
                        asked.append(connection.recv(65_536))
                    try:
                        if callable(answer):
                            answer(connection)
                        else:
                            connection.sendall(answer)
                    except OSError:
                        continue  # whoever fetches has seen enough

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1], asked
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


class _Names:
    """A resolver that answers from a table, and counts."""

    def __init__(self, **addresses: str) -> None:
        self.addresses = addresses
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        return self.addresses.get(host.partition(".")[0], host).split()


def _is_here(address: str) -> bool:
    """This machine's first address stands in for the internet."""
    return address == "127.0.0.1" or is_public(address)


def _fetch(url: str, names: _Names | None = None, *, seconds_max: float = 20) -> Fetched:
    return fetch(url, is_allowed=_is_here, seconds_max=seconds_max, resolver=names or _Names(docs="127.0.0.1"))


def _reason(url: str, names: _Names | None = None, *, seconds_max: float = 20) -> str:
    with pytest.raises(DocumentRefused) as refused:
        _fetch(url, names, seconds_max=seconds_max)
    return refused.value.reason


def _redirect(to: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


def _ok(body: bytes, media: str = "text/plain", *headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", f"Content-Type: {media}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def test_a_page_is_fetched_from_the_address_that_was_judged_under_its_own_name() -> None:
    """The name means nothing to the system: whoever looked it up again would get nowhere, or elsewhere."""
    names = _Names(docs="127.0.0.1")
    with _server(HTML) as (port, asked):
        found = _fetch(f"http://docs.invalid:{port}/guide#part", names)
    assert found == Fetched(f"http://docs.invalid:{port}/guide", b"<h1>Guide</h1>", "html", "cp1252")
    assert names.asked == ["docs.invalid"]
    assert f"Host: docs.invalid:{port}\r\n".encode() in asked[0]
    assert b"GET /guide HTTP/1.1" in asked[0]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="nothing here makes a certificate")
def test_the_certificate_must_be_of_the_name_although_the_address_was_connected_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    named = "subjectAltName=DNS:docs.invalid"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-subj",
        "/CN=docs.invalid",
        "-addext",
        named,
    ]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    here = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    here.load_cert_chain(certificate, key)
    trusting = functools.partial(httpx.AsyncClient, verify=ssl.create_default_context(cafile=str(certificate)))
    monkeypatch.setattr(httpx, "AsyncClient", trusting)

    def encrypted(connection: socket.socket) -> None:
        connection.settimeout(5)
        with here.wrap_socket(connection, server_side=True) as inner:
            inner.recv(65_536)
            inner.sendall(HTML)

    table = _Names(docs="127.0.0.1", other="127.0.0.1")
    with _server(encrypted, encrypted, is_spoken_to=False) as (port, _):
        assert _fetch(f"https://docs.invalid:{port}/", table).kind == "html"
        assert _reason(f"https://other.invalid:{port}/", table) == "unreachable"


def test_nothing_of_the_environment_is_asked_for_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with _server(HTML) as (port, _):
        assert _fetch(f"http://docs.invalid:{port}/").kind == "html"


@pytest.mark.parametrize(
    "address",
    "127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 ::1 fe80::1 fc00::1"
    " ::ffff:10.0.0.1 64:ff9b::a00:1 2002:a00:1:: ::10.0.0.1 fec0::1 255.255.255.255 nonsense".split(),
)
def test_an_address_that_is_not_public_is_known_in_every_form(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"])
def test_a_public_address_is_known(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("host", ["127.0.0.2", "[::1]", "intern.invalid", "169.254.169.254", "2130706434"])
def test_a_url_to_a_private_address_is_refused(host: str) -> None:
    names = _Names(intern="192.168.0.7", **{"2130706434": "127.0.0.2"})
    assert _reason(f"http://{host}/", names) == "private"


def test_one_private_address_among_a_tablerefuses_it() -> None:
    assert _reason("http://docs.invalid/", _Names(docs="1.1.1.1 10.0.0.1")) == "private"


def test_a_redirect_to_a_private_address_is_refused() -> None:
    with _server(_redirect("http://intern.invalid/")) as (port, _):
        assert _reason(f"http://docs.invalid:{port}/", _Names(docs="127.0.0.1", intern="10.0.0.1")) == "private"


@pytest.mark.parametrize(
    "to", ["file:///etc/passwd", "ftp://docs.invalid/", "http://me:word@docs.invalid/", "gopher:x"]
)
def test_a_redirect_to_what_is_no_plain_address_of_the_web_is_refused(to: str) -> None:
    with _server(_redirect(to)) as (port, _):
        assert _reason(f"http://docs.invalid:{port}/") in ("no url", "secret", "unreachable")


def test_each_redirect_is_looked_up_and_the_last_place_is_told() -> None:
    names = _Names(docs="127.0.0.1", other="127.0.0.1")
    with _server(_redirect("/b"), HTML) as (port, _):
        assert _fetch(f"http://docs.invalid:{port}/a", names).url.endswith("/b")
    assert names.asked == ["docs.invalid", "docs.invalid"]


def test_redirects_without_an_end_are_refused() -> None:
    with _server(*[_redirect("/again")] * 6) as (port, _):
        assert _reason(f"http://docs.invalid:{port}/") == "unreachable"


def test_a_body_that_never_ends_is_refused_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "BYTES_MAX", 200_000)

    def without_end(connection: socket.socket) -> None:
        connection.sendall(_ok(b""))
        while True:
            connection.sendall(b"words " * 10_000)

    with _server(without_end) as (port, _):
        assert _reason(f"http://docs.invalid:{port}/") == "too large"


def test_a_small_body_that_becomes_a_large_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "BYTES_MAX", 1_000_000)
    bomb = gzip.compress(bytes(50_000_000))
    with _server(_ok(bomb, "text/plain", "Content-Encoding: gzip")) as (port, _):
        assert _reason(f"http://docs.invalid:{port}/") == "too large"


def test_a_compressed_page_is_read_although_nobody_asked_for_it() -> None:
    with _server(_ok(gzip.compress(b"words"), "text/plain", "Content-Encoding: gzip")) as (port, _):
        assert _fetch(f"http://docs.invalid:{port}/").data == b"words"


@pytest.mark.slow
@pytest.mark.parametrize("first", [b"", b"HTTP/1.1 200 OK\r\n", _ok(b"words")], ids=["nothing", "headers", "body"])
def test_a_server_that_says_nothing_more_is_left_in_time(first: bytes) -> None:
    """However it is slow: a byte now and then would satisfy a limit on each read."""
    is_left = threading.Event()

    def slow(connection: socket.socket) -> None:
        connection.sendall(first)
        is_left.wait(20)

    with _server(slow) as (port, _):
        try:
            assert _reason(f"http://docs.invalid:{port}/", seconds_max=0.3) == "too slow"
        finally:
            is_left.set()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (_ok(b"\x89PNG", "image/png"), "binary"),
        (_ok(b"%PDF-1.4", "text/html"), "binary"),
        (_ok(b"x", "text/plain", "Content-Encoding: br"), "unreachable"),
        (b"HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n", "unreachable"),
        (b"no HTTP at all\r\n\r\n", "unreachable"),
    ],
)
def test_what_is_no_document_is_refused(answer: bytes, reason: str) -> None:
    with _server(answer) as (port, _):
        assert _reason(f"http://docs.invalid:{port}/a.html") == reason


@pytest.mark.parametrize(
    ("media", "path", "kind"),
    [
        ("text/plain", "/README.md", "markdown"),
        ("text/plain", "/a.py", "code"),
        ("text/plain", "/a.html", "text"),
        ("text/markdown", "/x", "markdown"),
        ("application/octet-stream", "/a.rst", "rest"),
    ],
)
def test_the_content_type_decides_the_kind_and_the_path_where_it_says_little(media: str, path: str, kind: str) -> None:
    with _server(_ok(b"words", media)) as (port, _):
        assert _fetch(f"http://docs.invalid:{port}{path}").kind == kind


@pytest.mark.parametrize("url", ["docs/a.md", "file:///etc/passwd", "http://", "https://a/" + "x" * 3000])
def test_what_is_no_address_of_the_web_is_refused(url: str) -> None:
    assert _reason(url) == "no url"


def test_a_url_with_a_password_is_refused_before_anything_is_asked() -> None:
    assert _reason("https://me:word@docs.invalid/") == "secret"
