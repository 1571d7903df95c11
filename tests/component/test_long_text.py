"""A long text is redacted beside the event loop: meanwhile the daemon answers others."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from opened_memory import NOW, opened

from siftd.daemon.ingest.captures import Captures
from siftd.daemon.ingest.large_messages import Apart
from siftd.wire.frames import encode_hook
from siftd.wire.requests import Capture


class Place:
    """Stands for the place of an answer on a connection."""

    def __init__(self) -> None:
        self.is_answered = asyncio.Event()

    def send(self, _: bytes) -> None:
        self.is_answered.set()


@pytest.mark.parametrize(("chars", "is_apart"), [(100, False), (64 * 1024, True)])
async def test_a_long_text_is_redacted_in_no_event_loop_whichever_way_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chars: int, is_apart: bool
) -> None:
    async with opened(tmp_path) as memory:
        services = memory.services
        in_the_loop: list[bool] = []
        redact = services.intake.admit

        def watched(*arguments: Any, **options: Any) -> Any:
            in_the_loop.append(threading.current_thread() is threading.main_thread())
            return redact(*arguments, **options)

        monkeypatch.setattr(services.intake, "admit", watched)
        apart = Apart(services.paths, services.workspace.root, services.intake)
        captures = Captures(services.intake, apart, services.committer, lambda: NOW, lambda _: None)
        envelope = {
            "hook_event_name": "UserPromptSubmit",
            "session_id": "s1",
            "prompt_id": "p1",
            "cwd": services.workspace.root,
            "prompt": "word " * (chars // 5),
        }
        header = {"client": "claude-code", "frameUid": "ab" * 16, "ts": NOW, "root": services.workspace.root}
        frame = encode_hook(json.dumps(header).encode(), json.dumps(envelope).encode())[4:]
        hook, request = Place(), Place()
        captures.take_hook(frame, hook)  # type: ignore[arg-type]
        await hook.is_answered.wait()
        payload = {"tool_input": {"command": envelope["prompt"]}}
        captures.take_capture(Capture(session_id="s1", tool="Bash", payload=payload, ts=NOW), chars, request)  # type: ignore[arg-type]
        await request.is_answered.wait()
        await services.injector.answer_hook(b"\x02" + frame[1:])
        assert in_the_loop == [not is_apart] * 3
