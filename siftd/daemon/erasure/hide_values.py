"""What a session redacts under a name is taken out of what it has stored before: at a tick, in one round for all.

Every event of the sessions that have learnt a value, and what was told of them, is searched for the new values; only
where one was found it is taken out of every file (`siftd.daemon.erasure.procedure`). What is sought lives in memory
alone, so a round that a crash ends is not finished by the next process; a stop in good order ends with a round. Files
that were set aside as damaged stay for the person, whose `mem scrub` removes them; couriers' files are taken in, and
searched, before each round.

Rounds take a bounded share of the daemon's time, however often a session learns: after each it rests for REST times as
long as it took.
"""

from __future__ import annotations

import asyncio

import structlog

from siftd.capture.admission import Admission, Redacted
from siftd.capture.intake import Intake
from siftd.clock import Clock
from siftd.daemon.erasure.procedure import Erasure
from siftd.daemon.erasure.scrub import Renewal
from siftd.daemon.group_commit import Committer
from siftd.errors import SiftdError
from siftd.log import sealing
from siftd.log.record import Record
from siftd.notes.erasing import any_text
from siftd.redact.session_values import Sought
from siftd.store import erasing, hiding
from siftd.store.access import Database
from siftd.store.connection import reading
from siftd.store.hiding import Holders
from siftd.store.scrubbing import Scrubbed
from siftd.workspace.paths import GLOBAL, WorkspacePaths

log = structlog.get_logger()

REST = 20


class ValueHider:
    """Hides in one workspace. The caller sees to it that no batch is summarised meanwhile."""

    def __init__(self, paths: WorkspacePaths, clock: Clock, committer: Committer, intake: Intake) -> None:
        self._paths = paths
        self._clock = clock
        self._committer = committer
        self._intake = intake
        self._rests_until = 0.0
        self._erasure = Erasure(paths)
        self._what: object = None
        self._waits_for_others = False
        self._missed = 0

    async def run(self, *, at_once: bool = False) -> None:
        """Do a round if there is something to seek and it is time, or `at_once`. Raises SiftdError; then all of it is
        sought again."""
        began = self._clock.monotonic()
        sought = self._intake.values.unsought()
        if not (sought or self._waits_for_others) or (began < self._rests_until and not at_once):
            return
        try:
            await self._committer.run(lambda _: None)  # what the log alone has is in the database now
            finders = self._intake.values.finders(sought)
            admission = self._intake.admission.seeking(finders)
            found = await asyncio.to_thread(self._find, finders)
            is_in_notes = await asyncio.to_thread(self._is_in_notes, finders)
            if found:
                await self._committer.seal_log()
            if found or (is_in_notes and not self._waits_for_others):
                self._what = object()
            left: list[str] = []
            if found or is_in_notes or self._waits_for_others:
                removal = _Hidden(self._paths, admission, found, finders)
                left = await asyncio.to_thread(self._erasure.take_out, self._what, removal)
                self._waits_for_others = bool(left)
                log.info("values_hidden", sessions=len(found), **removal.scrubbed.rows)
            if not (left and is_in_notes):  # nobody would know any more what to take out of them
                self._intake.values.note_sought(sought)
            if (missed := self._intake.values.missed) > self._missed:
                log.warning("values_not_hidden", values=missed - self._missed)
                self._missed = missed
        except OSError as error:
            raise SiftdError(
                f"what was stored cannot be changed ({type(error).__name__})", hint="see the disk"
            ) from error
        finally:
            now = self._clock.monotonic()
            self._rests_until = now + REST * (now - began)

    def _is_in_notes(self, sought: Sought) -> bool:
        """Whether notes hold it, as far as anybody can tell. Of no project's notes is a session of all of them."""
        if self._paths.key == GLOBAL:
            return False
        finders = [known for session_id in sought.sessions if (known := sought.known(session_id)) is not None]
        try:
            return any_text(self._paths, lambda text: any(known.find_suspects([text]) for known in finders))
        except SiftdError:  # the registry cannot be read: taking it out tells so, and is tried again
            return True

    def _find(self, sought: Sought) -> list[Holders]:
        with reading(self._paths.database) as connection:
            return hiding.find_holders(connection, sought)


class _Hidden:
    """What sessions hide, where it was found."""

    is_of_all = False
    is_by_rules = False

    def __init__(self, paths: WorkspacePaths, admission: Admission, found: list[Holders], sought: Sought) -> None:
        self._sought = sought
        self.scrubbed = Scrubbed()
        self._paths = paths
        self._admission = admission
        self._found = found

    def from_rows(self, connection: Database) -> None:
        self.scrubbed = hiding.hide_rows(connection, self._admission, self._found)
        erasing.sweep_changed(connection)

    def from_log(self, connection: Database) -> None:  # noqa: ARG002 - the records tell
        if not self._found:
            return
        sessions = {holders.session_id for holders in self._found}
        # A record before the first event that holds it may hold a memory or a title, nothing else.
        if any(holders.texts for holders in self._found):
            first = 0
        else:
            first = min(number for holders in self._found for number in (*holders.events, *holders.summarised))
        renewal = Renewal(self._admission)

        def renewed(record: Record) -> Redacted | None:
            return renewal.renewed(record) if record.session_id in sessions else None

        self.scrubbed.rows["records"] += sealing.renew(self._paths.wal, renewed, after=first - 1)

    def renewed_note(self, connection: Database, text: str) -> str:  # noqa: ARG002
        """Notes are of no session: only the lines that hold a value change."""
        if self._paths.key == GLOBAL:
            return text
        for session_id in self._sought.sessions:
            known = self._sought.known(session_id)
            if known is not None and known.find_suspects([text]):
                lines = text.split("\n")
                held = known.find_suspects(lines)
                text = "\n".join(
                    self._admission.scrub_text(each, session_id) if each in held else each for each in lines
                )
        return text

    def note_renewed(self, files: int) -> None:
        if files:
            self.scrubbed.rows["notes"] += files

    def stays(self, connection: Database, session: str | None, tool: str | None) -> bool:  # noqa: ARG002
        return True

    def is_done(self, connection: Database) -> None:
        """What is sought lives in memory alone."""
