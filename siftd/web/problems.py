"""Refusals as HTTP says them: a status, and `{"error": {"code", "message", "hint"}}`.

The code is the daemon's own where it refused. What was given is never quoted.
"""

from __future__ import annotations

from starlette.responses import Response

from siftd.errors import (
    DaemonTimedOut,
    DaemonUnreachable,
    DiskFull,
    Faltered,
    HttpRefused,
    MatchChanged,
    NothingFound,
    ProtocolError,
    RequestInvalid,
    SiftdError,
    StoreClosed,
)
from siftd.web.types import Problem, ProblemAnswer, encode

STATUS = {
    RequestInvalid.code: 400,
    NothingFound.code: 404,
    MatchChanged.code: 409,
    DaemonUnreachable.code: 503,
    DaemonTimedOut.code: 504,
    ProtocolError.code: 502,
    DiskFull.code: 507,
    Faltered.code: 503,
    StoreClosed.code: 503,
}
"""Of the codes that are no failure of ours; any other is 500."""


def status_of(error: SiftdError) -> int:
    """Return the status that says what a caller does about a refusal."""
    return error.status if isinstance(error, HttpRefused) else STATUS.get(error.code, 500)


def response_of(error: SiftdError) -> Response:
    """Return a refusal as an answer."""
    problem = ProblemAnswer(error=Problem(code=error.code, message=error.message, hint=error.hint))
    headers = {"www-authenticate": "Bearer"} if status_of(error) == 401 else {}
    if isinstance(error, HttpRefused) and error.retry_after_seconds is not None:
        headers["retry-after"] = str(error.retry_after_seconds)
    return Response(encode(problem), status_of(error), headers, media_type="application/json")
