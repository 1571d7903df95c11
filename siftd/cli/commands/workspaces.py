"""`mem workspaces`: every workspace that has a memory in this home; with `adopt KEY` it takes a moved one over."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.adopt import adopt
from siftd.cli.context import Context
from siftd.cli.output import count, note, print_table, say, say_json
from siftd.errors import DaemonTimedOut, DaemonUnreachable, RequestInvalid
from siftd.wire.client import connect
from siftd.workspace.paths import WorkspacePaths
from siftd.workspaces.listing import Known, iter_known


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=["adopt"], help="make a moved workspace's memory this one's")
    parser.add_argument("key", nargs="?", metavar="KEY", help="which one, as the list shows it")


def run(context: Context, options: Namespace) -> int:
    if options.action is None:
        return _list(context, options)
    if options.key is None:
        raise RequestInvalid("which one?", hint="`mem workspaces adopt KEY`; `mem workspaces` lists the keys")
    added = adopt(context, options.key)
    if options.json:
        say_json({"adopted": options.key, "added": added})
    else:
        say(f"the memory of {options.key} is this workspace's now; {count(added, 'event')} captured here since kept")
    return 0


def _list(context: Context, options: Namespace) -> int:
    known = [(each, _is_running(context.home.for_workspace(each.key))) for each in iter_known(context.home)]
    if options.json:
        say_json({"workspaces": [_as_json(each, running) for each, running in known]})
    elif known:
        rows = [
            (
                each.key,
                "unknown" if each.events is None else f"{each.events:,}",
                "running" if running else "-",
                (each.problem or each.root or "unknown") + (" (gone)" if each.is_orphaned else ""),
            )
            for each, running in known
        ]
        print_table(("key", "events", "daemon", "root"), rows)
    else:
        note("mem: no workspace has a memory here yet")
    return 0


def _as_json(known: Known, running: bool) -> dict[str, object]:
    return {
        "key": known.key,
        "root": known.root,
        "rootCommit": known.root_commit,
        "events": known.events,
        "running": running,
        "problem": known.problem,
    }


def _is_running(paths: WorkspacePaths) -> bool:
    try:
        connect(paths).close()
    except DaemonUnreachable:
        return False
    except DaemonTimedOut:
        return True
    return True
