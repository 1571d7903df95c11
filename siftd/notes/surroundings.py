"""What every step for notes knows: the home, its settings, the environment, the time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from siftd.clock import Clock
from siftd.config import Settings
from siftd.workspace.paths import Home


class Surroundings(NamedTuple):
    """One command's surroundings."""

    home: Home
    settings: Settings
    environ: Mapping[str, str]
    user_home: str
    clock: Clock

    @property
    def today(self) -> str:
        """Return the date (UTC)."""
        return datetime.fromtimestamp(self.clock.now_ms() / 1000, UTC).strftime("%Y-%m-%d")
