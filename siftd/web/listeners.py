"""Who listens at a port of this machine, as far as this user may see."""

from __future__ import annotations

import socket
import sys
from contextlib import suppress
from pathlib import Path

PORTS_TRIED = 50
_LISTENS = "0A"
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


def find_listener(port: int) -> str | None:
    """Return the program that listens there, with its pid; None where that cannot be seen (Linux tells it alone)."""
    if not sys.platform.startswith("linux"):
        return None
    links = {f"socket:[{inode}]" for inode in _inodes_at(port)}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            for descriptor in (folder / "fd").iterdir():
                with suppress(OSError):
                    if str(descriptor.readlink()) in links:
                        name = (folder / "comm").read_text(encoding="utf-8", errors="replace").strip()
                        return f"{''.join(each for each in name if each.isprintable())} (pid {folder.name})"
    return "a program of another user" if links else None


def find_free_port(address: str, after: int) -> int | None:
    """Return the next port that can be had."""
    for port in range(after + 1, min(after + PORTS_TRIED, 65_536)):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trying:
            trying.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                trying.bind((address, port))
                return port
    return None


def _inodes_at(port: int) -> list[str]:
    found = []
    for table in _TABLES:
        with suppress(OSError):
            for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
                columns = line.split()
                if int(columns[1].rpartition(":")[2], 16) == port and columns[3] == _LISTENS:
                    found.append(columns[9])
    return found
