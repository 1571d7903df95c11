"""Taking text out of projects' notes: what is to be forgotten is found in them, and leaves by a rewrite of the files.

    the four files, archive/, inbox/, inbox/.claimed/       in the home, or in the work tree
    journal.json                            what a killed sync had decided: it is carried out first, and is gone
    last.json written.json                  what is noted of a distil: each string a text like the files

Found are entries (`siftd.notes.entries`) that cite a forgotten id, hold the forgotten text, or say word for word what a
forgotten fact said. They are known again by keyed hashes, which the `forget` record names: so what a kill left, or a
file that could not be written, is taken out by the next process, which knows no word of it any more.

A file is rewritten under its project's lock, every other byte as it was. What is locked or cannot be written is told,
and tried again. What git has committed is git's.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from siftd.errors import SiftdError
from siftd.notes import applying, replacing
from siftd.notes.citations import cited_in
from siftd.notes.entries import Entry, said, split
from siftd.notes.files import Folder, opened
from siftd.notes.forgotten import change_mark, is_pending
from siftd.notes.layout import Bookkeeping, Project
from siftd.notes.projects import holders_of
from siftd.notes.replacing import ARCHIVE_BYTES_MAX, EditedMeanwhile
from siftd.store.forget_matching import folded
from siftd.workspace.home import write_private
from siftd.workspace.paths import Home, WorkspacePaths

TRIES = 5
"""How often a file that somebody edits meanwhile is read again."""
STATEMENT_CHARS_MIN = 12
"""Of a fact's text that is looked for by itself: "use tabs" may stand anywhere."""
BOOKS = ("last.json", "written.json")
"""What holds words of the notes beside them."""
WITHOUT_TEXT = {
    "journal.json": "carried out first, and then gone",
    "cursors.json": "names of clients' files, and places in them",
    "forgotten": "random digits",
    "lock": "empty",
}
"""What else is noted of a project's notes, and why nothing is taken out of it."""
Renew = Callable[[str], str]
"""What a text becomes."""


class Wanted(NamedTuple):
    """What is to be forgotten, as notes may hold it."""

    cited: frozenset[str] = frozenset()
    statements: frozenset[str] = frozenset()
    """What forgotten facts said (`statement_of`)."""
    text: str = ""
    """Folded (`siftd.store.forget_matching.folded`)."""

    def concerns_key(self, key: str) -> bool:
        """Whether a key of the built-in distil (`siftd.notes.distil.written`) names it, `fact:47` or `answer:e5:…`."""
        kind, _, rest = key.partition(":")
        named = rest.partition(":")[0]
        return (f"m{named}" if kind == "fact" else named) in self.cited

    def concerns(self, entry: Entry) -> bool:
        """Whether an entry cites, holds or says it."""
        if self.text and self.text in folded(entry.text):
            return True
        if self.cited and not self.cited.isdisjoint(cited_in(entry.text)):
            return True
        lines = said(entry).split("\n")
        return bool(self.statements) and not self.statements.isdisjoint(map(statement_of, [*lines, " ".join(lines)]))


def statement_of(text: str) -> str:
    """Return what a line, or a fact, says: without what it cites at its end, its ending, its case and its blanks."""
    head, bracket, behind = text.rstrip().rpartition(" (")
    bare = head if bracket and behind.rstrip(" .").endswith(")") and cited_in(f"({behind}") else text
    return " ".join(folded(bare).split()).rstrip(".")


@dataclass
class Found:
    """Where notes hold what is to be forgotten."""

    keys: set[str] = field(default_factory=set)
    """Keyed hashes of what the entries say."""
    entries: int = 0
    projects: set[str] = field(default_factory=set)
    """Ids of those whose notes hold some of it."""
    trees: set[str] = field(default_factory=set)
    """Folders of notes that lie in a git tree, and hold some of it."""
    unread: set[str] = field(default_factory=set)
    """Files that are too large to be notes."""


def find(paths: WorkspacePaths, wanted: Wanted, key_of: Callable[[str], str]) -> Found:
    """Return what is concerned in the notes of a workspace's projects. Raises SiftdError for an unreadable registry."""
    found = Found()
    for project in holders_of(paths):
        for text in _iter_texts(paths.home, project, found.unread):
            is_named = text.is_key and wanted.concerns_key(text.text)
            gone = [each for each in split(text.text) if is_named or wanted.concerns(each)]
            found.keys.update(key_of(said(each)) for each in gone)
            if gone:
                found.projects.add(project.id)
            if text.is_note:
                found.entries += len(gone)
                if gone and is_in_git(project.folder):
                    found.trees.add(project.folder)
    return found


def announce(paths: WorkspacePaths, found: Found) -> None:
    """Say of these projects that something is to leave their notes, before the log has it.

    Raises SiftdError or OSError.
    """
    for project_id in found.projects:
        change_mark(Bookkeeping(paths.home, project_id))


def unfinished(paths: WorkspacePaths) -> set[str]:
    """Return the ids of the projects whose notes something is still to leave. Raises SiftdError as `find` does."""
    return {each.id for each in holders_of(paths) if is_pending(Bookkeeping(paths.home, each.id))}


def note_finished(paths: WorkspacePaths) -> None:
    """Say of every project that nothing is to leave its notes: a wish was given up, or a store was lost. Raises
    SiftdError or OSError."""
    for project_id in unfinished(paths):
        change_mark(Bookkeeping(paths.home, project_id), is_done=True)


def list_left(found: Found) -> list[str]:
    """Return what holds some of it and stays, in words of ours."""
    trees = (f"what git has committed of {each}, which is git's" for each in sorted(found.trees))
    return [*trees, *sorted(found.unread)]


def is_in_git(folder: str) -> bool:
    """Whether a folder lies in a git tree. Git is not asked: a `.git` above it is enough."""
    return any((each / ".git").exists() for each in Path(folder).parents)


@dataclass
class Rewritten:
    """What became of a rewrite."""

    files: int = 0
    pending: list[str] = field(default_factory=list)
    """What still holds something, in words of ours."""
    projects: set[str] = field(default_factory=set)
    """Ids of the projects whose it is; ALL_PROJECTS where nobody can say."""


ALL_PROJECTS = ""


def rewrite(paths: WorkspacePaths, renew: Renew, *, only: Set[str] | None = None, is_lasting: bool = True) -> Rewritten:
    """Let the notes of a workspace's projects, or of `only` some, be what `renew` makes of them.

    Raises nothing: what fails is pending. With `is_lasting` the next process goes on with what a kill has left, and no
    sync begins before it has.
    """
    done = Rewritten()
    try:
        projects = holders_of(paths)
    except SiftdError as error:
        return Rewritten(0, [f"the registry of notes ({error.message})"], {ALL_PROJECTS})
    for project in projects:
        if only is not None and project.id not in only and ALL_PROJECTS not in only:
            continue
        before = len(done.pending)
        try:
            _rewrite(paths.home, project, renew, done, is_lasting=is_lasting)
        except BlockingIOError:
            done.pending.append(f"{project.folder}, which a sync of the notes writes just now")
        except (OSError, SiftdError) as error:
            done.pending.append(f"{project.folder} ({_reason(error)})")
        if len(done.pending) > before:
            done.projects.add(project.id)
    return done


def count_changed(paths: WorkspacePaths, renew: Renew) -> int:
    """Return how many texts `renew` would change. Raises SiftdError as `find` does."""
    texts = (text for project in holders_of(paths) for text in _iter_texts(paths.home, project, set()))
    return sum(renew(each.text) != each.text for each in texts)


def any_text(paths: WorkspacePaths, is_wanted: Callable[[str], bool]) -> bool:
    """Whether a text of the notes is wanted. Raises SiftdError as `find` does."""
    texts = (text for project in holders_of(paths) for text in _iter_texts(paths.home, project, set()))
    return any(is_wanted(each.text) for each in texts)


class _Text(NamedTuple):
    text: str
    is_note: bool
    is_key: bool = False


def _iter_texts(home: Home, project: Project, unread: set[str]) -> Iterator[_Text]:
    with opened(project.folder) as folder:
        for name in [*folder.notes(), *folder.dropped()] if folder is not None else ():
            assert folder is not None
            stamp = folder.stamp(name)
            if stamp is not None and stamp.size > ARCHIVE_BYTES_MAX:
                unread.add(f"{project.folder}/{name}, which is too long for notes")
            elif data := folder.find(name, ARCHIVE_BYTES_MAX):
                yield _Text(_decoded(data), is_note=True)
    with opened(Bookkeeping(home, project.id).folder) as folder:
        for name in (*BOOKS, "journal.json") if folder is not None else ():
            assert folder is not None
            data = folder.find(name, ARCHIVE_BYTES_MAX)
            for text, is_key in _strings(_decoded(data)) if data else ():
                yield _Text(text, is_note=False, is_key=is_key)


def _rewrite(home: Home, project: Project, renew: Renew, done: Rewritten, *, is_lasting: bool) -> None:
    """Rewrite one project's files. Raises BlockingIOError while a sync has the lock."""
    books = Bookkeeping(home, project.id)
    change_mark(books, is_done=not is_lasting)
    before = len(done.pending)
    with _locked(books):
        with opened(project.folder) as folder:
            if folder is None:  # what was to be written there goes nowhere
                Path(books.journal).unlink(missing_ok=True)
            else:
                applying.recover(project, books)
                folder.remove_leftovers()
                for name in [*folder.notes(), *folder.dropped()]:
                    try:
                        done.files += _rewrite_file(folder, project, name, renew)
                    except OSError as error:
                        done.pending.append(f"{project.folder}/{name} ({_reason(error)})")
        with opened(books.folder) as folder:
            if folder is not None:
                folder.remove_leftovers()
                done.files += sum(_rewrite_book(folder, books, name, renew) for name in BOOKS)
        if len(done.pending) == before:
            change_mark(books, is_done=True)


@contextmanager
def _locked(books: Bookkeeping) -> Iterator[None]:
    descriptor = os.open(books.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _rewrite_file(folder: Folder, project: Project, name: str, renew: Renew) -> bool:
    """Rewrite one file; return whether it changed. An inbox note of which nothing is left goes."""
    path = f"{project.folder}/{name}"
    for _ in range(TRIES):
        data = folder.find(name, ARCHIVE_BYTES_MAX)
        text = "" if data is None else _decoded(data)
        new = renew(text)
        if data is None or new == text:
            return False
        mode = Path(path).lstat().st_mode & 0o7777
        if not mode & 0o222:  # root could, and whoever took the permission meant it
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)
        if not new.strip() and name.startswith("inbox/"):
            Path(path).unlink()
            return True
        with suppress(EditedMeanwhile):
            if replacing.replace(path, data, _encoded(new), mode=mode).settle():
                return True
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)


def _rewrite_book(folder: Folder, books: Bookkeeping, name: str, renew: Renew) -> bool:
    data = folder.find(name, ARCHIVE_BYTES_MAX)
    if data is None:
        return False
    text = _decoded(data)
    new = _renewed_book(text, renew)
    if new == text:
        return False
    write_private(Path(books.folder, name), _encoded(new))
    return True


def _renewed_book(text: str, renew: Renew) -> str:
    """Return JSON whose strings are renewed; what is none is text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return renew(text)
    new = _mapped(value, renew)
    return text if new == value else json.dumps(new, ensure_ascii=False, separators=(",", ":"))


def _mapped(value: Any, renew: Renew) -> Any:
    """Return a JSON value with its strings renewed; an element of a list of which one has gone goes whole."""
    match value:
        case str():
            return renew(value)
        case list():
            pairs = [(each, _mapped(each, renew)) for each in value]
            return [new for old, new in pairs if not _has_lost(old, new)]
        case dict():
            return {key: _mapped(each, renew) for key, each in value.items()}
    return value


def _has_lost(old: Any, new: Any) -> bool:
    """Whether a text, or one of an object's, is gone."""
    if isinstance(old, dict):
        return any(_has_lost(each, new[key]) for key, each in old.items() if isinstance(each, str))
    return isinstance(old, str) and bool(old) and not new


def _strings(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the strings of JSON, and whether each is a `key`; those of JSON in a string too, which a journal has. What
    is no JSON is one text."""
    waiting: list[tuple[Any, bool]] = [(text, False)]
    while waiting:
        node, is_key = waiting.pop()
        if isinstance(node, str):
            inner = _parsed(node)
            if inner is None:
                yield node, is_key
            else:
                waiting.append((inner, False))
        elif isinstance(node, dict):
            waiting += [(each, name == "key") for name, each in node.items()]
        elif isinstance(node, list):
            waiting += [(each, False) for each in node]


def _parsed(text: str) -> Any:
    """Return the object or list that a text is; None for any other."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _reason(error: OSError | SiftdError) -> str:
    if isinstance(error, SiftdError):
        return error.message
    return error.strerror or type(error).__name__
