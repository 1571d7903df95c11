"""Yes to exactly what was shown: what the dry run of a forget gives, and the forget that follows must bring.

The value holds until when it is good, and a keyed digest over that, what was asked and what it matched: the daemon's
own digest of each thing. What matches something else by then is refused, and shown anew.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable

GOOD_SECONDS = 300


class Confirmations:
    """Makes and checks the values of one process."""

    def __init__(self, now: Callable[[], float]) -> None:
        """`now` is a monotonic clock, in seconds."""
        self._now = now
        self._key = secrets.token_bytes(32)

    def make(self, about: bytes, matched: str) -> str:
        """Return the value for what was asked and matched."""
        return self._value(int(self._now()) + GOOD_SECONDS, about, matched)

    def is_good(self, value: str, about: bytes, matched: str) -> bool:
        """Whether a value was made for this, and lately."""
        until = value.partition(".")[0]
        if not (until.isascii() and until.isdigit() and len(until) < 20) or int(until) < self._now():
            return False
        made = self._value(int(until), about, matched)
        return hmac.compare_digest(made.encode(), value.encode("utf-8", "surrogatepass"))

    def _value(self, until: int, about: bytes, matched: str) -> str:
        digest = hmac.new(self._key, b"%d\0%s\0%s" % (until, matched.encode(), about), hashlib.sha256)
        return f"{until}.{digest.hexdigest()}"
