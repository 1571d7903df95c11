"""Which projects have notes.

    $SIFTD_HOME/<ns>/notes/registry.json, mode 0600, replaced atomically under .lock:

    {"version": 1,
     "projects": [{"id": "41b0…", "name": "proj", "path": "/x/proj", "workspace": "proj-3f…",
                   "folder": "/x/proj/.memory", "registeredTs": 1764083000000, "inTree": true}],
     "excluded": ["/x/other"],                            never offered, nothing in it ever has notes
     "offered": {"/x/new": 1764083000000}}                repositories that were seen, and when last

Compatibility: a higher version is refused by name; unknown fields are dropped at the next write.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from siftd.errors import RequestInvalid, SiftdError
from siftd.foreign_file import read
from siftd.notes.layout import Project, notes_folder, registry_file, registry_lock
from siftd.workspace.home import ensure_folder, write_private
from siftd.workspace.paths import Home

VERSION = 1
_BYTES_MAX = 16 * 1024 * 1024


class _Line(msgspec.Struct, rename="camel"):
    id: str
    name: str
    path: str
    workspace: str
    folder: str
    registered_ts: int
    in_tree: bool = False


class _File(msgspec.Struct, rename="camel"):
    version: int
    projects: list[_Line] = []
    excluded: list[str] = []
    offered: dict[str, int] = {}


@dataclass
class Registry:
    """The projects that have notes, in the order in which they were registered."""

    projects: list[Project] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    offered: dict[str, int] = field(default_factory=dict)

    def find(self, named: str) -> Project | None:
        """Return the project of an id, of a folder (the innermost that covers it), or of a name that only one has."""
        for project in self.projects:
            if named == project.id:
                return project
        if named.startswith("/"):
            covering = [project for project in self.projects if project.covers(named)]
            return max(covering, key=lambda project: len(project.path), default=None)
        of_name = [project for project in self.projects if project.name == named]
        return of_name[0] if len(of_name) == 1 else None

    def is_excluded(self, path: str, configured: Sequence[str] = ()) -> bool:
        """Whether a folder, or one above it, is excluded: here, or by the setting `notes.exclude` (`configured`)."""
        folders = [*self.excluded, *(os.path.realpath(Path(each).expanduser()) for each in configured)]
        return any(f"{path}/".startswith(f"{each.rstrip('/')}/") for each in folders)


def load(home: Home) -> Registry:
    """Return the registry; an empty one where there is none. Raises SiftdError for one that cannot be read."""
    try:
        data = read(registry_file(home), _BYTES_MAX)
    except FileNotFoundError:
        return Registry()
    except OSError as error:
        raise SiftdError(f"{registry_file(home)} cannot be read: {error.strerror}", hint="see its mode") from error
    try:
        version = msgspec.json.decode(data, type=_Version).version
        if version > VERSION:
            raise SiftdError(
                f"{registry_file(home)} is of a newer siftd (version {version})", hint="use that one for notes"
            )
        file = msgspec.json.decode(data, type=_File)
    except msgspec.MsgspecError as error:
        raise SiftdError(f"{registry_file(home)} is not a registry of notes", hint="move it away") from error
    return Registry([Project(**msgspec.structs.asdict(line)) for line in file.projects], file.excluded, file.offered)


class _Version(msgspec.Struct):
    version: int


@contextmanager
def changing(home: Home) -> Iterator[Registry]:
    """Give the registry for a change, which is written when the block ends well. Others wait meanwhile."""
    ensure_folder(notes_folder(home))
    descriptor = os.open(registry_lock(home), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        registry = load(home)
        yield registry
        _write(home, registry)
    finally:
        os.close(descriptor)


def _write(home: Home, registry: Registry) -> None:
    lines = [_Line(**project._asdict()) for project in registry.projects]
    file = _File(VERSION, lines, registry.excluded, registry.offered)
    data = msgspec.json.format(msgspec.json.encode(file), indent=2) + b"\n"
    write_private(Path(registry_file(home)), data)


def required(home: Home, named: str) -> Project:
    """Return the project that somebody named. Raises RequestInvalid when none is meant."""
    found = load(home).find(named)
    if found is None:
        raise RequestInvalid("this project has no notes", hint="`mem notes init` makes them")
    return found
