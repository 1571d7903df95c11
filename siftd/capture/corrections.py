"""What is kept when a session's file says that a call failed which its hook had told as ended well.

Not a word of anybody's is in it, nor the session's name: which event, how it ended, and a command's exit code. What it
printed is in the event.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from siftd.capture.redacted import AdmissionToken, Redacted, RedactedEvent, RedactedIntent
from siftd.clients.failed import exit_code_of
from siftd.model import Outcome

KIND = "outcome"
_WORSE: tuple[Outcome, ...] = ("failed", "interrupted")


class Correction(NamedTuple):
    """What an intent corrects."""

    uid: str
    outcome: str


def corrected_by(event: Redacted) -> Correction | None:
    """Return what is corrected by an intent; None for everything else that is kept."""
    if not isinstance(event, RedactedIntent) or event.kind != KIND:
        return None
    fields = msgspec.json.decode(event.payload_json)
    return Correction(fields["uid"], fields["outcome"])


def may_correct(event: RedactedEvent) -> bool:
    """Whether another delivery of an event is such news: hooks of some clients do not know how a call ended."""
    return event.from_transcript and event.outcome in _WORSE


def correction_of(event: RedactedEvent, event_id: int, uid: str) -> RedactedIntent:
    """Return the intent that makes the stored event's outcome this one's."""
    fields = {"event": event_id, "uid": uid, "eventTs": event.ts, "outcome": event.outcome}
    code = exit_code_of(msgspec.json.decode(event.payload_json).get("error"))
    payload = msgspec.json.encode(fields if code is None else fields | {"exit": code}, order="sorted")
    return RedactedIntent(token=AdmissionToken(payload), kind=KIND, ts=event.ts, payload_json=payload)
