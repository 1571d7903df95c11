"""What moves a whole memory: export, import, backup, backfill."""

from __future__ import annotations

from typing import Any, TypedDict

from siftd.wire.requests.request import Request


class ExportAnswer(TypedDict):
    """The file, and how many of each kind it holds."""

    path: str
    counts: dict[str, int]


class ImportAnswer(TypedDict):
    """How many of each kind were added, and were known; what stayed out because it was forgotten here; errors.

    `leftBehind` counts, by the reason, what another memory holds and siftd does not take.
    """

    added: dict[str, int]
    known: dict[str, int]
    forgotten: int
    leftBehind: dict[str, int]
    errors: int
    firstError: str | None


class ImportSourceAnswer(TypedDict):
    """What became of a file for the team (`siftd.team_sync.source_import`).

    Items that the team has now, that are gone, that it had already, and that it did not take, by the reason; places of
    the file that say nothing. `problem`: why it ended before the file did. `shown`: in a rehearsal, the first items.
    """

    team: str
    lines: int
    put: int
    forgotten: int
    unchanged: int
    refused: dict[str, int]
    errors: int
    firstError: str | None
    problem: str | None
    shown: list[dict[str, Any]]


class BackupAnswer(TypedDict):
    """The file, its size, and the last record of the log that it has."""

    path: str
    bytes: int
    seq: int


class BackfillAnswer(TypedDict):
    """What was read (`siftd.backfill.result`)."""

    source: str
    scanned: int
    captured: int
    skippedDuplicate: int
    errors: int
    firstError: str | None
    sessions: int
    growing: int
    firstTs: int | None
    lastTs: int | None


class Export(Request[ExportAnswer], frozen=True, kw_only=True):
    """Write everything into a new file (mode 0600) at an absolute path. Streams progress; answers `path`, `counts`."""

    path: str


class Import(Request[ImportAnswer], frozen=True, kw_only=True):
    """Merge an exported file in, or what another memory keeps, named by `source`. Streams progress; answers the counts.

    With `dry_run`, which goes with a source, nothing changes. `own`: a person says that the file is their own, and it
    is believed who said what. What is for every project takes nothing in without `yes`.
    """

    changes_brief = True

    path: str
    own: bool = False
    yes: bool = False
    source: str = ""
    dry_run: bool = False


class ImportSource(Request[ImportSourceAnswer], frozen=True, kw_only=True):
    """Tell the team what a file holds of one source: issue, comment or job. Streams progress; answers the counts.

    `form` is who wrote the file: github, gitlab, actions; "" is our own lines. With `dry_run` nothing is sent.
    """

    path: str
    source: str
    form: str = ""
    dry_run: bool = False


class Backup(Request[BackupAnswer], frozen=True, kw_only=True):
    """Copy the database, checked, into a new file (mode 0600) at an absolute path. Answers `path`, `bytes`, `seq`."""

    path: str


class Backfill(Request[BackfillAnswer], frozen=True, kw_only=True):
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
