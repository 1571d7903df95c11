"""What a backfill did, as `mem backfill --json` shows it and as `backfill_progress` keeps it for each file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

SOURCE = "claude-code"


@dataclass
class BackfillResult:
    """Counts of one run, or of one file.

    `scanned` are events read; `captured` of them are new rows, `skipped_duplicate` were there. `errors` are lines and
    files that could not be read and events that were refused; `first_error` names the file and the reason, never
    captured text.
    """

    source: str = SOURCE
    scanned: int = 0
    captured: int = 0
    skipped_duplicate: int = 0
    errors: int = 0
    first_error: str | None = None

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

    def as_json(self) -> dict[str, Any]:
        """Return the counts under the names that programs rely on."""
        return {
            "source": self.source,
            "scanned": self.scanned,
            "captured": self.captured,
            "skippedDuplicate": self.skipped_duplicate,
            "errors": self.errors,
            "firstError": self.first_error,
        }


def printable(path: str) -> str:
    """Return a path as text that JSON and SQLite can carry, whatever bytes the file system has in it."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
