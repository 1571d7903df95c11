"""One project's way from its news to its files: lock, finish what was begun, distil, check, write, commit."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from siftd.capture.intake import Intake
from siftd.errors import RequestInvalid, SiftdError
from siftd.foreign_file import read
from siftd.notes import applying, archive, budgets, committing, document, inbox, last, registry
from siftd.notes.checking import Checked, check
from siftd.notes.curator import Assignment, CuratorFailed, curate
from siftd.notes.distil import distil, written
from siftd.notes.distil.material import Material
from siftd.notes.distil.reading import read_material
from siftd.notes.document import Document
from siftd.notes.edits import ArchiveEntry
from siftd.notes.forgotten import is_pending, mark_of
from siftd.notes.inbox import Dropped
from siftd.notes.last import Last
from siftd.notes.layout import NOTE_NAMES, Bookkeeping, NoteName, Project, notes_folder
from siftd.notes.replacing import EditedMeanwhile, digest_of, read_note
from siftd.notes.sources import News, read_news, within
from siftd.notes.surroundings import Surroundings
from siftd.store import token_spend
from siftd.store.access import DatabaseError
from siftd.store.connection import open_writer, reading
from siftd.workspace.home import ensure_folder, ensure_workspace, write_private

TRIES = 3
"""How often a distil begins again because a person was editing."""
WITHOUT_MODEL = "extractive"
WRITTEN_BYTES_MAX = 64 * 1024 * 1024

Status = Literal["done", "nothing", "locked", "failed"]


class Outcome(NamedTuple):
    """What became of a sync."""

    status: Status
    message: str
    written: Sequence[str] = ()
    remarks: Sequence[str] = ()


class _Made(NamedTuple):
    """A distil: edits that are checked, and who made them."""

    checked: Checked
    summary: str
    model: str
    books: dict[str, str]
    """What the distil itself wants noted, by the name of its file."""


def sync(
    project: Project,
    around: Surroundings,
    *,
    trigger: str,
    transcript: str | None = None,
    dry_run: bool = False,
    distils: bool = True,
) -> Outcome:
    """Bring a project's notes up to date; without `distils` only within their budgets, and committed.

    A dry run changes nothing. Nothing is raised for what is wrong with one project.
    """
    books = Bookkeeping(around.home, project.id)
    try:
        ensure_folder(books.folder)
        with _locked(books) as is_held:
            if not is_held:
                return Outcome("locked", "another sync of this project is at work")
            if is_pending(books):
                return Outcome("locked", "something that is forgotten is still to leave the notes: `mem info` says why")
            try:
                work = _Sync(project, around, books, trigger=trigger, transcript=transcript)
                outcome = work.rehearse() if dry_run else work.run(distils=distils)
            except (SiftdError, OSError) as error:
                outcome = _failed(error)
            if not dry_run:
                _note_problem(books, outcome)
            return outcome
    except (SiftdError, OSError) as error:
        return _failed(error)


def _failed(error: SiftdError | OSError) -> Outcome:
    return Outcome("failed", f"{error.message}; {error.hint}" if isinstance(error, SiftdError) else _reason(error))


def _reason(error: OSError) -> str:
    return f"{error.filename or 'a file'}: {error.strerror or type(error).__name__}"


@contextmanager
def _locked(books: Bookkeeping) -> Iterator[bool]:
    """Hold the project's lock, if nobody else does."""
    descriptor = os.open(books.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _note_problem(books: Bookkeeping, outcome: Outcome) -> None:
    """Remember why a sync failed, or that it does no more."""
    before = last.load(books)
    problem = outcome.message if outcome.status == "failed" else None
    if outcome.status != "locked" and problem != before.problem:
        write_private(Path(books.last), msgspec.structs.replace(before, problem=problem).encoded().encode())


class _Sync:
    """One sync, while the project's lock is held."""

    def __init__(
        self, project: Project, around: Surroundings, books: Bookkeeping, *, trigger: str, transcript: str | None
    ) -> None:
        self._project = project
        self._around = around
        self._books = books
        self._trigger = trigger
        self._transcript = transcript
        self._check_folder()
        paths = around.home.for_workspace(project.workspace)
        ensure_workspace(paths)
        self._database = paths.database
        self._intake = Intake(paths, around.settings, root=project.path)

    def _check_folder(self) -> None:
        """The notes' folder is a real folder where it was made: a link there leads to where nobody asked for notes."""
        folder = self._project.folder
        if registry.load(self._around.home).is_excluded(self._project.path, self._around.settings.notes_exclude):
            raise RequestInvalid(f"{self._project.path} is excluded from notes", hint="see `notes.exclude`")
        if not Path(folder).is_dir():
            raise RequestInvalid(f"{folder} is not there", hint="`mem notes init` makes it again")
        project = self._project
        inner = [folder, f"{folder}/archive", f"{folder}/.model", project.inbox, project.claimed]
        if os.path.realpath(self._project.path) != self._project.path or any(Path(each).is_symlink() for each in inner):
            raise RequestInvalid(f"{folder} leads through a link, and siftd follows none", hint="move the link away")

    def rehearse(self) -> Outcome:
        """Return what a sync would write; nothing is changed, nothing is claimed."""
        notes = [f"{self._project.inbox}/{name}" for name in inbox.list_unread(self._project)]
        dropped = [note for path in notes if (note := inbox.look_at(path)) is not None]
        plan, made, _ = self._plan(dropped, distils=True)
        if plan is None or made is None:
            return Outcome("nothing", "nothing new")
        return Outcome("done", made.summary or "nothing to change", [file.path for file in plan.files])

    def run(self, *, distils: bool) -> Outcome:
        mark = mark_of(self._books)
        remarks = self._recover()
        dropped = inbox.claim(self._project) if distils else []
        for _ in range(TRIES):
            plan, made, problems = self._plan(dropped, distils=distils)
            if mark_of(self._books) != mark:
                return Outcome("failed", "something was forgotten meanwhile; the next sync reads what is left")
            if plan is None:
                return Outcome("nothing", "nothing new", remarks=remarks + problems + self._commit())
            try:
                applying.check_unchanged(plan)
            except EditedMeanwhile:
                continue
            applied = applying.apply(self._project, self._books, plan)
            return self._outcome_of(applied, made, remarks + problems)
        return Outcome("failed", "the notes were edited all the while; the next sync tries again")

    def _recover(self) -> list[str]:
        recovered = applying.recover(self._project, self._books)
        return [] if recovered is None else ["finished what an earlier sync had begun"]

    def _outcome_of(self, applied: applying.Applied, made: _Made | None, remarks: list[str]) -> Outcome:
        if applied.edited:
            remarks.append(f"{len(applied.edited)} edited meanwhile; what they lack is in the inbox")
        remarks += self._commit()
        if made is not None and made.checked.left_out:
            lines = "1 line" if made.checked.left_out == 1 else f"{made.checked.left_out} lines"
            remarks.append(f"left out, because it names what nothing holds: {lines}")
        summary = made.summary if made is not None else ""
        summary = summary or ("brought up to date" if applied.written else "nothing to change")
        return Outcome("done", summary, applied.written, remarks)

    def _commit(self) -> list[str]:
        """Commit what has changed in the notes, by whomever; return why that could not be done."""
        if not self._around.settings.notes_git_commit:
            return []
        remark = committing.commit(self._project, self._trigger, self._around.for_programs)
        return [] if remark is None else [remark]

    def _plan(
        self, dropped: Sequence[Dropped], *, distils: bool
    ) -> tuple[applying.Plan | None, _Made | None, list[str]]:
        """Return what is to be written; None where nothing is."""
        present = {name: self._document(name) for name in NOTE_NAMES}
        bodies: dict[NoteName, str] = {name: text.body.strip("\n") for name, (_, text) in present.items()}
        news, made = None, None
        if distils:
            news = read_news(self._project, self._around, self._intake, self._transcript)
            made = self._distil(news, bodies, dropped)
        files = self._files(present, bodies, made.checked if made else Checked({}, [], 0))
        problems = news.problems if news else []
        if not files and (made is None or news is None or not (news.digest.events or dropped)):
            return None, made, problems
        books = {}
        if news is not None and made is not None:
            books = {**made.books, "cursors.json": news.cursors.encoded()}
            if files:
                books["last.json"] = self._last(made).encoded()
        taken = [(note.path, *note.stamp) for note in dropped]
        return applying.Plan(files, books, taken, self._around.today), made, problems

    def _document(self, name: NoteName) -> tuple[bytes | None, Document]:
        data = read_note(self._project.file(name))
        return data, document.parse((data or b"").decode("utf-8", "replace"))

    def _distil(self, news: News, bodies: dict[NoteName, str], dropped: Sequence[Dropped]) -> _Made | None:
        notes = [self._intake.redactor.text(note.text) for note in dropped if note.text]
        if not self._around.settings.notes_curate:
            return self._without_model(bodies, notes)
        if not news.digest.events and not notes:
            return None
        redacted: dict[NoteName, str] = {name: self._intake.redactor.text(body) for name, body in bodies.items()}
        assignment = Assignment(self._project.name, self._around.today, redacted, notes, news.digest)
        folder = f"{notes_folder(self._around.home)}/curator"
        ensure_folder(folder)
        curated = curate(
            assignment,
            self._around.settings,
            trigger=self._trigger,
            folder=folder,
            environ=self._around.for_programs,
            tokens_left=self._tokens_left(),
            pay=self._pay,
        )
        checked = check(curated.edits, bodies, assignment.source, date=self._around.today)
        return _Made(checked, curated.edits.summary, curated.model, {})

    def _without_model(self, bodies: dict[NoteName, str], notes: Sequence[str]) -> _Made:
        before = self._written()
        edits, after = distil(self._material(before), bodies, notes, before, self._around.clock.now_ms())
        checked = check(edits, bodies, None, date=self._around.today)
        books = {} if after == before else {"written.json": after.encode().decode()}
        return _Made(checked, edits.summary, WITHOUT_MODEL, books)

    def _written(self) -> written.Written:
        try:
            return written.decode(read(self._books.written, WRITTEN_BYTES_MAX))
        except FileNotFoundError:
            return written.Written()

    def _material(self, before: written.Written) -> Material:
        """Return what the store holds of the project; nothing where there is no store."""
        if not Path(self._database).exists():
            return Material()
        covers = self._project.covers if within(self._project) is not None else None
        with reading(self._database) as connection:
            return read_material(
                connection,
                self._around.clock.now_ms(),
                workspace=self._project.workspace,
                noted=before.facts,
                covers=covers,
            )

    def _files(
        self, present: dict[NoteName, tuple[bytes | None, Document]], bodies: dict[NoteName, str], checked: Checked
    ) -> list[applying.File]:
        """Return the files that change: bodies within their budgets, and the archive that takes what leaves them."""
        changed = dict(checked.bodies)
        over: list[ArchiveEntry] = []
        for name in NOTE_NAMES:
            trimmed = budgets.trim(name, changed.get(name, bodies[name]), self._around.settings.notes_budgets)
            if trimmed.moved:
                changed[name] = trimmed.body
                over += [ArchiveEntry(name, text) for text in trimmed.moved]
        today = self._around.today
        files = []
        month = self._project.archive(today[:7])
        before = read_note(month)
        text = (before or b"").decode("utf-8", "replace")
        text = archive.appended(text, checked.archived, date=today, reason=self._trigger)
        text = archive.appended(text, over, date=today, reason="over budget")
        if text.encode() != (before or b""):
            files.append(applying.File(month, digest_of(before), text))
        for name, body in changed.items():
            data, text_before = present[name]
            head = Document(text_before.head, body)
            after = document.render(head, kind=name, project=self._project.name, updated=today)
            files.append(applying.File(self._project.file(name), digest_of(data), after))
        return files

    def _last(self, made: _Made) -> Last:
        before = last.load(self._books)
        return msgspec.structs.replace(
            before,
            ts=self._around.clock.now_ms(),
            trigger=self._trigger,
            model=made.model,
            summary=made.summary,
            problem=None,
        )

    def _tokens_left(self) -> int:
        """Return what may be spent today: the cap, less what summaries and notes have used."""
        cap = self._around.settings.memory_daily_token_cap
        if cap == 0:
            raise CuratorFailed(
                "memory.dailyTokenCap is 0: nothing may be sent to a curator", hint="`mem config` sets it"
            )
        spent = last.load(self._books).tokens.get(self._around.today, 0)
        if Path(self._database).exists():
            with reading(self._database) as connection:
                spent = max(spent, token_spend.spent_remotely(connection, self._around.today))
        return max(0, cap - spent)

    def _pay(self, model: str, tokens: int) -> None:
        """Remember what a curator used: beside the notes, and in the store, where summaries look before they spend."""
        before = last.load(self._books)
        today = self._around.today
        tokens_today = {today: before.tokens.get(today, 0) + tokens}
        write_private(Path(self._books.last), msgspec.structs.replace(before, tokens=tokens_today).encoded().encode())
        if tokens and Path(self._database).exists():
            with closing(open_writer(self._database)) as connection, suppress(DatabaseError):
                token_spend.spend(connection, today, model, tokens, is_remote=True)
