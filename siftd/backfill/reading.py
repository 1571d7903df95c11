"""One transcript, read and admitted in small batches, so that a thread can do it beside live captures."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import structlog

from siftd.backfill.lines import Lines, StoredLines, open_lines, reason_of
from siftd.backfill.result import BackfillResult
from siftd.backfill.sources import Transcript
from siftd.capture.admission import Redacted, encode_canonical
from siftd.capture.intake import Ignored, Intake, OptedOut
from siftd.capture.truncate import RAW_TEXT_MAX
from siftd.clients.client import Decoded, Skipped, StoredSessions
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange

log = structlog.get_logger()

BATCH_EVENTS = 32
BATCH_SECONDS = 0.02
"""A batch ends at whichever comes first; redacting a large payload takes milliseconds."""
QUIET_SECONDS = 600
"""A file that was not written for so long grows no more: its last words end their turn."""


@dataclass
class Batch:
    """Events ready to be kept, in their order; `counts` is what else was found on the way."""

    events: list[Redacted] = field(default_factory=list)
    counts: BackfillResult = field(default_factory=BackfillResult)
    done_bytes: int = 0
    """How far in the file this and the earlier batches reach."""


def iter_batches(transcript: Transcript, intake: Intake, now_ms: int) -> Generator[Batch, None, None]:
    """Yield the transcript's events in batches. What is wrong with the file ends it, counted in the last batch.

    Each step may run in another thread.
    """
    batch = Batch()
    try:
        with open_lines(transcript.client, transcript.path, transcript.key) as lines:
            deadline = time.monotonic() + BATCH_SECONDS
            for decoded in _read(transcript, lines, now_ms):
                take(decoded, batch, transcript.path, intake, lines.longest)
                if len(batch.events) >= BATCH_EVENTS or time.monotonic() > deadline:
                    batch.done_bytes = lines.done_bytes
                    yield batch
                    batch = Batch()
                    deadline = time.monotonic() + BATCH_SECONDS
            for _ in range(lines.passed_over):
                batch.counts.note_error(transcript.path, "line_too_long")
    except OSError as error:
        batch.counts.note_error(transcript.path, reason_of(error))
    except Exception as error:  # noqa: BLE001 - the file's boundary: one odd transcript must not end the others
        log.warning("transcript_failed", error=type(error).__name__)
        batch.counts.note_error(transcript.path, type(error).__name__)
    batch.counts.sessions += not transcript.head.agent_id
    batch.counts.growing += not _is_complete(transcript, now_ms)
    batch.done_bytes = transcript.size
    yield batch


def _read(transcript: Transcript, lines: Lines | StoredLines, now_ms: int) -> Iterator[Decoded]:
    spawned = transcript.client.files.spawned_agents(transcript.path, transcript.head)
    for decoded in _read_lines(transcript, lines, now_ms):
        if isinstance(decoded, Event) and not transcript.is_own:
            decoded = msgspec.structs.replace(decoded, said_by="outside")
        if not isinstance(decoded, Skipped) and decoded.cwd is None and transcript.head.cwd:
            decoded = msgspec.structs.replace(decoded, cwd=transcript.head.cwd)
        if isinstance(decoded, Event) and decoded.native_id in spawned and decoded.spawned_agent_id is None:
            yield msgspec.structs.replace(decoded, spawned_agent_id=spawned[decoded.native_id])
        else:
            yield decoded


def _read_lines(transcript: Transcript, lines: Lines | StoredLines, now_ms: int) -> Iterator[Decoded]:
    """Yield everything that the file tells. Calls that are still unanswered, and a turn that is not over, are left out:
    a later reading of the grown file tells them."""
    reader = transcript.client.files.reader(transcript.head.session_id or Path(transcript.path).stem)
    files = transcript.client.files
    for line in lines if isinstance(files, StoredSessions) else files.joined_lines(transcript.path, lines):
        if line.strip():
            yield from reader.read(line)
    yield from reader.finish(_is_complete(transcript, now_ms))


def _is_complete(transcript: Transcript, now_ms: int) -> bool:
    return now_ms - transcript.modified_ns // 1_000_000 > QUIET_SECONDS * 1000


def take(decoded: Decoded, batch: Batch, path: str, intake: Intake, longest_line_bytes: int) -> None:
    """Admit what a line told into the batch, or count why not. No line so far was longer than `longest_line_bytes`."""
    if isinstance(decoded, Skipped):
        batch.counts.note_error(path, decoded.reason)
        return
    if isinstance(decoded, Event):
        batch.counts.scanned += 1
        batch.counts.note_moment(decoded.ts)
    try:
        batch.events.append(intake.admit(decoded, raw_bytes=_raw_bytes(decoded, longest_line_bytes)))
    except OptedOut as off:
        batch.events.append(intake.opt_out(off.session_id, off.ts))
    except Ignored:
        pass
    except EnvelopeRejected as rejected:
        batch.counts.note_error(path, rejected.reason)


def _raw_bytes(decoded: Event | SessionChange, longest_line_bytes: int) -> int:
    """Return the size of what was told; exactly only where it may matter, as no line so far was that long."""
    if longest_line_bytes <= RAW_TEXT_MAX or isinstance(decoded, SessionChange):
        return 0
    return len(encode_canonical(decoded.payload))
