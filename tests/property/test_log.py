"""Replay against a plain dict: whatever is appended, cut or repeated, the database ends where the dict does."""

from __future__ import annotations

import sqlite3
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.capture.admission import Admission, Redacted
from siftd.log.record import Record
from siftd.log.recovery import recover
from siftd.log.writer import Entry, LogWriter
from siftd.model import Event, SessionChange
from siftd.redact import Redactor
from siftd.store.events import applied_seq, replay_records
from siftd.store.migrate import migrate

ADMISSION = Admission(b"secret", Redactor(b"secret"), max_payload_bytes=262_144)

sessions = st.sampled_from(["s1", "s2"])
captures = st.tuples(st.just("capture"), sessions, st.integers(0, 5), st.text(max_size=20))
changes = st.tuples(st.just("session"), sessions, st.sampled_from(["start", "end"]), st.just(""))
restarts = st.tuples(st.just("restart"), st.sampled_from([0, 1, 7, 100]), st.booleans(), st.just(""))
steps = st.lists(st.one_of(captures, changes, restarts), max_size=14)


def left_out(record: Record, error: Exception) -> None:
    """Take no record for one that no table takes."""
    raise AssertionError(record.seq) from error


@dataclass
class Model:
    """What the store must hold: one event for each uid, by the first copy; sessions by their id."""

    events: dict[str, tuple[int, str]] = field(default_factory=dict)
    ended: dict[str, bool] = field(default_factory=dict)
    seqs: list[int] = field(default_factory=list)

    def capture(self, uid: str, seq: int, session: str) -> None:
        self.events.setdefault(uid, (seq, session))
        self.ended.setdefault(session, False)

    def change(self, session: str, change: str) -> None:
        self.ended[session] = change == "end"


def admitted(step: tuple[str, str, int | str, str], ts: int) -> Redacted:
    kind, session, what, text = step
    if kind == "session":
        assert what in ("start", "end")
        return ADMISSION.admit_change(SessionChange(client="c", session_id=session, change=what, ts=ts))  # type: ignore[arg-type]
    return ADMISSION.admit(
        Event(
            client="c",
            session_id=session,
            kind="tool",
            tool="Bash",
            action="run",
            payload={"tool_input": {"command": text}},
            ts=ts,
            identity=("tool", f"t{what}"),
            native_id=f"t{what}",
        )
    )


@pytest.mark.slow
@given(steps)
@settings(max_examples=60)
def test_replay_gives_what_a_plain_dict_would_hold(steps: list[tuple[str, str, int | str, str]]) -> None:
    """Repeats reach the log when the database could not be asked: the first copy wins at replay."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wal.ndjson"
        database = sqlite3.connect(":memory:", isolation_level=None)
        migrate(database, 1)
        model = Model()
        writer = LogWriter(str(path), store="store", now_ms=1)
        for seq, step in enumerate(steps, 1):
            if step[0] == "restart":
                writer.close()
                with path.open("ab") as file:
                    file.write(b'{"seq":99,"kind":"capture"'[: int(step[1])])
                replay(database, path, torn=min(int(step[1]), 26), again=bool(step[2]))
                check(database, model)
                writer = LogWriter(str(path), store="store", now_ms=1)
                continue
            event = admitted(step, 1000 + seq)
            uid = getattr(event, "uid", None)
            writer.append([Entry(event, seq, uid)])
            if uid is None:
                model.change(event.session_id, str(step[2]))
            else:
                model.capture(uid, seq, event.session_id)
        writer.close()
        replay(database, path, torn=0, again=True)
        check(database, model)
        database.close()


def replay(database: sqlite3.Connection, path: Path, *, torn: int, again: bool) -> None:
    found = recover(str(path), applied=applied_seq(database), quarantine=str(path.parent / "quarantine"))
    assert (found.torn_bytes, found.corrupt_lines) == (torn, 0)
    replay_records(database, found.records, left_out)
    if again:
        whole = recover(str(path), applied=0, quarantine=str(path.parent / "quarantine"))
        assert replay_records(database, whole.records, left_out) == 0


def check(database: sqlite3.Connection, model: Model) -> None:
    stored = {uid: (seq, session) for uid, seq, session in database.execute("SELECT uid, id, session_id FROM events")}
    assert stored == model.events
    ended = {session: at is not None for session, at in database.execute("SELECT session_id, ended_ts FROM sessions")}
    assert ended == model.ended
