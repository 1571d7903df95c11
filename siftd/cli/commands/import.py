"""`mem import`: merge an exported file in, or what another memory keeps; or, for the team, what a tracker or CI did."""

# ruff: noqa: N999 - a verb's module has the verb's name; nothing imports it by statement

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import clean, count, note, say, say_json
from siftd.cli.person import is_at_terminal
from siftd.cli.progress import progress_bar
from siftd.errors import RequestInvalid
from siftd.wire.asking import Import, ImportSource
from siftd.wire.requests.transferring import ImportAnswer, ImportSourceAnswer

SOURCES = ("claude-auto-memory", "claude-md", "claude-mem", "mcp-memory", "mem0", "memd", "rekal")
"""As `siftd.other_memories.registry` lists them, which is read only when it is asked for."""

FORMS = ("github", "gitlab", "actions")
"""Who exports issues, comments and jobs: as `siftd.team.sources.reading` lists them."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="an export; with --from the other memory's store")
    parser.add_argument(
        "--from", dest="origin", metavar="PROGRAM", choices=(*SOURCES, *FORMS),
        help="who wrote it",
    )  # fmt: skip
    parser.add_argument(
        "--source",
        choices=("issue", "comment", "job"),
        help="give the team what a tracker or CI exported",
    )
    parser.add_argument("--dry-run", action="store_true", help="with --from or --source: only say what would be added")
    parser.add_argument("--own", action="store_true", help="it is your own: believe it who said what")
    parser.add_argument("--yes", action="store_true", help="into the memories for every project too")


def run(context: Context, options: Namespace) -> int:
    if options.source is not None:
        return _import_for_team(context, options)
    if options.origin in FORMS:
        raise RequestInvalid(
            "it is not said what the file holds", hint="--source issue, --source comment, --source job"
        )
    if options.own and not is_at_terminal(context.environ):
        raise RequestInvalid("a person has to say whose file it is", hint="say --own in a terminal of your own")
    if options.file is None and options.origin is None:
        raise RequestInvalid("a file is wanted", hint="`mem export FILE` writes one; `--from` reads another memory's")
    path = os.path.abspath(os.path.expanduser(options.file or _default(context, options.origin)))  # noqa: PTH100, PTH111
    with progress_bar("importing") as on_progress:
        request = Import(
            path=path, own=options.own, yes=options.yes, source=options.origin or "", dry_run=options.dry_run
        )
        answer = context.ask(request, timeout=WORK_SECONDS, on_progress=on_progress)
    if options.json:
        say_json(answer)
    else:
        _say(options, answer)
    return 1 if answer["errors"] else 0


def _say(options: Namespace, answer: ImportAnswer) -> None:
    added, known = answer["added"], sum(answer["known"].values())
    if options.origin:
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
    if options.origin and added["memories"] and not options.own:
        note("mem: they count as from outside, which nobody vouches for; `--own` says that the store is your own")


def _import_for_team(context: Context, options: Namespace) -> int:
    if options.file is None:
        raise RequestInvalid("a file is wanted", hint="docs/team.md says how issues, comments and jobs are exported")
    if options.origin in SOURCES:
        raise RequestInvalid(f"{options.origin} has no {options.source}s", hint=f"--from {', '.join(FORMS)}")
    path = os.path.abspath(os.path.expanduser(options.file))  # noqa: PTH100, PTH111
    with progress_bar("importing") as on_progress:
        request = ImportSource(path=path, source=options.source, form=options.origin or "", dry_run=options.dry_run)
        answer = context.ask(request, timeout=WORK_SECONDS, on_progress=on_progress)
    if options.json:
        say_json(answer)
    else:
        _say_imported(options, answer)
    return 1 if answer["problem"] or answer["errors"] or answer["refused"] else 0


def _say_imported(options: Namespace, answer: ImportSourceAnswer) -> None:
    """Say what the team has by now, and how to go on where it is not all."""
    for item in answer["shown"]:
        title = clean(str(item.get("text") or "(forgotten)")).partition("\n")[0]
        say(f"{item.get('source', options.source)} {clean(str(item.get('sourceRef', item['id'])))}: {title[:90]}")
    went = f"{count(answer['put'], 'item')} {'would go' if options.dry_run else 'went'} to {clean(answer['team'])}"
    say(
        f"{count(answer['lines'], options.source)} read; {went},"
        f" {answer['forgotten']:,} forgotten, {answer['unchanged']:,} there already"
    )
    for why, many in answer["refused"].items():
        note(f"mem: {count(many, 'item')} not taken: {clean(why)}")
    if answer["errors"]:
        note(f"mem: {count(answer['errors'], 'place')} of the file passed over, {clean(answer['firstError'] or '')}")
    if answer["problem"]:
        note(f"mem: it ended early: {clean(answer['problem'])}")
        note("mem: run the same command again: what went stays, and is not sent a second time")


def _default(context: Context, source: str) -> str:
    """Return where the other memory's store is, when nobody names it."""
    from siftd.clients.claude_code.settings import claude_folder
    from siftd.other_memories.model import Places
    from siftd.other_memories.registry import other_memory

    claude = claude_folder(context.environ, context.user_home)
    return other_memory(source).default(Places(context.user_home, context.workspace.root, claude))
