"""A fault of the daemon's own is not the event's: whoever sent it is told to come again, and its courier spools it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opened_memory import NOW, opened

from siftd.daemon.ingest.captures import LARGE_BYTES, Captures
from siftd.daemon.ingest.large_messages import Apart
from siftd.errors import StoreClosed
from siftd.wire.requests import Capture


class Place:
    """Stands for the place of an answer on a connection."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    def send(self, message: bytes) -> None:
        self.answer.set_result(json.loads(message))


def failing(error: BaseException) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        raise error

    return fail


CAPTURE = Capture(session_id="s1", tool="Bash", payload={}, ts=NOW)
OURS = [OSError(24, "no descriptors"), MemoryError(), ImportError("late"), RuntimeError("no thread")]
THEIRS = [ValueError(), KeyError("x"), RecursionError()]


@pytest.mark.parametrize("size", [100, LARGE_BYTES + 1])
@pytest.mark.parametrize(("error", "retry"), [*((each, True) for each in OURS), *((each, False) for each in THEIRS)])
async def test_a_lack_of_our_own_is_answered_so_that_the_event_is_spooled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, retry: bool, size: int
) -> None:
    async with opened(tmp_path) as memory:
        services = memory.services
        apart = Apart(services.paths, services.workspace.root, services.intake)
        captures = Captures(services.intake, apart, services.committer, lambda: NOW, lambda _: None)
        place = Place()
        monkeypatch.setattr(services.intake, "from_capture", failing(error))
        captures.take_capture(CAPTURE, size, place)  # type: ignore[arg-type]
        told = await place.answer
        assert (told["ok"], told["retry"]) == (False, retry)
        await asyncio.gather(*captures._background)
        rejections = (await memory.ask("info"))["rejections"]
        assert [each["reason"] for each in rejections] == ([] if retry else ["internal"])


async def test_a_group_that_memory_does_not_suffice_for_is_not_refused_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as memory:
        committer = memory.services.committer
        intent = memory.services.intake.opt_out("s", NOW)
        with monkeypatch.context() as patched:
            patched.setattr(committer, "identify", lambda _: failing(MemoryError())())
            receipt = await committer.keep(intent)
        assert receipt.error is not None
        assert receipt.error.retry
        assert (await committer.keep(intent)).error is None


async def test_whoever_asks_a_store_that_is_closed_is_told_that_the_daemon_ends(tmp_path: Path) -> None:
    """Not that something failed: a request whose second look comes after the end is for the next daemon."""
    async with opened(tmp_path) as memory:
        services = memory.services
        services.close()
        with pytest.raises(StoreClosed):
            await services.store.read(lambda _: None)
        await services.committer.stop()
        with pytest.raises(StoreClosed):
            await services.committer.run(lambda _: None)
