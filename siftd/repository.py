"""What git knows of a repository that stays when its folder is moved: its root commit.

A workspace's key is made from a path, so a moved repository is another workspace. Its root commit tells that the two
are one; nothing is adopted by it alone, because a fork has the same.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

GIT_SECONDS = 20
"""Walking a history of a million commits takes some seconds."""


def find_root_commit(folder: str) -> str | None:
    """Return the oldest root commit of the repository around `folder`; None without git or a whole history."""
    lines = _git(folder, "rev-list", "--max-parents=0", "--date-order", "HEAD")
    is_shallow = _git(folder, "rev-parse", "--is-shallow-repository") != ["false"]
    return None if is_shallow or not lines else lines[-1]


def _git(folder: str, *arguments: str) -> list[str]:
    quiet = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    if not Path(folder).is_dir():
        return []
    try:
        done = subprocess.run(
            ["git", "-C", folder, *arguments],
            env=environment | quiet,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.decode("ascii", "replace").split() if done.returncode == 0 else []
