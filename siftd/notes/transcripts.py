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
from siftd.capture.intake import Ignored, Intake, OptedOut
from siftd.capture.redacted import RedactedEvent
from siftd.clients.client import Decoded, Reader, StoredSessions
from siftd.errors import EnvelopeRejected, PayloadTooLarge
from siftd.foreign_file import open_regular
from siftd.model import Event
from siftd.notes.cursors import Offset
from siftd.store.note_sources import CapturedEvent
from siftd.store.payload import find_object

_SEEN_BYTES = 256


class ReadOn(NamedTuple):
    """What is new in a transcript, redacted, and where to go on."""

    events: list[CapturedEvent]
    offset: Offset


def read_on(transcript: Transcript, at: Offset, intake: Intake, now_ms: int) -> ReadOn:
    """Return what a transcript tells behind a place. Raises OSError for a file that may not be read."""
    is_complete = now_ms - transcript.modified_ns // 1_000_000 > QUIET_SECONDS * 1000
    reader = transcript.client.files.reader(transcript.head.session_id or Path(transcript.path).stem)
    if isinstance(transcript.client.files, StoredSessions):
        lines = list(transcript.client.files.lines_of(transcript.path, transcript.key))
        start = at.offset if _hash_before(lines, at.offset) == at.seen else 0
        events, done = _read(
            reader, ((number, line) for number, line in enumerate(lines[start:], start + 1)), intake, is_complete
        )
        offset = done or start
        return ReadOn(events, Offset(offset, _hash_before(lines, offset)))
    with _opened(transcript.path) as file:
        start = at.offset if _seen(file, at.offset) == at.seen else 0
        file.seek(start)
        lines_left = Lines(file, transcript.path, start=start)
        events, done = _read(reader, ((lines_left.done_bytes, line) for line in lines_left), intake, is_complete)
        return ReadOn(events, Offset(done or start, _seen(file, done or start)))


def end_of(transcript: Transcript) -> Offset:
    """Return the place behind all that a transcript tells now. Raises OSError."""
    if isinstance(transcript.client.files, StoredSessions):
        lines = list(transcript.client.files.lines_of(transcript.path, transcript.key))
        return Offset(len(lines), _hash_before(lines, len(lines)))
    with _opened(transcript.path) as file:
        lines_left = Lines(file, transcript.path)
        for _ in lines_left:
            pass
        return Offset(lines_left.done_bytes, _seen(file, lines_left.done_bytes))


def _read(
    reader: Reader, lines: Iterable[tuple[int, bytes]], intake: Intake, is_complete: bool
) -> tuple[list[CapturedEvent], int]:
    """Return what whole turns tell, and the place behind the last of them."""
    events: list[CapturedEvent] = []
    waiting: list[CapturedEvent] = []
    done = place = 0
    for place, line in lines:
        waiting += _admitted(reader.read(line), intake)
        if reader.is_between:
            events += waiting
            waiting, done = [], place
    waiting += _admitted(reader.finish(is_complete), intake)
    if is_complete or reader.is_between:
        events, done = events + waiting, place
    return events, done


def _admitted(decoded: Iterable[Decoded], intake: Intake) -> Iterator[CapturedEvent]:
    for each in decoded:
        if not isinstance(each, Event) or each.agent_id is not None or each.kind in ("subagent_end", "compaction"):
            continue
        try:
            event = intake.admit(each)
        except (Ignored, OptedOut, EnvelopeRejected, PayloadTooLarge):
            continue
        if isinstance(event, RedactedEvent):
            payload = find_object(event.payload_json.decode()) or {}
            kind, outcome, said_by = event.event_kind, event.outcome, event.said_by
            yield CapturedEvent(
                0, event.ts, event.session_id, kind, event.tool, event.action, outcome, said_by, payload
            )


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
