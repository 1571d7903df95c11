"""Which transcripts a backfill reads, and in which order.

Whose a session is, the `cwd` of its first record that has one decides, never a name: Claude Code's names of project
folders are lossy and can be overridden, and a linked worktree may be anywhere. So the head of every session under
the Claude home is read, and only its head. A subagent's file follows the session that it names.

Older sessions come first, so that ids rise with time and a fork is read after what it is a copy of; within a session
the main file comes before its subagents' files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from siftd.backfill.lines import reason_of
from siftd.clients.claude_transcript import TranscriptHead, transcript_head
from siftd.foreign_file import open_regular, read
from siftd.workspace import Workspace, find_workspace

HEAD_BYTES = 4 * 1024 * 1024
"""How far a head reaches: first records can be whole system prompts. Who says nothing until then is nobody's."""
_SUFFIX = ".jsonl"
_AGENT_FILE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Transcript:
    """One file to read."""

    path: str
    size: int
    modified_ns: int
    head: TranscriptHead
    is_own: bool = True
    """Whether it lies in the client's home. Of any other file nobody knows who wrote it."""


@dataclass
class Sources:
    """The files to read, in their order; `problems` are (path, reason) of what could not be looked at."""

    transcripts: list[Transcript] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)


def find_sources(
    paths: Sequence[str],
    *,
    claude_home: str,
    workspace: Workspace,
    any_workspace: bool,
    is_excluded: Callable[[str], bool],
) -> Sources:
    """Return the transcripts in `paths`, or else under the Claude home, that are of `workspace` (or of any)."""
    sources = Sources()
    home = Path(claude_home, "projects")
    wanted = list(paths) or ([str(home)] if home.is_dir() else [])
    files = dict.fromkeys(os.path.realpath(path) for path in _iter_files(wanted, sources))
    own = os.path.realpath(home) + "/"
    looked_at = [seen for path in files if (seen := _look_at(path, sources, is_own=path.startswith(own))) is not None]
    belongs = _Belonging(workspace, any_workspace, is_excluded)
    sources.transcripts = _in_order(looked_at, belongs)
    return sources


def list_roots(claude_home: str) -> tuple[list[str], list[str]]:
    """Return the workspaces whose sessions lie under the Claude home: those whose folder is there, and those gone."""
    sources = Sources()
    folders = {
        seen.head.cwd
        for path in _iter_files([f"{claude_home}/projects"], sources)
        if (seen := _look_at(path, sources, is_own=True)) and seen.head.cwd and os.path.isabs(seen.head.cwd)  # noqa: PTH117
    }
    here = {find_workspace(each).root for each in folders if Path(each).is_dir()}
    return sorted(here), sorted(each for each in folders if not Path(each).is_dir())


def count_sessions(claude_home: str, workspace: Workspace) -> int:
    """Return how many conversations of a workspace lie under the Claude home."""
    found = find_sources(
        [], claude_home=claude_home, workspace=workspace, any_workspace=False, is_excluded=lambda _: False
    )
    return sum(not each.head.agent_id for each in found.transcripts)


def spawned_agents(transcript: Transcript) -> dict[str, str]:
    """Return which agent each call of the transcript's session started, by tool_use_id, as its side files tell.

    A subagent's own transcript does not say it of the agents that it starts itself.
    """
    path = Path(transcript.path)
    folder = path.parent if transcript.head.agent_id else path.with_suffix("") / "subagents"
    agents = {}
    for file in folder.glob("agent-*.meta.json"):
        try:
            tool_use_id = msgspec.json.decode(read(str(file), _AGENT_FILE_BYTES), type=_AgentFile).tool_use_id
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            continue  # the link is a comfort; the transcript itself is read all the same
        if tool_use_id:
            agents[tool_use_id] = file.name.removeprefix("agent-").removesuffix(".meta.json")
    return agents


class _AgentFile(msgspec.Struct, rename="camel"):
    tool_use_id: str | None = None


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


def _iter_files(paths: Sequence[str], sources: Sources) -> Iterator[str]:
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
                found = (f"{folder}/{name}" for name in sorted(files) if name.endswith(_SUFFIX))
                for file in found:
                    if not Path(file).is_symlink():
                        yield file
                    elif not Path(file).exists() or not Path(file).resolve().is_relative_to(Path(path).resolve()):
                        sources.problems.append((file, "it is a link that leads elsewhere"))


def _look_at(path: str, sources: Sources, *, is_own: bool) -> Transcript | None:
    try:
        with open_regular(path) as file:
            found = os.fstat(file.fileno())
            lines = iter(lambda: file.readline(HEAD_BYTES) if file.tell() < HEAD_BYTES else b"", b"")
            return Transcript(path, found.st_size, found.st_mtime_ns, transcript_head(lines), is_own)
    except OSError as error:
        sources.problems.append((path, reason_of(error)))
        return None


def _in_order(transcripts: Sequence[Transcript], belongs: Callable[[str | None], bool]) -> list[Transcript]:
    """Return those that belong: by the age of their session, then the session's own file, then its subagents'."""
    mains = {each.head.session_id: each for each in transcripts if not each.head.agent_id}
    placed = []
    for each in transcripts:
        is_subagent = each.head.agent_id and each.head.session_id
        main = mains.get(each.head.session_id, each) if is_subagent else each
        if belongs(main.head.cwd):
            placed.append(((main.modified_ns, main.path, each is not main, each.path), each))
    return [each for _, each in sorted(placed, key=lambda pair: pair[0])]
