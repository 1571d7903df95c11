"""The log's later life: sealed, compressed, pruned, and read as one whole all the while."""

from __future__ import annotations

import gzip
import os
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from opened_memory import DAY, NOW, opened

from siftd.capture.admission import Admission
from siftd.log import sealing
from siftd.log.record import Record, decode, encode, encode_segment
from siftd.log.recovery import iter_records, recover
from siftd.log.segments import UNREADABLE, read_segment, segments, segments_after
from siftd.log.writer import Entry, LogWriter
from siftd.redact import Redactor


def record(seq: int, text: str = "hello", **fields: Any) -> Record:
    told = {"kind": "capture", "uid": f"u{seq}", "session_id": "s1", "tool": "Bash", "ts": NOW} | fields
    return Record(seq=seq, payload=msgspec.Raw(msgspec.json.encode({"prompt": text})), **told)


def entry(seq: int) -> Entry:
    door = Admission(b"k" * 32, Redactor(b"k" * 32, emails=False, phones=False), max_payload_bytes=10_000)
    return Entry(door.admit_intent("retry", {"event": seq}, ts=NOW), seq, None)


def lines(*seqs: int) -> bytes:
    return encode_segment("store", NOW) + b"".join(encode(record(seq)) for seq in seqs)


def seqs(wal: Path, after: int = 0) -> list[int]:
    return [each.seq for each in iter_records(str(wal), after=after)]


def names(wal: Path) -> list[str]:
    return [each.name for each in segments(str(wal))]


@pytest.fixture
def wal(tmp_path: Path) -> Path:
    """A log of four segments: compressed, sealed, set aside after a failed sync, active."""
    (tmp_path / "wal-1.ndjson.gz").write_bytes(gzip.compress(lines(1, 2, 3)))
    (tmp_path / "wal-10.ndjson").write_bytes(lines(10, 11))
    (tmp_path / "wal.broken-1.ndjson").write_bytes(lines(5, 6))
    (tmp_path / "wal.ndjson").write_bytes(lines(20))
    return tmp_path / "wal.ndjson"


def test_segments_are_in_the_order_of_their_first_record_and_the_active_one_is_last(wal: Path) -> None:
    assert names(wal) == ["wal-1.ndjson.gz", "wal.broken-1.ndjson", "wal-10.ndjson", "wal.ndjson"]
    assert seqs(wal) == [1, 2, 3, 5, 6, 10, 11, 20]


@pytest.mark.parametrize("applied", [0, 2, 3, 4, 5, 9, 11, 19, 20, 30])
def test_replay_reads_what_comes_after_the_applied_seq_and_passes_over_older_segments(wal: Path, applied: int) -> None:
    assert seqs(wal, after=applied) == [seq for seq in seqs(wal) if seq > applied]
    found = recover(str(wal), applied=applied, quarantine=str(wal.parent / "quarantine"))
    assert [each.seq for each in found.records] == [seq for seq in seqs(wal) if seq > applied]
    assert found.last_seq == 20
    if applied >= 19:
        assert segments_after(str(wal), applied) == [wal]


def test_compressing_keeps_every_line_the_segments_time_and_what_zgrep_finds(wal: Path) -> None:
    plain = wal.with_name("wal-10.ndjson")
    data = plain.read_bytes()
    os.utime(plain, (NOW // 1000, NOW // 1000))
    assert sealing.compress(str(wal)) == 1
    packed = wal.with_name("wal-10.ndjson.gz")
    assert not plain.exists()
    assert gzip.decompress(packed.read_bytes()) == data
    assert (int(packed.stat().st_mtime), packed.stat().st_mode & 0o777) == (NOW // 1000, 0o600)
    told = subprocess.run(["zgrep", "-c", '"seq":1[01],', str(packed)], capture_output=True, text=True, check=True)
    assert told.stdout == "2\n"
    assert sealing.compress(str(wal)) == 0


def test_a_record_that_both_twins_hold_is_one_record(wal: Path) -> None:
    plain = wal.with_name("wal-10.ndjson")
    data = plain.read_bytes()
    sealing.compress(str(wal))
    plain.write_bytes(data)
    assert seqs(wal) == [1, 2, 3, 5, 6, 10, 11, 20]
    assert sealing.compress(str(wal)) == 1
    assert not plain.exists()


def test_a_damaged_twin_costs_nothing_while_the_plain_one_is_there(wal: Path) -> None:
    packed = gzip.compress(wal.with_name("wal-10.ndjson").read_bytes())
    wal.with_name("wal-10.ndjson.gz").write_bytes(packed[: len(packed) // 2])
    assert seqs(wal) == [1, 2, 3, 5, 6, 10, 11, 20]


def test_the_rest_of_a_damaged_compressed_segment_is_told(tmp_path: Path) -> None:
    whole = encode_segment("store", NOW) + b"".join(encode(record(seq, os.urandom(500).hex())) for seq in range(1, 50))
    packed = gzip.compress(whole)
    (tmp_path / "wal-1.ndjson.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "wal.ndjson").write_bytes(lines(60))
    found = recover(str(tmp_path / "wal.ndjson"), applied=0, quarantine=str(tmp_path / "quarantine"))
    read = [each.seq for each in found.records]
    assert read == [*range(1, len(read)), 60]
    assert len(read) > 10
    assert found.corrupt_lines == 1


def test_the_writer_seals_at_its_size_and_goes_on(tmp_path: Path) -> None:
    wal = tmp_path / "wal.ndjson"
    writer = LogWriter(str(wal), store="store", now_ms=NOW, seal_bytes=600)
    for seq in range(1, 21):
        writer.append([entry(seq)])
    writer.close()
    assert len(names(wal)) == 3
    assert seqs(wal) == list(range(1, 21))
    assert all(each.stat().st_size < 900 for each in segments(str(wal)))
    assert {decode(each.read_bytes().splitlines(keepends=True)[0]).store for each in segments(str(wal))} == {"store"}


def test_a_large_segment_is_sealed_at_the_first_write_after_a_start(wal: Path) -> None:
    writer = LogWriter(str(wal), store="store", now_ms=NOW, seal_bytes=100)
    writer.append([entry(30)])
    writer.close()
    assert names(wal)[-2:] == ["wal-20.ndjson", "wal.ndjson"]
    assert seqs(wal)[-2:] == [20, 30]


def test_a_segment_without_a_record_is_never_sealed(tmp_path: Path) -> None:
    wal = tmp_path / "wal.ndjson"
    writer = LogWriter(str(wal), store="store", now_ms=NOW)
    writer.seal()
    writer.append([entry(1)])
    writer.close()
    assert seqs(wal) == [1]


def test_rewriting_takes_out_records_and_leaves_the_other_lines_byte_for_byte(wal: Path) -> None:
    before = {each.name: each.read_bytes() for each in segments(str(wal))}
    assert sealing.rewrite(str(wal), lambda each: None if each.seq in (2, 5, 6, 20) else each) == 3
    assert names(wal) == ["wal-1.ndjson.gz", "wal-10.ndjson", "wal.ndjson"]
    assert gzip.decompress((wal.parent / "wal-1.ndjson.gz").read_bytes()) == lines(1, 3)
    assert (wal.parent / "wal-10.ndjson").read_bytes() == before["wal-10.ndjson"]
    assert wal.read_bytes() == before["wal.ndjson"]
    assert sealing.holds(str(wal), lambda each: None if each.seq == 20 else each)


def test_only_segments_that_a_snapshot_covers_are_pruned(wal: Path) -> None:
    old = sealing.list_sealed(str(wal))
    assert [(each.path.name, each.last_seq) for each in old] == [
        ("wal-1.ndjson.gz", 4),
        ("wal.broken-1.ndjson", 9),
        ("wal-10.ndjson", 19),
    ]
    assert sealing.prune(str(wal), old, 10) == 2
    assert seqs(wal) == [10, 11, 20]


async def test_a_daemon_seals_compresses_and_prunes_what_a_snapshot_covers(tmp_path: Path) -> None:
    async with opened(tmp_path, log_keepDays=30) as memory:
        wal = Path(memory.services.paths.wal)
        for number in range(5):
            await memory.capture(number)
        await memory.services.committer.seal_log()
        await memory.capture(5)
        await memory.services.maintenance.run()
        assert names(wal) == ["wal-1.ndjson.gz", "wal.ndjson"]
        assert seqs(wal) == [1, 2, 3, 4, 5, 6]
        os.utime(wal.with_name("wal-1.ndjson.gz"), ((NOW - 31 * DAY) // 1000,) * 2)
        await memory.services.maintenance.run()
        assert names(wal) == ["wal.ndjson"]
        assert [each.name.partition("-")[0] for each in Path(memory.services.paths.snapshots).iterdir()] == ["6"]
        assert await memory.capture(7) == 7
    async with opened(tmp_path) as memory:
        assert await memory.rows("SELECT count(*) FROM events") == [(7,)]


@pytest.mark.slow
def test_a_compressed_segment_unfolds_to_no_more_than_a_segment_can_hold(
    wal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kilobyte of gzip can hold a megabyte, a megabyte a gigabyte; what is cut off is counted like damage."""
    zeros = gzip.compress(lines(1, 2, 3) + b"0" * 40_000_000)
    (wal.parent / "wal-1.ndjson.gz").write_bytes(zeros)
    monkeypatch.setattr("siftd.log.segments.SEGMENT_BYTES_MAX", 1_000_000)
    whole = read_segment(wal.parent / "wal-1.ndjson.gz")
    assert len(whole) < 1_000_000 + 2 * (1 << 24)
    assert whole.endswith(UNREADABLE)
    assert seqs(wal)[:3] == [1, 2, 3]
