"""`mem uninstall`: take siftd out of agents' clients, and with `--purge` every memory with it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from siftd.cli.commands.install import say_changes, say_refused
from siftd.cli.context import Context
from siftd.cli.output import clean, count, note
from siftd.cli.person import says_yes
from siftd.clients.installable import INSTALLABLE, names_asked_for
from siftd.clients.registry import DEFAULT
from siftd.errors import RequestInvalid, SiftdError
from siftd.install import hot_context
from siftd.install.change import Change
from siftd.install.launcher import remove_launcher
from siftd.install.manifest import read_manifest
from siftd.notes.layout import notes_folder
from siftd.notes.timers import installing
from siftd.workspace.paths import Home
from siftd.workspaces.stopping import stop_and_hold


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--client", nargs="+", default=[], metavar="NAME", help="only out of these clients")
    parser.add_argument("--project", action="store_true", help="only out of this workspace")
    parser.add_argument("--purge", action="store_true", help="also stop every daemon and remove every memory for good")
    parser.add_argument("--yes", action="store_true", help="do not ask before removing memories")


def run(context: Context, options: Namespace) -> int:
    home = context.home
    names = names_asked_for(options.client, context.where()) if options.client else list(INSTALLABLE)
    if options.client and options.purge:
        raise RequestInvalid("--purge removes every memory", hint="leave one of the two out")
    if options.project:
        if options.purge:
            raise RequestInvalid("--purge removes every memory", hint="leave one of the two out")
        return _of_project(context, names, options.json)
    keys = sorted(folder.name for folder in Path(home.workspaces).glob("*/"))
    if options.purge and not options.yes and not _is_confirmed(home, len(keys)):
        note("mem: nothing was changed")
        return 1
    changes, refused = _take_out(context, names, is_project=False)
    if DEFAULT in names and DEFAULT not in refused and (linked := hot_context.unlink(home)):
        changes[hot_context.OWNER] = linked
    if not options.client:
        try:
            timer = installing.remove_timer(home, context.environ, context.user_home)
        except SiftdError as error:
            refused[installing.OWNER] = error
        else:
            changes |= {installing.OWNER: timer.changes} if timer.changes else {}
            for step in timer.steps:
                note(f"mem: {clean(step)}")
    if refused and options.purge:
        raise next(iter(refused.values()))
    if not read_manifest(home.manifest).files:
        Path(home.installation).unlink(missing_ok=True)
        remove_launcher(home)
    if options.purge:
        for key in keys:
            stop_and_hold(home.for_workspace(key))
        purge(home)
    say_changes(changes, options.json)
    if options.purge:
        note(f"mem: {count(len(keys), 'memory') if len(keys) == 1 else f'{len(keys)} memories'} removed")
    elif not changes:
        note("mem: siftd was not installed")
    return say_refused(refused)


def _of_project(context: Context, names: list[str], is_json: bool) -> int:
    made, refused = _take_out(context, names, is_project=True)
    changes = {name: [each for each in made[name] if each.what != "unchanged"] for name in made}
    say_changes({name: each for name, each in changes.items() if each}, is_json)
    if not any(changes.values()):
        note("mem: siftd was not installed for this workspace alone")
    return say_refused(refused)


def _take_out(
    context: Context, names: list[str], *, is_project: bool
) -> tuple[dict[str, Sequence[Change]], dict[str, SiftdError]]:
    """Take siftd out of each; return what was changed of those that were wired, and which could not be, untouched.

    One that is named alone, and cannot be, is raised.
    """
    taken: dict[str, Sequence[Change]] = {}
    refused: dict[str, SiftdError] = {}
    for name in names:
        _, installer = INSTALLABLE[name]
        if is_project and not installer.takes_project:
            continue
        try:
            changes = installer.uninstall(context.where(), is_project=is_project)
        except SiftdError as error:
            if len(names) == 1:
                raise
            refused[name] = error
        else:
            taken |= {name: changes} if changes else {}
    return taken, refused


def purge(home: Home) -> None:
    """Remove what is siftd's of this namespace; anything else in its folder stays, and then so does the folder."""
    for folder in (home.workspaces, home.run, home.logs, notes_folder(home)):
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(folder)
    for file in (home.config, home.good_config, home.manifest):
        Path(file).unlink(missing_ok=True)
    for folder in (home.folder, home.root):
        with contextlib.suppress(OSError):
            os.rmdir(folder)  # noqa: PTH106 - empty ones only


def _is_confirmed(home: Home, workspaces: int) -> bool:
    if not sys.stdin.isatty():
        raise RequestInvalid("--purge removes every memory for good", hint="add --yes to say so")
    return says_yes(f"Remove the memories of {workspaces} workspaces under {clean(home.folder)} for good?")
