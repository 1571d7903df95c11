"""What bounds callers of the page's process, by a clock that is turned."""

from __future__ import annotations

import pytest

from siftd.errors import HttpRefused
from siftd.web.confirmation import GOOD_SECONDS, Confirmations
from siftd.web.credentials import CODE_SECONDS, CODES_MAX, Credentials
from siftd.web.guard import Guard
from siftd.web.idleness import Idleness
from siftd.web.limits import Bucket, Limits

PORT = 4711


class Watch:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.at = 1_000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def watch() -> Watch:
    return Watch()


def test_a_code_is_good_for_a_minute(watch: Watch) -> None:
    credentials = Credentials(watch)
    in_time, too_late = credentials.make_code(), credentials.make_code()
    watch.at += CODE_SECONDS
    assert credentials.log_in(in_time) is not None
    watch.at += 0.1
    assert credentials.log_in(too_late) is None


def test_newer_codes_take_the_place_of_the_oldest(watch: Watch) -> None:
    credentials = Credentials(watch)
    codes = [credentials.make_code() for _ in range(CODES_MAX + 1)]
    assert credentials.log_in(codes[0]) is None
    assert all(credentials.log_in(code) for code in codes[1:])


def test_a_page_is_a_person_and_the_files_token_a_program(watch: Watch) -> None:
    credentials = Credentials(watch)
    token = credentials.log_in(credentials.make_code())
    assert token is not None
    assert credentials.find(token) == "person"
    assert credentials.find(credentials.program_token) == "program"
    assert credentials.find("") is None
    assert credentials.find("\ud800") is None


def test_what_was_confirmed_is_what_was_shown_and_for_five_minutes(watch: Watch) -> None:
    confirmations = Confirmations(watch)
    value = confirmations.make(b"all of e1", "digest")
    assert confirmations.is_good(value, b"all of e1", "digest")
    assert not confirmations.is_good(value, b"all of e2", "digest")
    assert not confirmations.is_good(value, b"all of e1", "another")
    assert not Confirmations(watch).is_good(value, b"all of e1", "digest"), "of another process"
    for other in ("", ".", "9" * 30, value.replace(value[:4], "9999"), value + "0", "٣.x", "\ud800"):
        assert not confirmations.is_good(other, b"all of e1", "digest")
    watch.at += GOOD_SECONDS + 1
    assert not confirmations.is_good(value, b"all of e1", "digest")


def test_a_bucket_lets_a_burst_through_and_then_says_how_long_to_wait(watch: Watch) -> None:
    bucket = Bucket(0.5, 2, watch)
    assert [bucket.take() for _ in range(3)] == [True, True, False]
    assert bucket.wait_seconds == 2
    watch.at += bucket.wait_seconds
    assert bucket.take()


async def ask(guard: Guard, path: str, token: str, method: str = "GET") -> int:
    """Return the status of an answer."""
    sent: list[int] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, object]) -> None:  # type: ignore[misc]
        if message["type"] == "http.response.start":
            sent.append(message["status"])  # type: ignore[arg-type]

    headers = [(b"host", b"127.0.0.1:%d" % PORT), (b"authorization", f"Bearer {token}".encode())]
    scope = {"type": "http", "path": path, "method": method, "headers": headers}
    await guard(scope, receive, send)  # type: ignore[arg-type]
    return sent[0]


async def answering(scope: object, receive: object, send: object) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore[operator]
    await send({"type": "http.response.body", "body": b""})  # type: ignore[operator]


async def test_who_guesses_tokens_is_slowed_down_and_who_has_one_is_not(watch: Watch) -> None:
    credentials = Credentials(watch)
    guard = Guard(answering, PORT, credentials, Limits(watch))
    statuses = [await ask(guard, "/api/projects", "guess") for _ in range(200)]
    assert set(statuses) == {401, 429}
    assert statuses[-1] == 429
    assert await ask(guard, "/api/projects", credentials.program_token) == 200


async def test_who_needs_no_token_uses_up_nothing_of_those_who_have_one(watch: Watch) -> None:
    credentials = Credentials(watch)
    guard = Guard(answering, PORT, credentials, Limits(watch))
    statuses = [await ask(guard, "/health", "") for _ in range(2_000)]
    assert statuses[-1] == 429
    assert await ask(guard, "/api/projects", credentials.program_token) == 200


async def test_a_page_that_runs_wild_is_told_to_come_again(watch: Watch) -> None:
    credentials = Credentials(watch)
    guard = Guard(answering, PORT, credentials, Limits(watch))
    for method in ("GET", "POST"):
        statuses = [await ask(guard, "/api/x", credentials.program_token, method) for _ in range(2_000)]
        assert statuses[0] == 200
        assert statuses[-1] == 429


async def test_a_refusal_does_not_keep_the_process_alive_and_an_open_page_does(watch: Watch) -> None:
    idleness = Idleness(watch, 900)
    credentials = Credentials(watch)
    guard = Guard(answering, PORT, credentials, Limits(watch))
    watched = idleness.watching(guard)
    watch.at += 899
    await ask(watched, "/api/x", "guess")  # type: ignore[arg-type]
    await ask(watched, "/health", "")  # type: ignore[arg-type]
    watch.at += 1
    assert idleness.is_over
    await ask(watched, "/api/x", credentials.program_token)  # type: ignore[arg-type]
    assert not idleness.is_over

    async def holding(scope: object, receive: object, send: object) -> None:
        watch.at += 100_000
        assert not idleness.is_over
        await answering(scope, receive, send)

    await ask(idleness.watching(Guard(holding, PORT, credentials, Limits(watch))), "/api/x", credentials.program_token)  # type: ignore[arg-type]
    watch.at += 900
    assert idleness.is_over


def test_a_refusal_says_when_to_come_again() -> None:
    refused = HttpRefused(429, "too_often", "too many requests", retry_after_seconds=3)
    assert (refused.status, refused.retry_after_seconds) == (429, 3)
