"""Keeping what was asked for: redacted, logged, applied."""

from __future__ import annotations

from typing import Any

from siftd.capture.admission import Admission, RedactedIntent
from siftd.clock import Clock
from siftd.daemon.group_commit import Committer


class Intents:
    """Takes intents of people and agents in (`siftd.store.intents` says what each does)."""

    def __init__(self, admission: Admission, committer: Committer, clock: Clock) -> None:
        self._admission = admission
        self._committer = committer
        self._clock = clock

    async def keep(self, kind: str, payload: dict[str, Any], *, session_id: str = "") -> int:
        """Log and apply what was asked for; return the seq of its record. Raises LogError when it cannot be kept."""
        now_ms = self._clock.now_ms()
        return await self.keep_admitted(self._admission.admit_intent(kind, payload, ts=now_ms, session_id=session_id))

    async def keep_admitted(self, intent: RedactedIntent) -> int:
        """Log and apply an intent; return the seq of its record. Raises LogError when it cannot be kept."""
        receipt = await self._committer.keep(intent)
        if receipt.error is not None:
            raise receipt.error
        return receipt.seq
