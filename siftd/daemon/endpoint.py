"""Owning the workspace's socket path: lock, bind, listen, name, and take the name away again.

The lock (flock, held for life) is the only sign of life. Only its holder touches the path, so a socket found there
is stale; anything else found there is a stranger's and is refused.

A socket is bound as `<key>.sock.new`, listens, and only then gets its name: whoever finds the name is let in.
Bound under its own name, it would refuse who comes between the two calls, as a dead daemon's does.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import stat
from pathlib import Path

from siftd.errors import DaemonAlreadyRunning, HomeUnusable
from siftd.workspace.paths import WorkspacePaths

BACKLOG = 256
UNNAMED = ".new"
"""What a socket's name ends with until it listens; a daemon that was killed there leaves it to the next one."""


class Lock:
    """The workspace's lock. The kernel lets go of it when the process dies."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._descriptor)
            if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN):
                raise DaemonAlreadyRunning("another daemon serves this workspace") from error
            raise HomeUnusable(
                f"the file system of {path} has no locks ({error.strerror})",
                hint="set SIFTD_HOME to a folder on a local disk",
            ) from error

    def release(self) -> None:
        os.close(self._descriptor)


class Endpoint:
    """A listening socket at the workspace's path. The caller holds the lock."""

    def __init__(self, paths: WorkspacePaths) -> None:
        self._paths = paths
        self._remove_stale()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        folder, _, name = paths.socket.rpartition("/")
        try:
            with _inside(folder):
                mask = os.umask(0o177)
                try:
                    self.socket.bind(name + UNNAMED)
                finally:
                    os.umask(mask)
                self.socket.listen(BACKLOG)
                self._inode = Path(name + UNNAMED).lstat().st_ino
                Path(name + UNNAMED).rename(name)
        except OSError as error:
            self.socket.close()
            raise HomeUnusable(
                f"the file system of {folder} has no sockets ({error.strerror})",
                hint="set SIFTD_HOME to a folder on a local disk",
            ) from error
        self.socket.setblocking(False)

    def close(self) -> None:
        """Stop listening and take our name away; a stranger's file that took its place stays."""
        self.socket.close()
        path = Path(self._paths.socket)
        try:
            if path.lstat().st_ino == self._inode:
                path.unlink()
        except FileNotFoundError:
            pass

    def _remove_stale(self) -> None:
        for path in (Path(self._paths.socket), Path(self._paths.socket + UNNAMED)):
            try:
                mode = path.lstat().st_mode
            except FileNotFoundError:
                continue
            if not stat.S_ISSOCK(mode):
                raise HomeUnusable(f"{path} is not a socket of ours", hint="move it away")
            path.unlink()


class _inside:  # noqa: N801 - reads as a statement
    """Enter a folder, so that a name in it fits a unix address however deep the folder is. Startup only."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        self._back = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        os.chdir(self._folder)

    def __exit__(self, *_: object) -> None:
        os.fchdir(self._back)
        os.close(self._back)
