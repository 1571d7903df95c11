"""A mark that changes whenever something is taken out of a project: what was read before is not to be written.

    $SIFTD_HOME/<ns>/notes/<id>/forgotten, mode 0600, replaced atomically: sixteen random hex digits, and behind a blank
    `pending` until all of it has left the notes

A sync reads events, has a model think about them, and writes, a minute later. What is forgotten in between stands in no
file yet, and would be written into one. So a sync notes the mark before it reads, and writes nothing when it has
changed; it does not begin while something is still to leave, since an inbox note may hold it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from siftd.foreign_file import read
from siftd.notes.layout import Bookkeeping
from siftd.workspace.home import ensure_folder, write_private

_PENDING = b" pending"
_BYTES_MAX = 64


def mark_of(books: Bookkeeping) -> bytes:
    """Return the mark of a project; empty while nothing was ever taken out."""
    with suppress(OSError):
        return read(books.forgotten, _BYTES_MAX)
    return b""


def is_pending(books: Bookkeeping) -> bool:
    """Whether something is still to be taken out of the notes."""
    return mark_of(books).endswith(_PENDING)


def change_mark(books: Bookkeeping, *, is_done: bool = False) -> None:
    """Let what was read before go unwritten. Raises SiftdError or OSError.

    Needs no lock: whoever holds that is who has to see it.
    """
    ensure_folder(books.folder)
    write_private(Path(books.forgotten), os.urandom(8).hex().encode() + (b"" if is_done else _PENDING))
