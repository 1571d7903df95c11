"""Cline's sessions: a document of messages for each session and each subagent, and beside it what it is about.

    <session>/<session>.json                      {"session_id", "cwd", …}
    <session>/<session>.messages.json             {"sessionId", "origin", "messages": [{"id", "role", "content", "ts"}]}
    <session>/agent_….messages.json               a subagent's; its origin names its session and itself

A document is written anew with every message. Its lines are what it is about, and each message.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from siftd.clients.client import Head, Reader, StoredSession
from siftd.clients.cline.home import sessions_folder
from siftd.clients.cline.transcript import SessionReader
from siftd.foreign_file import open_regular, read

DOCUMENT_BYTES_MAX = 64 * 1024 * 1024
"""Longer ones are passed by: they are read whole. Arbitrary."""
_ABOUT_BYTES_MAX = 1024 * 1024


class _Origin(msgspec.Struct, rename="camel"):
    parent_thread_id: str | None = None
    subagent: str | None = None


class _About(msgspec.Struct, rename="camel"):
    session_id: str | None = None
    origin: _Origin | None = None


class _Document(_About):
    messages: list[msgspec.Raw] = []


class _Session(msgspec.Struct):
    cwd: str | None = None


class Documents:
    """`data/sessions/` in Cline's folder of a home."""

    suffix = ".messages.json"

    def folder(self, environ: Mapping[str, str], user_home: str) -> str:  # noqa: ARG002 - a home's, always
        return sessions_folder(user_home)

    def sessions(self, path: str) -> Iterator[StoredSession]:
        data, found = _read(path)
        yield StoredSession("", found.st_size, found.st_mtime_ns, _head(path, _decode(data, _About, path)))

    def lines_of(self, path: str, key: str) -> Iterator[bytes]:  # noqa: ARG002 - a document holds one
        data, _ = _read(path)
        document = _decode(data, _Document, path)
        head = _head(path, document)
        yield msgspec.json.encode({"session_id": head.session_id, "cwd": head.cwd, "agent_id": head.agent_id})
        for message in document.messages:
            yield bytes(message)

    def reader(self, session_id: str | None) -> Reader:
        return SessionReader(session_id)

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:  # noqa: ARG002 - nothing tells
        return {}


def _read(path: str) -> tuple[bytes, os.stat_result]:
    with open_regular(path) as file:
        found = os.fstat(file.fileno())
        if found.st_uid != os.geteuid():
            raise OSError(errno.EPERM, "it is another user's", path)
        if found.st_size > DOCUMENT_BYTES_MAX:
            raise OSError(errno.EFBIG, f"it is longer than {DOCUMENT_BYTES_MAX} bytes", path)
        return file.read(DOCUMENT_BYTES_MAX), found


def _decode(data: bytes, kind: type[Any], path: str) -> Any:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise OSError(errno.EINVAL, "it is no session of the form that is known", path) from None


def _head(path: str, about: _About) -> Head:
    """Return whose a document is, by itself and by the file beside it that says the folder."""
    origin = about.origin or _Origin()
    session = origin.parent_thread_id if origin.subagent else about.session_id
    metadata_path = Path(path).parent / f"{session}.json"
    try:
        cwd = msgspec.json.decode(read(str(metadata_path), _ABOUT_BYTES_MAX), type=_Session).cwd if session else None
    except (OSError, ValueError, RecursionError):
        cwd = None
    return Head(session, cwd, origin.subagent or None)
