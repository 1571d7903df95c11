"""An import from a file's first line to its last, interruptible at each batch."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from siftd.capture.admission import Redacted
from siftd.capture.intake import Intake
from siftd.clock import Clock
from siftd.consolidate.drain import Store
from siftd.errors import LogError, RequestInvalid
from siftd.exchange.format import LINE_BYTES_MAX, VERSION, End, Header, Line, decode
from siftd.exchange.import_context import Receipt
from siftd.exchange.importing import Importer, Numbered
from siftd.exchange.result import ImportResult
from siftd.foreign_file import open_regular

BATCH_LINES = 128
BATCH_BYTES = 1 << 20
Problem = tuple[int, str]
Batch = tuple[list[Numbered], list[Problem], int]
"""Lines with their numbers, lines that are none with the reason, and how many bytes of the file are read."""


@dataclass(frozen=True)
class Target:
    """What an import goes into, who is told how far it is, and whether it goes on.

    Of an `own` file it is believed who said what. `is_global`: into the memories for every project.
    """

    intake: Intake
    keep: Callable[[Redacted], Awaitable[Receipt]]
    store: Store
    clock: Clock
    on_progress: Callable[[int, int], object]
    goes_on: Callable[[], bool]
    own: bool = False
    is_global: bool = False
    snapshot: str = ""
    """The file for a snapshot of the codebase; "" where none belongs."""


async def import_file(path: str, target: Target) -> ImportResult:
    """Merge an exported file in. Raises RequestInvalid for a file that is no export.

    A line that cannot be used is counted and passed over.
    """
    file = await asyncio.to_thread(open_file, path)
    with closing(file):
        return await import_batches(_read_header(file), _iter_batches(file), Path(path).stat().st_size, target)


async def import_batches(header: Header, batches: Iterator[Batch], total: int, target: Target) -> ImportResult:
    """Take batches in, of which the last is done with `total`. What reads them may take its time.

    It ends early when `goes_on()` says so or nothing can be kept any more; doing it again takes up the rest.
    """
    into = target.intake, target.keep, target.store, target.clock
    importer = Importer(header, *into, own=target.own, is_global=target.is_global, snapshot=target.snapshot)
    result = importer.result
    while (batch := await asyncio.to_thread(next, batches, None)) is not None:
        lines, problems, done = batch
        for number, reason in problems:
            result.note_error(number, reason)
        try:
            await importer.take(lines)
        except LogError as error:
            result.note_error(lines[0][0], error.code)
            return result
        target.on_progress(done, total)
        if not target.goes_on():
            result.note_error(lines[-1][0] if lines else 0, "the daemon was stopped")
            return result
    return result


def check_absolute(path: str) -> None:
    """Raise RequestInvalid for what is no absolute path."""
    if not Path(path).is_absolute() or "\x00" in path:
        raise RequestInvalid("an absolute path is wanted", hint="`mem import` makes it one")


def open_file(path: str) -> BinaryIO:
    """Open the file that a person wants to import. Raises RequestInvalid for what is no readable file."""
    check_absolute(path)
    try:
        return open_regular(path, follow=True)  # a person has chosen it
    except OSError as error:
        raise RequestInvalid(f"the file cannot be read: {error.strerror}", hint="name an exported file") from error


def _read_header(file: BinaryIO) -> Header:
    try:
        header = decode(file.readline(BATCH_BYTES))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OSError):  # /proc/self/mem opens, for one
        header = None
    if not isinstance(header, Header):
        raise RequestInvalid("this file is no export of siftd", hint="`mem export FILE` writes one")
    if header.version > VERSION:
        raise RequestInvalid(f"the export has version {header.version}", hint="install the newer siftd")
    return header


def _iter_batches(file: BinaryIO) -> Iterator[Batch]:
    """Yield the file's lines, the header's apart; that it was cut off is a problem of its own."""
    lines: list[Numbered] = []
    problems: list[Problem] = []
    end: End | None = None
    number, batch_bytes = 1, 0
    while data := file.readline(LINE_BYTES_MAX):
        number += 1
        batch_bytes += len(data)
        try:
            line = _decode_whole(data, file)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as error:
            problems.append((number, f"no line of an export ({type(error).__name__})"))
        else:
            if isinstance(line, End):
                end = line
            elif line is not None:
                lines.append((number, line))
        if len(lines) >= BATCH_LINES or batch_bytes >= BATCH_BYTES:
            yield lines, problems, file.tell()
            lines, problems, batch_bytes = [], [], 0
    if end is None:
        problems.append((number, "the file was cut off behind this"))
    yield lines, problems, file.tell()


def _decode_whole(data: bytes, file: BinaryIO) -> Line | None:
    """Return what a line says; of one that is too long the rest is passed over. Raises ValueError for such."""
    if len(data) == LINE_BYTES_MAX and not data.endswith(b"\n"):
        while (rest := file.readline(LINE_BYTES_MAX)) and not rest.endswith(b"\n"):
            pass
        raise ValueError("too long")
    return decode(data)
