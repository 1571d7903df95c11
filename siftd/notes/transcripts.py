"""Session files of clients, as a source of notes where no store has what they tell.

A file is read on from where it was read to, whole lines only, up to where no call and no turn is open; what comes
behind is read once it is whole. One that was cut, replaced or rewritten is read from its beginning. Like any session
file it is foreign: regular, this user's, no link at its name, bounded memory; and what it tells is redacted like a
capture before anything is made of it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from siftd.backfill.lines import Lines
from siftd.backfill.reading import QUIET_SECONDS
from siftd.backfill.sources import Transcript
from siftd.capture.intake import OPT_OUT_WORD, Ignored, Intake, OptedOut
from siftd.capture.redacted import RedactedEvent
from siftd.clients.client import Decoded, Reader, StoredSessions
from siftd.errors import EnvelopeRejected, PayloadTooLarge
from siftd.foreign_file import open_regular
from siftd.model import Event
from siftd.notes.cursors import Offset
from siftd.store.note_sources import CapturedEvent
from siftd.store.payload import find_object

_SEEN_BYTES = 256
_OFF = OPT_OUT_WORD.encode()
_LEFT_OUT = ("subagent_end", "compaction")


class ReadOn(NamedTuple):
    """What is new in a transcript, redacted, and where to go on."""

    events: list[CapturedEvent]
    offset: Offset


def read_on(transcript: Transcript, at: Offset, intake: Intake, now_ms: int) -> ReadOn:
    """Return what a transcript tells behind a place. Raises OSError for a file that may not be read."""
    if at.off:
        return ReadOn([], at)
    is_complete = now_ms - transcript.modified_ns // 1_000_000 > QUIET_SECONDS * 1000
    reader = transcript.client.files.reader(transcript.head.session_id or Path(transcript.path).stem)
    reading = _Reading(reader, intake)
    if isinstance(transcript.client.files, StoredSessions):
        lines = list(transcript.client.files.lines_of(transcript.path, transcript.key))
        start = at.offset if _hash_before(lines, at.offset) == at.seen else 0
        done = reading.read(enumerate(lines[start:], start + 1), is_complete=is_complete) or start
        return ReadOn(reading.events, Offset(done, _hash_before(lines, done), reading.is_off))
    with _opened(transcript.path) as file:
        start = at.offset if _seen(file, at.offset) == at.seen else 0
        file.seek(start)
        rest = Lines(file, transcript.path, start=start)
        done = reading.read(((rest.done_bytes, line) for line in rest), is_complete=is_complete) or start
        return ReadOn(reading.events, Offset(done, _seen(file, done), reading.is_off))


def end_of(transcript: Transcript) -> Offset:
    """Return the place behind all that a transcript tells now. Raises OSError.

    Where its lines hold the word by which a person says that nothing more is to be remembered, nothing more of it ever
    is: whether that was a person's own word only a reader of all of it would know.
    """
    if isinstance(transcript.client.files, StoredSessions):
        lines = list(transcript.client.files.lines_of(transcript.path, transcript.key))
        is_off = any(_OFF in line for line in lines)
        return Offset(len(lines), _hash_before(lines, len(lines)), is_off)
    with _opened(transcript.path) as file:
        rest = Lines(file, transcript.path)
        is_off = sum(_OFF in line for line in rest) > 0  # all of them are read, for the place behind them
        return Offset(rest.done_bytes, _seen(file, rest.done_bytes), is_off)


class _Reading:
    """What whole turns of a transcript tell, until a person says that nothing more is to be remembered."""

    def __init__(self, reader: Reader, intake: Intake) -> None:
        self._reader = reader
        self._intake = intake
        self.events: list[CapturedEvent] = []
        self.is_off = False

    def read(self, lines: Iterable[tuple[int, bytes]], *, is_complete: bool) -> int:
        """Read the lines, each with the place behind it; return the place behind the last whole turn, 0 for none."""
        waiting: list[CapturedEvent] = []
        done = place = 0
        for place, line in lines:
            waiting += self._admitted(self._reader.read(line))
            if self.is_off:
                self.events += waiting
                return place
            if self._reader.is_between:
                self.events += waiting
                waiting, done = [], place
        waiting += self._admitted(self._reader.finish(is_complete))
        if is_complete or self._reader.is_between:
            self.events += waiting
            return place
        return done

    def _admitted(self, decoded: Iterable[Decoded]) -> Iterator[CapturedEvent]:
        for each in decoded:
            if not isinstance(each, Event) or each.agent_id is not None or each.kind in _LEFT_OUT:
                continue
            try:
                event = self._intake.admit(each)
            except OptedOut:
                self.is_off = True
                return
            except (Ignored, EnvelopeRejected, PayloadTooLarge):
                continue
            if isinstance(event, RedactedEvent):
                yield _captured(event)


def _captured(event: RedactedEvent) -> CapturedEvent:
    payload = find_object(event.payload_json.decode()) or {}
    kind, outcome, said_by = event.event_kind, event.outcome, event.said_by
    return CapturedEvent(0, event.ts, event.session_id, kind, event.tool, event.action, outcome, said_by, payload)


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_uid != os.geteuid():
            raise PermissionError(1, "it is another user's", path)
        yield file


def _seen(file: BinaryIO, offset: int) -> str:
    """Return what says that the bytes before a place are the ones that were read; "" at the beginning."""
    if not offset:
        return ""
    start = max(0, offset - _SEEN_BYTES)
    before = os.pread(file.fileno(), offset - start, start)
    return hashlib.sha256(before).hexdigest()[:32] if len(before) == offset - start else "cut"


def _hash_before(lines: list[bytes], offset: int) -> str:
    if not offset:
        return ""
    return hashlib.sha256(lines[offset - 1]).hexdigest()[:32] if offset <= len(lines) else "cut"
