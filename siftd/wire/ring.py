"""What happened lately, by number: whoever saw up to a number is given what came since, or learns that too much did.

The daemon has one, and the page's process one for each workspace that it watches, with the daemon's own numbers.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

LENGTH = 1_024


class Happening(NamedTuple):
    """One thing that happened. It holds ids, counts and names of kinds, never what was captured."""

    seq: int
    kind: str
    data: dict[str, Any]


class Ring:
    """The last `length` happenings. `epoch` tells its numbers from those of another one."""

    def __init__(self, length: int = LENGTH, epoch: str | None = None) -> None:
        self.epoch = epoch or secrets.token_hex(8)
        self._length = length
        self._happenings: deque[Happening] = deque(maxlen=length)
        self.last = 0
        """The number of the newest that there ever was."""

    def add(self, kind: str, data: dict[str, Any]) -> Happening:
        """Note something new."""
        happening = Happening(self.last + 1, kind, data)
        self.take([happening])
        return happening

    def take(self, happenings: Iterable[Happening]) -> None:
        """Note what another ring has numbered."""
        for each in happenings:
            self._happenings.append(each)
            self.last = each.seq

    def forget(self) -> None:
        """Hold nothing any more; the numbers go on."""
        self._happenings.clear()

    def since(self, seq: int) -> list[Happening] | None:
        """Return what came after a number; None where something of it is held no longer, or the number is not ours."""
        missing = self.last - seq
        if missing < 0 or missing > len(self._happenings):
            return None
        return list(self._happenings)[len(self._happenings) - missing :]
