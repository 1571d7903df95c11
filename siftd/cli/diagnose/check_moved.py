"""What `mem doctor` says of a repository that was moved, or whose git directory does not say where it belongs.

The memory of a moved one is still there, under the old path's key. A `.git` that leads to a git directory which does
not point back is not followed (`siftd.workspace.identity`), though git follows it: an archive may hold any such file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from siftd.cli.adopt import export_path
from siftd.cli.context import Context
from siftd.cli.output import count
from siftd.finding import Finding
from siftd.workspace.identity import unfollowed_pointer
from siftd.workspace.repository import find_root_commit
from siftd.workspaces.listing import iter_known


def check_moved(context: Context) -> Iterator[Finding]:
    export = export_path(context.paths)
    if export.exists():
        yield Finding("workspace", "problem", "an adoption did not end", f"`mem import {export}`, then remove the file")
    elsewhere = unfollowed_pointer(context.workspace.root)
    if elsewhere is not None:
        message = f"`.git` leads to {elsewhere}, which does not point back: this folder has a memory of its own"
        remedy = "if `git init --separate-git-dir` made it: `git config core.worktree` with this folder joins the two"
        yield Finding("workspace", "note", message, remedy)
    orphans = [each for each in iter_known(context.home) if each.is_orphaned and each.root_commit]
    if not orphans or not Path(context.workspace.root, ".git").exists():
        return
    root_commit = find_root_commit(context.workspace.root)
    for each in orphans:
        if each.root_commit == root_commit and each.key != context.workspace.key:
            remembered = count(each.events or 0, "event")
            message = f"{each.root} had the same first commit and is gone; {remembered} of it are kept"
            yield Finding("workspace", "note", message, f"if it moved here: `mem workspaces adopt {each.key}`")
