"""`mem note`: drop a note for this project's files; the next sync takes it in."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import clean, say, say_json
from siftd.errors import RequestInvalid


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", metavar="TEXT", help="what to remember (default: standard input)")
    parser.add_argument("--project", metavar="P", help="its folder, name or id (default: the current folder's)")


def run(context: Context, options: Namespace) -> int:
    from siftd.capture.intake import Intake
    from siftd.clock import SystemClock
    from siftd.notes import inbox, registry
    from siftd.workspace.home import ensure_workspace, load_settings

    project = registry.required(context.home, options.project or os.path.realpath(os.getcwd()))  # noqa: PTH109
    text = " ".join(options.text) or sys.stdin.read(inbox.NOTE_BYTES_MAX)
    if not text.strip():
        raise RequestInvalid("the note says nothing", hint="mem note 'what to remember'")
    paths = context.home.for_workspace(project.workspace)
    ensure_workspace(paths)
    intake = Intake(paths, load_settings(context.home).settings, root=project.path)
    redacted = intake.redactor.text(text)
    if len(redacted.encode("utf-8", "replace")) > inbox.NOTE_BYTES_MAX:
        raise RequestInvalid(f"a note has at most {inbox.NOTE_BYTES_MAX:,} bytes", hint="say it shorter")
    path = inbox.drop(project, redacted, now_ms=SystemClock().now_ms())
    if options.json:
        say_json({"project": project.name, "path": path})
    else:
        say(f"dropped for {clean(project.name)}; the next sync takes it in")
    return 0
