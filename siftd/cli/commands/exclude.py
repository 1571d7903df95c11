"""`mem exclude`: capture nothing, start nothing and store nothing for workspaces under a folder."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from siftd.cli.config_file import read_document, write_setting
from siftd.cli.context import Context
from siftd.cli.output import clean, count, note, say, say_json
from siftd.config import Settings, is_excluded, parse_file
from siftd.errors import DaemonTimedOut, DaemonUnreachable, RequestInvalid
from siftd.wire.asking import Stop
from siftd.wire.client import connect
from siftd.workspace.identity import path_as_text, path_from_text
from siftd.workspaces.listing import iter_known
from siftd.workspaces.stopping import STOP_SECONDS

KEY = "capture.exclude"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", metavar="PATH", help="a folder; workspaces in it and under it are meant")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--list", action="store_true", help="what is excluded")
    which.add_argument("--remove", action="store_true", help="capture there again")


def run(context: Context, options: Namespace) -> int:
    document = read_document(context.home.config)
    folders: list[str] = parse_file(json.dumps(document)).get(KEY, [])
    stopped = 0
    if not options.list:
        if options.path is None:
            raise RequestInvalid("PATH is required", hint="`mem exclude PATH`, `mem exclude --list`")
        folder = os.path.realpath(Path(options.path).expanduser())
        folders = _changed(folders, folder, remove=options.remove)
        write_setting(context, document, KEY, folders)
        stopped = 0 if options.remove else _stop_daemons(context, folder)
    if options.json:
        say_json({"excluded": folders, "stopped": stopped})
        return 0
    for each in folders:
        say(f"excluded  {clean(each)}")
    if not folders:
        note("mem: nothing is excluded")
    if stopped:
        note(f"mem: {count(stopped, 'daemon')} stopped; `mem forget` takes what was captured before")
    return 0


def _changed(folders: list[str], folder: str, *, remove: bool) -> list[str]:
    if path_as_text(folder) != folder:
        raise RequestInvalid(
            "the folder's name is not UTF-8, as a configuration is", hint="exclude the folder above it, or rename it"
        )
    if not remove:
        if not Path(folder).is_dir():
            raise RequestInvalid("there is no such folder", hint="name one that is there")
        return folders if folder in folders else [*folders, folder]
    left = [each for each in folders if os.path.realpath(Path(each).expanduser()) != folder]
    if left == folders:
        raise RequestInvalid("this folder is not excluded", hint="`mem exclude --list`")
    return left


def _stop_daemons(context: Context, folder: str) -> int:
    """End the daemons that serve workspaces under the folder; return how many there were."""
    stopped = 0
    for known in iter_known(context.home):
        if known.root is None or not is_excluded(path_from_text(known.root), Settings.of({KEY: [folder]})):
            continue
        try:
            with connect(context.home.for_workspace(known.key)) as client:
                client.request(Stop(hold=False), timeout=STOP_SECONDS)
                stopped += 1
        except (DaemonUnreachable, DaemonTimedOut):
            continue
    return stopped
