"""`mem backfill`: read transcripts of earlier sessions into the memory, or all of them, each into its project's own."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import clean, count, format_day, say, say_json, tell
from siftd.cli.progress import progress_bar
from siftd.errors import RequestInvalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_REASONS = {
    "malformed_line": "a line is not JSON",
    "line_too_long": "a line is longer than any record",
    "orphan_result": "the result of a call that is nowhere",
    "bad_type": "a field of another type than the client's",
    "no_session_or_time": "a record without a session or a time",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        default=[],
        metavar="PATH",
        help="transcripts, or folders of them (default: this workspace's own)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--any-workspace", action="store_true", help="also sessions of other workspaces, into this one")
    which.add_argument("--all", action="store_true", help="every project's sessions, each into its own memory")


def run(context: Context, options: Namespace) -> int:
    if options.all:
        if options.paths:
            raise RequestInvalid("--all reads Claude Code's own transcripts", hint="leave the paths out")
        return _run_all(context, options)
    result = _fill(context, options.paths, any_workspace=options.any_workspace)
    if options.json:
        say_json(result)
    else:
        _say(result)
        if not result["scanned"] and not result["errors"]:
            whose = "none of it is this workspace's: --any-workspace takes all" if options.paths else "none is here"
            tell(f"mem: no transcript of Claude Code was read; {whose}")
    return _status(result)


def _run_all(context: Context, options: Namespace) -> int:
    from siftd.backfill.sources import list_roots
    from siftd.config import is_excluded
    from siftd.home import load_settings
    from siftd.reach.stopping import end_borrowed

    settings = load_settings(context.home).settings
    roots, gone = list_roots(_claude_home())
    results: dict[str, dict[str, Any]] = {}
    for root in roots:
        if is_excluded(root, settings):
            continue
        theirs = context.of_folder(root)
        was_running = theirs.is_running()
        results[root] = _fill(theirs, [], any_workspace=False)
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
        tell("mem: no transcript of Claude Code is here")
    return max(map(_status, results.values()), default=0)


def _fill(context: Context, paths: list[str], *, any_workspace: bool) -> dict[str, Any]:
    request = {
        "kind": "backfill",
        "paths": [os.path.abspath(os.path.expanduser(path)) for path in paths],  # noqa: PTH100, PTH111 - texts
        "anyWorkspace": any_workspace,
        "claudeHome": _claude_home(),
    }
    with progress_bar("reading transcripts", unit="bytes") as on_progress:
        return context.ask(request, timeout=WORK_SECONDS, on_progress=on_progress)


def _claude_home() -> str:
    return os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")  # noqa: PTH111 - a text


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
