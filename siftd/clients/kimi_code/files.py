"""Where Kimi Code keeps a session: `sessions/<workspace>/<session>/agents/<agent>/wire.jsonl` in its home.

Hooks name no file. The one of a session is found by its id, which is the name of a folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from siftd.foreign_file import read

MAIN = "main"
WIRE = "wire.jsonl"
_SESSION = re.compile(r"session_[\w-]{1,80}")
_INDEX_BYTES_MAX = 16 * 1024 * 1024
_FOUND_MAX = 256
_found: dict[str, str] = {}
"""The file of each session that hooks told of lately."""


class _Indexed(msgspec.Struct, rename="camel"):
    session_id: str = ""
    work_dir: str = ""


def home_of(environ: Mapping[str, str], user_home: str) -> str:
    """Return the client's folder."""
    return environ.get("KIMI_CODE_HOME") or f"{user_home}/.kimi-code"


def find_session_file(session_id: str) -> str | None:
    """Return a session's own file; None while there is none."""
    if session_id in _found:
        return _found[session_id]
    if not _SESSION.fullmatch(session_id):
        return None
    home = Path(home_of(os.environ, os.path.expanduser("~")))  # noqa: PTH111 - raises nothing
    for file in home.glob(f"sessions/*/{session_id}/agents/{MAIN}/{WIRE}"):
        _found[session_id] = str(file)
        if len(_found) > _FOUND_MAX:
            del _found[next(iter(_found))]
        return str(file)
    return None


def whose(path: str) -> tuple[str | None, str | None]:
    """Return session and subagent of a session file, by its path."""
    parts = Path(path).parts
    if len(parts) < 5 or parts[-1] != WIRE or parts[-3] != "agents" or not _SESSION.fullmatch(parts[-4]):
        return None, None
    return parts[-4], None if parts[-2] == MAIN else parts[-2]


def folder_of(path: str, session_id: str) -> str | None:
    """Return the folder that the client's index names for a session."""
    try:
        index = read(str(Path(path).parents[5] / "session_index.jsonl"), _INDEX_BYTES_MAX)
    except (OSError, IndexError):
        return None
    for line in index.splitlines():
        if session_id.encode() in line:
            try:
                entry = msgspec.json.decode(line, type=_Indexed)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue
            if entry.session_id == session_id and entry.work_dir:
                return entry.work_dir
    return None
