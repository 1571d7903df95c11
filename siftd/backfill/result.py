"""What a backfill did, as `mem backfill --json` shows it and as `backfill_progress` keeps it for each file."""

from __future__ import annotations

import os
from dataclasses import dataclass

from siftd.wire.requests.transferring import BackfillAnswer


@dataclass
class BackfillResult:
    """Counts of one run, or of one file.

    `scanned` are events read; `captured` of them are new rows, `skipped_duplicate` were there. `errors` are lines and
    files that could not be read and events that were refused; `first_error` names the file and the reason, never
    captured text.
    """

    source: str = ""
    """The client whose files were read."""
    scanned: int = 0
    captured: int = 0
    skipped_duplicate: int = 0
    errors: int = 0
    first_error: str | None = None
    sessions: int = 0
    """Conversations that were read: their own files, not their subagents'."""
    growing: int = 0
    """Files that were written so lately that their last turn may go on: the next run reads how it ends."""
    first_ts: int | None = None
    last_ts: int | None = None
    """When the first and the last of the events read happened; ms since 1970."""

    def note_moment(self, ts: int) -> None:
        self.first_ts = ts if self.first_ts is None else min(self.first_ts, ts)
        self.last_ts = ts if self.last_ts is None else max(self.last_ts, ts)

    def note_error(self, path: str, reason: str) -> None:
        self.errors += 1
        self.first_error = self.first_error or f"{printable(os.path.basename(path))}: {reason}"  # noqa: PTH119

    def add(self, other: BackfillResult) -> None:
        """Add the counts of a part."""
        self.scanned += other.scanned
        self.captured += other.captured
        self.skipped_duplicate += other.skipped_duplicate
        self.errors += other.errors
        self.first_error = self.first_error or other.first_error
        self.sessions += other.sessions
        self.growing += other.growing
        for ts in (other.first_ts, other.last_ts):
            if ts is not None:
                self.note_moment(ts)

    def as_json(self) -> BackfillAnswer:
        """Return the counts under the names that programs rely on."""
        return {
            "source": self.source,
            "scanned": self.scanned,
            "captured": self.captured,
            "skippedDuplicate": self.skipped_duplicate,
            "errors": self.errors,
            "firstError": self.first_error,
            "sessions": self.sessions,
            "growing": self.growing,
            "firstTs": self.first_ts,
            "lastTs": self.last_ts,
        }


def printable(path: str) -> str:
    """Return a path as text that JSON and SQLite can carry, whatever bytes the file system has in it."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
