"""What a released siftd wrote is still read, and still written so."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
from kept_forms import (
    DOCUMENTS_LOG,
    LOG,
    SPOOL,
    SPOOL_CHANGE,
    admitted,
    documents_log_bytes,
    fresh,
    log_bytes,
    spool_bytes,
)

from siftd.capture.admission import Admission
from siftd.log.recovery import recover
from siftd.log.spool import iter_spool
from siftd.redact import Redactor
from siftd.store import documents, events


def test_a_log_of_version_1_is_still_read(tmp_path: Path) -> None:
    shutil.copy(LOG, tmp_path / "wal.ndjson")
    found = recover(str(tmp_path / "wal.ndjson"), applied=0, quarantine=str(tmp_path / "quarantine"))
    session, call = found.records
    assert (found.last_seq, found.torn_bytes, found.corrupt_lines) == (2, 0, 0)
    assert found.store == "6f1c8a7e-0000-4000-8000-000000000001"
    assert (session.kind, session.change, session.detail, session.cwd) == ("session", "start", "startup", "/src/demo")
    assert (call.kind, call.seq, call.tool, call.outcome, call.agent_id) == ("capture", 2, "Bash", "ok", "a1")
    assert msgspec.json.decode(call.payload)["tool_response"]["stdout"] == "ü 漢\n"


def test_a_log_is_still_written_as_version_1() -> None:
    """But for identities: their form is nobody's but ours, and a record keeps its own."""
    told, kept = ([msgspec.json.decode(line) for line in data.splitlines()] for data in (log_bytes(), LOG.read_bytes()))
    identities = ("uid", "nativeKey", "inputKey", "crc")
    for field, then in {"saidBy": "outside", "eventKind": "tool", "action": "run"}.items():  # that came later
        assert [record.pop(field, None) for record in told] == [None, None, then]
    for record in (*told, *kept):
        for name in identities:
            if name in record:
                record[name] = f"{len(record[name]) > 0}"
    assert [list(record.items()) for record in told] == [list(record.items()) for record in kept]


def test_documents_in_a_log_of_version_1_still_come_back(tmp_path: Path) -> None:
    shutil.copy(DOCUMENTS_LOG, tmp_path / "wal.ndjson")
    found = recover(str(tmp_path / "wal.ndjson"), applied=0, quarantine=str(tmp_path / "quarantine"))
    assert (found.last_seq, found.torn_bytes, found.corrupt_lines) == (4, 0, 0)
    with fresh() as connection:
        events.apply_records(connection, list(found.records))  # type: ignore[arg-type]
        (okapis,) = documents.list_before(connection, 99, 9)  # type: ignore[arg-type]
        assert okapis.source == ("docs/okapis.md", None, "Okapis")
        assert (okapis.id, okapis.type, okapis.metadata) == (1, "markdown", {"encoding": "utf-8"})
        assert (okapis.content_hash, okapis.ingested_ts) == ("7c9fb1a35e0d4486a1c2e8f7b3d95a60", 1_795_219_305_437)
        assert documents.read_text(connection, 1) == "# Okapis\n\nThey sleep in the east barn.\n"  # type: ignore[arg-type]


def test_documents_are_still_logged_as_in_version_1() -> None:
    assert documents_log_bytes() == DOCUMENTS_LOG.read_bytes()


def test_spool_files_of_version_1_are_still_read(tmp_path: Path) -> None:
    shutil.copy(SPOOL_CHANGE, tmp_path / "1-a.json")
    shutil.copy(SPOOL, tmp_path / "2-b.json")
    admission = Admission(b"kept", Redactor(b"kept"), max_payload_bytes=262_144)
    change, call = (admission.readmit(file.values) for file in iter_spool(str(tmp_path)))
    then_change, then_call = admitted()
    assert change == then_change
    for name in ("payload_json", "input_hash", "ts", "session_id", "tool", "frame_uid", "outcome", "prompt_id"):
        assert getattr(call, name) == getattr(then_call, name), name


def test_spool_files_are_still_written_as_version_1() -> None:
    for event, path in zip(admitted(), (SPOOL_CHANGE, SPOOL), strict=True):
        told, kept = set(msgspec.json.decode(spool_bytes(event))), set(msgspec.json.decode(path.read_bytes()))
        assert told - {"said_by", "event_kind", "action"} == kept, "what came later are fields more"
