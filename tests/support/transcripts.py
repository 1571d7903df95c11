"""Reading a whole transcript of Claude Code at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from siftd.clients.claude_code.transcript import TranscriptReader
from siftd.clients.client import Skipped
from siftd.model import Event, SessionChange


def read_transcript(
    lines: Iterable[bytes], *, session_id: str | None = None, complete: bool = False
) -> Iterator[Event | SessionChange | Skipped]:
    """Everything a whole transcript tells, from its first line, in the file's order.

    `session_id` stands in where records name none. Calls that are still unanswered and a turn that is not
    over are left out: a later reading of the grown file tells them. `complete` promises that the file will
    grow no more, so that the last words of a client that writes no `stop_reason` end their turn. Never raises
    for what a line holds.
    """
    reader = TranscriptReader(session_id)
    for line in lines:
        if line.strip():
            yield from reader.read(line)
    yield from reader.finish(complete)
