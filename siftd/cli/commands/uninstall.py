"""`mem uninstall`: take siftd out of Claude Code, and with `--purge` every memory with it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from siftd.cli.commands.install import say_changes
from siftd.cli.context import Context
from siftd.cli.output import clean, count, tell
from siftd.clients.registry import CLIENTS
from siftd.errors import RequestInvalid
from siftd.install.change import Change
from siftd.install.launcher import remove_launcher
from siftd.workspace.paths import Home
from siftd.workspaces.stopping import stop_and_hold


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--project", action="store_true", help="only out of this workspace")
    parser.add_argument("--purge", action="store_true", help="also stop every daemon and remove every memory for good")
    parser.add_argument("--yes", action="store_true", help="do not ask before removing memories")


def run(context: Context, options: Namespace) -> int:
    home = context.home
    if options.project:
        if options.purge:
            raise RequestInvalid("--purge removes every memory", hint="leave one of the two out")
        return _of_project(context, options.json)
    keys = sorted(folder.name for folder in Path(home.workspaces).glob("*/"))
    if options.purge and not options.yes and not _is_confirmed(home, len(keys)):
        tell("mem: nothing was changed")
        return 1
    changes = _take_out(context, is_project=False)
    Path(home.installation).unlink(missing_ok=True)
    remove_launcher(home)
    if options.purge:
        for key in keys:
            stop_and_hold(home.for_workspace(key))
        purge(home)
    say_changes(changes, options.json)
    if options.purge:
        tell(f"mem: {count(len(keys), 'memory') if len(keys) == 1 else f'{len(keys)} memories'} removed")
    elif not changes:
        tell("mem: siftd was not installed")
    return 0


def _of_project(context: Context, is_json: bool) -> int:
    changes = _take_out(context, is_project=True)
    say_changes([change for change in changes if change.what != "unchanged"], is_json)
    if all(change.what == "unchanged" for change in changes):
        tell("mem: siftd was not installed for this workspace alone")
    return 0


def _take_out(context: Context, *, is_project: bool) -> list[Change]:
    return [
        change
        for client in CLIENTS.values()
        if client.installer is not None
        for change in client.installer.uninstall(context.where(), is_project=is_project)
    ]


def purge(home: Home) -> None:
    """Remove what is siftd's of this namespace; anything else in its folder stays, and then so does the folder."""
    for folder in (home.workspaces, home.run, home.logs):
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
    print(
        f"Remove the memories of {workspaces} workspaces under {clean(home.folder)} for good? [y/N] ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    return sys.stdin.readline().strip().lower() in ("y", "yes")
