"""Large messages, read in a process of their own (`siftd.capture.admit_process`) instead of the daemon's."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import msgspec
import structlog

from siftd.capture.admission import Captured
from siftd.capture.admit_process import Order
from siftd.capture.intake import Ignored, Intake, OptedOut
from siftd.errors import EnvelopeRejected, WrongWorkspace
from siftd.resources import entry_point
from siftd.workspace.identity import path_as_text
from siftd.workspace.paths import WorkspacePaths

log = structlog.get_logger()

AT_A_TIME = 2
"""Processes that read. Arbitrary: what comes in larger numbers waits, and its hooks have gone long ago."""
_PIECE_BYTES = 256 * 1024


class NoCapture(Exception):
    """The message is a request of another kind."""


class Apart:
    """Has large messages of one workspace read by processes of their own."""

    def __init__(self, paths: WorkspacePaths, root: str, intake: Intake) -> None:
        self._paths = paths
        self._root = root
        self._intake = intake
        self._places = asyncio.Semaphore(AT_A_TIME)

    async def admit(self, message: bytes) -> Captured:
        """Return what a message says. Raises what `Intake` raises, NoCapture for another request, and OSError when
        no process can be had: then nobody has looked at it.
        """
        order = Order(
            home=self._paths.home.root,
            namespace=self._paths.home.namespace,
            key=self._paths.key,
            root=path_as_text(self._root),
            settings=self._intake.settings.by_key(),
        )
        async with self._places:
            reply = await _reply_to(msgspec.json.encode(order) + b"\n", message)
        match reply:
            case {"kept": dict(stored), "learnt": list(learnt)}:
                return await asyncio.to_thread(self._taken, stored, [each for each in learnt if isinstance(each, str)])
            case {"off": {"session_id": str(session_id), "ts": int(ts)}}:
                raise OptedOut(session_id, ts)
            case {"ignored": True}:
                raise Ignored("ignored", "capture.ignore says that this is not captured")
            case {"elsewhere": True}:
                raise WrongWorkspace("the hook's folder belongs to another workspace", hint="`mem doctor` there")
            case {"other": True}:
                raise NoCapture
            case {"refused": {"code": str(code), "reason": str(reason), "message": str(words), "hint": str(hint)}}:
                error = EnvelopeRejected(reason, words)
                error.code, error.hint = code, hint
                raise error
        raise EnvelopeRejected("internal", "the daemon failed to read a large message")

    def _taken(self, stored: dict[str, Any], learnt: list[str]) -> Captured:
        self._intake.values.learn(str(stored.get("session_id")), learnt)
        return self._intake.admission.readmit(stored)


async def _reply_to(order: bytes, message: bytes) -> Any:
    """Return what the process says; None when it was ended by what it read."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        entry_point(),
        "admit",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        reading = asyncio.create_task(process.stdout.read())
        try:
            process.stdin.write(order)
            for start in range(0, len(message), _PIECE_BYTES):
                process.stdin.write(message[start : start + _PIECE_BYTES])
                await process.stdin.drain()
        except ConnectionError:
            pass  # it has ended: its answer tells, or its silence
        process.stdin.close()
        said = await reading
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
    try:
        return await asyncio.to_thread(msgspec.json.decode, said)
    except msgspec.MsgspecError:
        log.warning("message_ended_its_reader", bytes=len(message), status=process.returncode)
        return None
