"""Programs in a terminal of their own, with somebody at the keys."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

MEM = Path(sys.executable).with_name("mem")
SECONDS = 30.0


def mem_at_a_terminal(env: Mapping[str, str], folder: Path, *arguments: str, keys: str = "") -> tuple[int, str]:
    """Run `mem` in a terminal, press `keys` once it asks; return its exit status and what the terminal showed."""
    return at_a_terminal([str(MEM), *arguments], env, folder, keys=keys)


def seen_at(columns: int, command: Sequence[str], env: Mapping[str, str], folder: Path) -> str:
    """Return what a terminal of so many columns shows of a command that succeeds, without its colours."""
    status, shown = at_a_terminal(command, env, folder, columns=columns)
    assert status == 0, shown
    return re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r\n", "\n")


def at_a_terminal(
    command: Sequence[str], env: Mapping[str, str], folder: Path, *, keys: str = "", columns: int | None = None
) -> tuple[int, str]:
    """Run a command in a terminal, press `keys` once it asks; return its exit status and what the terminal showed."""
    ours, theirs = pty.openpty()
    if columns is not None:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, columns, 0, 0))
    process = subprocess.Popen(
        command, cwd=folder, env=dict(env), stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
    )
    os.close(theirs)
    shown, pressed = b"", False
    try:
        while select.select([ours], [], [], SECONDS)[0]:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # Linux says so when the other side has closed
                break
            if not piece:
                break
            shown += piece
            if not pressed and b"[y/N]" in shown:
                os.write(ours, keys.encode())
                pressed = True
        return process.wait(SECONDS), shown.decode()
    finally:
        process.kill()
        process.wait()
        os.close(ours)
