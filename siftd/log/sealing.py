"""The later life of a log: sealed segments are compressed, rewritten without what was forgotten, and pruned.

Each step leaves files that replay reads rightly, so a crash between any two loses nothing and doubles nothing:

    compress   write `….gz` beside, sync it, give it its name, sync the folder, remove the plain one, sync the folder
    rewrite    write the kept lines, or renewed ones, beside, sync them, take the name over, sync the folder
    prune      remove the file, sync the folder

A segment's time is the time of its last append; compressing and rewriting keep it. None of these touches the active
segment, and one of them runs at a time; the writer goes on meanwhile. A segment is in memory as a whole, but never as a
list of its lines: allocated one by one they leave holes that the process keeps for good (33 MB after one forget).
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from siftd.capture.admission import Redacted
from siftd.log.files import sync_folder
from siftd.log.record import Record, encode, is_whole, iter_lines, record_of
from siftd.log.segments import (
    find_first_seq,
    iter_segment,
    name_for_sealed,
    plain_sealed,
    read_line,
    read_segment,
    segments,
    segments_after,
)
from siftd.workspace.home import write_private

GZIP_LEVEL = 6
REWRITTEN_LEVEL = 3
"""Of a segment that somebody waits for: in 0.45 of the time, a tenth larger."""
_LEFTOVERS = ".wal*.new"


@dataclass(frozen=True, slots=True)
class SealedSegment:
    """A segment that nothing is appended to any more."""

    path: Path
    last_seq: int
    """No record in it comes after this one."""
    modified_ms: int


def seal_file(path: str) -> Path | None:
    """Give the active segment, which nobody writes, its sealed name; None when it holds no record."""
    active = Path(path)
    first_seq = find_first_seq(active)
    if first_seq is None or name_for_sealed(active, first_seq).exists():
        return None
    return active.rename(name_for_sealed(active, first_seq))


def compress(path: str) -> int:
    """Compress the sealed segments that are still plain; return how many."""
    remove_leftovers(path)
    plain = plain_sealed(path)
    for each in plain:
        data, times = each.read_bytes(), _times(each)
        _replace(each.with_name(f"{each.name}.gz"), gzip.compress(data, GZIP_LEVEL, mtime=0), times)
        each.unlink()
        sync_folder(str(each.parent))
    return len(plain)


def rewrite(path: str, left_of: Callable[[Record], Record | None], needles: Sequence[bytes] | None = None) -> int:
    """Leave of every segment's records but the active one's what `left_of` says; return how many it changed or took.

    Lines of records that stay as they are stay byte for byte.

    Lines that are no records go too: nobody can tell what they hold. With `needles`, one of which stands in each of the
    records, a segment that has none of them is only looked at for such lines.
    """
    remove_leftovers(path)
    taken = 0
    for segment in segments(path):
        if segment == Path(path):
            continue
        data = read_segment(segment)
        if needles is not None and _is_spared(data, needles):
            continue
        remaining, lines, gone = bytearray(), 0, 0
        for _, line in iter_lines(data):
            if needles is not None and is_whole(line) and not any(each in line for each in needles):
                remaining += line
                lines += 1
                continue
            record = read_line(line)
            left = None if record is None else left_of(record)
            gone += left is None or left is not record
            if left is not None:
                remaining += line if left is record else encode(left)
                lines += 1
        if gone:
            _rewrite(segment, remaining, lines)
            taken += gone
    return taken


def _is_spared(data: bytes, needles: Sequence[bytes]) -> bool:
    return not any(each in data for each in needles) and all(is_whole(line) for _, line in iter_lines(data))


def renew(path: str, renewed: Callable[[Record], Redacted | None], *, after: int = 0) -> int:
    """Write records of sealed segments anew, under their seq and uid; return how many. None leaves a line as it is.

    Segments that end before the seq `after` are not read. In the others lines that are no records go: nobody can tell
    what they hold.
    """
    remove_leftovers(path)
    changed = 0
    for segment in segments_after(path, after):
        if segment == Path(path):
            continue
        data, remaining, lines, rewritten = read_segment(segment), bytearray(), 0, 0
        for _, line, record in iter_segment(data):
            if record is not None:
                new = _renewed(line, record, renewed)
                remaining += new
                lines += 1
                rewritten += new != line
        if remaining != data:
            _rewrite(segment, remaining, lines)
            changed += rewritten
    return changed


def _renewed(line: bytes, record: Record, renewed: Callable[[Record], Redacted | None]) -> bytes:
    new = renewed(record) if record.kind != "segment" else None
    return line if new is None else encode(record_of(new, record.seq, record.uid))


def holds(path: str, left_of: Callable[[Record], Record | None]) -> bool:
    """Whether the active segment has a record of which something has to go, or a line that is no record."""
    lines = iter_segment(read_segment(Path(path)))
    return any(record is None or left_of(record) is not record for _, _, record in lines)


def list_sealed(path: str) -> list[SealedSegment]:
    """Return the segments but the active one, oldest first."""
    found = []
    successor: int | None = None
    for each in reversed(segments(path)):
        if each != Path(path):
            last_seq = successor - 1 if successor else _last_seq(each)
            found.append(SealedSegment(each, last_seq, int(each.stat().st_mtime * 1000)))
        successor = find_first_seq(each) or successor
    return found[::-1]


def prune(path: str, old: list[SealedSegment], covered_seq: int) -> int:
    """Remove those of the segments that a synced snapshot covers up to `covered_seq`; return how many."""
    covered = [each for each in old if each.last_seq <= covered_seq]
    for each in covered:
        each.path.unlink(missing_ok=True)
    if covered:
        sync_folder(str(Path(path).parent))
    return len(covered)


def remove_leftovers(path: str) -> None:
    """Remove the half-made files of a crash."""
    for each in Path(path).parent.glob(_LEFTOVERS):
        each.unlink(missing_ok=True)


def _rewrite(segment: Path, remaining: bytearray, lines: int) -> None:
    if lines <= 1:  # its first line only
        segment.unlink(missing_ok=True)
        sync_folder(str(segment.parent))
        return
    is_compressed = segment.suffix == ".gz"
    data = gzip.compress(remaining, REWRITTEN_LEVEL, mtime=0) if is_compressed else bytes(remaining)
    _replace(segment, data, _times(segment))


def _replace(path: Path, data: bytes, times: tuple[int, int]) -> None:
    write_private(path, data)
    os.utime(path, ns=times)
    sync_folder(str(path.parent))


def _times(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_mtime_ns


def _last_seq(segment: Path) -> int:
    return max((record.seq for _, _, record in iter_segment(read_segment(segment)) if record is not None), default=0)
