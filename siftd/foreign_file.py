"""Files that siftd does not own, read so that nothing they are can harm: settings, transcripts, what a person names.

A cloned repository stores links, and an archive may hold a pipe under any name. A pipe or a device is refused, never
waited for; a link at the path's end is followed only where a person chose the path or the file is the person's own; and
no more is read than a file of its kind can reasonably hold. Pointers of git and `.env`-like files have readers of their
own, with the same rules.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

SETTINGS_BYTES_MAX = 32 * 1024 * 1024
"""Claude Code keeps what it knows of every project in one file, which grows to some megabytes."""


def open_regular(path: str, *, follow: bool = False, folder: int | None = None) -> BinaryIO:
    """Open a regular file for reading. Anything else, and a link unless `follow`, is an OSError.

    With `folder`, an open one, the path is looked up in it.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    file = os.fdopen(os.open(path, flags, dir_fd=folder), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return file


def read(path: str, bytes_max: int, *, follow: bool = False, folder: int | None = None) -> bytes:
    """Return what a regular file holds. More than `bytes_max` of it is an OSError, as is whatever else it is."""
    with open_regular(path, follow=follow, folder=folder) as file:
        data = file.read(bytes_max + 1)
    if len(data) > bytes_max:
        raise OSError(errno.EFBIG, f"it is longer than {bytes_max} bytes", path)
    return data
