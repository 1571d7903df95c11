"""What may reach a disk, a model or a log: types that nothing but `siftd.capture.admission` can make.

Each carries the pass it was given at the door, which fits the very text that was redacted there and no other: neither
another constructor's call nor a copy with another payload makes one.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from siftd.model import Action, Kind, Outcome, SaidBy


class AdmissionToken:
    """Says of one payload, by identity, that it came through the door."""

    __slots__ = ("_payload",)

    def __init__(self, payload: object) -> None:
        self._payload = payload

    def fits(self, payload: object) -> bool:
        return self._payload is payload

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AdmissionToken)  # two equal events stay equal

    def __hash__(self) -> int:
        return hash(AdmissionToken)


def _check_token(token: object, payload: object, name: str) -> None:
    if not isinstance(token, AdmissionToken) or not token.fits(payload):
        raise TypeError(f"a {name} is made by Admission only")


class RedactedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One captured fact without a secret in it, ready to be kept."""

    token: object
    uid: str | None = None
    """The natural uid; None where the store must count occurrences of `native_key` first (`numbered_uid`)."""
    frame_uid: str | None = None
    ts: int
    session_id: str
    event_kind: Kind
    tool: str
    action: Action | None = None
    payload_json: bytes
    input_hash: str
    tokens_est: int
    client: str
    outcome: Outcome | None = None
    cwd: str | None = None
    native_key: str | None = None
    input_key: str | None = None
    prompt_id: str | None = None
    agent_id: str | None = None
    spawned_agent_id: str | None = None
    said_by: SaidBy = "outside"
    from_transcript: bool = False

    def __post_init__(self) -> None:
        _check_token(self.token, self.payload_json, "RedactedEvent")


class RedactedSessionChange(msgspec.Struct, frozen=True, kw_only=True):
    """A session's start, end or compaction, ready to be kept."""

    token: object
    frame_uid: str | None = None
    ts: int
    session_id: str
    client: str
    change: str
    cwd: str | None = None
    detail: str | None = None

    def __post_init__(self) -> None:
        _check_token(self.token, self.session_id, "RedactedSessionChange")


class RedactedIntent(msgspec.Struct, frozen=True, kw_only=True):
    """What a person or an agent wants done (remember, forget, undo, ...), ready to be kept."""

    token: object
    kind: str
    ts: int
    payload_json: bytes
    """Canonical JSON; what it means is decided where intents are applied (`siftd.store.intents`)."""
    frame_uid: str | None = None
    session_id: str = ""

    def __post_init__(self) -> None:
        _check_token(self.token, self.payload_json, "RedactedIntent")


class ScrubbedEvent(NamedTuple):
    """What a stored event's row becomes by today's rules."""

    session_id: str
    tool: str
    payload_json: str
    input_hash: str
    tokens_est: int
    ids: tuple[str | None, ...]
    """The client's own: of the prompt, of the subagent it happened in, of the one it started."""


Captured = RedactedEvent | RedactedSessionChange
"""What a client tells."""
Redacted = Captured | RedactedIntent
"""What the log takes."""
