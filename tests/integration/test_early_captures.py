"""A daemon that has just accepted: captures and `hello` do not wait for everything that works on them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from daemons import Place

from siftd.clock import SystemClock
from siftd.config import Settings
from siftd.daemon import server
from siftd.daemon.endpoint import Endpoint
from siftd.daemon.storage import Storage
from siftd.wire.frames import encode_json
from siftd.workspace.home import LoadedSettings, ensure_workspace
from siftd.workspace.identity import find_workspace


@pytest.fixture
def place() -> Iterator[Place]:
    made = Place()
    yield made
    made.end()


def test_captures_are_acknowledged_before_the_rest_is_imported_and_the_rest_finds_them(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    anyio.run(take_early, place, monkeypatch)


async def take_early(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    may_load, load = threading.Event(), server.load_services

    def load_late() -> Any:
        assert may_load.wait(60)
        return load()

    monkeypatch.setattr(server, "load_services", load_late)
    ensure_workspace(place.paths)
    endpoint = Endpoint(place.paths)
    storage = Storage(find_workspace(str(place.folder)), place.paths, LoadedSettings(Settings()), SystemClock())
    async with anyio.create_task_group() as tasks:
        daemon = server.Daemon(storage, endpoint, tasks, SystemClock())
        await daemon.accept()
        tasks.start_soon(daemon.start_services)
        reader, writer = await asyncio.open_unix_connection(place.paths.socket)

        async def ask(message: dict[str, Any]) -> dict[str, Any]:
            writer.write(encode_json(message))
            with anyio.fail_after(30):
                size = int.from_bytes(await reader.readexactly(4), "big")
                answer: dict[str, Any] = json.loads(await reader.readexactly(size))
            return answer

        assert (await ask({"kind": "hello"}))["pid"] == storage.pid
        payload = {"tool_input": {"command": "make early"}, "tool_response": {"stdout": "built"}}
        message = {"kind": "capture", "sessionId": "s", "tool": "Bash", "ts": 1_760_000_000_000, "payload": payload}
        assert (await ask(message))["eventId"] == 1
        may_load.set()
        assert (await ask({"kind": "drain"}))["pending"] == 0
        assert [hit["eventId"] for hit in (await ask({"kind": "search", "query": "early"}))["hits"]] == [1]
        writer.close()
        await writer.wait_closed()
        await daemon.finish()
        tasks.cancel_scope.cancel()
    await storage.close()
    endpoint.close()
