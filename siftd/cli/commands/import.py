"""`mem import`: merge an exported file in, or what another memory keeps."""

# ruff: noqa: N999 - a verb's module has the verb's name; nothing imports it by statement

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import clean, count, note, say, say_json
from siftd.cli.person import is_at_terminal
from siftd.cli.progress import progress_bar
from siftd.errors import RequestInvalid
from siftd.wire.asking import Import
from siftd.wire.requests.transferring import ImportAnswer

SOURCES = ("claude-auto-memory", "claude-md", "claude-mem", "mcp-memory", "mem0", "memd", "rekal")
"""As `siftd.other_memories.registry` lists them, which is read only when it is asked for."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="an export; with --from the other memory's store")
    parser.add_argument("--from", dest="source", metavar="MEMORY", choices=SOURCES, help="read that memory's own store")
    parser.add_argument("--dry-run", action="store_true", help="with --from: only say what would be added")
    parser.add_argument("--own", action="store_true", help="it is your own: believe it who said what")
    parser.add_argument("--yes", action="store_true", help="into the memories for every project too")


def run(context: Context, options: Namespace) -> int:
    if options.own and not is_at_terminal(context.environ):
        raise RequestInvalid("a person has to say whose file it is", hint="say --own in a terminal of your own")
    if options.file is None and options.source is None:
        raise RequestInvalid("a file is wanted", hint="`mem export FILE` writes one; `--from` reads another memory's")
    path = os.path.abspath(os.path.expanduser(options.file or _default(context, options.source)))  # noqa: PTH100, PTH111
    with progress_bar("importing") as on_progress:
        request = Import(
            path=path, own=options.own, yes=options.yes, source=options.source or "", dry_run=options.dry_run
        )
        answer = context.ask(request, timeout=WORK_SECONDS, on_progress=on_progress)
    if options.json:
        say_json(answer)
    else:
        _say(options, answer)
    return 1 if answer["errors"] else 0


def _say(options: Namespace, answer: ImportAnswer) -> None:
    added, known = answer["added"], sum(answer["known"].values())
    if options.source:
        done = "would be added" if options.dry_run else "added"
        links = f" and {count(added['links'], 'link')}" if added["links"] else ""
        say(f"{count(added['memories'], 'fact')}{links} {done}; {known:,} known already")
    else:
        say(
            f"{count(added['events'], 'event')}, {added['summaries']:,} summarised, {added['memories']:,} remembered"
            f" added; {known:,} of the file's lines were known already"
        )
    for why, many in answer["leftBehind"].items():
        note(f"mem: left behind {many:,}: {clean(why)}")
    if answer["forgotten"]:
        note(f"mem: {count(answer['forgotten'], 'line')} stayed out: forgotten here")
    if answer["errors"]:
        note(f"mem: {count(answer['errors'], 'error')}, the first: {clean(answer['firstError'] or 'unknown')}")
    if options.source and added["memories"] and not options.own:
        note("mem: they count as from outside, which nobody vouches for; `--own` says that the store is your own")


def _default(context: Context, source: str) -> str:
    """Return where the other memory's store is, when nobody names it."""
    from siftd.clients.claude_code.settings import claude_folder
    from siftd.other_memories.model import Places
    from siftd.other_memories.registry import other_memory

    claude = claude_folder(context.environ, context.user_home)
    return other_memory(source).default(Places(context.user_home, context.workspace.root, claude))
