"""One decoder for each client: what its hook was given becomes an event."""

from __future__ import annotations

from typing import Protocol

from siftd.clients import claude_code
from siftd.model import Event, SessionChange


class EnvelopeDecoder(Protocol):
    """Makes an event of a hook's raw input, or raises EnvelopeRejected with a countable reason."""

    def __call__(self, raw: bytes, *, ts: int) -> Event | SessionChange: ...


DECODERS: dict[str, EnvelopeDecoder] = {
    "claude-code": claude_code.decode_envelope,
}
"""By the name that a hook frame gives in its `client` field."""
