"""`mem knowledge`: what the codebase tells of itself, taken once and read often."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import clean, count, note, print_table, say, say_json
from siftd.errors import NothingFound, RequestInvalid
from siftd.wire import asking
from siftd.workspace.identity import checkout_root, find_workspace, start_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.knowledge.model import Snapshot
    from siftd.knowledge.staleness import Stale

VERBS = ("show", "build")
TREES = ("siftd", "forge")
"""Folders of a work tree in which a snapshot may be written, by their names without the full stop."""
_ROWS_MAX = 60


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", default="show", choices=VERBS, help="what to do (default: show)")
    parser.add_argument("--markdown", action="store_true", help="show: as a page for a new colleague")
    parser.add_argument(
        "--in-tree",
        nargs="?",
        const="siftd",
        choices=TREES,
        help="build: also write ./.siftd/knowledge.json, or ./.forge/knowledge.json",
    )
    parser.add_argument("--prose", action="store_true", help="build: have the configured model write a few sentences")


def run(context: Context, options: Namespace) -> int:
    return {"show": _show, "build": _build}[options.what](context, options)


def root_of(context: Context, options: Namespace) -> str:
    """Return the top of the work tree that a command is about: a linked one's own, where it is called in one."""
    named = options.workspace or context.environ.get("SIFTD_WORKSPACE")
    folder = named or start_folder(context.environ, os.getcwd())  # noqa: PTH109
    if find_workspace(folder).key == context.workspace.key and os.path.isdir(folder):  # noqa: PTH112
        return checkout_root(folder)
    return context.workspace.root


def _build(context: Context, options: Namespace) -> int:
    import msgspec

    from siftd.knowledge.building import build
    from siftd.knowledge.format import from_plain, plain
    from siftd.knowledge.in_tree import checked, write
    from siftd.knowledge.model import Seen

    root = root_of(context, options)
    if options.in_tree:
        checked(root, options.in_tree, context.home.root)
    seen = msgspec.convert(context.ask(asking.KnowledgeSeen(root=root)), Seen)
    snapshot = build(root, seen, _before(context))
    answer = context.ask(asking.KeepKnowledge(snapshot=plain(snapshot), prose=options.prose), timeout=WORK_SECONDS)
    stored = from_plain(answer["snapshot"])
    path = write(root, options.in_tree, stored, context.home.root) if options.in_tree else answer["path"]
    if options.json:
        say_json({name: value for name, value in answer.items() if name != "snapshot"} | {"path": path})
        return 0
    changed = "" if answer["changed"] else ", as it was"
    parts = (count(len(stored.modules), "module"), count(len(stored.entry_points), "way") + " in")
    say(f"{clean(path)}: {', '.join(parts)}, {count(len(stored.commands), 'command')}{changed}")
    said = [f"{answer[name]} {name}" for name in ("added", "replaced", "ended") if answer[name]]
    say(f"memories: {', '.join(said) or 'none changed'}")
    for each in stored.skipped:
        note(f"not read: {clean(each.path)}: {clean(each.why)}")
    if options.prose and stored.prose is None:
        note("no prose: there is no model, or it said what is found nowhere")
    return 0


def _before(context: Context) -> Snapshot | None:
    """Return the snapshot that there is; None too for a file that is none any more: it is replaced."""
    from siftd.errors import RequestRefused
    from siftd.knowledge.format import from_plain

    try:
        found = context.ask(asking.Knowledge())["snapshot"]
    except RequestRefused:
        return None
    return None if found is None else from_plain(found)


def _show(context: Context, options: Namespace) -> int:
    if options.in_tree or options.prose:
        raise RequestInvalid("`--in-tree` and `--prose` go with `build`", hint="`mem knowledge build`")
    answer = context.ask(asking.Knowledge())
    if answer["snapshot"] is None:
        raise NothingFound("there is no snapshot of this codebase", hint="`mem knowledge build` makes one")
    from siftd.knowledge.format import from_plain
    from siftd.knowledge.page import page
    from siftd.knowledge.staleness import stale_parts

    snapshot = from_plain(answer["snapshot"])
    stale = stale_parts(snapshot, root_of(context, options))
    if options.json:
        changed = {name: getattr(stale, name) for name in ("modules", "gone", "fresh", "paths")}
        say_json({**answer, "stale": changed})
    elif options.markdown:
        say(page(snapshot, stale).rstrip("\n"))
    else:
        _say_short(snapshot, stale)
    return 0


def _say_short(snapshot: Snapshot, stale: Stale) -> None:
    from siftd.knowledge.statements import AT_A_START, statements_of

    for each in statements_of(snapshot):
        if each.topic in AT_A_START:
            say(clean(each.text))
    say()
    rows = [
        [
            clean(each.path or "."),
            f"{each.files} of {each.language}",
            f"{each.lines:,}",
            clean(", ".join(name or "." for name in each.imports[:3])),
            "changed since" if each.path in stale.modules else "",
        ]
        for each in snapshot.modules[:_ROWS_MAX]
    ]
    print_table(("module", "files", "lines", "needs most", ""), rows)
    if not stale.is_empty:
        note(f"since it was taken, {stale.said}: `mem knowledge build` takes it again")
