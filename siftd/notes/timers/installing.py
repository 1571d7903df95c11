"""Putting a timer in and taking it out: one for each home, of the scheduler that this machine has.

Its files are in the manifest under OWNER, so that whatever was there before is given back, and `list_wired` says which
kind it is. Files come first and what runs them after; on the way back it is the other way round. A crash between the
two leaves a state that either, run again, brings to its end.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from siftd.errors import RequestInvalid, SiftdError
from siftd.install.change import Change
from siftd.install.edits import OwnFile
from siftd.install.files import read_file
from siftd.install.wiring import list_wired, unwire, wire
from siftd.notes.timers import cron, launchd, nix, systemd
from siftd.notes.timers.order import Order, order_for
from siftd.notes.timers.programs import has_program
from siftd.workspace.paths import Home

OWNER = "notes-timer"
"""What the manifest calls whose files these are."""
Kind: TypeAlias = Literal["systemd", "launchd", "cron", "nix"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_TABLE = "crontab"
"""What stands for a path where a change is of cron's table."""
_SUFFIXES: dict[str, Kind] = {
    "service": "systemd",
    "timer": "systemd",
    "plist": "launchd",
    "cron": "cron",
    "nix": "nix",
}


@dataclass(slots=True)
class Installed:
    """What was done, and what is left for a person to do."""

    changes: list[Change] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Standing:
    """A timer as it is found."""

    kind: Kind
    is_current: bool
    """Whether its files say what would be written today."""
    missing: tuple[str, ...]
    """Files that it names and that are not there any more."""
    is_running: bool | None
    """Whether its scheduler has it; None where that cannot be known."""


def install_timer(home: Home, environ: Mapping[str, str], user_home: str, kind: Kind | None = None) -> Installed:
    """Let the machine's scheduler run `mem notes sweep` every half hour; a second time changes nothing.

    Without `kind` it stays what it is, else it is what this machine has. Raises SiftdError, every file untouched, when
    one of them cannot be written.
    """
    order = order_for(home, user_home)
    chosen = kind or find_kind(home) or _chosen(environ, user_home)
    edits = _files(chosen, order, home, environ, user_home)
    done = Installed()
    if set(list_wired(OWNER, home.manifest)) - {edit.path for edit in edits}:  # of another kind, or another folder
        done.changes += remove_timer(home, environ, user_home).changes
    done.changes += wire(OWNER, edits, home.manifest)
    match chosen:
        case "systemd":
            _leave(done, systemd.enable(order, environ))
        case "launchd":
            is_changed = any(change.what != "unchanged" for change in done.changes)
            _leave(done, launchd.enable(order, edits[0].path, environ, is_changed=is_changed))
        case "cron":
            try:
                done.changes.append(Change(_TABLE, cron.put_in(order, environ)))
            except SiftdError:
                unwire(OWNER, home.manifest)  # a user whom cron refuses has no timer
                raise
        case "nix":
            _leave(done, nix.how_to_import(edits[0].path))
    return done


def remove_timer(home: Home, environ: Mapping[str, str], user_home: str) -> Installed:
    """Take the timer out, with every other byte as it was; where there is none nothing is done. Raises SiftdError."""
    done = Installed()
    kind = find_kind(home)
    if kind is None:
        return done
    order = order_for(home, user_home)
    match kind:
        case "systemd":
            systemd.disable(order.name, environ, user_home)
        case "launchd":
            launchd.disable(order.name, environ)
        case "cron" if cron.is_here(environ):
            done.changes.append(Change(_TABLE, cron.take_out(order, environ)))
        case "cron":
            _leave(done, "there is no `crontab` any more: its table, if one is left, was not looked at")
        case "nix":
            _leave(done, "take it out of the `imports` of your home-manager configuration, too")
    done.changes += unwire(OWNER, home.manifest)
    if kind == "systemd":
        systemd.forget(environ)
    return done


def find_kind(home: Home) -> Kind | None:
    """Return which kind of timer is installed. Raises SiftdError for a manifest that cannot be read."""
    kinds = [_SUFFIXES[path.rpartition(".")[2]] for path in list_wired(OWNER, home.manifest)]
    return kinds[0] if kinds else None


def find_timer(home: Home, environ: Mapping[str, str], user_home: str) -> Standing | None:
    """Return how the timer of a home stands; None where none is installed. Raises SiftdError."""
    kind = find_kind(home)
    if kind is None:
        return None
    texts = {path: (read_file(path) or b"").decode("utf-8", "replace") for path in list_wired(OWNER, home.manifest)}
    order = order_for(home, user_home)
    wanted = {edit.path: edit.text for edit in _files(kind, order, home, environ, user_home)}
    missing = tuple(path for path in _named_paths(kind, texts) if not Path(path).exists())
    return Standing(kind, texts == wanted, missing, _is_running(kind, order, environ, user_home))


def _chosen(environ: Mapping[str, str], user_home: str) -> Kind:
    """Return the scheduler that this machine has. Raises RequestInvalid where none is found."""
    if sys.platform == "darwin":
        return "launchd"
    if systemd.is_here(environ, user_home):
        return "systemd"
    if cron.is_here(environ):
        return "cron"
    if has_program("systemctl", environ):
        return "systemd"
    raise RequestInvalid("neither systemd nor cron is found here", hint="name one by --kind, or run `mem notes sweep`")


def _files(kind: Kind, order: Order, home: Home, environ: Mapping[str, str], user_home: str) -> list[OwnFile]:
    match kind:
        case "systemd":
            return systemd.files(order, environ, user_home)
        case "launchd":
            return [launchd.file(order, user_home)]
        case "cron":
            return [cron.file(order, home)]
        case "nix":
            return [nix.file(order, home)]


def _named_paths(kind: Kind, texts: Mapping[str, str]) -> list[str]:
    """Return what the files of a timer need to be there."""
    if kind == "systemd":
        return systemd.named_paths(texts)
    read = {"launchd": launchd.named_paths, "cron": cron.named_paths, "nix": nix.named_paths}[kind]
    return [path for text in texts.values() for path in read(text)]


def _is_running(kind: Kind, order: Order, environ: Mapping[str, str], user_home: str) -> bool | None:
    match kind:
        case "systemd":
            return systemd.is_enabled(order, environ, user_home)
        case "launchd":
            return launchd.is_enabled(order, environ)
        case "cron":
            try:
                return cron.has_line(order, environ)
            except SiftdError:
                return False
        case "nix":
            return None


def _leave(done: Installed, what: str | None) -> None:
    if what is not None:
        done.steps.append(what)
