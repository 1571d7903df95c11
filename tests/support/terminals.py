"""`mem` in a terminal of its own, with somebody at the keys."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

MEM = Path(sys.executable).with_name("mem")
SECONDS = 30.0


def mem_at_a_terminal(env: Mapping[str, str], folder: Path, *arguments: str, keys: str = "") -> tuple[int, str]:
    """Run `mem` in a terminal, press `keys` once it asks; return its exit status and what the terminal showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(MEM), *arguments], cwd=folder, env=dict(env), stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
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
