"""What git knows of a repository that stays when its folder is moved: its root commit.

A workspace's key is made from a path, so a moved repository is another workspace. Its root commit tells that the two
are one; nothing is adopted by it alone, because a fork has the same.
"""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

from siftd.workspace.identity import find_workspace

GIT_SECONDS = 10
"""Walking a history of a million commits takes some seconds."""
GIT_KILOBYTES = 1 << 20
"""What git may use of addresses, 1 GiB. A reference that is a link to an endless device fills it, and git ends."""
_READ = ("HEAD", "config", "config.worktree", "packed-refs", "shallow", "objects/info/alternates")
"""What git reads whole, or waits for. A `commondir` would lead it to another repository."""


def find_root_commit(folder: str) -> str | None:
    """Return the oldest root commit of the repository around `folder`; None without git or a whole history.

    None too for a repository in which a link, a pipe or a device stands where git expects a file: git would wait for
    it, or read it without an end.
    """
    common = find_workspace(folder).common
    if common is None or not _is_plain(common):
        return None
    is_shallow = _git(common, "rev-parse", "--is-shallow-repository") != ["false"]
    lines = [] if is_shallow else _git(common, "rev-list", "--max-parents=0", "--date-order", "HEAD")
    return lines[-1] if lines else None


def _is_plain(common: str) -> bool:
    if os.path.lexists(f"{common}/commondir"):
        return False
    return all(_is_file_or_nothing(f"{common}/{name}") for name in _READ)


def _is_file_or_nothing(path: str) -> bool:
    try:
        return stat.S_ISREG(Path(path).lstat().st_mode)
    except OSError:
        return True


def _git(common: str, *arguments: str) -> list[str]:
    quiet = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    git = ["git", "-c", "core.packedGitLimit=256m", "-c", "core.packedGitWindowSize=32m", f"--git-dir={common}"]
    limited = f'ulimit -v {GIT_KILOBYTES} 2>/dev/null; exec "$@"'  # the shell's: a thread cannot set it for its child
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", limited, "sh", *git, *arguments],
            cwd="/",
            env=environment | quiet,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.decode("ascii", "replace").split() if done.returncode == 0 else []
