"""Identities of what is in the log and not yet in the database: this group's, and all since a lock was not had."""

from __future__ import annotations

from siftd.capture.admission import RedactedEvent
from siftd.capture.corrections import corrected_by
from siftd.log.writer import Entry
from siftd.store.events import Stored


class PendingIdentities:
    """Answers as the store will once it has caught up."""

    def __init__(self) -> None:
        self._by_uid: dict[str, Stored] = {}
        self._by_frame: dict[str, int] = {}
        self._by_native_key: dict[tuple[str, str | None], dict[str, int]] = {}
        """(native key, input key) to the events of each session."""
        self._outcomes: dict[str, str | None] = {}
        self._read: dict[str, list[tuple[int, str, int]]] = {}
        """By native key: time, uid and event of what a session's file told first."""

    def add(self, entry: Entry) -> None:
        event = entry.event
        if event.frame_uid is not None:
            self._by_frame[event.frame_uid] = entry.seq
        if (correction := corrected_by(event)) is not None:
            self._outcomes[correction.uid] = correction.outcome
        if isinstance(event, RedactedEvent):
            if entry.uid is not None:
                self._outcomes[entry.uid] = event.outcome
                self._by_uid[entry.uid] = Stored(entry.seq, event.input_key)
            if event.native_key is not None:
                sessions = self._by_native_key.setdefault((event.native_key, event.input_key), {})
                sessions.setdefault(event.session_id, entry.seq)
                if event.from_transcript and entry.uid is not None:
                    self._read.setdefault(event.native_key, []).append((event.ts, entry.uid, entry.seq))

    def remove(self, entry: Entry) -> None:
        """Forget an entry that the log has refused."""
        event = entry.event
        self._by_frame.pop(event.frame_uid or "", None)
        self._by_uid.pop(entry.uid or "", None)
        self._outcomes.pop(entry.uid or "", None)
        if (correction := corrected_by(event)) is not None:
            self._outcomes[correction.uid] = "ok"
        if isinstance(event, RedactedEvent) and event.native_key is not None:
            sessions = self._by_native_key.get((event.native_key, event.input_key), {})
            if sessions.get(event.session_id) == entry.seq:
                del sessions[event.session_id]
            self._read.pop(event.native_key, None)

    def clear(self) -> None:
        """Forget everything: the database has it."""
        self._by_uid.clear()
        self._by_frame.clear()
        self._by_native_key.clear()
        self._read.clear()
        self._outcomes.clear()

    def find_outcome(self, uid: str) -> str | None:
        """Return how an event ended; None for one that the database may know."""
        return self._outcomes.get(uid)

    def find_by_uid(self, uid: str) -> Stored | None:
        return self._by_uid.get(uid)

    def list_read(self, native_key: str, since: int, until: int) -> list[tuple[str, int]]:
        """Return (uid, id) of the facts with this key that a session's file told first, in a span of time, in order."""
        found = sorted(each for each in self._read.get(native_key, ()) if since <= each[0] <= until)
        return [(uid, seq) for _, uid, seq in found]

    def find_by_frame(self, frame_uid: str) -> int | None:
        return self._by_frame.get(frame_uid)

    def find_original(self, native_key: str, session_id: str, input_key: str | None) -> int | None:
        """Return the event of another session that has this client's id and input."""
        sessions = self._by_native_key.get((native_key, input_key), {})
        return next((seq for session, seq in sessions.items() if session != session_id), None)
