"""What `siftd team serve` is told, and what of it is refused before it listens."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from siftd.errors import ConfigInvalid, HttpRefused
from siftd.team_server.limits import (
    CALLERS_MAX,
    HELD_MAX,
    HELD_SECONDS,
    PER_MINUTE,
    STRANGERS_PER_MINUTE,
    Limits,
)  # fmt: skip
from siftd.team_server.settings import Serving, check, read_secret

CLEAR = "tokens and memories would pass in clear"


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "10.0.0.7", "192.0.2.1"])
def test_plain_http_is_served_to_this_machine_alone(address: str) -> None:
    with pytest.raises(ConfigInvalid, match=CLEAR):
        check(Serving("", address=address, names=("team.example",)))
    for loopback in ("127.0.0.1", "::1", "127.0.0.9"):
        check(Serving("", address=loopback))


def test_behind_a_named_proxy_or_with_a_certificate_others_may_ask(tmp_path: Path) -> None:
    pem = tmp_path / "pem"
    pem.write_text("-")
    for how in ({"trusted_proxies": frozenset({"10.0.0.2"})}, {"certificate": str(pem), "key": str(pem)}):
        check(Serving("", address="0.0.0.0", names=("team.example",), **how))  # type: ignore[arg-type]
        with pytest.raises(ConfigInvalid, match="by name"):
            check(Serving("", address="0.0.0.0", **how))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        {"certificate": "/nowhere"},
        {"key": "/nowhere"},
        {"certificate": "/nowhere", "key": "/nowhere"},
        {"trusted_proxies": frozenset({"proxy.example"})},
        {"names": ("https://team.example/",)},
        {"address": "localhost"},
        {"embedder_url": "http://192.0.2.1:11434"},
        {"embedder_url": "http://model.example"},
        {"embedder_url": "ftp://127.0.0.1"},
    ],
    ids=str,
)
def test_what_does_not_hold_together_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigInvalid):
        check(Serving("", **wrong))  # type: ignore[arg-type]


@pytest.mark.parametrize("url", ["http://127.0.0.1:11434", "https://models.example/v1", "http://ollama:11434", ""])
def test_an_embedder_is_asked_over_https_or_nearby(url: str) -> None:
    check(Serving("", embedder_url=url))


def test_a_secret_that_everybody_may_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "dsn"
    file.write_text("host=db\n")
    file.chmod(0o600)
    assert read_secret(str(file)) == "host=db"
    file.chmod(0o604)
    with pytest.raises(ConfigInvalid, match="every user"):
        read_secret(str(file))
    file.chmod(0o600)
    file.write_text(" \n")
    with pytest.raises(ConfigInvalid, match="empty"):
        read_secret(str(file))
    with pytest.raises(ConfigInvalid, match="cannot be read"):
        read_secret(str(tmp_path / "none"))


def test_a_dsn_is_in_no_representation() -> None:
    assert "hunter2" not in repr(Serving("password=hunter2"))


class Watch:
    """A clock that a test winds."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_each_token_has_a_bucket_of_its_own_that_fills_again() -> None:
    watch = Watch()
    limits = Limits(watch)
    for _ in range(PER_MINUTE["search"][1]):
        limits.take("search", b"ana")
    with pytest.raises(HttpRefused) as refused:
        limits.take("search", b"ana")
    assert (refused.value.status, refused.value.retry_after_seconds) == (429, 1)
    limits.take("search", b"ben")
    limits.take("write", b"ben", PER_MINUTE["write"][1])
    with pytest.raises(HttpRefused):
        limits.take("write", b"ben")
    limits.take("write", b"ana")
    watch.now = 1.0
    limits.take("search", b"ana")


def test_who_guesses_tokens_is_slowed_down_and_who_has_one_is_not() -> None:
    limits = Limits(Watch())
    limits.accept(b"ana")
    for number in range(STRANGERS_PER_MINUTE[1]):
        limits.take_stranger(b"%d" % number, "192.0.2.1")
    with pytest.raises(HttpRefused):
        limits.take_stranger(b"guess", "192.0.2.1")
    limits.take_stranger(b"ana", "192.0.2.1")
    limits.take_stranger(b"guess", "192.0.2.2")
    limits.reject(b"ana")
    with pytest.raises(HttpRefused):
        limits.take_stranger(b"ana", "192.0.2.1")


def test_one_token_holds_so_many_connections_and_leaves_others_theirs() -> None:
    limits = Limits(Watch())
    with ExitStack() as held:
        for _ in range(HELD_MAX):
            held.enter_context(limits.hold(b"ana"))
        with pytest.raises(HttpRefused) as refused, limits.hold(b"ana"):
            pass
        assert (refused.value.status, refused.value.retry_after_seconds) == (429, HELD_SECONDS)
        with limits.hold(b"ben"):
            pass
    with limits.hold(b"ana"):
        pass


def test_no_more_tokens_are_remembered_than_a_bound() -> None:
    limits = Limits(Watch())
    for number in range(CALLERS_MAX + 10):
        limits.accept(b"%d" % number)
    assert not limits.is_accepted(b"0")
    assert limits.is_accepted(b"%d" % (CALLERS_MAX + 9))
