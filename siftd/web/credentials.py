"""Who may ask: the tokens and the one-time codes of one served process. Nothing of them outlives it.

A program shows the token in `run/web.token` (mode 0600, new at each start). A page gets one of its own for a code that
was printed, or that a file of mode 0600 brought to the browser: it is a person's, who may do what a program may not.
No cookie holds either: cookies are shared by every port of a name. Digests are compared, in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import deque
from collections.abc import Callable
from typing import Literal

Principal = Literal["person", "program"]

TOKEN_BYTES = 32
CODE_BYTES = 16
CODE_SECONDS = 60.0
CODES_MAX = 8
"""Codes that wait to be used at once; a newer one takes the place of the oldest."""
PAGES_MAX = 32
"""Pages that are logged in at once; as above."""


class Credentials:
    """The tokens and codes of this process."""

    def __init__(self, now: Callable[[], float]) -> None:
        """`now` is a monotonic clock, in seconds."""
        self._now = now
        self.program_token = secrets.token_urlsafe(TOKEN_BYTES)
        self._program = _digest(self.program_token)
        self._pages: deque[bytes] = deque(maxlen=PAGES_MAX)
        self._codes: deque[tuple[bytes, float]] = deque(maxlen=CODES_MAX)

    def make_code(self) -> str:
        """Return a code that logs one page in, once, within a minute."""
        code = secrets.token_urlsafe(CODE_BYTES)
        self._codes.append((_digest(code), self._now() + CODE_SECONDS))
        return code

    def log_in(self, code: str) -> str | None:
        """Return a page's token for a code, which is spent by it; None for one that is unknown, spent or too old."""
        digest = _digest(code.strip())
        found = [each for each in self._codes if hmac.compare_digest(each[0], digest)]
        for each in found:
            self._codes.remove(each)
        if not any(until >= self._now() for _, until in found):
            return None
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._pages.append(_digest(token))
        return token

    def find(self, token: str) -> Principal | None:
        """Return whose token this is."""
        digest = _digest(token)
        if hmac.compare_digest(digest, self._program):
            return "program"
        return "person" if any([hmac.compare_digest(digest, each) for each in self._pages]) else None  # noqa: C419 - all


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
