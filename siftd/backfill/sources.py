"""Which transcripts a backfill reads, and in which order.

Whose a session is, the folder of its first record that has one decides, never a name: clients' names of folders are
lossy and can be overridden, and a linked worktree may be anywhere. So the head of every session in the client's folder
is read, and only its head. A subagent's file follows the session that it names.

Older sessions come first, so that ids rise with time and a fork is read after what it is a copy of; within a session
the main file comes before its subagents' files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from siftd.backfill.lines import reason_of
from siftd.clients.client import Client, Head, StoredSessions
from siftd.foreign_file import open_regular
from siftd.workspace.identity import Workspace, find_workspace

HEAD_BYTES = 4 * 1024 * 1024
"""How far a head reaches: first records can be whole system prompts. Who says nothing until then is nobody's."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """One session to read: a file, or part of one that holds several."""

    client: Client
    path: str
    size: int
    modified_ns: int
    head: Head
    is_own: bool = True
    """Whether it lies in the client's folder, or a person says that it is theirs. Of any other file nobody knows who
    wrote it."""
    key: str = ""
    """What the session is called in a file of several."""

    @property
    def name(self) -> str:
        """What it is known by: no other transcript has the same."""
        return f"{self.path}#{self.key}" if self.key else self.path


@dataclass
class Sources:
    """The files to read, in their order; `problems` are (path, reason) of what could not be looked at."""

    transcripts: list[Transcript] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)


def find_sources(
    client: Client,
    paths: Sequence[str],
    *,
    folder: str | None,
    workspace: Workspace,
    any_workspace: bool,
    is_excluded: Callable[[str], bool],
    own: bool = False,
) -> Sources:
    """Return the client's files in `paths`, or else in its own `folder`, that are of `workspace` (or of any)."""
    sources = Sources()
    home = Path(folder) if folder else None
    wanted = list(paths) or ([str(home)] if home and home.is_dir() else [])
    files = dict.fromkeys(os.path.realpath(path) for path in _iter_files(client, wanted, sources))
    theirs = f"{os.path.realpath(home)}/" if home else None
    looked_at = []
    for path in files:
        is_own = own or (theirs is not None and path.startswith(theirs))
        looked_at += _look_at(client, path, sources, is_own=is_own)
    belongs = _Belonging(workspace, any_workspace, is_excluded)
    sources.transcripts = _in_order(looked_at, belongs)
    return sources


def list_roots(client: Client, folder: str | None) -> tuple[list[str], list[str]]:
    """Return the workspaces whose sessions lie in the client's folder: those whose folder is there, and those gone."""
    sources = Sources()
    folders = {
        seen.head.cwd
        for path in _iter_files(client, [folder] if folder else [], sources)
        for seen in _look_at(client, path, sources, is_own=True)
        if seen.head.cwd and os.path.isabs(seen.head.cwd)  # noqa: PTH117
    }
    here = {find_workspace(each).root for each in folders if Path(each).is_dir()}
    return sorted(here), sorted(each for each in folders if not Path(each).is_dir())


def list_sessions(
    client: Client, folder: str | None, workspace: Workspace, *, any_workspace: bool = False
) -> list[Transcript]:
    """Return the conversations of a workspace, or of any, that lie in the client's folder; the oldest first."""
    found = find_sources(
        client, [], folder=folder, workspace=workspace, any_workspace=any_workspace, is_excluded=lambda _: False
    )
    return [each for each in found.transcripts if not each.head.agent_id]


def count_sessions(client: Client, folder: str | None, workspace: Workspace) -> int:
    """Return how many conversations of a workspace lie in the client's folder."""
    return len(list_sessions(client, folder, workspace))


class _Belonging:
    """Decides for a folder, each asked for once."""

    def __init__(self, workspace: Workspace, any_workspace: bool, is_excluded: Callable[[str], bool]) -> None:
        self._workspace = workspace
        self._any_workspace = any_workspace
        self._is_excluded = is_excluded
        self._known: dict[str | None, bool] = {}

    def __call__(self, cwd: str | None) -> bool:
        if cwd not in self._known:
            self._known[cwd] = self._decide(cwd)
        return self._known[cwd]

    def _decide(self, cwd: str | None) -> bool:
        if not cwd or "\0" in cwd or not os.path.isabs(cwd):  # noqa: PTH117
            return self._any_workspace
        found = find_workspace(cwd)
        return (self._any_workspace or found.key == self._workspace.key) and not self._is_excluded(found.root)


def _iter_files(client: Client, paths: Sequence[str], sources: Sources) -> Iterator[str]:
    """Yield the files that `paths` are or hold. Links inside lead elsewhere, or in circles: none is followed."""

    def note(error: OSError) -> None:
        sources.problems.append((str(error.filename), reason_of(error)))

    for path in paths:
        if "\0" in path:
            sources.problems.append(("", "a path holds a NUL"))
        elif not Path(path).is_dir():
            yield path
        else:
            for folder, folders, files in os.walk(path, onerror=note):
                folders.sort()
                found = (f"{folder}/{name}" for name in sorted(files) if name.endswith(client.files.suffix))
                for file in found:
                    if not Path(file).is_symlink():
                        yield file
                    elif not Path(file).exists() or not Path(file).resolve().is_relative_to(Path(path).resolve()):
                        sources.problems.append((file, "it is a link that leads elsewhere"))


def _look_at(client: Client, path: str, sources: Sources, *, is_own: bool) -> list[Transcript]:
    """Return the sessions that a file holds, without reading further than their heads."""
    try:
        return list(_heads(client, path, is_own=is_own))
    except OSError as error:
        sources.problems.append((path, reason_of(error)))
        return []


def _heads(client: Client, path: str, *, is_own: bool) -> Iterable[Transcript]:
    files = client.files
    if isinstance(files, StoredSessions):
        for each in files.sessions(path):
            yield Transcript(client, path, each.size, each.modified_ns, each.head, is_own, each.key)
        return
    with open_regular(path) as file:
        found = os.fstat(file.fileno())
        lines = iter(lambda: file.readline(HEAD_BYTES) if file.tell() < HEAD_BYTES else b"", b"")
        yield Transcript(client, path, found.st_size, found.st_mtime_ns, files.head(path, lines), is_own)


def _in_order(transcripts: Sequence[Transcript], belongs: Callable[[str | None], bool]) -> list[Transcript]:
    """Return those that belong: by the age of their session, then the session's own file, then its subagents'."""
    mains = {each.head.session_id: each for each in transcripts if not each.head.agent_id}
    placed = []
    for each in transcripts:
        is_subagent = each.head.agent_id and each.head.session_id
        main = mains.get(each.head.session_id, each) if is_subagent else each
        if belongs(main.head.cwd):
            placed.append(((main.modified_ns, main.name, each is not main, each.name), each))
    return [each for _, each in sorted(placed, key=lambda pair: pair[0])]
