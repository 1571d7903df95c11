"""Installing into Claude Code and uninstalling: everything is checked before the first byte is written.

Both work in three steps: a plan for each file from what it holds now, the manifest, the files. A crash between two of
them leaves a state that either command, run again, brings to its end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from siftd.clients.claude_code.guard import add_guard, has_guard, is_guard
from siftd.clients.claude_code.servers_edit import Entry, add_server, has_servers, remove_servers
from siftd.clients.claude_code.settings import (
    Target,
    Wiring,
    format_slash_command,
    hooks_for,
    is_our_slash_command,
    is_ours,
)
from siftd.clients.claude_code.settings_edit import add_hooks, remove_hooks, scan_settings
from siftd.errors import SettingsUnreadable, SiftdError
from siftd.install.change import Change
from siftd.install.files import (
    check_writable,
    list_missing_folders,
    make_folders,
    read_file,
    remove_empty_folders,
    remove_file,
    replace_file,
)
from siftd.install.manifest import OF_VERSION_1, Kind, Manifest, Record, digest, read_manifest, write_manifest

SERVERS_MODE = 0o600
"""Of the client's own file where it is not there yet: the client will keep keys in it."""
NEW_SETTINGS = "{}\n"
"""What a settings file that is missing or blank is taken for."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """One file as it is, as it will be (None: no file), and, when it stays wired, what `uninstall` gives back."""

    kind: Kind
    path: str
    current: bytes | None
    wanted: bytes | None
    what: str
    before: bytes | None = None

    @property
    def is_changing(self) -> bool:
        return self.wanted != self.current


def install(target: Target, wiring: Wiring, manifest_path: str) -> list[Change]:
    """Wire siftd into `target`; a second time changes nothing, and after a move of siftd it repairs.

    Raises SettingsUnreadable or SiftdError with every file untouched when one of them cannot be edited.
    """
    if target.project is not None:
        _check_inside(target.settings, target.project)
    manifest = read_manifest(manifest_path)
    plans = [
        _plan_settings(target.settings, lambda text: _with_hooks(text, wiring), manifest),
        _plan_slash_command(target.slash_command, wiring, manifest.files.get(target.slash_command)),
    ]
    if wiring.server is not None:
        plans.append(_plan_server(target, wiring.server, manifest.files.get(target.servers)))
    return _carry_out(plans, manifest, manifest_path)


def install_guard(target: Target, wiring: Wiring, manifest_path: str) -> list[Change]:
    """Put the guard of the client's auto memory into the settings of `target`, hooks or not; as `install` does it."""
    if target.project is not None:
        _check_inside(target.settings, target.project)
    manifest = read_manifest(manifest_path)
    plan = _plan_settings(target.settings, lambda text: add_guard(text, wiring), manifest)
    return _carry_out([plan], manifest, manifest_path)


def _carry_out(plans: Sequence[_Plan], manifest: Manifest, manifest_path: str) -> list[Change]:
    changing = _checked(plans)
    for plan in plans:
        if plan.is_changing or plan.path not in manifest.files:
            manifest.files[plan.path] = Record(plan.kind, plan.before, digest(plan.wanted or b""))
    missing = list(dict.fromkeys(folder for plan in changing for folder in list_missing_folders(plan.path)))
    manifest.folders += missing
    write_manifest(manifest_path, manifest)
    make_folders(missing)
    return _apply(plans)


def uninstall(targets: Sequence[Target] | None, manifest_path: str) -> list[Change]:
    """Take siftd out of `targets` (None: of everything that the manifest knows) and leave no trace.

    A file that is as we left it gets its old bytes back; from any other exactly our entries are taken. The slash
    command serves every scope and goes with the last one. Raises as `install` does, every file untouched.
    """
    manifest = read_manifest(manifest_path)
    paths = _paths_to_undo(targets, manifest)
    plans = [
        _plan_server_removal(path, manifest.files.get(path), targets)
        if kind == "servers"
        else _plan_removal(kind, path, manifest.files.get(path))
        for path, kind in paths.items()
    ]
    _checked(plans)
    changes = _apply(plans)
    for plan in plans:
        record = manifest.files.pop(plan.path, None)
        if record and plan.kind == "servers" and plan.wanted and has_servers(plan.wanted.decode()):
            manifest.files[plan.path] = replace(record, after=digest(plan.wanted))
    write_manifest(manifest_path, manifest)
    staying = remove_empty_folders(manifest.folders)
    if staying != manifest.folders:
        manifest.folders = staying
        write_manifest(manifest_path, manifest)
    return changes


def _check_inside(path: str, folder: str) -> None:
    """Raise SiftdError for a project's file that a link leads out of the project."""
    if not os.path.realpath(path).startswith(f"{os.path.realpath(folder).rstrip('/')}/"):
        raise SiftdError(f"{path} leads out of the project", hint="look at who has put the link there")


def _checked(plans: Sequence[_Plan]) -> list[_Plan]:
    """Return the plans that change something, once all of them are known to be possible."""
    changing = [plan for plan in plans if plan.is_changing]
    for plan in changing:
        check_writable(plan.path)
    return changing


def _apply(plans: Sequence[_Plan]) -> list[Change]:
    for plan in plans:
        if plan.wanted is None:
            remove_file(plan.path)
        elif plan.is_changing:
            mode = SERVERS_MODE if plan.kind == "servers" else 0o666
            replace_file(plan.path, plan.wanted, expected=plan.current, mode=mode)
    return [Change(plan.path, plan.what) for plan in plans]


# ---- plans ---------------------------------------------------------------------------------------------------------


def _plan_settings(path: str, edit: Callable[[str], str], manifest: Manifest) -> _Plan:
    current, record = read_file(path), manifest.files.get(path)
    text = _decode_settings(path, current)
    wanted = _edit(path, lambda: edit(text)).encode()
    if current is None:
        return _Plan("settings", path, None, wanted, "created")
    # As we left it, the bytes before us still hold; changed by others since, they would undo that.
    is_as_left = record is not None and record.is_as_left(current)
    before = record.before if record and is_as_left else _settings_without_us(path, current, record)
    return _Plan("settings", path, current, wanted, "unchanged" if wanted == current else "changed", before)


def _plan_slash_command(path: str, wiring: Wiring, record: Record | None) -> _Plan:
    current = read_file(path)
    if current is None:
        return _Plan("command", path, None, format_slash_command(wiring.mem, None).encode(), "created")
    text = current.decode("utf-8", "replace")
    if not is_our_slash_command(text):
        raise SiftdError(f"{path} is a command of your own", hint="rename it and run `mem install` again")
    wanted = format_slash_command(wiring.mem, text).encode()
    before = record.before if record and record.is_as_left(current) else None
    return _Plan("command", path, current, wanted, "unchanged" if wanted == current else "changed", before)


def _plan_server(target: Target, entry: Entry, record: Record | None) -> _Plan:
    path = target.servers
    current = read_file(path)
    text = _decode_settings(path, current)
    wanted = _edit(path, lambda: add_server(text, target.project, entry)).encode()
    before = record.before if record else (None if current is None else b"")
    if current is None:
        return _Plan("servers", path, None, wanted, "created", before)
    return _Plan("servers", path, current, wanted, "unchanged" if wanted == current else "changed", before)


def _plan_server_removal(path: str, record: Record | None, targets: Sequence[Target] | None) -> _Plan:
    """Plan to take our server of the targets' scopes, or of every scope, out of the client's file."""
    current = read_file(path)
    if current is None or not current.strip():
        return _Plan("servers", path, current, current, "unchanged")
    text = _decode_settings(path, current)
    scopes = None if targets is None else [target.project for target in targets]
    stripped = _edit(path, lambda: remove_servers(text, scopes))
    is_left_empty = record is not None and record.before is None and stripped.strip() == NEW_SETTINGS.strip()
    wanted = None if is_left_empty else stripped.encode()
    return _Plan("servers", path, current, wanted, _removal_word(current, wanted))


def _plan_removal(kind: Kind, path: str, record: Record | None) -> _Plan:
    current = read_file(path)
    if current is None:
        return _Plan(kind, path, None, None, "unchanged")
    if record is not None and record.is_as_left(current):
        return _Plan(kind, path, current, record.before, "removed" if record.before is None else "restored")
    if kind == "command":
        is_ours_still = is_our_slash_command(current.decode("utf-8", "replace"))
        return _Plan(kind, path, current, None if is_ours_still else current, "removed" if is_ours_still else "kept")
    wanted = _settings_without_us(path, current, record)
    return _Plan(kind, path, current, wanted, _removal_word(current, wanted))


def _removal_word(current: bytes, wanted: bytes | None) -> str:
    if wanted is None:
        return "removed"
    return "unchanged" if wanted == current else "changed"


def _paths_to_undo(targets: Sequence[Target] | None, manifest: Manifest) -> dict[str, Kind]:
    if targets is None:
        return {path: record.kind for path, record in manifest.files.items() if record.kind in OF_VERSION_1}
    paths: dict[str, Kind] = {target.settings: "settings" for target in targets}
    paths |= {target.servers: "servers" for target in targets if target.servers in manifest.files}
    if not any(record.kind == "settings" and path not in paths for path, record in manifest.files.items()):
        paths |= {target.slash_command: "command" for target in targets}
    return paths


# ---- settings as text ----------------------------------------------------------------------------------------------


def _with_hooks(text: str, wiring: Wiring) -> str:
    """Return the settings with our hooks; a guard that is there stays, and runs this siftd's."""
    text = add_hooks(text, hooks_for(wiring), is_ours)
    return add_guard(text, wiring) if has_guard(text) else text


def _settings_without_us(path: str, current: bytes, record: Record | None) -> bytes | None:
    """Return the settings without our entries; None if nothing is left of a file that we created."""
    if not current.strip():
        return current
    text = _decode_settings(path, current)
    stripped = _edit(path, lambda: remove_hooks(text, lambda handler: is_ours(handler) or is_guard(handler)))
    if record is not None and record.before is None and not scan_settings(stripped).children:
        return None
    return stripped.encode()


def _decode_settings(path: str, current: bytes | None) -> str:
    if current is None or not current.strip():
        return NEW_SETTINGS
    try:
        return current.decode()
    except UnicodeDecodeError as error:
        raise SettingsUnreadable(f"{path} is not UTF-8", hint="correct it by hand; it was not touched") from error


def _edit(path: str, edit: Callable[[], str]) -> str:
    """Run an edit; what it refuses is told with the path."""
    try:
        return edit()
    except SettingsUnreadable as error:
        raise SettingsUnreadable(f"{path}: {error.message}", hint=error.hint) from error
