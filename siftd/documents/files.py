"""What a person names on a command line: a file, a folder or a pattern, and the bytes of one file.

docs/guide.md   that file
docs            all that is below it (`siftd.documents.walking`)
'docs/**/*.md'  what of it the pattern fits, below the last folder that it names in full
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from pathspec import GitIgnoreSpec

from siftd.documents.private_files import is_secret
from siftd.documents.walking import FILE_BYTES_MAX, Found, Skipped, walk
from siftd.errors import DocumentRefused
from siftd.foreign_file import open_regular

_WILD = "*?["
_TRIES = 3


def find_files(named: str) -> Iterator[Found | Skipped]:
    """Yield the files that a name stands for, absolute. DocumentRefused where there is nothing of that name."""
    path = os.path.abspath(os.path.expanduser(named))  # noqa: PTH100, PTH111
    if os.path.isdir(path):  # noqa: PTH112
        yield from walk(path)
    elif os.path.lexists(path):
        real = os.path.realpath(path)
        if is_secret(os.path.basename(path)) or is_secret(os.path.basename(real)):  # noqa: PTH119
            raise DocumentRefused("secret", "a file of this name is there to hold secrets", hint="name another file")
        yield Found(real, os.path.getsize(real) if os.path.isfile(real) else 0)  # noqa: PTH113, PTH202
    elif any(sign in path for sign in _WILD):
        yield from _fitting(path)
    else:
        raise DocumentRefused("not found", "there is no such file or folder", hint="look at the name")


def _fitting(pattern: str) -> Iterator[Found | Skipped]:
    first = min(at for sign in _WILD if (at := pattern.find(sign)) >= 0)
    base, rest = pattern[: (full := pattern.rfind(os.sep, 0, first) + 1)], pattern[full:]
    base = os.path.realpath(base)
    if not os.path.isdir(base):  # noqa: PTH112
        raise DocumentRefused("not found", "there is no such folder", hint="look at the pattern's beginning")
    try:
        fits = GitIgnoreSpec.from_lines(["/" + rest], backend="re2")
    except ValueError:
        raise DocumentRefused("not found", "it is no pattern", hint="* is any name, ** any folders") from None
    for each in walk(base):
        if isinstance(each, Found) and fits.match_file(os.path.relpath(each.path, base)):
            yield each


def load(path: str) -> bytes:
    """Return a file's bytes as they were at one moment. DocumentRefused says why there are none.

    A file that changes while it is read is read again, and refused when it goes on changing.
    """
    for _ in range(_TRIES):
        try:
            with open_regular(path, follow=True) as file:
                before = os.fstat(file.fileno())
                data = file.read(FILE_BYTES_MAX + 1)
                after = os.fstat(file.fileno())
        except OSError as error:
            raise DocumentRefused("unreadable", f"it cannot be read: {error.strerror}") from error
        if len(data) > FILE_BYTES_MAX:
            raise DocumentRefused("too large", f"it is larger than {FILE_BYTES_MAX >> 20} MiB", hint="split it")
        if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns) and len(data) == after.st_size:
            return data
    raise DocumentRefused("changes", "it changes while it is read", hint="ingest it when nothing writes to it")
