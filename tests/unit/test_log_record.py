"""Records of the log: what is one, what is none, what replay makes of a damaged file."""

from __future__ import annotations

import errno
import os
import zlib
from pathlib import Path

import msgspec
import pytest

from siftd.capture.admission import Admission, RedactedEvent, RedactedSessionChange
from siftd.errors import DiskFull, LogBroken
from siftd.log.files import RealLogFile
from siftd.log.record import Record, decode, encode, encode_segment, is_whole, iter_lines, record_of
from siftd.log.recovery import Recovery, iter_records, recover
from siftd.log.segments import segments
from siftd.log.writer import Entry, LogWriter
from siftd.model import Event, SessionChange
from siftd.redact import Redactor

ADMISSION = Admission(b"secret", Redactor(b"secret"), max_payload_bytes=262_144)


def event(number: int, text: str = "ls") -> RedactedEvent:
    return ADMISSION.admit(
        Event(
            client="claude-code",
            session_id="s1",
            kind="tool",
            tool="Bash",
            action="run",
            payload={"tool_input": {"command": text}, "tool_response": {"stdout": "ü 漢 \n"}},
            ts=1_795_219_305_436,
            identity=("tool", f"t{number}"),
            native_id=f"t{number}",
            outcome="ok",
        ),
        frame_uid=f"f{number}",
    )


def line(seq: int, text: str = "ls") -> bytes:
    return encode(record_of(event(seq, text), seq, f"u{seq}"))


def append(writer: LogWriter, *seqs: int) -> None:
    """Write records and sync them, as a group of captures does."""
    writer.append([Entry(event(seq), seq, f"u{seq}") for seq in seqs])


def seqs(found: Recovery) -> list[int]:
    return [record.seq for record in found.records]


class Log:
    """A log in a folder of the test's."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "wal.ndjson"
        self.quarantine = folder / "quarantine"

    def holds(self, *lines: bytes) -> Log:
        self.path.write_bytes(b"".join(lines))
        return self

    def recover(self, applied: int = 0) -> Recovery:
        return recover(str(self.path), applied=applied, quarantine=str(self.quarantine))

    def set_aside(self) -> dict[str, bytes]:
        return {each.name: each.read_bytes() for each in self.quarantine.glob("*")}

    def writer(self, opener: type[RealLogFile] = RealLogFile) -> LogWriter:
        return LogWriter(str(self.path), store="store-1", now_ms=7, opener=opener)

    def seqs(self) -> list[int]:
        return [record.seq for record in iter_records(str(self.path))]


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


# One record


def test_a_whole_line_gives_back_what_was_written() -> None:
    kept = event(3)
    record = decode(encode(record_of(kept, 3, "u3")))
    assert (record.seq, record.kind, record.uid, record.frame_uid) == (3, "capture", "u3", "f3")
    assert (record.ts, record.session_id, record.tool, record.outcome) == (kept.ts, "s1", "Bash", "ok")
    assert bytes(record.payload) == kept.payload_json
    assert record.input_hash == kept.input_hash


def test_no_prefix_of_a_line_is_a_record() -> None:
    whole = line(1)
    assert is_whole(whole)
    assert not any(is_whole(whole[:end]) for end in range(len(whole)))


def test_trailing_bytes_are_left_alone() -> None:
    first = line(1)
    pieces = list(iter_lines(first + b'{"seq":2,"ki'))
    assert pieces == [(0, first), (len(first), b'{"seq":2,"ki')]
    assert is_whole(pieces[0][1])
    assert not is_whole(first + b"x")


def test_no_flipped_bit_leaves_a_record() -> None:
    whole = encode(Record(seq=1, kind="capture", payload=msgspec.Raw(b'{"a":"b,\\"crc\\":"}')))
    for position in range(len(whole)):
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[position] ^= 1 << bit
            assert not any(is_whole(piece) for _, piece in iter_lines(bytes(damaged))), (position, bit)


def test_the_crc_covers_the_bytes_before_it() -> None:
    body, _, seal = line(1).rpartition(b',"crc":')
    assert seal == b'"%08x"}\n' % zlib.crc32(body)


def test_a_line_is_json_that_other_tools_read() -> None:
    known = msgspec.json.decode(line(5))
    assert known["seq"] == 5
    assert known["payload"]["tool_input"] == {"command": "ls"}


def test_a_session_change_is_a_record_without_a_payload() -> None:
    change = ADMISSION.admit_change(
        SessionChange(client="claude-code", session_id="s1", change="end", ts=9, detail="logout"), frame_uid="f"
    )
    assert isinstance(change, RedactedSessionChange)
    record = decode(encode(record_of(change, 4, None)))
    assert (record.kind, record.change, record.detail, record.frame_uid) == ("session", "end", "logout", "f")


def test_unknown_fields_and_kinds_are_read_over(log: Log) -> None:
    newer = b'{"seq":2,"kind":"telepathy","mood":"calm"'
    sealed = b'%b,"crc":"%08x"}\n' % (newer, zlib.crc32(newer))
    found = log.holds(line(1), sealed, line(3)).recover()
    assert [record.kind for record in found.records] == ["capture", "telepathy", "capture"]
    assert found.corrupt_lines == 0


# A damaged file


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(b"\0" * 4096, id="zero-filled"),
        pytest.param(line(3)[:-1], id="without its newline"),
        pytest.param(line(3)[:40], id="half-written"),
        pytest.param(line(3)[:40] + b"\0" * 100 + b"\n", id="half-written, zeros, a newline"),
        pytest.param(line(3)[:30] + b"\n" + line(4)[20:], id="two broken lines"),
    ],
)
def test_a_torn_tail_is_set_aside_and_all_before_it_is_kept(log: Log, tail: bytes) -> None:
    good = line(1) + line(2)
    found = log.holds(good, tail).recover()
    assert seqs(found) == [1, 2]
    assert (found.torn_bytes, found.corrupt_lines) == (len(tail), 0)
    assert log.path.read_bytes() == good
    assert list(log.set_aside().values()) == [tail]
    assert log.recover().torn_bytes == 0


def test_after_a_torn_tail_the_next_record_is_whole(log: Log) -> None:
    log.holds(encode_segment("store-1", 1), line(1), line(2)[:50]).recover()
    writer = log.writer()
    append(writer, 3)
    writer.close()
    assert log.seqs() == [1, 3]


def test_a_corrupt_line_in_the_middle_is_quarantined_and_counted_and_the_good_ones_kept(log: Log) -> None:
    bad = line(2).replace(b'"Bash"', b'"Bush"')
    found = log.holds(line(1), bad, line(3)).recover()
    assert seqs(found) == [1, 3]
    assert (found.torn_bytes, found.corrupt_lines) == (0, 1)
    assert list(log.set_aside().values()) == [bad]
    again = log.recover()
    assert (again.corrupt_lines, len(log.set_aside())) == (1, 1)


def test_what_is_set_aside_can_be_read_by_its_owner_only(log: Log) -> None:
    log.holds(line(1)[:20]).recover()
    assert log.quarantine.stat().st_mode & 0o777 == 0o700
    assert {each.stat().st_mode & 0o777 for each in log.quarantine.iterdir()} == {0o600}


def test_a_line_with_a_good_crc_that_is_no_record_is_corrupt(log: Log) -> None:
    body = b'{"seq":"two","kind":"capture"'
    found = log.holds(line(1), b'%b,"crc":"%08x"}\n' % (body, zlib.crc32(body)), line(3)).recover()
    assert (seqs(found), found.corrupt_lines) == ([1, 3], 1)


def test_only_what_is_not_applied_is_given_and_the_last_seq_is_known_all_the_same(log: Log) -> None:
    found = log.holds(encode_segment("store-9", 1), line(1), line(2)).recover(applied=2)
    assert (seqs(found), found.last_seq, found.store) == ([], 2, "store-9")


def test_no_log_is_an_empty_one(log: Log) -> None:
    found = log.recover()
    assert (seqs(found), found.last_seq, found.store) == ([], 0, None)


# Appending


class Disk(RealLogFile):
    """A file whose next calls may fail."""

    write_fault = sync_fault = 0

    def write(self, data: bytes) -> None:
        if fault := Disk.write_fault:
            Disk.write_fault = 0
            super().write(data[: len(data) // 2])
            raise OSError(fault, os.strerror(fault))
        super().write(data)

    def sync(self) -> None:
        if fault := Disk.sync_fault:
            Disk.sync_fault = 0
            raise OSError(fault, os.strerror(fault))
        super().sync()


def test_a_segment_begins_with_its_version_and_store(log: Log) -> None:
    log.writer().close()
    first = decode(log.path.read_bytes())
    assert (first.kind, first.version, first.store) == ("segment", 1, "store-1")
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_after_disk_full_nothing_of_the_record_is_kept_and_the_next_append_works(log: Log) -> None:
    writer = log.writer(Disk)
    append(writer, 1)
    before = log.path.read_bytes()
    Disk.write_fault = errno.ENOSPC
    with pytest.raises(DiskFull):
        append(writer, 2, 3)
    assert log.path.read_bytes() == before
    assert writer.size == len(before)
    append(writer, 4)
    writer.close()
    assert log.seqs() == [1, 4]
    assert log.recover().corrupt_lines == 0


def test_another_write_fault_is_told_apart_and_cut_off_as_well(log: Log) -> None:
    writer = log.writer(Disk)
    Disk.write_fault = errno.EIO
    with pytest.raises(LogBroken):
        append(writer, 1)
    append(writer, 2)
    writer.close()
    assert log.seqs() == [2]


def test_after_a_failed_sync_a_new_segment_is_begun_and_nothing_that_was_refused_is_replayed(log: Log) -> None:
    writer = log.writer(Disk)
    append(writer, 1)
    for seq in (2, 4):
        Disk.sync_fault = errno.EIO
        with pytest.raises(LogBroken):
            append(writer, seq)
        append(writer, seq + 1)
    writer.close()
    assert [each.name for each in segments(str(log.path))] == [
        "wal.broken-1.ndjson",
        "wal.broken-2.ndjson",
        "wal.ndjson",
    ]
    assert seqs(log.recover()) == [1, 3, 5]


def test_a_segment_set_aside_never_takes_the_name_of_another(log: Log) -> None:
    """The older ones may be pruned: counting what is there would give a name twice."""
    kept = log.path.with_name("wal.broken-7.ndjson")
    kept.write_bytes(line(1))
    writer = log.writer(Disk)
    Disk.sync_fault = errno.EIO
    with pytest.raises(LogBroken):
        append(writer, 2)
    append(writer, 3)
    writer.close()
    assert kept.read_bytes() == line(1)
    assert log.seqs() == [1, 3]


def test_a_torn_tail_of_a_segment_closed_by_a_fault_is_no_tail_any_more(log: Log) -> None:
    log.path.with_name("wal.broken-1.ndjson").write_bytes(line(1) + line(2)[:40])
    found = log.holds(line(3)).recover()
    assert seqs(found) == [1, 3]
    assert (found.torn_bytes, found.corrupt_lines) == (0, 1)
