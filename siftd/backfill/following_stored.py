"""Following a session that its client keeps in a document which is written anew whenever something is added.

The whole of it is read each time it has changed, and what was told before is passed over: a cursor counts the lines
that were read, with a keyed hash of the last. Where that line is another one the document was compacted, and is told
from its beginning. All that it tells is taken, since whatever a hook has told is known again by its identity.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Generator

from siftd.backfill.following import Cursor
from siftd.backfill.lines import StoredLines
from siftd.backfill.reading import BATCH_EVENTS, Batch, take
from siftd.capture.intake import Intake
from siftd.clients.client import Client, StoredSessions
from siftd.model import Event, SessionChange

_Seen = tuple[int, int]


class FollowedDocument:
    """One session's document."""

    def __init__(
        self, client: Client, files: StoredSessions, path: str, session_id: str, cursor: Cursor, secret: bytes
    ) -> None:
        """`cursor` is where an earlier reader left it; `files` are the client's."""
        self._client = client
        self._files = files
        self.path = path
        self.cursor = cursor
        """How many lines were told, and what says which was the last."""
        self._session_id = session_id
        self._secret = secret
        self._seen: _Seen | None = None

    @property
    def has_changed(self) -> bool:
        """Whether there is anything to read. Raises OSError where there is no file."""
        return self._look() != self._seen

    def iter_batches(self, intake: Intake) -> Generator[Batch, None, None]:
        """Yield what is new, in batches. Each step may run in another thread. Raises OSError."""
        seen = self._look()
        lines = list(StoredLines(self._files.lines_of(self.path, "")))
        done = self.cursor.offset
        if done > len(lines) or (done and self._name(lines[done - 1]) != self.cursor.seen):
            done = 0
        reader = self._files.reader(self._session_id)
        batch = Batch()
        for number, line in enumerate(lines):
            for fact in reader.read(line):
                if number >= done and isinstance(fact, Event | SessionChange) and fact.session_id == self._session_id:
                    take(fact, batch, self.path, intake, len(line))
            if len(batch.events) >= BATCH_EVENTS:
                yield batch
                batch = Batch()
        yield batch
        self._seen = seen
        self.cursor = Cursor(len(lines), self._name(lines[-1]) if lines else "")

    def _look(self) -> _Seen:
        found = os.lstat(self.path)
        return found.st_size, found.st_mtime_ns

    def _name(self, line: bytes) -> str:
        return hmac.digest(self._secret, line, "sha256")[:16].hex()
