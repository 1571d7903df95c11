"""Which workspace a folder belongs to.

A workspace is one repository, all its linked worktrees included, or else one folder. Its key is the first 16
hex digits of SHA-256 over the canonical path of git's common directory itself (`/src/a/.git`, `/src/a.git`,
`/src/a/.git/modules/s1`), else over the canonical path of the folder. Paths are hashed as the file system's
bytes. No basename and no prefix of a path ever decides.

`hooks/claude_code.py` finds the same key with C modules only; one table of cases tests both.
"""

# `mem` finds its workspace at every run: pathlib would cost it 10 ms, dataclasses as much.
# ruff: noqa: PTH112, PTH113, PTH118, PTH123

from __future__ import annotations

import os
from collections.abc import Mapping

try:  # hashlib would load OpenSSL: 4 ms
    from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        from hashlib import sha256

MAX_POINTER_BYTES = 4096
"""A `.git` file or `commondir` file longer than this is no pointer."""


class Workspace:
    """A workspace: `root` is the folder people know it by, `key` its identity."""

    __slots__ = ("key", "root")

    def __init__(self, root: str, key: str) -> None:
        self.root = root
        self.key = key


def start_folder(environ: Mapping[str, str], cwd: str) -> str:
    """Return the folder to begin from: SIFTD_WORKSPACE, else the agent's project folder, else `cwd`."""
    return environ.get("SIFTD_WORKSPACE") or environ.get("CLAUDE_PROJECT_DIR") or cwd


def find_workspace(folder: str) -> Workspace:
    """Return the workspace that `folder` belongs to. The folder need not exist."""
    start = os.path.realpath(folder)
    found = _find_git(start)
    if found is None:
        return Workspace(start, workspace_key(start))
    holder, common = found
    return Workspace(_root_of(holder, common), workspace_key(common))


def workspace_key(identity: str) -> str:
    """Return the key of the workspace whose canonical identity path is `identity`: 16 hex digits."""
    digest: str = sha256(os.fsencode(identity)).hexdigest()
    return digest[:16]


def _find_git(start: str) -> tuple[str, str] | None:
    """Return (the folder that holds the repository, git's common directory), nearest first."""
    folder = start
    while True:
        dot_git = f"{folder.rstrip('/')}/.git"
        git_dir = dot_git if _is_git_dir(dot_git) else _follow_git_file(folder, dot_git)
        if git_dir is None and _is_git_dir(folder):
            git_dir = folder
        if git_dir is not None:
            return folder, _common_dir(git_dir)
        parent = folder.rpartition("/")[0] or "/"
        if parent == folder:
            return None
        folder = parent


def _is_git_dir(path: str) -> bool:
    return os.path.isfile(f"{path}/HEAD") and os.path.isdir(f"{path}/objects") and os.path.isdir(f"{path}/refs")


def _follow_git_file(folder: str, dot_git: str) -> str | None:
    pointer = _read_pointer(dot_git) if os.path.isfile(dot_git) else None
    if pointer is None or not pointer.startswith("gitdir: "):
        return None
    git_dir = os.path.join(folder, pointer.removeprefix("gitdir: "))
    return os.path.realpath(git_dir) if os.path.isdir(git_dir) else None


def _common_dir(git_dir: str) -> str:
    pointer = _read_pointer(f"{git_dir}/commondir")
    return os.path.realpath(os.path.join(git_dir, pointer) if pointer else git_dir)


def _read_pointer(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read(MAX_POINTER_BYTES)).rstrip("\r\n")
    except OSError:
        return None


def _root_of(holder: str, common: str) -> str:
    """The main worktree for `…/.git`, the holder for a submodule, the repository itself when it is bare."""
    parent, _, name = common.rpartition("/")
    if name == ".git":
        return parent or "/"
    pointer = f"{holder}/.git"
    if not os.path.isfile(pointer):
        return common
    git_dir = _follow_git_file(holder, pointer)
    is_linked_worktree = git_dir is not None and os.path.isfile(f"{git_dir}/commondir")
    return common if is_linked_worktree else holder
