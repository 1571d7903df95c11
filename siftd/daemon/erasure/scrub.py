"""Scrubbing: today's rules over everything stored before, down to the last byte.

A scrub record is safe in the log before anything changes; the rest is `siftd.daemon.erasure.procedure`. Events keep
their ids and identities; `input_hash` is that of the new payload.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container
from functools import lru_cache
from typing import Any

import msgspec
import structlog

from siftd.capture.admission import Admission, Redacted, RedactedSessionChange
from siftd.clock import Clock
from siftd.daemon.erasure.procedure import Erasure
from siftd.daemon.group_commit import Committer
from siftd.errors import SiftdError
from siftd.log import sealing
from siftd.log.record import Record
from siftd.log.recovery import iter_records
from siftd.notes.erasing import count_changed
from siftd.store import erasing, scrubbing
from siftd.store.access import Database
from siftd.store.connection import reading
from siftd.store.document_scrubbing import scrub_documents
from siftd.store.exchange import text_hash
from siftd.store.scrubbing import Scrubbed, StoredPayloads
from siftd.wire.requests.erasing import ScrubAnswer
from siftd.workspace.paths import GLOBAL, WorkspacePaths

log = structlog.get_logger()

_WITHOUT_TEXT = frozenset(
    "segment forget retry resummarise undo mute link scrub outcome pod_change document_removed".split()
)
"""Kinds of records without a word of anybody's."""

_NAMES = ("session_id", "tool", "cwd", "client", "prompt_id", "agent_id", "spawned_agent_id")
"""What a capture holds of its client's words besides its payload."""
_NAMES_MAX = 4_096
"""Of names that were found clean: nearly every record has those of the record before."""


class Scrubber:
    """Scrubs one workspace. The caller sees to it that no batch is summarised meanwhile."""

    def __init__(self, paths: WorkspacePaths, clock: Clock, committer: Committer, admission: Admission) -> None:
        self._paths = paths
        self._clock = clock
        self._committer = committer
        self._admission = admission
        self._erasure = Erasure(paths)
        self.pending: list[str] = []
        """What still holds something that the rules would replace."""

    async def scrub(self, *, dry_run: bool) -> ScrubAnswer:
        """Return what today's rules change of what is stored and, unless it is a dry run, change it."""
        await self._committer.run(lambda _: None)  # what the log alone has is in the database now
        if dry_run:
            scrubbed = await asyncio.to_thread(self._look)
        else:
            intent = self._admission.admit_intent("scrub", {}, ts=self._clock.now_ms())
            receipt = await self._committer.keep(intent)
            if receipt.error is not None:
                raise receipt.error
            scrubbed = await self.finish()
            log.info("scrubbed", **scrubbed.rows, pending=len(self.pending))
        return {"changed": dict(scrubbed.rows), "byRule": dict(scrubbed.rules), "pending": self.pending}

    async def finish(self) -> Scrubbed:
        """Scrub what was asked for and is not done, after a crash too; `pending` then names what holds the rest."""
        scrubbed = Scrubbed()
        seq = await asyncio.to_thread(self.pending_seq)
        if seq is None:
            self.pending = []
            return scrubbed
        try:
            if not self._erasure.is_waiting_for_others(seq):
                await self._committer.seal_log()
            removal = Replaced(self._paths, self._admission, seq, scrubbed)
            self.pending = await asyncio.to_thread(self._erasure.take_out, seq, removal)
            await self._committer.reread_opt_outs()
        except (SiftdError, OSError) as error:
            self.pending = [f"it could not be scrubbed yet ({getattr(error, 'message', type(error).__name__)})"]
        if self.pending:
            log.warning("scrub_pending", count=len(self.pending))
        return scrubbed

    def _look(self) -> Scrubbed:
        """Return what a scrub would change."""
        with reading(self._paths.database) as connection:
            scrubbed = scrubbing.scrub_rows(connection, self._admission, dry_run=True)
            scrub_documents(connection, self._admission, scrubbed, dry_run=True)
            renewal = Renewal(self._admission, Clean(connection, scrubbed))
            records = iter_records(self._paths.wal)
            scrubbed.rows["records"] = sum(renewal.renewed(record) is not None for record in records)
        notes = 0 if self._paths.key == GLOBAL else count_changed(self._paths, self._admission.scrub_text)
        if notes:
            scrubbed.rows["notes"] += notes
        return scrubbed

    def pending_seq(self) -> int | None:
        """Return the record that asked for a scrub which is not done."""
        with reading(self._paths.database) as connection:
            return scrubbing.pending_seq(connection)


class Replaced:
    """What today's rules would replace."""

    is_of_all = True
    is_by_rules = True

    def __init__(self, paths: WorkspacePaths, admission: Admission, seq: int, scrubbed: Scrubbed) -> None:
        """`scrubbed` takes in what was changed."""
        self._paths = paths
        self._admission = admission
        self._seq = seq
        self._scrubbed = scrubbed

    def from_rows(self, connection: Database) -> None:
        self._scrubbed.add(scrubbing.scrub_rows(connection, self._admission, dry_run=False))
        scrub_documents(connection, self._admission, self._scrubbed, dry_run=False)
        erasing.sweep_changed(connection)

    def from_log(self, connection: Database) -> None:
        renewal = Renewal(self._admission, Clean(connection, self._scrubbed))
        self._scrubbed.rows["records"] += sealing.renew(self._paths.wal, renewal.renewed)

    def renewed_note(self, connection: Database, text: str) -> str:  # noqa: ARG002
        return text if self._paths.key == GLOBAL else self._admission.scrub_text(text)  # each project's own daemon does

    def note_renewed(self, files: int) -> None:
        if files:
            self._scrubbed.rows["notes"] += files

    def stays(self, connection: Database, session: str | None, tool: str | None) -> bool:  # noqa: ARG002
        return all(self._admission.scrub_text(name) == name for name in (session, tool) if name is not None)

    def is_done(self, connection: Database) -> None:
        scrubbing.note_done(connection, self._seq)


class Clean:
    """Payloads that the scrub of the rows has found clean, or made so: the log need not be read for them again."""

    def __init__(self, connection: Database, scrubbed: Scrubbed) -> None:
        self._stored = StoredPayloads(connection)
        self._changed = scrubbed.events

    def __contains__(self, record: object) -> bool:
        """Whether the record's event is stored with the same payload. Records come in the order of their seqs."""
        assert isinstance(record, Record)
        stored = None if record.seq in self._changed else self._stored.of(record.seq)
        return stored is not None and bytes(record.payload) == stored.encode("utf-8", "surrogatepass")


class Renewal:
    """Makes the log's records anew, oldest first."""

    def __init__(self, admission: Admission, clean: Container[Record] = ()) -> None:
        """`clean` are records of captures whose payloads, by today's rules, stay as they are."""
        self._admission = admission
        self._clean = clean
        self._is_clean_name = lru_cache(maxsize=_NAMES_MAX)(lambda name: admission.scrub_text(name) == name)
        self._texts: dict[str, str] = {}
        """Hashes of imported summaries' texts that changed, old to new: later records name a summary by it."""

    def renewed(self, record: Record) -> Redacted | None:
        """Return what a record becomes by today's rules; None when nothing of it changes."""
        if record.kind in _WITHOUT_TEXT or (record.kind == "capture" and self._stays(record)):
            return None
        fields = {name: getattr(record, name) for name in record.__struct_fields__ if name != "payload"}
        if record.kind == "session":
            new = self._admission.readmit(fields)
            assert isinstance(new, RedactedSessionChange)
            is_same = (new.session_id, new.client, new.cwd, new.detail) == (
                record.session_id,
                record.client,
                record.cwd,
                record.detail,
            )
            return None if is_same else new
        payload = msgspec.json.decode(record.payload)
        if record.kind != "capture":
            return self._renewed_intent(record, payload)
        event = self._admission.readmit(fields | {"payload": payload})
        names = (*_NAMES, "input_hash")
        return None if all(getattr(event, name) == getattr(record, name) for name in names) else event

    def _stays(self, record: Record) -> bool:
        """Whether a capture is known to be clean, without another look at its payload."""
        names = (getattr(record, name) for name in _NAMES)
        return (
            record in self._clean
            and not self._admission.hides(record.session_id)
            and all(self._is_clean_name(name) for name in names if name)
        )

    def _renewed_intent(self, record: Record, payload: dict[str, Any]) -> Redacted | None:
        if record.kind == "supersede":
            for side in ("newer", "older"):
                event_id, text_sha = payload[side]
                payload[side] = [event_id, self._texts.get(text_sha, text_sha)]
        new = self._admission.admit_intent(record.kind, payload, ts=record.ts, session_id=record.session_id)
        if new.payload_json == bytes(record.payload) and new.session_id == record.session_id:
            return None
        if record.kind == "summary":
            old, text = str(payload["text"]), str(msgspec.json.decode(new.payload_json)["text"])
            self._texts[text_hash(old)] = text_hash(text)
        return new
