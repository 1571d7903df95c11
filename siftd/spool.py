"""The spool: redacted events that no daemon took, one file each, waiting for the next one.

`<spool>/<ms since the epoch>-<frame uid>.json`, version 1: one JSON object, synced before its name appears. The time is
the event's own, so that names sort as things happened.

    {"version":1,"kind":"capture",…,"payload":{…}}      `siftd.admission.as_kept`
    {"version":1,"kind":"rejected","reason":"not_json","ts":…}
    {"version":1,"kind":"opt-out","session_id":"5e55…","ts":…}

`python -I -m siftd spool` (the courier's last resort) reads frames from standard input and exits 0 once every one
of them is in a synced file. The daemon takes files in at start, at each tick and when it is asked to drain, and
redacts them once more.
"""

from __future__ import annotations

import errno
import os
import resource
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from siftd.admission import Redacted, as_kept
from siftd.clock import SystemClock
from siftd.config import is_excluded
from siftd.errors import SiftdError
from siftd.frames import FrameBuffer, split_hook
from siftd.home import ensure_workspace, load_settings, write_private
from siftd.intake import Ignored, Intake, OptedOut
from siftd.log.files import sync_folder
from siftd.messages import decode_header
from siftd.paths import Home
from siftd.workspace import find_workspace

VERSION = 1


@dataclass(frozen=True, slots=True)
class SpoolFile:
    """One file of the spool and what it holds."""

    path: Path
    kept: dict[str, Any]


def spool_frames(stream: BinaryIO, folder: str, intake: Intake, now_ms: int) -> int:
    """Write every hook frame of `stream` into the spool; return how many. Raises OSError when one cannot be kept."""
    buffer = FrameBuffer()
    count = 0
    while data := stream.read(1 << 20):
        for message in buffer.feed(data):
            count += 1
            _write(Path(folder), message, intake, now_ms)
    if count:
        sync_folder(folder)
    return count


def iter_spool(folder: str) -> Iterator[SpoolFile]:
    """Yield the files of the spool, oldest first. A file that is not ours or damaged is left where it is."""
    for path in sorted(Path(folder).glob("[0-9]*.json")):
        try:
            kept = msgspec.json.decode(_read(path))
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(kept, dict) and kept.get("version") == VERSION and isinstance(kept.get("kind"), str):
            yield SpoolFile(path, kept)


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
        kept = as_kept(intake.from_hook(message))
        name = kept["frame_uid"]
    except OptedOut as off:
        kept = {"kind": "opt-out", "session_id": off.session_id, "ts": off.ts}
        name = os.urandom(8).hex()
    except Ignored:
        return
    except Exception as error:  # noqa: BLE001 - one frame's boundary: those behind it must not be lost with it
        reason = getattr(error, "reason", error.code) if isinstance(error, SiftdError) else "internal"
        kept = {"kind": "rejected", "reason": reason, "ts": now_ms}
        name = _frame_uid(message) or os.urandom(8).hex()
    safe = "".join(each for each in name if each.isalnum())[:64]
    write_private(folder / f"{kept['ts']:013}-{safe}.json", msgspec.json.encode({"version": VERSION, **kept}))


def _frame_uid(message: bytes) -> str | None:
    try:
        return decode_header(split_hook(message)[0]).frame_uid
    except SiftdError:
        return None


def readmit(file: SpoolFile, intake: Intake) -> Redacted | None:
    """Return a spooled event, redacted once more; None for a rejection."""
    if file.kept["kind"] == "opt-out":
        return intake.opt_out(file.kept["session_id"], file.kept["ts"])
    return None if file.kept["kind"] == "rejected" else intake.admission.readmit(file.kept)


def run(folder: str, stream: BinaryIO) -> int:
    """`siftd spool`: keep the frames of `stream` for the workspace of `folder`; return the exit status."""
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # it holds raw frames
    try:
        home = Home.from_environment(os.environ, str(Path.home()))
        workspace = find_workspace(folder)
        paths = home.for_workspace(workspace.key)
        ensure_workspace(paths)
        settings = load_settings(home, os.environ).settings
        if not is_excluded(workspace.root, settings):
            spool_frames(stream, paths.spool, Intake(paths, settings, root=workspace.root), SystemClock().now_ms())
    except (SiftdError, OSError) as error:
        print(f"the spool failed ({type(error).__name__})", file=sys.stderr)  # noqa: T201 - the courier reads it
        return 1
    return 0
