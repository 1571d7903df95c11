"""Opening a log after whatever happened to it: torn tails are set aside, corrupt lines quarantined, the rest read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from siftd.log.record import Record, iter_lines
from siftd.log.segments import are_twins, find_store, iter_segment, read_line, read_segment, segments, segments_after
from siftd.workspace.home import write_private


@dataclass
class Recovery:
    """What was found when the log was opened."""

    last_seq: int = 0
    store: str | None = None
    torn_bytes: int = 0
    corrupt_lines: int = 0
    foreign_segments: int = 0
    records: Iterable[Record] = ()
    """The records after the `applied` seq, in their order, read as they are asked for. Once."""


def recover(path: str, *, applied: int, quarantine: str) -> Recovery:
    """Repair the active segment's tail and return what comes after seq `applied`.

    A torn tail is copied into `quarantine` before it is cut off. A corrupt line elsewhere is copied there and
    left where it is. No good record is ever dropped. Segments that end before `applied` are not read.
    """
    found = Recovery()
    for segment in segments_after(path, applied):
        data = read_segment(segment)
        bad = []
        for offset, line, record in iter_segment(data):
            if record is None:
                bad.append((offset, line))
            elif record.kind == "segment":
                found.store = found.store or record.store
            else:
                found.last_seq = max(found.last_seq, record.seq)
        _deal_with(bad, segment, data, segment == Path(path), Path(quarantine), found)
    if found.last_seq > applied:
        found.records = iter_records(path, after=applied)
    return found


def set_foreign_aside(path: str, store: str | None, quarantine: str) -> int:
    """Move the segments that name another store than `store` into `quarantine`; return how many those were.

    Somebody has copied another workspace's file to this place: its records would come in under ids of ours. Without a
    `store` it is the one that most segments name, the oldest of two.
    """
    named = {segment: find_store(segment) for segment in segments(path)}
    stores = [each for each in named.values() if each is not None]
    ours = store or max(stores, key=stores.count, default=None)
    foreign = [segment for segment, each in named.items() if each not in (None, ours)]
    for segment in foreign:
        Path(quarantine).mkdir(mode=0o700, exist_ok=True)
        segment.rename(Path(quarantine) / f"foreign-{segment.name}")
    return len(foreign)


def iter_records(path: str, *, after: int = 0, holding: bytes = b"") -> Iterator[Record]:
    """Yield every good record after seq `after` of the log whose active segment is `path`, oldest first.

    Of them those whose line holds the bytes `holding`: the others are not decoded, which takes most of the time.
    Changes nothing, and may be used while the log grows, is sealed and compressed.
    """
    previous: Path | None = None
    last_seq = 0
    for segment in segments_after(path, after):
        known = last_seq if are_twins(previous, segment) else after
        for _, line in iter_lines(read_segment(segment)):
            record = read_line(line) if holding in line else None
            if record is not None and record.kind != "segment" and record.seq > known:
                last_seq = record.seq
                yield record
        previous = segment


def _deal_with(
    bad: list[tuple[int, bytes]], segment: Path, data: bytes, is_active: bool, quarantine: Path, found: Recovery
) -> None:
    torn_at = len(data)
    if is_active:
        while bad and bad[-1][0] + len(bad[-1][1]) == torn_at:
            torn_at = bad.pop()[0]
    for offset, line in bad:
        set_aside(quarantine, f"corrupt-{segment.name}-{offset}", line)
    found.corrupt_lines += len(bad)
    if torn_at < len(data):
        set_aside(quarantine, f"torn-{segment.name}-{torn_at}", data[torn_at:])
        found.torn_bytes += len(data) - torn_at
        os.truncate(segment, torn_at)


def set_aside(folder: Path, name: str, data: bytes) -> None:
    """Keep a copy of what cannot be taken in."""
    folder.mkdir(mode=0o700, exist_ok=True)
    write_private(folder / name, data)
