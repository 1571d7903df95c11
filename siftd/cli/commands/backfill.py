"""`mem backfill`: read transcripts of earlier sessions into the memory, or all of them, each into its project's own."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import clean, count, format_day, say, say_json, tell
from siftd.cli.progress import progress_bar
from siftd.clients.registry import DEFAULT, client_asked_for
from siftd.errors import RequestInvalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from siftd.clients.client import Client

_REASONS = {
    "malformed_line": "a line is not JSON",
    "line_too_long": "a line is longer than any record",
    "orphan_result": "the result of a call that is nowhere",
    "bad_type": "a field of another type than the client's",
    "no_session_or_time": "a record without a session or a time",
    "no_session": "a line without a session",
    "no_tool": "a call without a tool",
    "bad_time": "a time that is none",
    "unhandled_event": "a line of no known kind",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        default=[],
        metavar="PATH",
        help="transcripts, or folders of them (default: this workspace's own)",
    )
    parser.add_argument("--client", default=DEFAULT, help="whose files they are (default: %(default)s)")
    parser.add_argument(
        "--own", action="store_true", help="the files at PATH are an agent's of mine: believe its words"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--any-workspace", action="store_true", help="also sessions of other workspaces, into this one")
    which.add_argument("--all", action="store_true", help="every project's sessions, each into its own memory")


def run(context: Context, options: Namespace) -> int:
    client = client_asked_for(options.client)
    if options.all:
        if options.paths:
            raise RequestInvalid("--all reads the client's own files", hint="leave the paths out")
        return _run_all(context, options, client)
    folder = client.files.folder(context.environ, context.user_home)
    if folder is None and not options.paths:
        raise RequestInvalid(f"{client.title} keeps no sessions of its own", hint="name the files to read")
    result = _fill(context, client, options.paths, any_workspace=options.any_workspace, own=options.own)
    if options.json:
        say_json(result)
    else:
        _say(result)
        if not result["scanned"] and not result["errors"]:
            whose = "none of it is this workspace's: --any-workspace takes all" if options.paths else "none is here"
            tell(f"mem: no session of {client.title} was read; {whose}")
    return _status(result)


def _run_all(context: Context, options: Namespace, client: Client) -> int:
    from siftd.backfill.sources import list_roots
    from siftd.config import is_excluded
    from siftd.workspace.home import load_settings
    from siftd.workspaces.stopping import end_borrowed

    settings = load_settings(context.home).settings
    roots, gone = list_roots(client, client.files.folder(context.environ, context.user_home))
    results: dict[str, dict[str, Any]] = {}
    for root in roots:
        if is_excluded(root, settings):
            continue
        theirs = context.of_folder(root)
        was_running = theirs.is_running()
        results[root] = _fill(theirs, client, [], any_workspace=False)
        if not was_running:
            end_borrowed(theirs.paths)
        if not options.json:
            say(clean(root))
            _say(results[root], indent="  ")
    if options.json:
        say_json({"workspaces": results, "gone": gone})
    elif gone:
        tell(
            f"mem: {count(len(gone), 'folder')} of earlier sessions are gone; --any-workspace PATH reads such a session"
        )
    if not results:
        tell(f"mem: no session of {client.title} is here")
    return max(map(_status, results.values()), default=0)


def _fill(
    context: Context, client: Client, paths: list[str], *, any_workspace: bool, own: bool = False
) -> dict[str, Any]:
    request = {
        "kind": "backfill",
        "client": client.name,
        "paths": [os.path.abspath(os.path.expanduser(path)) for path in paths],  # noqa: PTH100, PTH111 - texts
        "folder": client.files.folder(context.environ, context.user_home),
        "anyWorkspace": any_workspace,
        "own": own,
    }
    with progress_bar("reading transcripts", unit="bytes") as on_progress:
        return context.ask(request, timeout=WORK_SECONDS, on_progress=on_progress)


def _say(result: dict[str, Any], indent: str = "") -> None:
    if result["firstTs"] is None:
        when = ""
    else:
        first, last = format_day(result["firstTs"]), format_day(result["lastTs"])
        when = f" of {first}" if first == last else f", {first} to {last}"
    say(
        f"{indent}{count(result['sessions'], 'session')}{when}: {result['scanned']:,} scanned,"
        f" {result['captured']:,} captured, {result['skippedDuplicate']:,} known already"
    )
    if result["growing"]:
        many = count(result["growing"], "file")
        tell(f"mem: {many} written in the last minutes: how the last turn ends is read next time")
    if result["errors"]:
        file, _, reason = (result["firstError"] or "unknown").rpartition(": ")
        first = f"{file}: {_REASONS.get(reason, reason)}" if file else reason
        tell(f"mem: {count(result['errors'], 'error')}, the first: {clean(first)}")


def _status(result: dict[str, Any]) -> int:
    return 1 if result["errors"] and not result["scanned"] else 0
