"""How often who may ask: each token for itself, and each address that shows tokens nobody has seen.

A token that the store has once accepted never waits for those who guess at tokens.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from siftd.errors import HttpRefused
from siftd.web.limits import Bucket, too_often

BODY_BYTES_MAX = 4 * 1024 * 1024 + 64 * 1024
"""Of a push; a little more than what a client cuts its items to."""
CONNECTIONS_MAX = 1_000
"""A laptop holds one for as long as it waits for changes."""
SOCKETS_MAX = 200
HELD_MAX = 20
"""Connections that one token holds, to wait for changes or to listen: else a single one could hold them all."""
CALLERS_MAX = 10_000
"""Tokens and addresses that are remembered; of more the one is forgotten that asked least lately."""
HELD_SECONDS = 5
"""After which it may try again. Arbitrary: longer than to come back costs, shorter than a wait for changes."""
Kind = Literal["search", "write", "read", "webhook"]
PER_MINUTE: dict[Kind, tuple[float, int]] = {
    "search": (60, 60),
    "write": (30, 240),
    "read": (600, 600),
    "webhook": (300, 300),
}
"""Of one token: for ever, and at once. A write is a push of up to 500 items: a year of memories goes up in one go."""
WRITE_BYTES = 512 * 1024
"""A longer write counts as several: each byte is read for secrets, which takes about a second for a megabyte."""
STRANGERS_PER_MINUTE = (60.0, 60)
"""Of one address, with tokens that were never accepted."""


class Limits:
    """The buckets of one server."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._buckets: OrderedDict[tuple[str, bytes | str], Bucket] = OrderedDict()
        self._accepted: OrderedDict[bytes, None] = OrderedDict()
        self._held: Counter[bytes] = Counter()

    def take(self, kind: Kind, digest: bytes, amount: int = 1) -> None:
        """Let a token do something, or as much as several. Raises HttpRefused with the time after which it may."""
        self._take(kind, digest, *PER_MINUTE[kind], amount)

    def take_stranger(self, digest: bytes | None, address: str) -> None:
        """Let an address show a token, or none. Raises HttpRefused; never for a token that was accepted before."""
        if digest is None or digest not in self._accepted:
            self._take("stranger", address, *STRANGERS_PER_MINUTE)

    def is_accepted(self, digest: bytes) -> bool:
        """Whether the store has known a token."""
        return digest in self._accepted

    def accept(self, digest: bytes) -> None:
        """Remember that the store knows a token."""
        self._accepted[digest] = None
        self._accepted.move_to_end(digest)
        if len(self._accepted) > CALLERS_MAX:
            self._accepted.popitem(last=False)

    def reject(self, digest: bytes) -> None:
        """Remember that the store does not know a token, or no more."""
        self._accepted.pop(digest, None)

    @contextmanager
    def hold(self, digest: bytes) -> Iterator[None]:
        """Count a connection for as long as a token holds it. Raises HttpRefused where it holds enough."""
        if self._held[digest] >= HELD_MAX:
            raise too_often(HELD_SECONDS)
        self._held[digest] += 1
        try:
            yield
        finally:
            self._held[digest] -= 1
            if not self._held[digest]:
                del self._held[digest]

    def _take(self, kind: str, who: bytes | str, per_minute: float, burst: int, amount: int = 1) -> None:
        key = (kind, who)
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(per_minute / 60, burst, self._now)
            if len(self._buckets) > CALLERS_MAX:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        if not bucket.take(min(amount, burst)):
            raise too_often(bucket.wait_seconds)


def unavailable(message: str, hint: str = "", after_seconds: int = 5) -> HttpRefused:
    """Return the refusal of a server that cannot just now."""
    return HttpRefused(503, "unavailable", message, hint=hint, retry_after_seconds=after_seconds)
