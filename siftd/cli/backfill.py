"""`mem backfill`: read transcripts of earlier sessions into the memory."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import clean, count, say, say_json, tell
from siftd.cli.progress import progress_bar


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="transcripts, or folders of them (default: this workspace's own)"
    )
    parser.add_argument("--any-workspace", action="store_true", help="also sessions of other workspaces")


def run(context: Context, options: Namespace) -> int:
    request = {
        "kind": "backfill",
        "paths": [os.path.abspath(os.path.expanduser(path)) for path in options.paths],  # noqa: PTH100, PTH111 - texts
        "anyWorkspace": options.any_workspace,
        "claudeHome": os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude"),  # noqa: PTH111
    }
    with progress_bar("reading transcripts") as on_progress:
        result = context.ask(request, timeout=WORK_SECONDS, on_progress=on_progress)
    if options.json:
        say_json(result)
    else:
        say(
            f"{clean(result['source'])}: {result['scanned']:,} scanned, {result['captured']:,} captured,"
            f" {result['skippedDuplicate']:,} known already"
        )
        if not result["scanned"] and not result["errors"]:
            whose = "none of it is this workspace's: --any-workspace takes all" if options.paths else "none is here"
            tell(f"mem: no transcript of Claude Code was read; {whose}")
        if result["errors"]:
            tell(f"mem: {count(result['errors'], 'error')}, the first: {clean(result['firstError'] or 'unknown')}")
    return 1 if result["errors"] and not result["scanned"] else 0
