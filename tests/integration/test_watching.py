"""Being told by the daemon what happens, over its socket."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from daemons import Place, RawClient, is_alive, wait_until

from siftd.daemon.live import WATCHERS_MAX
from siftd.wire.frames import encode_json

SECRET = "the quick brown alder"

FLOOD, AT_ONCE = 6_400, 128
"""More than a socket, the daemon's own buffer and the ring hold together."""


def flooding(number: int) -> dict[str, Any]:
    payload = {"tool_input": {"command": f"make target-{number}"}}
    said = {"sessionId": "s" * 250, "tool": "Bash", "payload": payload, "ts": 1_760_000_000_000 + number}
    return {"kind": "capture", **said}


class Watcher:
    """One connection that watches."""

    def __init__(self, client: RawClient, **asked: Any) -> None:
        self.client = client
        client.send(encode_json({"kind": "watch", **asked}))
        self.place = self._next()
        self._waiting: list[list[Any]] = []

    def _next(self) -> dict[str, Any]:
        """Return the next progress that says something."""
        while True:
            message = self.client.answer()
            assert message is not None, "the daemon has ended the connection"
            assert "progress" in message, message
            if "alive" not in message["progress"]:
                found: dict[str, Any] = message["progress"]
                return found

    def happening(self) -> list[Any]:
        """Return the next thing that happened: its number, its kind, what is told of it."""
        while not self._waiting:
            self._waiting += self._next()["happened"]
        return self._waiting.pop(0)

    def until(self, kind: str) -> dict[str, Any]:
        """Return what is told of the next thing of a kind."""
        while True:
            _, found, data = self.happening()
            if found == kind:
                return dict(data)


@pytest.fixture
def up(place: Place) -> Place:
    place.start()
    return place


def test_a_capture_is_told_without_a_word_of_it(up: Place) -> None:
    with RawClient(up.paths) as client:
        watcher = Watcher(client)
        assert watcher.place["reset"] is False
        payload = {"tool_input": {"command": SECRET}, "tool_response": {"stdout": SECRET}}
        up.capture(1, payload=payload)
        seq, kind, data = watcher.happening()
        assert (seq, kind) == (watcher.place["seq"] + 1, "captured")
        assert (data["id"], data["tool"], data["sessionId"]) == ("e1", "Bash", "by-socket")
        assert SECRET not in json.dumps(data)


def test_what_was_there_already_is_not_told_again(up: Place) -> None:
    with RawClient(up.paths) as client:
        watcher = Watcher(client)
        for uid in ("a" * 32, "a" * 32, "b" * 32):
            up.capture(1, uid=uid)
        assert [watcher.happening()[2]["id"] for _ in range(2)] == ["e1", "e2"]


def test_a_drain_a_vector_and_a_forget_are_told(up: Place) -> None:
    with RawClient(up.paths) as client:
        watcher = Watcher(client)
        up.capture(1)
        up.ask("drain")
        assert watcher.until("memory:indexed")["source"] == "summary"
        assert watcher.until("drain")["processed"] == 1
        kept = up.ask("remember", text="The queue runs on Postgres")["id"]
        indexed = watcher.until("memory:indexed")
        assert (indexed["id"], indexed["source"]) == (kept, "memory")
        up.ask("forget", ids=["e1"], dryRun=True)
        up.ask("forget", ids=["e1"], dryRun=False)
        assert watcher.until("forgotten")["matched"] == 1


def test_whoever_comes_back_goes_on_where_it_was(up: Place) -> None:
    with RawClient(up.paths) as client:
        epoch = Watcher(client).place["epoch"]
    for number in range(3):
        up.capture(number)
    with RawClient(up.paths) as client:
        watcher = Watcher(client, epoch=epoch, after=1)
        assert watcher.place["reset"] is False
        assert [watcher.happening()[2]["id"] for _ in range(2)] == ["e2", "e3"]


def test_whoever_comes_back_too_late_or_to_another_daemon_learns_that_it_missed_something(up: Place) -> None:
    with RawClient(up.paths) as client:
        epoch = Watcher(client).place["epoch"]
    up.capture(1)
    up.ask("forget", ids=["e1"], dryRun=False)
    with RawClient(up.paths) as client:
        assert Watcher(client, epoch=epoch, after=0).place["reset"]
    up.stop()
    up.start()
    with RawClient(up.paths) as client:
        place = Watcher(client, epoch=epoch, after=1).place
        assert place["reset"]
        assert place["epoch"] != epoch


def test_one_that_does_not_read_costs_no_capture_and_finds_that_it_missed_something(up: Place) -> None:
    with RawClient(up.paths) as slow, RawClient(up.paths) as client:
        Watcher(slow)
        for batch in range(FLOOD // AT_ONCE):
            client.send(b"".join(encode_json(flooding(batch * AT_ONCE + each)) for each in range(AT_ONCE)))
            answers = [client.answer() for _ in range(AT_ONCE)]
            assert all(answer is not None and answer["eventId"] for answer in answers)
        resets = 0
        numbers: list[int] = []
        while not numbers or numbers[-1] < FLOOD:
            said = _progress(slow)
            resets += bool(said.get("reset"))
            numbers += [each[0] for each in said.get("happened", [])]
        assert numbers == sorted(set(numbers))
        assert resets


def _progress(client: RawClient) -> dict[str, Any]:
    message = client.answer()
    assert message is not None
    found: dict[str, Any] = message["progress"]
    return found


def test_those_who_watch_keep_no_daemon_from_ending(up: Place) -> None:
    pid = up.pid()
    assert pid is not None
    with RawClient(up.paths) as client:
        Watcher(client)
        os.kill(pid, signal.SIGTERM)
        wait_until("it has ended", lambda: not is_alive(pid))
        assert client.answer() in ({"ok": True}, None)


def test_more_than_a_few_are_refused(up: Place) -> None:
    def clients() -> Iterator[RawClient]:
        for _ in range(WATCHERS_MAX):
            yield RawClient(up.paths)

    opened = list(clients())
    try:
        for client in opened:
            Watcher(client)
        with RawClient(up.paths) as client:
            client.send(encode_json({"kind": "watch"}))
            answer = client.answer()
            assert answer is not None
            assert answer["error"]["code"] == "bad_request"
    finally:
        for client in opened:
            client.__exit__()
