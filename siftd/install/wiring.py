"""Wiring a client and taking it out again: everything is checked before the first byte is written.

Both work in three steps: a plan for each file from what it holds now, the manifest, the files. A crash between two of
them leaves a state that either, run again, brings to its end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from siftd.errors import SettingsUnreadable, SiftdError
from siftd.install.change import Change
from siftd.install.edits import Edit, take_out
from siftd.install.files import (
    check_writable,
    list_missing_folders,
    make_folders,
    read_file,
    remove_empty_folders,
    remove_file,
    replace_file,
)
from siftd.install.manifest import Manifest, Record, digest, read_manifest, write_manifest

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Plan:
    """One file as it is, and as it will be (None: no file)."""

    path: str
    current: bytes | None
    wanted: bytes | None
    what: str
    mode: int = 0o666
    record: Record | None = None
    """What the manifest will say of it; None when it is wired no more."""

    @property
    def is_changing(self) -> bool:
        return self.wanted != self.current


def wire(client: str, edits: Sequence[Edit], manifest_path: str) -> list[Change]:
    """Make each file of `edits` hold what is ours; a second time changes nothing, and after a move of siftd it repairs.

    Raises SettingsUnreadable or SiftdError, every file untouched, when one of them cannot be edited: it does not parse,
    is a link out of its project, belongs to another user, is read-only, or has something else by our name.
    """
    manifest = read_manifest(manifest_path)
    plans = [_plan(client, edit, manifest.files.get(edit.path)) for edit in edits]
    changing = _checked(plans)
    missing = list(dict.fromkeys(folder for plan in changing for folder in list_missing_folders(plan.path)))
    manifest.folders += missing
    manifest.files |= {plan.path: plan.record for plan in plans if plan.record is not None}
    write_manifest(manifest_path, manifest)
    make_folders(missing)
    return _apply(plans)


def unwire(client: str, manifest_path: str, *, inside: str | None = None) -> list[Change]:
    """Take siftd out of every file that was wired for `client`, or of those in the folder `inside`; leave no trace.

    A file that is as we left it gets its old bytes back; from any other exactly our entries are taken.
    """
    manifest = read_manifest(manifest_path)
    plans = [
        _plan_removal(path, record)
        for path, record in manifest.files.items()
        if record.client == client and (inside is None or path.startswith(f"{inside.rstrip('/')}/"))
    ]
    _checked(plans)
    changes = _apply(plans)
    for plan in plans:
        del manifest.files[plan.path]
    _write_without_folders(manifest_path, manifest)
    return changes


def list_wired(client: str, manifest_path: str) -> list[str]:
    """Return the files that are wired for `client`, as the manifest says."""
    files = read_manifest(manifest_path).files
    return [path for path, record in files.items() if record.client == client]


def _write_without_folders(manifest_path: str, manifest: Manifest) -> None:
    write_manifest(manifest_path, manifest)
    staying = remove_empty_folders(manifest.folders)
    if staying != manifest.folders:
        manifest.folders = staying
        write_manifest(manifest_path, manifest)


def _plan(client: str, edit: Edit, record: Record | None) -> _Plan:
    if edit.inside is not None:
        _check_inside(edit.path, edit.inside)
    current = read_file(edit.path)
    wanted = _naming(edit.path, lambda: edit.put(current))
    before, is_verbatim = _before(edit, current, record)
    owner = record.client if record and current is not None else client
    recorded = Record(edit.kind, before, digest(wanted), owner, is_verbatim)
    what = "created" if current is None else "unchanged" if wanted == current else "changed"
    return _Plan(edit.path, current, wanted, what, edit.mode, recorded)


def _before(edit: Edit, current: bytes | None, record: Record | None) -> tuple[bytes | None, bool]:
    """Return what `uninstall` gives back, and whether those are the file's bytes."""
    if current is None:
        return None, True
    if record is not None and record.is_as_left(current):
        return record.before, record.is_verbatim
    # Changed by others since: the bytes before us would undo that.
    left, is_nothing = _naming(edit.path, lambda: take_out(edit.kind, current))
    if is_nothing and (edit.kind == "own" or (record is not None and record.before is None)):
        return None, True
    if edit.holds_keys and left.strip():
        return b"", False
    return left, True


def _plan_removal(path: str, record: Record) -> _Plan:
    current = read_file(path)
    if current is None:
        return _Plan(path, None, None, "unchanged")
    if record.is_verbatim and record.is_as_left(current):
        return _Plan(path, current, record.before, "removed" if record.before is None else "restored")
    left, is_nothing = _naming(path, lambda: take_out(record.kind, current))
    wanted: bytes | None = left
    if is_nothing and record.before is None:
        wanted = None
    elif is_nothing and record.is_verbatim and not (record.before or b"").strip():
        wanted = record.before
    if wanted is None:
        return _Plan(path, current, None, "removed")
    is_foreign = record.kind == "own"
    return _Plan(path, current, wanted, "kept" if is_foreign else "unchanged" if wanted == current else "changed")


def _checked(plans: Sequence[_Plan]) -> list[_Plan]:
    """Return the plans that change something, once all of them are known to be possible."""
    changing = [plan for plan in plans if plan.is_changing]
    for plan in changing:
        _check_owner(plan.path)
        check_writable(plan.path)
    return changing


def _check_owner(path: str) -> None:
    real = Path(os.path.realpath(path))
    if real.exists() and real.stat().st_uid != os.geteuid():
        raise SiftdError(f"{path} belongs to another user", hint="run the command as that user")


def _check_inside(path: str, folder: str) -> None:
    """Raise SiftdError for a project's file that a link leads out of the project."""
    if not os.path.realpath(path).startswith(f"{os.path.realpath(folder).rstrip('/')}/"):
        raise SiftdError(f"{path} leads out of the project", hint="look at who has put the link there")


def _apply(plans: Sequence[_Plan]) -> list[Change]:
    for plan in plans:
        if plan.wanted is None:
            remove_file(plan.path)
        elif plan.is_changing:
            replace_file(plan.path, plan.wanted, expected=plan.current, mode=plan.mode)
    return [Change(plan.path, plan.what) for plan in plans]


def _naming(path: str, edit: Callable[[], T]) -> T:
    """Run an edit; what it refuses is told with the path."""
    try:
        return edit()
    except SettingsUnreadable as error:
        raise SettingsUnreadable(f"{path}: {error.message}", hint=error.hint) from error
