"""The secrets in the workspace's own `.env`-like files: read, hashed at once, and followed while the files change.

Read are, in the workspace and in every linked worktree of it, down to four folders deep:

    .env  .env.*  *.env  .envrc  .flaskenv  .dev.vars  .secrets  secrets.*  *.secrets  *.tfvars  *.tfvars.json

but not what is made to be shown (`.env.example`, `.sample`, `.template`, `.dist`), nor in folders of dependencies and
builds, nor hidden ones. Lines are understood as dotenv, shell, ini, YAML, TOML, JSON and HCL write assignments. A value
is taken when its name means a secret and it looks like one, or when it is the password in a URL. A short or common one
is not, because it stands in texts by chance.

Cost is bounded: 128 folders, 32 files of at most 64 KiB, 256 values; at most twice a second folders and files are
asked whether they changed, and only what did is read again. A value stays known after it has left its file, because
what was said before may still turn up.
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from urllib.parse import unquote

from siftd.redact.found import Found
from siftd.redact.names import Kind, kind_of_name
from siftd.redact.plausible import is_plausible_value
from siftd.redact.values import SHORTEST, Form, Hasher, KnownValues

READ = (
    *(".env", ".env.*", "*.env", ".envrc", ".flaskenv", ".dev.vars", ".secrets"),
    *("secrets.*", "*.secrets", "*.tfvars", "*.tfvars.json"),
)
SHOWN = (
    "*.example",
    "*.sample",
    "*.template",
    "*.tmpl",
    "*.dist",
    "*.example.*",
    "*.sample.*",
    "*.template.*",
    "*.enc",
)
SKIPPED = frozenset(
    "node_modules vendor bower_components venv env site-packages __pycache__ dist build target out coverage".split()
)
DEPTH_MAX = 4
FOLDERS_MAX = 128
FILES_MAX = 32
FILE_BYTES_MAX = 64 * 1024
VALUES_MAX = 256
LOOK_SECONDS = 0.5

_ASSIGNMENT = re.compile(
    r"^[ \t]*(?:[-{,][ \t]*)?(?:export[ \t]+|set[ \t]+)?[\"']?(?P<name>[A-Za-z_][\w.-]{0,127})[\"']?[ \t]*[:=][ \t]*"
    r"(?:\"(?P<double>(?:[^\"\\]|\\.){0,4096})\"|'(?P<single>[^']{0,4096})'|`(?P<back>[^`]{0,4096})`|(?P<bare>[^\r\n]*))",
    re.MULTILINE,
)
_COMMENT = re.compile(r"\s#.*|[,;]\s*$")
_URL_PASSWORD = re.compile(r"://[^\s/@:]{0,128}:([^\s/@]{1,256})@")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_SECRET_ENDS = ("dsn", "salt", "pepper", "seed", "mnemonic", "webhook", "signature", "sas", "jwt", "passkey", "otp")
_COMMON = re.compile(
    r"(?i)(?:password|passw0rd|secret|token|admin|root|test|testing|local|localhost|postgres|mysql|redis|user|guest|"
    r"default|dev|development|demo|example|changeme|change[-_]?me|qwerty|letmein|abc|welcome|hello)+[-_@!.]*[0-9]{0,4}!?|"
    r"[0-9a-f]{7,8}|(?:[\w-]+\.)+[a-z]{2,}(?::[0-9]+)?|[\w-]+:[0-9]+|v?[0-9]+(?:\.[0-9]+)+[\w.-]*|(.{1,4})\1+"
)
"""Values that texts hold by chance: default passwords, hosts, versions, short hashes, a few characters repeated."""


def read_assignments(text: str) -> Iterator[tuple[str, str]]:
    """Yield (name, value) of every assignment in a file; a double-quoted value as it stands and as it is meant."""
    for match in _ASSIGNMENT.finditer(text):
        name, bare = match["name"], match["bare"]
        if bare is not None:
            yield name, _COMMENT.sub("", bare).strip()
            continue
        quoted = match["double"] or match["single"] or match["back"] or ""
        yield name, quoted
        if match["double"] and "\\" in quoted:
            yield name, _ESCAPE.sub(lambda escaped: _ESCAPED.get(escaped[1], escaped[1]), quoted)


def secret_values(text: str) -> set[str]:
    """Return the values in a file that are to be known again."""
    values: set[str] = set()
    for name, value in read_assignments(text):
        for match in _URL_PASSWORD.finditer(value):
            values.update(each for each in (match[1], unquote(match[1])) if _is_taken("password", each))
        kind = _kind_of(name)
        if kind is not None:
            lines = [line.strip() for line in value.splitlines()]
            values.update(line for line in lines if _is_taken(kind, line))
    return values


def _kind_of(name: str) -> Kind | None:
    """Return what a name means in such a file, where more names mean a secret than elsewhere."""
    kind = kind_of_name(name)
    return "secret" if kind is None and name.lower().rstrip("_0123456789").endswith(_SECRET_ENDS) else kind


def _is_taken(kind: Kind, value: str) -> bool:
    return len(value) >= SHORTEST and is_plausible_value(kind, value) and not _COMMON.fullmatch(value)


class EnvValues:
    """Finds the values of one workspace's files in texts, and follows the files. Safe to use from several threads."""

    def __init__(self, root: str, now_seconds: Callable[[], float] = time.monotonic) -> None:
        self._root = root
        self._now = now_seconds
        self._hasher = Hasher()
        self._folders: dict[str, tuple[int, list[str], list[str]]] = {}
        """A folder's last change, and the paths of its files and its folders that matter."""
        self._files: dict[str, tuple[int, ...]] = {}
        self._forms: dict[frozenset[Form], None] = {}
        self._known = KnownValues(self._hasher, ())
        self._looking = Lock()
        self._looked_at: float | None = None
        self._looks = 0
        self._linked: list[str] = []

    def find_suspects(self, texts: list[str]) -> set[str]:
        self._follow()
        return self._known.find_suspects(texts)

    def find(self, text: str) -> list[Found]:
        self._follow()
        return self._known.find(text)

    def _follow(self) -> None:
        """Look at the files again if it is time. One thread looks; the first look everybody waits for."""
        if self._looked_at is not None and self._now() - self._looked_at < LOOK_SECONDS:
            return
        if not self._looking.acquire(blocking=self._looked_at is None):
            return
        try:
            if self._look() and self._forms:
                forms = [form for value in list(self._forms)[-VALUES_MAX:] for form in value]
                self._known = KnownValues(self._hasher, forms)
            self._looked_at = self._now()
        finally:
            self._looking.release()

    def _look(self) -> bool:
        """Read what changed; return whether there is a new value."""
        known = len(self._forms)
        files = [file for folder in self._walk() for file in folder][:FILES_MAX]
        for file in files:
            self._read_if_changed(file)
        return len(self._forms) > known

    def _walk(self) -> Iterator[list[str]]:
        """Yield the files that matter, folder by folder, the nearest first."""
        waiting = deque((root, 0) for root in (self._root, *self._worktrees()))
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

    def _worktrees(self) -> list[str]:
        """Return the linked worktrees, asked for at every twentieth look: they hardly change."""
        self._looks += 1
        if self._looks % 20 == 1:
            self._linked = _linked_worktrees(self._root)
        return self._linked

    def _list(self, path: str) -> tuple[int, list[str], list[str]] | None:
        """Return what matters in a folder, listed anew only if the folder has changed."""
        try:
            changed_ns = os.stat(path).st_mtime_ns  # noqa: PTH116 - pathlib takes ten times as long
            known = self._folders.get(path)
            if known is not None and known[0] == changed_ns:
                return known
            with os.scandir(path) as entries:
                named = sorted((each.name, each.path, each.is_dir(follow_symlinks=False)) for each in entries)
        except OSError:
            return None
        files = [file for name, file, is_folder in named if not is_folder and is_read(name)]
        folders = [each for name, each, is_folder in named if is_folder and name[0] != "." and name not in SKIPPED]
        return changed_ns, files, folders

    def _read_if_changed(self, path: str) -> None:
        try:
            found = os.stat(path)  # noqa: PTH116 - as above
            state = (found.st_ino, found.st_mtime_ns, found.st_size)
            if self._files.get(path) == state or not stat.S_ISREG(found.st_mode):
                return  # a named pipe (some password managers make one) would keep whoever opens it waiting
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            try:
                data = os.read(descriptor, FILE_BYTES_MAX)
            finally:
                os.close(descriptor)
        except OSError:
            return
        self._files[path] = state
        for value in sorted(secret_values(data.decode("utf-8", "replace"))):
            self._forms.setdefault(self._hasher.forms(value))


def is_read(name: str) -> bool:
    """Whether a file of this name is one that is read."""
    return any(fnmatch.fnmatchcase(name, each) for each in READ) and not any(
        fnmatch.fnmatchcase(name, each) for each in SHOWN
    )


def _linked_worktrees(root: str) -> list[str]:
    """Return the folders of a repository's linked worktrees."""
    return [
        _read_pointer(each) for common in (f"{root}/.git/worktrees", f"{root}/worktrees") for each in _entries(common)
    ]


def _entries(folder: str) -> list[Path]:
    try:
        return sorted(Path(folder).iterdir())
    except OSError:
        return []


def _read_pointer(entry: Path) -> str:
    """Return the folder that git's note of a worktree names; one that is not there when there is no note."""
    try:
        return (entry / "gitdir").read_text(encoding="utf-8").strip().removesuffix("/.git")
    except (OSError, UnicodeDecodeError):
        return f"{entry}/gitdir"
