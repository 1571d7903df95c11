"""A program that draws on a terminal of its own, as somebody in front of it sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

SECONDS = 60.0
"""For what never comes: a busy machine is not what a test is about."""
_CONTROLLED = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Makes the terminal the one whose Ctrl-C and hang-up the program gets."""
_FRAME = re.compile(r"\x1b\[H((?:(?!\x1b\[H).)*)\x1b\[J", re.DOTALL)
_STYLE = re.compile(r"\x1b\[[0-9;]*m")


class LiveProgram:
    """A running program, and what its terminal shows."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], folder: Path, *, columns: int = 80, lines: int = 24
    ) -> None:
        self._ours, self._theirs = pty.openpty()
        self.resize(columns, lines, is_signalled=False)
        self.before = self.attributes()
        self.process = subprocess.Popen(
            [sys.executable, "-c", _CONTROLLED, *command],
            cwd=folder,
            env={"TERM": "xterm-256color", **env},
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
            start_new_session=True,
        )
        self.shown = ""
        self._undecoded = b""

    def __enter__(self) -> LiveProgram:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)
        os.close(self._theirs)

    def attributes(self) -> list[Any]:
        """Return how the terminal takes keys and shows them."""
        return termios.tcgetattr(self._theirs)

    def resize(self, columns: int, lines: int, *, is_signalled: bool = True) -> None:
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        if is_signalled:
            self.process.send_signal(signal.SIGWINCH)

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def hang_up(self) -> None:
        """Close the terminal, as an ssh connection that breaks does, and wait for the program's end."""
        os.close(self._ours)
        self._ours = os.open(os.devnull, os.O_RDWR)
        self.process.wait(SECONDS)

    def frame(self) -> list[str]:
        """Return the lines that were drawn last, without their colours."""
        frames = _FRAME.findall(self.shown)
        return re.split("\r+\n", _STYLE.sub("", frames[-1]).replace("\x1b[K", "")) if frames else []

    def wait_for(self, what: str, is_seen: Callable[[LiveProgram], object]) -> None:
        """Read what is drawn until that is seen; `what` says what never came."""
        deadline = time.monotonic() + SECONDS
        while not is_seen(self):
            assert time.monotonic() < deadline, (what, self.frame() or self.shown[-2000:])
            self._read()

    def wait_for_text(self, text: str) -> list[str]:
        """Return the lines of the first frame that has this text."""
        self.wait_for(text, lambda it: any(text in line for line in it.frame()))
        return self.frame()

    def ended(self) -> int:
        """Wait for the end; return the exit status."""
        self.wait_for("it ends", lambda it: it.process.poll() is not None)
        self._read()
        return self.process.wait()

    def _read(self) -> None:
        while select.select([self._ours], [], [], 0.05)[0]:
            self._undecoded += os.read(self._ours, 65_536)
            text = self._undecoded.decode(errors="ignore")
            self.shown += text
            self._undecoded = self._undecoded[len(text.encode()) :]
