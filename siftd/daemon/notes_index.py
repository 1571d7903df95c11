"""The notes of one workspace's projects: their index kept up with the files, and one of them shown."""

from __future__ import annotations

import asyncio

from siftd.capture.intake import Intake
from siftd.daemon.store_access import StoreAccess
from siftd.errors import SiftdError
from siftd.ids import Note
from siftd.notes import indexing, showing
from siftd.notes.erasing import note_finished
from siftd.notes.projects import names_of, projects_of
from siftd.store import notes, scrubbing
from siftd.store.access import Database
from siftd.store.notes import NotesFile
from siftd.store.tombstones import Keys, notes_to_go, pending_seq
from siftd.wire.requests import ShownNote
from siftd.workspace.paths import GLOBAL, WorkspacePaths


class NotesIndex:
    """One workspace's. Nothing is made where no project has notes."""

    def __init__(self, paths: WorkspacePaths, secret: bytes, store: StoreAccess, intake: Intake) -> None:
        self._paths = paths
        self._keys = Keys(secret)
        self._store = store
        self._intake = intake

    async def refresh(self) -> None:
        """Read the files that have changed. Raises SiftdError. The caller sees to it that nothing is erased meanwhile.

        What is still to be taken out of a file is left out.
        """
        if self._paths.key == GLOBAL:
            return

        def known(connection: Database) -> tuple[list[NotesFile], frozenset[str], bool]:
            is_pending = pending_seq(connection) is not None or scrubbing.pending_seq(connection) is not None
            return notes.list_files(connection), notes_to_go(connection), is_pending

        files, gone, is_pending = await self._store.read(known)
        if not is_pending:
            await asyncio.to_thread(self._note_finished)
        redact = self._intake.admission.scrub_text
        named = names_of(await asyncio.to_thread(projects_of, self._paths))
        if not (named or files):
            return
        changes = await asyncio.to_thread(
            indexing.look, named, files, redact, lambda said: bool(gone) and self._keys.note(said) in gone
        )
        if changes:
            await self._store.write(lambda c: indexing.write(c, changes))

    def _note_finished(self) -> None:
        try:
            note_finished(self._paths)
        except OSError as error:
            raise SiftdError(f"{error.filename} cannot be written: {error.strerror}", hint="see its mode") from error

    async def show(self, note: Note) -> ShownNote:
        """Return one as it stands in its file. Raises RequestInvalid where there is none."""

        def show() -> ShownNote:
            return showing.show(names_of(projects_of(self._paths)), note, self._intake.admission.scrub_text)

        return await asyncio.to_thread(show)

    async def count(self) -> tuple[int, int]:
        """Return how many entries are found by a search, and of how many files."""
        return await self._store.read(notes.count)
