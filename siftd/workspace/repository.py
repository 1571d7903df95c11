"""What git knows of a repository: its root commit, which stays when its folder is moved; its files; its history.

A workspace's key is made from a path, so a moved repository is another workspace. Its root commit tells that the two
are one; nothing is adopted by it alone, because a fork has the same.

A repository may be anybody's, its configuration too: git is run so that it starts no program of theirs, writes nothing,
and has a limit of time, of memory and of what it says.
"""

from __future__ import annotations

import os
import stat
import subprocess
import threading
from pathlib import Path
from typing import NamedTuple

from siftd.workspace.identity import find_git_dir, find_workspace

GIT_SECONDS = 10
"""Walking a history of a million commits takes some seconds."""
GIT_KILOBYTES = 1 << 20
"""What git may use of addresses, 1 GiB. A reference that is a link to an endless device fills it, and git ends."""
OUTPUT_BYTES_MAX = 32 * 1024 * 1024
"""What is read of what git says: the names of some 500,000 files."""
_STARTS_NOTHING = (
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache=false"),
    *("-c", "log.showSignature=false", "-c", "log.mailmap=false"),
)
"""What a repository's own configuration could have git run, or read, for what is asked here."""
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


def list_files(root: str, most: int) -> list[str] | None:
    """Return the files that git knows in the work tree `root`, or that nothing tells it to ignore, relative to it.

    A file that the index knows may be gone. At most `most` and one more; None where there is no repository that can be
    asked, or it has no files.
    """
    names = ("--cached", "--others", "--exclude-standard")
    said = _git_of(root, "-c", "core.excludesFile=/dev/null", f"--work-tree={root}", "ls-files", "-z", *names)
    found = said.split(b"\0")[:-1]  # the last is cut off, or empty
    return list(dict.fromkeys(os.fsdecode(each) for each in found))[: most + 1] or None


class Changed(NamedTuple):
    """A file as a commit changed it."""

    commit: str
    path: str
    was: str
    """Its path before, where the commit renamed it."""


def list_changes(root: str, commits: int) -> list[Changed]:
    """Return what the latest commits changed, merges aside, the newest first; nothing where git has no history."""
    form = ("--format=%x01%H", "--name-status", "--find-renames", "--no-merges", f"--max-count={commits}")
    plain = ("--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes", "--no-color")
    said = _git_of(root, "-c", "core.quotePath=false", "log", *form, *plain, "HEAD", "--")
    changes: list[Changed] = []
    commit = ""
    for line in os.fsdecode(said).split("\n")[:-1]:
        if line.startswith("\x01"):
            commit = line[1:]
            continue
        names = line.split("\t")[1:]
        if commit and names and not any(each.startswith('"') for each in names):
            changes.append(Changed(commit, names[-1], names[0] if len(names) > 1 else ""))
    return changes


def head_commit(root: str) -> str:
    """Return the commit that is checked out; "" where there is none."""
    return _git_of(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode("ascii", "replace").strip()


def _git_of(root: str, *arguments: str) -> bytes:
    """Return what git says of a work tree: its own HEAD and index, of the linked one that it may be."""
    common, git_dir = find_workspace(root).common, find_git_dir(root)
    if common is None or git_dir is None or not _is_plain(common):
        return b""
    if git_dir != common and not all(_is_file_or_nothing(f"{git_dir}/{name}") for name in _READ):
        return b""
    return _run(git_dir, *_STARTS_NOTHING, *arguments)


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
    return _run(common, *arguments).decode("ascii", "replace").split()


def _run(git_dir: str, *arguments: str) -> bytes:
    """Return what git says, up to OUTPUT_BYTES_MAX; nothing where it fails at once or takes too long."""
    quiet = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    git = ["git", "-c", "core.packedGitLimit=256m", "-c", "core.packedGitWindowSize=32m", f"--git-dir={git_dir}"]
    limited = f'ulimit -v {GIT_KILOBYTES} 2>/dev/null; exec "$@"'  # the shell's: a thread cannot set it for its child
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", limited, "sh", *git, *arguments],
            cwd="/",
            env=environment | quiet,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return b""
    with process:
        deadline = threading.Timer(GIT_SECONDS, process.kill)
        deadline.start()
        try:
            assert process.stdout is not None
            said = process.stdout.read(OUTPUT_BYTES_MAX)
            is_cut = len(said) == OUTPUT_BYTES_MAX
            if is_cut:
                process.kill()
            return said if process.wait() == 0 or is_cut else b""
        finally:
            deadline.cancel()
