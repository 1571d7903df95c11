"""The secrets in the workspace's own files of settings: read, hashed at once, and followed while the files change.

Read are, in the workspace and in every linked worktree of it, files of the names in `env_names` (`.env` and its like,
`secrets.*`, `*.tfvars`, Terraform's states, the settings of Spring and .NET, `.npmrc`, `.pypirc`, `.netrc`, `.pgpass`,
`credentials`), but not what is made to be shown (`.env.example`, `.sample`, `.template`, `.dist`), nor in folders of
dependencies and builds, nor in hidden ones but those of settings. Only regular files that belong to us, to root or to
whoever owns the workspace's folder; a link only to a file within it. What they assign is understood by `env_lines`.

There are two looks. The *near* one asks the workspace's own folder, the session's and those of the files that tools
just touched, by name alone and at most twice a second: a capture is never redacted before it. The *far* one walks
through the folders. In a daemon it runs in a thread of its own and rests twenty times as long as it took, so that no
capture waits for a folder of 100,000 files; elsewhere it follows the near one at once.

Cost is bounded: 1,024 folders down to six deep, 2,000 entries of each, 256 files of at most 1 MiB (near: 64 KiB), 256
values near and as many far. A value stays known after it has left its file, because what was said before may still
turn up.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from siftd.redact.env_held import HeldValues, make_room
from siftd.redact.env_lines import Value, secret_values
from siftd.redact.env_names import BELOW, NEAR, is_entered, is_read
from siftd.redact.spans import Found, united
from siftd.workspace.identity import find_workspace, linked_worktrees

DEPTH_MAX = 6
FOLDERS_MAX = 1_024
ENTRIES_MAX = 2_000
FILES_MAX = 256
FILE_BYTES_MAX = 1024 * 1024
NEAR_BYTES_MAX = 64 * 1024
TOUCHED_MAX = 64
REMEMBERED_MAX = 512
LOOK_SECONDS = 0.5
REST_FACTOR = 20
WORKTREES_EVERY = 20
"""At which looks the linked worktrees are asked for: they hardly change."""

_State = tuple[int, ...]


class EnvValues:
    """Finds the values of one workspace's files in texts, and follows the files. Safe to use from several threads."""

    def __init__(
        self, root: str, now_seconds: Callable[[], float] = time.monotonic, *, in_background: bool = False
    ) -> None:
        """With `in_background` the near look is made now, and the far one begins; `wait` waits for it."""
        self._root = root
        self._now = now_seconds
        self._in_background = in_background
        self._owners = {0, os.getuid()}
        self._roots: tuple[str, ...] = (os.path.realpath(root),)
        """The workspace's folder and its linked worktrees. Nothing outside of them is read."""
        self._touched: dict[str, None] = {}
        """Folders that are looked at nearly, beside the workspace's own."""
        self._canonical: dict[str, str | None] = {}
        """What was touched, and the folder of the workspace that it is."""
        self._near_files: dict[str, tuple[int, list[str]]] = {}
        """Of a folder that was looked at nearly: when it had changed, and its files of well-known names."""
        self._folders: dict[str, tuple[int, list[str], list[str]]] = {}
        """A folder's last change, and the paths of its files and its folders that matter."""
        self._files: dict[str, _State] = {}
        self._held = HeldValues()
        self._looking = threading.Lock()
        self._near_at: float | None = None
        self._far_at: float | None = None
        self._rest_seconds = LOOK_SECONDS
        self._walks = 0
        self._walker: threading.Thread | None = None
        if in_background:
            self._follow()

    def wait(self, seconds: float) -> None:
        """Wait until the far look that runs has ended, or the time is over."""
        walker = self._walker
        if walker is not None:
            walker.join(seconds)

    def touch(self, folders: Sequence[str]) -> None:
        """Look at folders in which something happens. One outside of the workspace is not looked at."""
        for folder in folders:
            if folder not in self._canonical:
                make_room(self._canonical, REMEMBERED_MAX)
                self._canonical[folder] = self._within(folder)
            real = self._canonical[folder]
            if real is not None and real not in self._touched:
                make_room(self._touched, TOUCHED_MAX)
                self._touched[real] = None
                self._look_into(real)

    def find_suspects(self, texts: list[str]) -> set[str]:
        self._follow()
        return {text for values in self._held.searched for text in values.find_suspects(texts)}

    def find(self, text: str) -> list[Found]:
        self._follow()
        found: list[Found] = []
        for values in self._held.searched:
            found = united(found, values.find(text))
        return found

    def _follow(self) -> None:
        """Look at the files again if it is time. One thread looks; the first look everybody waits for."""
        now = self._now()
        if self._near_at is not None and now - self._near_at < LOOK_SECONDS:
            return
        if not self._looking.acquire(blocking=self._near_at is None):
            return
        try:
            self._look_near()
            if not self._in_background:
                self._look_far()
            elif self._far_at is None or now - self._far_at >= self._rest_seconds:
                self._far_at = now
                self._walker = threading.Thread(target=self._walk, name="env-files", daemon=True)
                self._walker.start()
            self._near_at = now
        finally:
            self._looking.release()

    def _walk(self) -> None:
        """Make the far look in a thread of its own; the next one comes after a rest that suits how long it took."""
        started = time.monotonic()
        self._far_at = float("inf")
        try:
            self._look_far()
        finally:
            self._rest_seconds = max(LOOK_SECONDS, (time.monotonic() - started) * REST_FACTOR)
            self._far_at = self._now()

    # Near

    def _look_near(self) -> None:
        if self._near_at is None:
            self._owners.add(_owner(self._root))
        self._look_into(self._root)
        for name in BELOW:
            if os.access(path := f"{self._root}/{name}", os.F_OK):
                self._read_near(path)
        for folder in list(self._touched):
            self._look_into(folder)

    def _look_into(self, folder: str) -> None:
        """Read the files of a folder that have the best known names."""
        try:
            found = os.stat(folder)  # noqa: PTH116 - pathlib takes ten times as long
        except OSError:
            return
        if not stat.S_ISDIR(found.st_mode):
            return
        changed_ns, files = self._near_files.get(folder, (-1, []))
        if changed_ns != found.st_mtime_ns:
            files = [path for name in NEAR if os.access(path := f"{folder}/{name}", os.F_OK)]
            make_room(self._near_files, REMEMBERED_MAX)
            self._near_files[folder] = found.st_mtime_ns, files
        for path in files:
            self._read_near(path)

    def _within(self, folder: str) -> str | None:
        """Return the canonical path of a folder of the workspace; None for any other."""
        if not os.path.isabs(folder) or "\0" in folder or len(folder) > 4096:  # noqa: PTH117 - a text, on the hot path
            return None
        try:
            real = os.path.realpath(folder)
        except (OSError, ValueError):
            return None
        return real if any(_is_below(real, root) for root in self._roots) else None

    # Far

    def _look_far(self) -> None:
        if self._walks % WORKTREES_EVERY == 0:
            self._roots = (self._roots[0], *_linked_to(self._root))
        self._walks += 1
        files = islice((file for folder in self._folders_in_turn() for file in folder), FILES_MAX)
        for file in reversed(list(files)):  # the nearest last: the last values are kept
            values = self._read_if_changed(file, FILE_BYTES_MAX)
            if values is not None:
                self._held.add_far(values)
        self._held.gather()

    def _folders_in_turn(self) -> Iterator[list[str]]:
        """Yield the files that matter, folder by folder, the nearest first."""
        waiting = deque((root, 0) for root in self._roots)
        seen: dict[str, tuple[int, list[str], list[str]]] = {}
        while waiting and len(seen) < FOLDERS_MAX:
            path, depth = waiting.popleft()
            found = None if path in seen else self._list(path)
            if found is None:
                continue
            seen[path] = found
            yield found[1]
            if depth < DEPTH_MAX:
                waiting += [(folder, depth + 1) for folder in found[2]]
        self._folders = seen

    def _list(self, path: str) -> tuple[int, list[str], list[str]] | None:
        """Return what matters in a folder, listed anew only if the folder has changed."""
        try:
            changed_ns = os.stat(path).st_mtime_ns  # noqa: PTH116 - as above
            known = self._folders.get(path)
            if known is not None and known[0] == changed_ns:
                return known
            with os.scandir(path) as entries:
                named = sorted((each.name, each.is_dir(follow_symlinks=False)) for each in islice(entries, ENTRIES_MAX))
        except OSError:
            return None
        names = {name for name, is_folder in named if not is_folder and is_read(name)}
        if len(named) == ENTRIES_MAX:
            names.update(NEAR)
        folders = [f"{path}/{name}" for name, is_folder in named if is_folder and is_entered(path, name)]
        return changed_ns, [f"{path}/{name}" for name in sorted(names)], folders

    # Files

    def _read_near(self, path: str) -> None:
        values = self._read_if_changed(path, NEAR_BYTES_MAX)
        if values is not None:
            self._held.add_near(values)

    def _read_if_changed(self, path: str, most_bytes: int) -> set[Value] | None:
        """Return the values of a file of ours, None while it is the same; a larger one is left for the far look."""
        try:
            found = os.lstat(path)
            if stat.S_ISLNK(found.st_mode):
                path = self._linked(path)
                found = os.lstat(path)
            state = (found.st_ino, found.st_mtime_ns, found.st_size)
            is_left = found.st_size > most_bytes < FILE_BYTES_MAX
            if self._files.get(path) == state or is_left or not self._is_ours(found):
                return None
            data = self._read(path)
        except (OSError, ValueError):
            return None
        make_room(self._files, REMEMBERED_MAX)
        self._files[path] = state
        return secret_values(data.decode("utf-8", "replace"), path.rpartition("/")[2])

    def _linked(self, path: str) -> str:
        """Return the file within the workspace that a link leads to. Raises OSError for one that leads out of it."""
        real = os.path.realpath(path)
        if not any(_is_below(real, root) for root in self._roots):
            raise PermissionError
        return real

    def _read(self, path: str) -> bytes:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return os.read(descriptor, FILE_BYTES_MAX) if self._is_ours(os.fstat(descriptor)) else b""
        finally:
            os.close(descriptor)

    def _is_ours(self, found: os.stat_result) -> bool:
        """Whether it is a regular file of ours; a pipe (some password managers make one) would keep us waiting."""
        return stat.S_ISREG(found.st_mode) and found.st_uid in self._owners


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _owner(path: str) -> int:
    try:
        return os.stat(path).st_uid  # noqa: PTH116 - as above
    except OSError:
        return os.getuid()


def _linked_to(root: str) -> list[str]:
    """Return the linked worktrees of the repository that the workspace's folder is or holds."""
    common = find_workspace(root).common
    return linked_worktrees(common) if common is not None else []
