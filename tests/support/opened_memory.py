"""A whole workspace as the daemon opens it, in this process, and its requests without a socket."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from described import expect_described
from empty_store import place_empty_store

from siftd.config import Settings
from siftd.daemon.handlers.router import Handlers
from siftd.daemon.ingest.spool_intake import SpoolIntake
from siftd.daemon.services import Services
from siftd.daemon.storage import Storage
from siftd.wire.requests import Capture, decode_request, encode
from siftd.workspace.home import LoadedSettings, ensure_workspace
from siftd.workspace.identity import Workspace, find_workspace
from siftd.workspace.paths import Home

NOW = 1_790_000_000_000
DAY = 86_400_000


class Hands:
    """A clock whose hands the test moves."""

    def __init__(self, now_ms: int = NOW) -> None:
        self.at = now_ms

    def now_ms(self) -> int:
        return self.at

    def monotonic(self) -> float:
        return self.at / 1000


class SetClock(Hands):
    """A clock that is set while time goes on: `set_by` moves its hands alone."""

    def __init__(self, now_ms: int = NOW) -> None:
        super().__init__(now_ms)
        self._wrong_by = 0

    def set_by(self, ms: int) -> None:
        self.at += ms
        self._wrong_by += ms

    def monotonic(self) -> float:
        return (self.at - self._wrong_by) / 1000


class _Progress:
    """Stands for the place of an answer on a connection."""

    def __init__(self) -> None:
        self.frames: list[dict[str, Any]] = []

    def progress(self, message: bytes) -> None:
        self.frames.append(json.loads(message)["progress"])


class Memory:
    """One open workspace."""

    def __init__(self, services: Services, clock: Hands) -> None:
        self.services = services
        self.clock = clock
        self._handlers = Handlers(services, self._stop)

    async def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Return the answer to a request as it would arrive over the socket. Raises SiftdError."""
        request = decode_request(json.dumps({"kind": kind, **fields}).encode())
        answer: dict[str, Any] = json.loads(encode(await self._handlers.answer(request, _Progress())))  # type: ignore[arg-type]
        expect_described(request, answer)
        return answer

    async def capture(self, number: int = 0, **fields: Any) -> int:
        """Keep a small tool call; return its id."""
        payload = {"tool_input": {"command": f"make part{number}"}, "tool_response": {"stdout": f"part{number} built"}}
        said = {"sessionId": "first", "tool": "Bash", "payload": payload, "ts": NOW - DAY + number, **fields}
        request = decode_request(json.dumps({"kind": "capture", **said}).encode())
        assert isinstance(request, Capture)
        receipt = await self.services.committer.keep(self.services.intake.from_capture(request, 100))
        assert receipt.event_id is not None
        return receipt.event_id

    async def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return await self.services.store.read(lambda c: c.execute(sql, values).fetchall())

    async def by_hand(self, sql: str, *values: Any) -> None:
        """Change the database as a person with sqlite3 does."""
        await self.services.store.write(lambda c: c.execute(sql, values).fetchall())

    async def take_spool(self) -> None:
        """Take in what is spooled, as a tick does."""
        keep = partial(self.services.committer.keep, way="spooled")
        await SpoolIntake(self.services.storage, keep).take()

    def log_bytes(self) -> bytes:
        return Path(self.services.paths.wal).read_bytes()

    async def _stop(self, hold: bool) -> None:
        raise AssertionError("no test stops it")


@asynccontextmanager
async def opened(folder: Path, clock: Hands | None = None, key: str = "", **values: Any) -> AsyncIterator[Memory]:
    """Open a workspace below `folder`, and close it again; settings are given with `_` for `.`."""
    hands = clock or Hands()
    workspace = Workspace(str(folder), key or find_workspace(str(folder)).key)
    paths = Home(str(folder / "home")).for_workspace(workspace.key)
    ensure_workspace(paths)
    place_empty_store(paths, hands.now_ms())
    settings = Settings.of({name.replace("_", "."): value for name, value in values.items()})
    storage = Storage(workspace, paths, LoadedSettings(settings), hands)
    services = Services(storage, bool)
    try:
        yield Memory(services, hands)
    finally:
        services.close()
        await storage.close()


async def rebuilt(folder: Path) -> None:
    """Delete the database: the next opening has the log alone."""
    home = Home(str(folder / "home")).for_workspace(find_workspace(str(folder)).key)
    for suffix in ("", "-wal", "-shm"):
        Path(f"{home.database}{suffix}").unlink(missing_ok=True)
