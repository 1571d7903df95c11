"""What an import did, as `mem import --json` shows it."""

from __future__ import annotations

from dataclasses import dataclass, field

from siftd.exchange.format import COUNTED
from siftd.wire.requests.transferring import ImportAnswer


def _zeros() -> dict[str, int]:
    return dict.fromkeys(COUNTED.values(), 0)


@dataclass
class ImportResult:
    """Counts by kind: what was added, what was here already. `first_error` tells line and reason, never a text."""

    added: dict[str, int] = field(default_factory=_zeros)
    known: dict[str, int] = field(default_factory=_zeros)
    forgotten: int = 0
    left_behind: dict[str, int] = field(default_factory=dict)
    """What another memory holds and this one does not take, by the reason."""
    errors: int = 0
    first_error: str | None = None

    def count(self, what: str, *, is_new: bool) -> None:
        counts = self.added if is_new else self.known
        counts[what] = counts.get(what, 0) + 1

    def note_error(self, line: int, reason: str) -> None:
        self.errors += 1
        self.first_error = self.first_error or f"line {line}: {reason}"

    def as_json(self) -> ImportAnswer:
        """Return the counts under the names that programs rely on."""
        return {
            "added": self.added,
            "known": self.known,
            "forgotten": self.forgotten,
            "leftBehind": self.left_behind,
            "errors": self.errors,
            "firstError": self.first_error,
        }
