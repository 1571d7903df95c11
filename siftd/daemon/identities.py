"""Of what comes in, what is known already: by a frame's uid, by the fact's own, by a client's id, or by counting.

Look-ups alone: in what this process knows, in what the log has and the database lacks (`pending_identities`), in the
database, and among the tombstones. What is decided here is kept by `siftd.daemon.group_commit`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from siftd.capture.admission import (
    Captured,
    Redacted,
    RedactedEvent,
    RedactedIntent,
    RedactedSessionChange,
    numbered_uid,
)
from siftd.capture.corrections import correction_of, may_correct
from siftd.clock import Clock
from siftd.daemon.pending_identities import PendingIdentities
from siftd.log.writer import Entry
from siftd.store import events, outcomes
from siftd.store.access import Database
from siftd.store.opt_outs import OFF, Way
from siftd.store.tombstones import FORGOTTEN, Buried, Tombstones

OCCURRENCES_MAX = 1_024
"""Texts whose last number is remembered; of any other its equals are counted. Arbitrary: people repeat few."""
BEFORE_MS, BEHIND_MS = 10_000, 600_000
"""How much earlier, or later, than its hook a session's file may date a fact: a file dates calls that ran beside each
other by the last of them."""
_REPEATED = -2
"""What stands for the id of a change that is kept already: it is no event."""
CHANGES_MAX = 64
"""A frame comes twice within seconds, from a hook that gave up waiting and from its courier. Arbitrary."""


class Identities:
    """Tells whether a capture is another delivery of something, and gives what is new its uid."""

    def __init__(
        self,
        connection: Database,
        clock: Clock,
        tombstones: Tombstones | None,
        is_off: Callable[[Captured, Way], bool],
    ) -> None:
        """Know what is stored; without `tombstones` nothing was ever forgotten. `is_off` tells what is not captured."""
        self._connection = connection
        self._clock = clock
        self._tombstones = tombstones
        self._is_off = is_off
        self._pending = PendingIdentities()
        self._delivered_again: dict[str, str | None] = {}
        """What a file told first and a hook then, with the hook's frame."""
        self._changes: deque[str] = deque(maxlen=CHANGES_MAX)
        """The frames of the last changes of sessions, which leave no row to be found by."""
        self._occurrences: dict[str, int] = {}
        """By native key, the last number given: to count equals anew for each would cost what all before it cost."""

    def add(self, entry: Entry) -> None:
        """Know an entry that is about to be in the log."""
        self._pending.add(entry)

    def remove(self, entry: Entry) -> None:
        """Know no longer an entry that the log has refused."""
        self._pending.remove(entry)

    def note_logged(self, entry: Entry) -> None:
        """Know an entry that is in the log for good."""
        if isinstance(entry.event, RedactedSessionChange) and entry.event.frame_uid is not None:
            self._changes.append(entry.event.frame_uid)

    def note_stored(self) -> None:
        """Know that the database has all that the log has."""
        self._pending.clear()

    def resolve(self, event: Redacted, way: Way) -> tuple[int | None, str | None]:
        """Return (the event that this one is another delivery of, else None; its final uid)."""
        if event.frame_uid is not None and (known := self._find_frame(event.frame_uid)) is not None:
            return known, None
        if isinstance(event, RedactedSessionChange) and event.frame_uid in self._changes:
            return _REPEATED, None
        if self._forgets and self._is_forgotten(event, way):
            return FORGOTTEN, None
        if not isinstance(event, RedactedIntent) and self._is_off(event, way):
            return OFF, None
        if not isinstance(event, RedactedEvent):
            return None, None
        if event.uid is not None and event.native_key is not None:
            self._occurrences.pop(event.native_key, None)  # a transcript counts for itself, and may leave gaps
        if event.uid is None and (read := self._find_read(event)) is not None:
            return read
        uid = event.uid or self._counted_uid(event)
        stored = self._find_uid(uid)
        if stored is not None and event.input_key and stored.input_key not in (None, event.input_key):
            uid = numbered_uid(uid, event.input_key)
            stored = self._find_uid(uid)
        if stored is not None:
            return stored.event_id, uid
        return (self._find_copied(event) if event.from_transcript else None), uid

    def correction(self, event: Redacted, known: int, uid: str | None) -> RedactedIntent | None:
        """Return what makes a stored event's outcome the one that its session's file tells; None where that is no news.

        Where one fact has come twice in a group, the second finds what the first said.
        """
        if known <= 0 or uid is None or not isinstance(event, RedactedEvent) or not may_correct(event):
            return None
        outcome = self._pending.find_outcome(uid) or outcomes.find_outcome(self._connection, uid)
        if outcome != "ok":  # or it is a fork's copy, whose original has another uid
            return None
        return correction_of(event, known, uid)

    def _find_frame(self, frame_uid: str) -> int | None:
        return self._pending.find_by_frame(frame_uid) or events.find_by_frame(self._connection, frame_uid)

    def _find_uid(self, uid: str) -> events.Stored | Buried | None:
        found = self._pending.find_by_uid(uid) or events.find_by_uid(self._connection, uid)
        return self._forgets.find_uid(uid) if found is None and self._forgets else found

    @property
    def _forgets(self) -> Tombstones | None:
        """The tombstones, if there are any."""
        return None if self._tombstones is None or self._tombstones.is_empty else self._tombstones

    def _is_forgotten(self, event: Redacted, way: Way) -> bool:
        """Whether an event, or a session's change, is part of what was forgotten."""
        assert self._tombstones is not None
        now_ms = None if way == "read" else self._clock.now_ms()
        found = None if event.frame_uid is None else self._tombstones.find_frame(event.frame_uid)
        if isinstance(event, RedactedEvent):
            scope = event.session_id, event.ts, event.payload_json
            found = self._tombstones.find_arriving(*scope, now_ms=now_ms) if found is None else found
            if found is None and event.from_transcript:
                identity = event.native_key, event.input_key, event.session_id, event.input_hash
                found = self._tombstones.find_copied(*identity)
        elif isinstance(event, RedactedSessionChange):
            scope_of_change = event.session_id, event.ts
            found = self._tombstones.find_arriving(*scope_of_change, now_ms=now_ms) if found is None else found
        elif event.kind == "remember":
            found = self._tombstones.find_memory(event.payload_json)
        elif event.kind == "conversation" and way == "read":
            found = self._tombstones.find_title(event.payload_json)
        elif event.kind == "pod" and way == "read":
            found = self._tombstones.find_pod(event.payload_json)
        elif event.kind == "document" and way == "read":
            found = self._tombstones.find_document(event.payload_json)
        return found is not None

    def _find_copied(self, event: RedactedEvent) -> int | None:
        """Return the event that a transcript's record repeats: a fork's copy, or an equal one where no id tells."""
        if event.native_key is None:
            return events.find_equal(self._connection, event.session_id, event.input_hash)
        identity = event.native_key, event.session_id, event.input_key
        return self._pending.find_original(*identity) or events.find_original(self._connection, *identity)

    def _find_read(self, event: RedactedEvent) -> tuple[int, str] | None:
        """Return the fact that a hook tells after its session's file did, where no id says that they are the same: the
        first with its key, about its time, that no other hook has told since."""
        key = event.native_key
        if key is None or event.frame_uid is None:
            return None
        span = event.ts - BEFORE_MS, event.ts + BEHIND_MS
        read = events.list_read(self._connection, key, *span) + self._pending.list_read(key, *span)
        for uid, event_id in read:
            if self._delivered_again.setdefault(uid, event.frame_uid) == event.frame_uid:
                if len(self._delivered_again) > OCCURRENCES_MAX:
                    del self._delivered_again[next(iter(self._delivered_again))]
                return event_id, uid
        return None

    def _counted_uid(self, event: RedactedEvent) -> str:
        """Return the uid of a fact that is told from its equals by counting them: the next that is free."""
        key = event.native_key
        assert key is not None
        occurrence = self._occurrences.pop(key, 0)
        if not occurrence or self._find_uid(numbered_uid(key, occurrence)) is None:
            occurrence = events.count_occurrences(self._connection, key)
        occurrence += 1
        while self._find_uid(numbered_uid(key, occurrence)) is not None:
            occurrence += 1
        self._occurrences[key] = occurrence
        if len(self._occurrences) > OCCURRENCES_MAX:
            del self._occurrences[next(iter(self._occurrences))]
        return numbered_uid(key, occurrence)
