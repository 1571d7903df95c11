"""Where Antigravity keeps a conversation, and what of it lies at the end.

~/.gemini/antigravity*/brain/<id>/.system_generated/logs/transcript_full.jsonl     (or transcript.jsonl)
~/.gemini/antigravity*/brain/<id>/.system_generated/steps/<n>/output.txt
~/.gemini/antigravity*/conversations/<id>.db
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from siftd.clients.antigravity.transcript import DECODER, Step
from siftd.clients.tolerant_json import decode_as
from siftd.errors import EnvelopeRejected
from siftd.foreign_file import open_regular

FULL, SHORT = "transcript_full.jsonl", "transcript.jsonl"
_MIRROR = re.compile(rf".*/brain/(?P<id>[\w-]{{1,80}})/\.system_generated/logs/(?:{FULL}|{SHORT})")
_TAIL_BYTES = 1024 * 1024
_OUTPUT_BYTES = 1024 * 1024


def conversation_of(path: str) -> str | None:
    """Return whose mirror a path names, by its form alone; None for any other file."""
    found = _MIRROR.fullmatch(path)
    return None if found is None else found["id"]


def last_steps(path: str) -> Iterator[Step]:
    """Yield a mirror's steps from the last one back, as far as a bounded tail has them. Raises OSError."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - _TAIL_BYTES))
        lines = file.read(_TAIL_BYTES).splitlines()
    for raw in reversed(lines):
        try:
            yield decode_as(raw, DECODER)
        except EnvelopeRejected:
            continue  # the first of the tail is cut; the last may still be written


def output_of(mirror: str, step: int) -> str:
    """Return what a tool's step printed, as the client keeps it; "" where it keeps nothing."""
    path = Path(mirror).parents[1] / "steps" / str(step) / "output.txt"
    try:
        with open_regular(str(path)) as file:
            return file.read(_OUTPUT_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
