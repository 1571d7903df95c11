"""Any program that reads a prompt on its standard input and prints one JSON object.

Where the words go from there nobody here can know: it counts as remote. It runs without a shell, in a process group of
its own, which is killed whole when the answer is late; and with SIFTD_OFF=1, so that an agent used as a
summariser is not itself captured, and SIFTD_BACKEND=1, so that its hooks do not even say that it is off.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
from anyio.abc import Process

from siftd.summarise.errors import ModelRefused, ModelUnavailable
from siftd.summarise.model import Answer, Conversation
from siftd.summarise.prompt import Prompt

MAX_OUTPUT_BYTES = 1024 * 1024
_CHARS_PER_TOKEN = 4


class CommandServer:
    """One run of the program for each answer; `{model}` in its arguments is the model's name."""

    is_remote = True

    def __init__(
        self,
        argv: Sequence[str],
        *,
        model: str = "",
        folder: str | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """`folder` is where it runs; None: where this process does."""
        self._argv = [word.replace("{model}", model) for word in argv]
        self.name = f"command:{model or Path(self._argv[0]).name}"
        self.deciding = "\0".join(self._argv)
        self._folder = folder
        self._environ = environ

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Conversation]:
        yield self

    async def ask(self, prompt: Prompt) -> Answer:
        text = f"{prompt.rules}\n\n{prompt.message}\n"
        output = await self._run(text.encode("utf-8", "replace"))
        said = output.decode("utf-8", "replace")
        return Answer(said, tokens_in=-(-len(text) // _CHARS_PER_TOKEN), tokens_out=-(-len(said) // _CHARS_PER_TOKEN))

    async def _run(self, given: bytes) -> bytes:
        program = Path(self._argv[0]).name
        try:
            process = await anyio.open_process(
                self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self._folder,
                env={**self._environ, "SIFTD_OFF": "1", "SIFTD_BACKEND": "1"},
                start_new_session=True,
            )
        except FileNotFoundError:
            raise ModelUnavailable(f"the command {program} is not installed or not on the daemon's PATH") from None
        except OSError as error:
            raise ModelUnavailable(f"the command {program} cannot be run ({type(error).__name__})") from None
        has_ended = False
        try:
            output = await _converse(process, given)
            status = await process.wait()
            has_ended = True
        finally:
            if not has_ended:
                _kill_group(process.pid)
            with anyio.CancelScope(shield=True):
                await process.aclose()
        if status != 0:
            raise ModelUnavailable(f"the command {program} ended with status {status}")
        return output


async def _converse(process: Process, given: bytes) -> bytes:
    """Write the prompt while reading the answer: neither side may fill a pipe and wait for the other."""
    output = bytearray()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_feed, process, given)
        assert process.stdout is not None
        async for chunk in process.stdout:
            output += chunk
            if len(output) > MAX_OUTPUT_BYTES:
                break
        tasks.cancel_scope.cancel()
    if len(output) > MAX_OUTPUT_BYTES:
        raise ModelRefused("the command printed too much")
    return bytes(output)


async def _feed(process: Process, given: bytes) -> None:
    if process.stdin is not None:
        # A program may answer without reading everything; that is its right.
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await process.stdin.send(given)
        with suppress(OSError, anyio.BrokenResourceError):
            await process.stdin.aclose()


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
