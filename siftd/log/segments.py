"""The files of a log: their names, their order, and reading one while another thread seals or rewrites it.

    wal.ndjson                      the active segment
    wal-<first seq>.ndjson          sealed, not yet compressed
    wal-<first seq>.ndjson.gz       sealed; once this name exists it is whole, and its plain twin is about to go
    wal.broken-<n>.ndjson           set aside after a failed sync

Segments are in the order of their first seq, the active one last. Both twins may be there after a crash between two
steps of sealing: whoever reads takes the records of the second that the first did not have, which is none.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from siftd.log.record import Record, decode, is_whole, iter_lines

_SEALED = "wal-"
_BROKEN = "wal.broken-"
_FIRST_LINE_BYTES = 4_096
UNREADABLE = b"(what follows cannot be decompressed)"
"""Stands for the rest of a damaged compressed segment: no record, so it is counted and told like a corrupt line."""
SEGMENT_BYTES_MAX = 640 * 1024 * 1024
"""More than a segment of ours can hold: it is sealed after the group that crosses 16 MiB, and the largest group that
the configuration allows has 128 records of 4 MiB. A file that unfolds to more is damaged, or somebody else's."""


def segments(path: str) -> list[Path]:
    """Return the segments of the log whose active one is `path`, oldest first."""
    active = Path(path)
    sealed = [(_sealed_number(each), each.suffix != ".gz", each) for each in active.parent.glob(f"{_SEALED}*.ndjson*")]
    broken = [(find_first_seq(each) or _sealed_number(each), False, each) for each in _broken(active)]
    return [*(each for _, _, each in sorted([*sealed, *broken])), *([active] if active.exists() else [])]


def segments_after(path: str, applied: int) -> list[Path]:
    """Return the segments that may hold records after seq `applied`: those whose successor begins later."""
    files = segments(path)
    wanted: list[Path] = []
    successor: int | None = None
    for each in reversed(files):
        if successor is None or successor > applied + 1:
            wanted.append(each)
        successor = find_first_seq(each) or successor
    return wanted[::-1]


def plain_sealed(path: str) -> list[Path]:
    """Return the sealed segments that wait for compression, oldest first."""
    return sorted(Path(path).parent.glob(f"{_SEALED}*.ndjson"), key=_sealed_number)


def name_for_sealed(active: Path, first_seq: int) -> Path:
    return active.with_name(f"{_SEALED}{first_seq}.ndjson")


def name_for_broken(active: Path) -> Path:
    """Return the name under which the active segment is set aside after a failed sync: behind all others."""
    newest = _broken(active)[-1:]
    number = _sealed_number(newest[0]) + 1 if newest else 1
    return active.with_name(f"{_BROKEN}{number}.ndjson")


def are_twins(one: Path | None, other: Path) -> bool:
    """Whether two segments are the same one, compressed and plain."""
    return one is not None and one.name.removesuffix(".gz") == other.name.removesuffix(".gz")


def find_first_seq(segment: Path) -> int | None:
    """Return the seq of a segment's first record; None when it has none, or is gone."""
    if segment.name.startswith(_SEALED):
        return _sealed_number(segment)
    try:
        with segment.open("rb") as file:
            for line in file:
                record = read_line(line)
                if record is not None and record.seq:
                    return record.seq
    except FileNotFoundError:
        pass
    return None


def find_store(segment: Path) -> str | None:
    """Return the store that a segment's first line names; None when it names none, or cannot be read."""
    first = _read_first(segment)
    return None if first is None else first.store


def find_fingerprint(segment: Path) -> str | None:
    """Return the fingerprint of the secret that a segment's first line names."""
    first = _read_first(segment)
    return None if first is None else first.secret


def last_seq(path: str) -> int:
    """Return the seq of the log's last record, 0 of an empty one. Reads its newest segments."""
    for segment in reversed(segments(path)):
        records = (record for _, _, record in iter_segment(read_segment(segment)) if record is not None)
        if found := max((record.seq for record in records), default=0):
            return found
    return 0


def _read_first(segment: Path) -> Record | None:
    if not segment.is_file():  # a pipe would give its bytes once
        return None
    try:
        with segment.open("rb") as file:
            data = file.read(_FIRST_LINE_BYTES)
    except OSError:
        return None
    if segment.suffix == ".gz":
        data = _decompress_some(data)
    record = read_line(data[: data.find(b"\n") + 1])
    return record if record is not None and record.kind == "segment" else None


def read_segment(segment: Path) -> bytes:
    """Return a segment's lines. One that was compressed, or pruned, since it was listed is found, or empty."""
    twin = segment.with_suffix("") if segment.suffix == ".gz" else segment.with_name(f"{segment.name}.gz")
    for each in (segment, twin):
        try:
            data = each.read_bytes()
        except FileNotFoundError:
            continue
        return _decompress(data) if each.suffix == ".gz" else data
    return b""


def read_line(line: bytes) -> Record | None:
    """Return the record of a line; None for one whose crc does not hold or that no siftd has written."""
    if not is_whole(line):
        return None
    try:
        return decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def iter_segment(data: bytes) -> Iterator[tuple[int, bytes, Record | None]]:
    """Yield (offset, line, its record or None) of a segment's bytes."""
    for offset, line in iter_lines(data):
        yield offset, line, read_line(line)


def _broken(active: Path) -> list[Path]:
    return sorted(active.parent.glob(f"{_BROKEN}*.ndjson"), key=_sealed_number)


def _sealed_number(path: Path) -> int:
    """Return the number in the name of a sealed or broken segment."""
    return int(path.name.partition("-")[2].partition(".")[0])


def _decompress_some(data: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(data, _FIRST_LINE_BYTES)
    except zlib.error:
        return b""


def _decompress(data: bytes) -> bytes:
    """Return what gzip data holds, SEGMENT_BYTES_MAX at most; of damaged data what comes before the damage.

    UNREADABLE stands for the rest.
    """
    inflater = zlib.decompressobj(wbits=31)
    whole = bytearray()
    try:
        for start in range(0, len(data), _PIECE_BYTES):
            piece = data[start : start + _PIECE_BYTES]
            while piece and len(whole) < SEGMENT_BYTES_MAX:
                whole += inflater.decompress(piece, _UNFOLDED_BYTES)
                piece = inflater.unconsumed_tail
        if len(whole) >= SEGMENT_BYTES_MAX:
            whole += UNREADABLE
        elif not inflater.eof:
            whole += inflater.flush() + UNREADABLE
    except zlib.error:
        whole += UNREADABLE
    return bytes(whole)


_PIECE_BYTES = 1 << 16
_UNFOLDED_BYTES = 1 << 24
"""What one piece may unfold to at a time; by nature it is a thousandfold at most."""
