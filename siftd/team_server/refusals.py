"""What the team's store refuses, as statuses of HTTP; made from PostgreSQL's SQLSTATE, once, where its floor ends.

Messages are the store's own sentences, never a text of an item or of a statement.
"""

from __future__ import annotations

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from siftd.errors import HttpRefused


class Refused(HttpRefused):
    """The store says no."""


class BadArgument(Refused):
    """400: nothing of the kind can be stored or asked."""


class TokenRefused(Refused):
    """401: no token, expired, revoked, of a disabled person; or no such invitation."""


class NotAllowed(Refused):
    """403: no member of the project, whether or not there is one; or for admins alone."""


class ReadOnly(NotAllowed):
    """403: a member, but one who only reads."""


class NotThere(Refused):
    """404: no such item or person, for this caller."""


class OtherEpoch(Refused):
    """409: the store was restored since, or is another one: all is to be pulled and told again."""


class Behind(Refused):
    """409: this replica has not seen what is asked for yet: ask the primary."""


class TooMuch(Refused):
    """413: more than one call may bring."""


class Unavailable(Refused):
    """503: PostgreSQL is away, full, or too busy. Nothing was half done: the same again, later."""


_AGAIN = "the same again, later"
_OURS: dict[str, tuple[type[Refused], int, str, str]] = {
    "ST400": (BadArgument, 400, "bad_request", ""),
    "ST401": (TokenRefused, 401, "token_refused", "ask an admin of the team for a new invitation: siftd team invite"),
    "ST4IN": (TokenRefused, 401, "invitation_refused", "an invitation holds for a day, once: ask for another"),
    "ST403": (NotAllowed, 403, "not_a_member", "ask an admin of the team for an invitation"),
    "ST4RO": (ReadOnly, 403, "reader", "an admin of the team can make you a writer"),
    "ST4AD": (NotAllowed, 403, "not_an_admin", "ask an admin of the team"),
    "ST404": (NotThere, 404, "not_found", ""),
    "ST409": (OtherEpoch, 409, "other_epoch", "pull from the beginning and tell everything again"),
    "ST413": (TooMuch, 413, "too_much", "send less at once"),
}
RETRY_SECONDS = 5
"""Arbitrary: longer than a statement may take, shorter than a person waits."""


def refusal(error: BaseException) -> Refused | None:
    """Return what an exception of psycopg means for who asked; None for a fault of our own."""
    if isinstance(error, PoolTimeout | TooManyRequests | PoolClosed):
        return _unavailable("busy", "the store is too busy")
    if not isinstance(error, psycopg.Error):
        return None
    code = error.sqlstate or ""
    if code in _OURS:
        kind, status, name, hint = _OURS[code]
        return kind(status, name, _said(error), hint=hint)
    if code in ("57014", "55P03", "40001", "40P01"):
        return _unavailable("busy", "the store is too busy")
    if code.startswith("53"):
        return _unavailable("full", "the store has no room" if code == "53100" else "the store is at its limits")
    if code == "25006":
        return _unavailable("read_only", "the store is only read at the moment")
    if code.startswith(("22", "23", "54")) or (not code and isinstance(error, psycopg.DataError)):  # psycopg's own
        return BadArgument(400, "malformed", "PostgreSQL cannot keep such a value")
    if code in ("42501", "3F000", "42883", "42P01") or code.startswith("28"):
        return _unavailable("not_migrated", "the store is not of this siftd: siftd team migrate")
    if code.startswith(("08", "57P", "58")) or isinstance(error, psycopg.OperationalError):
        return _unavailable("away", "PostgreSQL is away")
    return None


def _said(error: psycopg.Error) -> str:
    return error.diag.message_primary or "refused"


def _unavailable(code: str, message: str) -> Unavailable:
    return Unavailable(503, code, message, hint=_AGAIN, retry_after_seconds=RETRY_SECONDS)
