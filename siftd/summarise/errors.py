"""Why a model gave no answer, in the two ways that a backend's caller reacts to, and what maps to which.

Whatever says nothing about the event (an outage, a limit, a key, a missing model or library) is `ModelUnavailable`:
the event waits. `ModelRefused` is about this very request.
"""

from __future__ import annotations

from collections.abc import Mapping

from siftd.errors import SiftdError

_BUSY = {408: "the server timed out", 409: "the server reported a conflict", 425: "too early", 429: "rate limited"}


class ModelUnavailable(SiftdError):
    """The model cannot be asked now: wait, `after_seconds` where the server said how long."""

    code = "model_unavailable"

    def __init__(self, message: str, *, after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.after_seconds = after_seconds


class ModelRefused(SiftdError):
    """The model, or its server, will not answer this request."""

    code = "model_refused"


def for_status(status: int, headers: Mapping[str, str], *, missing: str, key: str) -> SiftdError:
    """Return the error for an HTTP status: `missing` is the remedy for 404, `key` for a refused key."""
    if status in _BUSY or status >= 500:
        reason = _BUSY.get(status) or ("the server is overloaded" if status == 529 else "the server failed")
        return ModelUnavailable(f"{reason} ({status})", after_seconds=retry_after_seconds(headers))
    if status in (401, 402, 403):
        return ModelUnavailable(f"the server refused the key ({status}): {key}")
    if status == 404:
        return ModelUnavailable(missing)
    return ModelRefused(f"the server refused the request ({status})")


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return what `retry-after(-ms)` asks for, at most a day; a date counts from the answer's own date."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            return min(86_400.0, max(0.0, float(value) / unit))
        except ValueError:
            continue
    from email.utils import parsedate_to_datetime  # 10 ms of a daemon's start, and few servers send a date

    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
        return min(86_400.0, max(0.0, (until - parsedate_to_datetime(headers.get("date", ""))).total_seconds()))
    except (ValueError, TypeError):
        return None
