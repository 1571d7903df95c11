"""Committing a project's notes to its repository: those paths alone, whatever else is staged or changed there.

The commit is made of the last one's tree and the notes, in an index of its own; then the real index learns of these
paths alone. So nothing that a person had staged goes with it, or is unstaged; no hook of the repository runs, no
editor, no signing program and no filter. While a merge, a rebase or a bisection is going on, or where no branch is
checked out, nothing is committed: the next sync does it. A failure of git's is a remark, never a failure of the sync.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from siftd.notes.layout import Project
from siftd.notes.replacing import read_note

GIT_SECONDS = 20
_NOTES = re.compile(r"(?:state|decisions|mistakes|todo)\.md|archive/\d{4}-\d{2}\.md|\.model/CLAUDE\.md")
"""What of the notes' folder is committed: a draft that somebody keeps beside them is theirs."""
TRIES = 5
_QUIET = (
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "gc.auto=0",
)
_GOING_ON = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply")


class _Failed(Exception):
    """Git did not do it; the text is ours, not git's."""


def commit(project: Project, trigger: str, environ: Mapping[str, str]) -> str | None:
    """Commit what has changed in the project's notes. Return why it could not be done; None where all is well.

    "Well" is also where there is nothing to commit, or no repository, or the repository ignores its notes.
    """
    if not project.in_tree:
        return None
    git = _Git(project.path, environ)
    try:
        if git.says("rev-parse", "--is-inside-work-tree") != "true":
            return None
        top = git.says("rev-parse", "--show-toplevel")
        paths = _committable(git, project)
        if not paths:
            return None
        git_dir = Path(project.path, git.says("rev-parse", "--git-dir"))
        if going_on := next((name for name in _GOING_ON if (git_dir / name).exists()), None):
            return f"not committed: {going_on} is there, the next sync commits"
        branch = git.says("symbolic-ref", "-q", "HEAD")
        if not branch:
            return "not committed: no branch is checked out"
        message = f"Update project memory ({trigger} distill)"
        is_done = any(_try_to_commit(_Git(top, environ), branch, paths, message) for _ in range(TRIES))
    except _Failed as failed:
        return f"not committed: {failed}"
    return None if is_done else "not committed: others were committing"


def _committable(git: _Git, project: Project) -> list[str]:
    """Return the notes' files that the repository does not ignore, and those of them that it has and are gone."""
    folder = os.path.relpath(project.folder, project.path)
    listed = git.lines("ls-files", "-z", "--full-name", "--cached", "--others", "--exclude-standard", "--", folder)
    prefix = git.says("rev-parse", "--show-prefix")
    place = f"{prefix}{folder}/"
    return [path for path in listed if path.startswith(place) and _NOTES.fullmatch(path, len(place))]


def _content(git: _Git, path: str) -> bytes | None:
    """Return what a file holds; None for one that is not there. A link is none: git would follow it to its end, and
    what lies there, anywhere on this machine, would be committed."""
    try:
        return read_note(f"{git.folder}/{path}")
    except OSError as error:
        raise _Failed(f"{path} is no file that can be read ({error.strerror})") from None


def _try_to_commit(git: _Git, branch: str, paths: Sequence[str], message: str) -> bool:
    """Commit the paths behind the branch's last commit; False where somebody else committed in between."""
    parent = git.says("rev-parse", "-q", "--verify", f"{branch}^{{commit}}", may_fail=True)
    held = {path: _content(git, path) for path in paths}
    gone = [path for path, data in held.items() if data is None]
    with tempfile.TemporaryDirectory(prefix="siftd-notes-") as folder:
        own = git.with_index(f"{folder}/index")
        own.says("read-tree", *([parent] if parent else ["--empty"]))
        blobs = [(path, own.store(data)) for path, data in held.items() if data is not None]
        own.learn(blobs, gone)
        tree = own.says("write-tree")
        if parent and tree == own.says("rev-parse", f"{parent}^{{tree}}"):
            return True
        made = own.says("commit-tree", tree, *(["-p", parent] if parent else []), "-m", message)
        if not own.succeeds("update-ref", "-m", message, branch, made, parent or "0" * len(made)):
            return False
    git.learn(blobs, gone)
    return True


class _Git:
    """Runs git in a folder, never asking anybody."""

    def __init__(self, folder: str, environ: Mapping[str, str], index: str | None = None) -> None:
        self.folder = folder
        clean = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
        self._environ = {**clean, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_LITERAL_PATHSPECS": "1"}
        if index is not None:
            self._environ["GIT_INDEX_FILE"] = index

    def with_index(self, index: str) -> _Git:
        return _Git(self.folder, self._environ, index)

    def says(self, *arguments: str, may_fail: bool = False) -> str:
        done = self._run(arguments)
        if done.returncode != 0:
            if may_fail or arguments[0] in ("rev-parse", "symbolic-ref"):
                return ""
            raise _Failed(f"`git {arguments[0]}` ended with status {done.returncode}")
        return os.fsdecode(done.stdout).removesuffix("\n")

    def lines(self, *arguments: str) -> list[str]:
        return [path for path in self.says(*arguments).split("\0") if path]

    def store(self, data: bytes) -> str:
        """Put a file's bytes into the repository as they are; return their name there."""
        done = self._run(("hash-object", "-w", "--no-filters", "--stdin"), data)
        if done.returncode != 0:
            raise _Failed(f"`git hash-object` ended with status {done.returncode}")
        return done.stdout.decode("ascii", "replace").strip()

    def learn(self, blobs: Sequence[tuple[str, str]], gone: Sequence[str]) -> None:
        """Let the index know of these files, and that others are gone."""
        removed = [f"0 {'0' * len(blobs[0][1] if blobs else '0' * 40)}\t{path}" for path in gone]
        lines = [f"100644 {blob}\t{path}" for path, blob in blobs] + removed
        given = b"".join(os.fsencode(line) + b"\0" for line in lines)
        if (status := self._run(("update-index", "--add", "-z", "--index-info"), given).returncode) != 0:
            raise _Failed(f"`git update-index` ended with status {status}")

    def succeeds(self, *arguments: str) -> bool:
        return self._run(arguments).returncode == 0

    def _run(self, arguments: Sequence[str], given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = ["git", *_QUIET, *arguments]
        try:
            return subprocess.run(
                command,
                cwd=self.folder,
                env=self._environ,
                input=given,
                capture_output=True,
                timeout=GIT_SECONDS,
                check=False,
            )
        except FileNotFoundError:
            raise _Failed("git is not installed") from None
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _Failed(f"git could not be run ({type(error).__name__})") from None
