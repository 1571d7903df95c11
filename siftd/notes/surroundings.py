"""What every step for notes knows: the home, its settings, the environment, the time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from siftd.clock import Clock
from siftd.config import Settings
from siftd.notes.timers.order import programs_path
from siftd.wire.environment import of_daemon
from siftd.workspace.paths import Home


class Surroundings(NamedTuple):
    """One command's surroundings."""

    home: Home
    settings: Settings
    environ: Mapping[str, str]
    user_home: str
    clock: Clock

    @property
    def for_programs(self) -> dict[str, str]:
        """Return the environment of what is started for notes: a daemon's.

        An agent may run `mem notes sync`, and a cloned project's settings may set any variable for it: one of them
        could name the server to which a curator sends what it is given.
        """
        return of_daemon(self.environ) | {"PATH": programs_path(self.user_home)}

    @property
    def today(self) -> str:
        """Return the date (UTC)."""
        return datetime.fromtimestamp(self.clock.now_ms() / 1000, UTC).strftime("%Y-%m-%d")
