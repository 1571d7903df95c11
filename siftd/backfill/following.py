"""Following a transcript as it is written: what it tells and no hook does, by the reader that a backfill uses.

A file is read on from where it was read to, whole lines only; one that was cut, replaced or rewritten is read from its
beginning. That is harmless: what it tells has the identities that a backfill gives it, so that who reads twice keeps
nothing twice. A `Cursor` says where a reader that knows nothing may go on: where no call and no turn was open.

A transcript is a foreign file, named by whoever sent a hook's frame. It is opened only if it is a regular file of this
user's, named as its client names them, and no link; at most `READ_BYTES_MAX` of it are read at once; and only what it
tells of the session that the hook named is taken.
"""

from __future__ import annotations

import errno
import hmac
import os
from collections.abc import Generator
from typing import NamedTuple

from siftd.backfill.lines import Lines
from siftd.backfill.reading import BATCH_EVENTS, Batch, take
from siftd.capture.intake import Intake
from siftd.clients.client import Client, StoredSessions, is_unhooked
from siftd.foreign_file import open_regular
from siftd.model import Event

READ_BYTES_MAX = 16 * 1024 * 1024
"""Of one file at once: the rest at the next tick."""
_SEEN_BYTES = 256
"""Before a cursor. That they are the same says that the file was not rewritten."""
_PATH_CHARS_MAX = 4_096


class Cursor(NamedTuple):
    """How far a file was read, and a keyed hash of what stands before that place."""

    offset: int = 0
    seen: str = ""


def may_be_transcript(client: Client, path: str) -> bool:
    """Whether a path that somebody named may be followed at all."""
    return (
        path.startswith("/")
        and path.endswith(client.files.suffix)
        and "\0" not in path
        and len(path) <= _PATH_CHARS_MAX
    )


class Followed:
    """One session's transcript."""

    def __init__(self, client: Client, path: str, session_id: str, cursor: Cursor, secret: bytes) -> None:
        """`cursor` is where an earlier reader left it."""
        self._client = client
        self.path = path
        self.cursor = cursor
        """Where one that knows nothing goes on."""
        self._session_id = session_id
        self._secret = secret
        files = client.files
        self._reports_outcomes = not isinstance(files, StoredSessions) and files.reports_outcomes
        self._reports_everything = not isinstance(files, StoredSessions) and files.reports_everything
        self._begin(cursor)

    def _begin(self, at: Cursor) -> None:
        self._reader = self._client.files.reader(self._session_id)
        self._at = at

    @property
    def has_changed(self) -> bool:
        """Whether there is anything to read. Raises OSError where there is no file."""
        return os.lstat(self.path).st_size != self._at.offset

    def iter_batches(self, intake: Intake) -> Generator[Batch, None, None]:
        """Yield what is new, in batches. Each step may run in another thread.

        Raises OSError for a file that may not be read, and FileChanged for one that is changed under our hands; the
        next reading then begins where it says.
        """
        with open_regular(self.path) as file:
            found = os.fstat(file.fileno())
            if found.st_uid != os.geteuid():
                raise OSError(errno.EPERM, "it is another user's", self.path)
            if self._seen(file.fileno(), self._at.offset) != self._at.seen:
                self._begin(Cursor())
            file.seek(self._at.offset)
            lines = Lines(file, self.path, start=self._at.offset)
            until = self._at.offset + READ_BYTES_MAX
            clean = self.cursor.offset if self._at.offset else 0
            batch, before = Batch(), self._at.offset
            for line in lines:
                for event in self._reader.read(line):
                    if isinstance(event, Event) and self._is_news(event):
                        take(event, batch, self.path, intake, lines.done_bytes - before)
                before = lines.done_bytes
                if self._reader.is_between:
                    clean = before
                if len(batch.events) >= BATCH_EVENTS:
                    yield batch
                    batch = Batch()
                if before >= until:
                    break
            self._at = Cursor(lines.done_bytes, self._seen(file.fileno(), lines.done_bytes))
            self.cursor = Cursor(clean, self._seen(file.fileno(), clean))
        yield batch

    def _is_news(self, event: Event) -> bool:
        """Whether no hook tells it, or not for sure, or tells it otherwise."""
        is_outcome = self._reports_outcomes and event.outcome in ("failed", "interrupted")
        is_sure = self._reports_everything and event.native_id is not None
        return (is_outcome or is_sure or is_unhooked(event)) and event.session_id == self._session_id

    def _seen(self, descriptor: int, offset: int) -> str:
        """Return what says that the bytes before a place are the ones that were read; "" at the beginning."""
        if not offset:
            return ""
        start = max(0, offset - _SEEN_BYTES)
        before = os.pread(descriptor, offset - start, start)
        return hmac.digest(self._secret, before, "sha256")[:16].hex() if len(before) == offset - start else "cut"
