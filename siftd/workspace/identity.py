"""Which workspace a folder belongs to.

A workspace is one repository, all its linked worktrees included, or else one folder. Its key is the first 16
hex digits of SHA-256 over the canonical path of git's common directory itself (`/src/a/.git`, `/src/a.git`,
`/src/a/.git/modules/s1`), else over the canonical path of the folder. Paths are hashed as the file system's
bytes. No basename and no prefix of a path ever decides.

A folder's content may come from anywhere, so what leads out of it is followed only when it points back. A `.git` that
is a file or a link counts when the git directory that it leads to is

- one of a linked worktree, `<common>/worktrees/<n>`, whose `gitdir` names this very `.git`; or
- one whose configuration says `core.worktree` and means this folder, as every submodule's does; or
- a hidden folder beside it (`.bare`), which is the folder's own as `.git` would be.

Any other is passed over as if it were not there; so is a bare repository that says of itself, by a `commondir`, that
it is part of another one. What `.git`, a folder, says by a `commondir` is not asked: its identity is its own path.
Nothing but short regular files is opened, so that no pipe, device or link can keep anybody waiting.

`hooks/hook.py` and `hooks/folders.py` find the same key with C modules only; one table of cases tests both.
"""

# `mem` finds its workspace at every run: pathlib would cost it 10 ms, dataclasses as much.
# ruff: noqa: PTH110, PTH112, PTH113, PTH118

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

try:  # hashlib would load OpenSSL: 4 ms
    from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        from hashlib import sha256

POINTER_BYTES = 4096
"""How much of a `.git`, `commondir` or `gitdir` file is read: a longer path is none."""
CONFIG_BYTES = 64 * 1024
"""How much of a git directory's configuration is read. `core` comes first in it."""
WORKTREES_MAX = 64
"""How many linked worktrees of a repository are looked at. Arbitrary."""
_GITDIR = "gitdir: "
_URL = "file://"


class Workspace:
    """A workspace: `root` is the folder people know it by, `key` its identity, `common` git's common directory."""

    __slots__ = ("common", "key", "root")

    def __init__(self, root: str, key: str, common: str | None = None) -> None:
        self.root = root
        self.key = key
        self.common = common


def start_folder(environ: Mapping[str, str], cwd: str) -> str:
    """Return the folder to begin from: the agent's project folder, else `cwd`."""
    return environ.get("CLAUDE_PROJECT_DIR") or cwd


def find_workspace(folder: str) -> Workspace:
    """Return the workspace that `folder` belongs to. The folder need not exist."""
    start = os.path.realpath(folder)
    found = _find_git(start)
    if found is None:
        return Workspace(start, workspace_key(start))
    holder, common = found
    return Workspace(_root_of(holder, common), workspace_key(common), common)


def workspace_key(identity: str) -> str:
    """Return the key of the workspace whose canonical identity path is `identity`: 16 hex digits."""
    digest: str = sha256(os.fsencode(identity)).hexdigest()
    return digest[:16]


def linked_worktrees(common: str) -> list[str]:
    """Return the folders of a repository's linked worktrees; each points to the repository, and it to each."""
    try:
        with os.scandir(f"{common}/worktrees") as entries:
            names = [each.name for each, _ in zip(entries, range(WORKTREES_MAX), strict=False)]
    except OSError:
        return []
    folders = [_worktree_of_entry(f"{common}/worktrees/{name}") for name in sorted(names)]
    return [each for each in folders if each is not None and _follow(each) == common]


def find_git_dir(folder: str) -> str | None:
    """Return the git directory of the worktree that `folder` is in; of a linked one, what is its own."""
    found = _find_git(os.path.realpath(folder))
    if found is None:
        return None
    holder, common = found
    dot_git = _dot_git(holder)
    if common == dot_git or _kind(dot_git) == stat.S_IFDIR:
        return common
    return _led_to(holder) or common


def checkout_root(folder: str) -> str:
    """Return the top of the work tree that `folder` is in, a linked one's own; the folder itself outside of any."""
    start = os.path.realpath(folder)
    found = _find_git(start)
    return start if found is None or not found[0] else found[0]


def unfollowed_pointer(folder: str) -> str | None:
    """Return the git directory that `.git` of `folder` leads to and that does not point back, if there is one."""
    git_dir = _led_to(folder)
    return git_dir if git_dir is not None and _is_git_dir(git_dir) and _follow(folder) is None else None


def path_as_text(path: str) -> str:
    """Return a path as JSON and SQLite can hold it: itself, or a `file:` URL where its bytes are not UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        from urllib.parse import quote

        return _URL + quote(os.fsencode(path))
    return path


def path_from_text(text: str) -> str:
    """Return the path that `path_as_text` has written down."""
    if not text.startswith(_URL):
        return text
    from urllib.parse import unquote_to_bytes

    return os.fsdecode(unquote_to_bytes(text.removeprefix(_URL)))


def _find_git(start: str) -> tuple[str, str] | None:
    """Return (the folder that holds the repository, git's common directory), nearest first."""
    folder = start
    while True:
        common = _common_of(folder)
        if common is not None:
            return folder, common
        parent = folder.rpartition("/")[0] or "/"
        if parent == folder:
            return None
        folder = parent


def _common_of(folder: str) -> str | None:
    dot_git = _dot_git(folder)
    kind = _kind(dot_git)
    if kind == stat.S_IFDIR and _is_git_dir(dot_git):
        return dot_git
    common = _follow(folder) if kind in (stat.S_IFREG, stat.S_IFLNK) else None
    if common is None and _is_git_dir(folder) and not os.path.exists(f"{folder}/commondir"):
        return folder
    return common


def _follow(folder: str) -> str | None:
    """Return the common directory that `.git` of `folder` leads to and that points back."""
    git_dir = _led_to(folder)
    if git_dir is None:
        return None
    pointer = _read(f"{git_dir}/commondir", POINTER_BYTES)
    if pointer:
        common = _canonical(os.path.join(git_dir, pointer))
        is_registered = common is not None and git_dir.rpartition("/")[0] == f"{common}/worktrees"
        is_ours = is_registered and _is_git_dir(str(common)) and _worktree_of_entry(git_dir) == folder
        return common if is_ours else None
    parent, _, name = git_dir.rpartition("/")
    is_inside = parent == folder and name.startswith(".") and name != ".git"
    return git_dir if _is_git_dir(git_dir) and (is_inside or _worktree_of_config(git_dir) == folder) else None


def _led_to(folder: str) -> str | None:
    """Return the folder that `.git`, a file or a link, leads to."""
    dot_git = _dot_git(folder)
    pointer = _GITDIR + dot_git if _kind(dot_git) == stat.S_IFLNK else _read(dot_git, POINTER_BYTES)
    if not pointer.startswith(_GITDIR):
        return None
    return _canonical(os.path.join(folder, pointer.removeprefix(_GITDIR)))


def _worktree_of_entry(entry: str) -> str | None:
    """Return the folder that `<common>/worktrees/<n>` is of, as its `gitdir` says."""
    folder, _, name = _read(f"{entry}/gitdir", POINTER_BYTES).rpartition("/")
    return _canonical(os.path.join(entry, folder)) if name == ".git" else None


def _worktree_of_config(git_dir: str) -> str | None:
    """Return the folder that `core.worktree` in the configuration of `git_dir` means."""
    for name in ("config.worktree", "config"):
        found = _core_worktree(_read(f"{git_dir}/{name}", CONFIG_BYTES))
        if found:
            return _canonical(os.path.join(git_dir, found))
    return None


def _core_worktree(config: str) -> str:
    found = ""
    is_core = False
    for line in config.splitlines():
        said = line.strip()
        if said.startswith("["):
            section, _, said = said[1:].partition("]")
            is_core = section.strip().lower() == "core"
        name, equals, value = said.partition("=")
        if is_core and equals and name.strip().lower() == "worktree":
            value = value.strip()
            found = value[1:-1] if value[:1] == value[-1:] == '"' else value
    return found.replace('\\"', '"').replace("\\\\", "\\")


def _dot_git(folder: str) -> str:
    return f"{folder.rstrip('/')}/.git"


def _is_git_dir(path: str) -> bool:
    return os.path.isfile(f"{path}/HEAD") and os.path.isdir(f"{path}/objects") and os.path.isdir(f"{path}/refs")


def _canonical(path: str) -> str | None:
    return os.path.realpath(path) if os.path.isdir(path) else None


def _kind(path: str) -> int:
    """Return what stands at `path`, a link for itself; 0 for nothing."""
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return 0


def _read(path: str, most: int) -> str:
    """Return the beginning of a regular file without the line's end; nothing of what is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return os.fsdecode(os.read(descriptor, most)).rstrip("\r\n")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _root_of(holder: str, common: str) -> str:
    """The main worktree for `…/.git`, the holder for a submodule, the repository itself when it is bare."""
    parent, _, name = common.rpartition("/")
    if name == ".git":
        return parent or "/"
    git_dir = _led_to(holder)
    return holder if git_dir == common else common
