"""Giving a moved repository its memory back: the old workspace's folder takes the place of the new one's.

What was captured under the new path until now is exported first and imported afterwards. The old folder is moved, not
copied: its secret goes with it, so that transcripts read again find their events. What is set aside is removed last;
after a kill before that, `mem doctor` names the export that is still to be imported.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from siftd.cli.context import WORK_SECONDS, Context
from siftd.errors import RequestInvalid, SiftdError
from siftd.wire.asking import Export, Import
from siftd.workspace.paths import WorkspacePaths
from siftd.workspaces.listing import describe
from siftd.workspaces.stopping import stop_and_hold

TRIES_MAX = 5
"""Between two renames a hook's courier may make the new folder again, to spool into it."""


def export_path(paths: WorkspacePaths) -> Path:
    """Return where what was captured before an adoption waits for its import."""
    return Path(f"{paths.folder}.before-adoption.jsonl")


def adopt(context: Context, key: str) -> int:
    """Make the memory of workspace `key` this workspace's; return how many events of this one were added to it.

    Raises RequestInvalid when there is nothing to adopt or its folder is still where it was.
    """
    old, new = context.home.for_workspace(key), context.paths
    _check_orphaned(old, new)
    export = export_path(new)
    if Path(new.database).exists():
        export.unlink(missing_ok=True)
        context.ask(Export(path=str(export)), timeout=WORK_SECONDS)
    for paths in (old, new):
        stop_and_hold(paths)
    aside = _move(old.folder, new.folder)
    for spooled in (file for folder in aside for file in folder.glob("spool/*.json")):
        spooled.rename(Path(new.spool) / spooled.name)
    for paths in (old, new):
        Path(paths.hold).unlink(missing_ok=True)
    added = _import(context, export) if export.exists() else 0
    for folder in aside:
        shutil.rmtree(folder)
    return added


def _check_orphaned(old: WorkspacePaths, new: WorkspacePaths) -> None:
    if old.key == new.key:
        raise RequestInvalid("that is this workspace already", hint="`mem workspaces` lists the others")
    known = describe(old)
    if known.events is None:
        raise RequestInvalid("there is no memory of that workspace to adopt", hint="`mem workspaces` lists them")
    if not known.is_orphaned:
        raise RequestInvalid(f"{known.root} is still there, and so is its memory", hint="only a moved one is adopted")


def _move(source: str, target: str) -> list[Path]:
    """Rename `source` to `target`; return what stood there, set aside."""
    aside: list[Path] = []
    while True:
        if Path(target).exists():
            aside.append(Path(f"{target}.before-adoption.{len(aside)}"))
            Path(target).rename(aside[-1])
        try:
            Path(source).rename(target)
        except OSError:
            if len(aside) > TRIES_MAX:
                raise
        else:
            return aside


def _import(context: Context, export: Path) -> int:
    answer = context.ask(Import(path=str(export)), timeout=WORK_SECONDS)
    if answer["errors"]:
        raise SiftdError("what was captured here before is not whole", hint=f"it is in {export}: `mem import` it")
    export.unlink()
    return int(answer["added"]["events"])
