"""Antigravity's conversations as files: the mirror of each, or its database where it has no mirror."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from siftd.clients.antigravity.attribution import most_spoken_of
from siftd.clients.antigravity.places import FULL, SHORT, conversation_of
from siftd.clients.antigravity.steps import iter_rows, printable_runs, step_lines
from siftd.clients.antigravity.transcript import StepReader
from siftd.clients.client import Head, Reader, StoredSession
from siftd.foreign_file import open_regular, read

_LINE_BYTES_MAX = 32 * 1024 * 1024
_LOOKED_AT_BYTES = 4 * 1024 * 1024
_CACHE_BYTES_MAX = 4 * 1024 * 1024


class Conversations:
    """`antigravity/`, `antigravity-cli/` and `antigravity-ide/` in `.gemini` of a home."""

    suffix = ""

    def folder(self, environ: Mapping[str, str], user_home: str) -> str:  # noqa: ARG002 - a home's, always
        return f"{user_home}/.gemini"

    def sessions(self, path: str) -> Iterator[StoredSession]:
        conversation = _conversation(path)
        if conversation is None:
            return
        found = os.lstat(path)
        cwd = _folder_of(path, conversation, found.st_size, found.st_mtime_ns)
        yield StoredSession("", found.st_size, found.st_mtime_ns, Head(conversation, cwd, None))

    def lines_of(self, path: str, key: str) -> Iterator[bytes]:  # noqa: ARG002 - a file holds one
        if path.endswith(".db"):
            yield from step_lines(path, os.lstat(path).st_mtime_ns // 1_000_000)
            return
        with open_regular(path) as file:
            while (raw := file.readline(_LINE_BYTES_MAX)).endswith(b"\n"):
                yield raw

    def reader(self, session_id: str | None) -> Reader:
        return StepReader(session_id)

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:  # noqa: ARG002 - nothing tells it
        return {}


def _conversation(path: str) -> str | None:
    """Return which conversation a file is read for; None for one that is none, or that a fuller one stands in for."""
    file = Path(path)
    if (conversation := conversation_of(path)) is not None:
        is_short = file.name == SHORT and file.with_name(FULL).exists()
        return None if is_short else conversation
    if file.suffix != ".db" or file.parent.name != "conversations":
        return None
    logs = file.parent.parent / "brain" / file.stem / ".system_generated" / "logs"
    return None if (logs / FULL).exists() or (logs / SHORT).exists() else file.stem


@functools.lru_cache(maxsize=1_024)
def _folder_of(path: str, conversation: str, size: int, modified_ns: int) -> str | None:  # noqa: ARG001 - what it was then
    """Return the folder of a conversation: as the client notes it, else as its text tells."""
    home = Path(path).parents[1] if path.endswith(".db") else Path(path).parents[4]
    return _noted_folder(home, conversation) or most_spoken_of(_texts(path))


def _noted_folder(home: Path, conversation: str) -> str | None:
    """Return the folder whose last conversation it was."""
    try:
        noted = msgspec.json.decode(read(str(home / "cache" / "last_conversations.json"), _CACHE_BYTES_MAX))
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    pairs = noted.items() if isinstance(noted, dict) else ()
    return next((folder for folder, each in pairs if each == conversation and folder.startswith("/")), None)


def _texts(path: str) -> Iterator[str]:
    if not path.endswith(".db"):
        with open_regular(path) as file:
            yield file.read(_LOOKED_AT_BYTES).decode("utf-8", "replace")
        return
    left = _LOOKED_AT_BYTES
    for _, _, payload in iter_rows(path):
        runs = printable_runs(payload)
        yield from runs
        left -= sum(map(len, runs))
        if left < 0:
            return
