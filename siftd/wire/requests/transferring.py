"""What moves a whole memory: export, import, backup, backfill."""

from __future__ import annotations

from typing import Any

from siftd.wire.requests.request import Request


class Export(Request[dict[str, Any]], frozen=True, kw_only=True):
    """Write everything into a new file (mode 0600) at an absolute path. Streams progress; answers `path`, `counts`."""

    path: str


class Import(Request[dict[str, Any]], frozen=True, kw_only=True):
    """Merge an exported file in. Streams progress; answers `added`, `known`, `forgotten`, `errors`, `firstError`.

    `own`: a person says that the file is an export of their own, and it is believed who said what. What is for every
    project takes nothing in without `yes`.
    """

    changes_brief = True

    path: str
    own: bool = False
    yes: bool = False


class Backup(Request[dict[str, Any]], frozen=True, kw_only=True):
    """Copy the database, checked, into a new file (mode 0600) at an absolute path. Answers `path`, `bytes`, `seq`."""

    path: str


class Backfill(Request[dict[str, Any]], frozen=True, kw_only=True):
    """Read a client's session files into the store. Streams progress; answers the counts.

    `paths` are absolute; none: this workspace's own in `folder`, where the client keeps them.
    """

    changes_brief = True

    client: str | None = None
    """None: the one whose sessions are read where nobody names any (`siftd.clients.registry`)."""
    paths: list[str] = []
    folder: str | None = None
    any_workspace: bool = False
    own: bool = False
    """Whether a person says that the files are of an agent of theirs: its words then count as an agent's."""
