"""The spool: redacted events that no daemon took, one file each, waiting for the next one.

`<spool>/<ms since the epoch>-<frame uid>.json`, version 1: one JSON object, synced before its name appears. The time is
the event's own, so that names sort as things happened.

    {"version":1,"kind":"capture",…,"payload":{…}}      `siftd.capture.admission.as_stored`
    {"version":1,"kind":"rejected","reason":"not_json","ts":…}
    {"version":1,"kind":"opt-out","session_id":"5e55…","ts":…}

`siftd spool` (the courier's last resort) reads frames from standard input and exits 0 once every one
of them is in a synced file. The daemon takes files in at start, at each tick and when it is asked to drain, and
redacts them once more.
"""

from __future__ import annotations

import errno
import os
import resource
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from siftd.capture.admission import LAST_TS, Redacted, as_stored
from siftd.capture.intake import Ignored, Intake, OptedOut
from siftd.clock import SystemClock
from siftd.config import is_excluded
from siftd.errors import EnvelopeRejected, SiftdError
from siftd.log.files import sync_folder
from siftd.wire.frames import FrameBuffer, split_hook
from siftd.wire.requests import HookHeader, decode_header
from siftd.workspace.home import check_apart, ensure_workspace, load_settings, write_private
from siftd.workspace.identity import Workspace, find_workspace, path_from_text
from siftd.workspace.paths import Home

VERSION = 1


@dataclass(frozen=True, slots=True)
class SpoolFile:
    """One file of the spool and what it holds."""

    path: Path
    values: dict[str, Any]


class Spool:
    """The spool of one workspace, and what redacts for it."""

    def __init__(self, folder: str, intake: Intake) -> None:
        self.folder = folder
        self.intake = intake


def spool_frames(stream: BinaryIO, spool_of: Callable[[bytes], Spool | None], now_ms: int) -> int:
    """Write every hook frame of `stream` into its spool; return how many. Raises OSError when one cannot be kept.

    `spool_of` says where a frame is to be kept; None: nowhere.
    """
    buffer = FrameBuffer()
    count = 0
    folders = set()
    while data := stream.read(1 << 20):
        for message in buffer.feed(data):
            spool = spool_of(message)
            if spool is not None:
                count += 1
                folders.add(spool.folder)
                _write(Path(spool.folder), message, spool.intake, now_ms)
    for folder in folders:
        sync_folder(folder)
    return count


def iter_spool(folder: str) -> Iterator[SpoolFile]:
    """Yield the files of the spool, oldest first. A file that is not ours or damaged is left where it is."""
    for path in sorted(Path(folder).glob("[0-9]*.json")):
        try:
            stored = msgspec.json.decode(_read(path))
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(stored, dict) and stored.get("version") == VERSION and isinstance(stored.get("kind"), str):
            yield SpoolFile(path, stored)


def count_files(folder: str) -> int:
    """Return how many files wait in the spool."""
    try:
        return sum(1 for _ in Path(folder).glob("[0-9]*.json"))
    except FileNotFoundError:
        return 0


def _read(path: Path) -> bytes:
    """Return what is in a file of the spool: no link is followed, and nothing that is no file is waited for."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "no file")
        return file.read()


def _write(folder: Path, message: bytes, intake: Intake, now_ms: int) -> None:
    try:
        stored = as_stored(intake.from_hook(message))
        name = stored["frame_uid"]
    except OptedOut as off:
        stored = {"kind": "opt-out", "session_id": off.session_id, "ts": off.ts}
        name = os.urandom(8).hex()
    except Ignored:
        return
    except Exception as error:  # noqa: BLE001 - one frame's boundary: those behind it must not be lost with it
        reason = getattr(error, "reason", error.code) if isinstance(error, SiftdError) else "internal"
        stored = {"kind": "rejected", "reason": reason, "ts": now_ms}
        name = _frame_uid(message) or os.urandom(8).hex()
    safe = "".join(each for each in name if each.isalnum())[:64]
    write_private(folder / f"{stored['ts']:013}-{safe}.json", msgspec.json.encode({"version": VERSION, **stored}))


def _frame_uid(message: bytes) -> str | None:
    header = _header(message)
    return None if header is None else header.frame_uid


def _header(message: bytes) -> HookHeader | None:
    try:
        return decode_header(split_hook(message)[0])
    except SiftdError:
        return None


def readmit(file: SpoolFile, intake: Intake) -> Redacted | None:
    """Return a spooled event, redacted once more; None for a rejection. Raises EnvelopeRejected for what is none."""
    if file.values["kind"] == "opt-out":
        session_id, since = file.values.get("session_id"), file.values.get("ts")
        if not isinstance(session_id, str) or type(since) is not int or not 0 <= since <= LAST_TS:
            raise EnvelopeRejected("bad_shape", "an opt-out has a missing or wrong field")
        return intake.opt_out(session_id, since)
    return None if file.values["kind"] == "rejected" else intake.admission.readmit(file.values, learns=True)


class Spools:
    """The spools of one home. A frame belongs to the workspace of its own folder, whoever brought it."""

    def __init__(self, home: Home, folder: str) -> None:
        """`folder` is the courier's own; frames that do not tell theirs go where it belongs."""
        check_apart(home, folder)
        self._home = home
        self._settings = load_settings(home).settings
        self._own = find_workspace(folder)
        self._folders: dict[str, Workspace] = {folder: self._own}
        self._opened: dict[str, Spool | None] = {}

    def of(self, message: bytes) -> Spool | None:
        """Return where a frame is to be kept; None where its workspace is excluded."""
        workspace = self._workspace_of(_header(message))
        if workspace.key not in self._opened:
            self._opened[workspace.key] = self._open(workspace)
        return self._opened[workspace.key]

    def _workspace_of(self, header: HookHeader | None) -> Workspace:
        folder = "" if header is None else path_from_text(header.root)
        if folder not in self._folders:
            is_there = Path(folder).is_absolute() and "\0" not in folder and Path(folder).is_dir()
            self._folders[folder] = find_workspace(folder) if is_there else self._own
        return self._folders[folder]

    def _open(self, workspace: Workspace) -> Spool | None:
        paths = self._home.for_workspace(workspace.key)
        check_apart(self._home, workspace.root)
        ensure_workspace(paths)
        if is_excluded(workspace.root, self._settings):
            return None
        return Spool(paths.spool, Intake(paths, self._settings, root=workspace.root))


def run(folder: str, stream: BinaryIO) -> int:
    """`siftd spool`: keep the frames of `stream`, those without a folder for the workspace of `folder`."""
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # it holds raw frames
    try:
        spools = Spools(Home.from_environment(os.environ, str(Path.home())), folder)
        spool_frames(stream, spools.of, SystemClock().now_ms())
    except (SiftdError, OSError) as error:
        print(f"the spool failed ({type(error).__name__})", file=sys.stderr)  # noqa: T201 - the courier reads it
        return 1
    return 0
