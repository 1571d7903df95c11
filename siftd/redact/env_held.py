"""The values of files of settings, held as forms that nothing can be read from, and found in one pass if possible."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from itertools import islice
from typing import Any

from siftd.redact.env_lines import Value
from siftd.redact.values import Form, Hasher, KnownValues

VALUES_MAX = 256
"""Of each look. The newest stay."""


class HeldValues:
    """The values of both looks, the newest 256 of each, as forms that nothing can be read from."""

    def __init__(self) -> None:
        self._hasher = Hasher()
        self._near: dict[frozenset[Form], None] = {}
        self._far: dict[frozenset[Form], None] = {}
        self._has_changed = False
        self._changing = threading.Lock()
        self.searched: tuple[KnownValues, ...] = ()
        """What finds them: the first finds what was there when `gather` was last called, each other what came since."""

    def add_near(self, values: set[Value]) -> None:
        """Have values found from now on."""
        new = self._add(self._near, values)
        if new:
            with self._changing:
                self.searched += (KnownValues(self._hasher, _forms(new)),)

    def add_far(self, values: set[Value]) -> None:
        """Have values found from the next `gather` on."""
        self._add(self._far, values)

    def gather(self) -> None:
        """Have one automaton find all; nobody waits while it is made."""
        with self._changing:
            if not self._has_changed:
                return
            self._has_changed = False
            held, known = [*self._far, *self._near], len(self.searched)
        gathered = KnownValues(self._hasher, _forms(held))
        with self._changing:
            self.searched = (gathered, *self.searched[known:])

    def _add(self, held: dict[frozenset[Form], None], values: set[Value]) -> list[frozenset[Form]]:
        fresh = [self._hasher.forms(text, is_plain=is_plain) for text, is_plain in sorted(values)]
        with self._changing:
            new = [forms for forms in fresh if forms not in held]
            held |= dict.fromkeys(new)
            make_room(held, VALUES_MAX + 1)
            self._has_changed = self._has_changed or bool(new)
        return new


def _forms(values: Iterable[frozenset[Form]]) -> list[Form]:
    return [form for each in values for form in each]


def make_room(held: dict[Any, Any], most: int) -> None:
    """Take out what was put in first until another one has room."""
    if len(held) >= most:
        for each in list(islice(held, len(held) - most + 1)):
            held.pop(each, None)
