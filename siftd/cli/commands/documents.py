"""`mem documents`: what was read in: list it, show it, let it go."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import clean, count, format_time, note, print_table, say, say_json
from siftd.errors import RequestInvalid
from siftd.wire import asking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.wire.requests import DocumentListed

VERBS = ("list", "show", "remove", "refresh")
TYPES = ("markdown", "text", "rest", "html", "code", "notebook", "pdf")
LISTED = 50


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", default="list", choices=VERBS, help="what to do (default: list)")
    parser.add_argument("ids", nargs="*", default=[], metavar="ID", help="documents (d4)")
    parser.add_argument("--type", choices=TYPES, help="list: only such documents")
    parser.add_argument(
        "--private", action="store_true", help="refresh: a URL may lead to an address that is not public"
    )
    parser.add_argument("--all", action="store_true", help=f"list: all of them, not the newest {LISTED}")


def run(context: Context, options: Namespace) -> int:
    if options.what == "list":
        return _list(context, options)
    if options.what == "refresh":
        return _refresh(context, options)
    if not options.ids:
        raise RequestInvalid("no document is named", hint="`mem documents` lists them, cited like d4")
    return {"show": _show, "remove": _remove}[options.what](context, options)


def _list(context: Context, options: Namespace) -> int:
    found, number, is_cut = _listed(context, options)
    if options.json:
        say_json({"documents": found, "count": number})
        return 0
    rows = [
        [
            each["id"],
            each["type"],
            str(each["chunks"]),
            format_time(each["ingestedTs"]),
            clean(each["path"] or each["url"] or each["title"]),
        ]
        for each in found
    ]
    if rows:
        print_table(("id", "type", "chunks", "read in", "document"), rows)
    else:
        note("mem: no document was read in")
    if is_cut:
        note(f"mem: these are the newest of {count(number, 'document')}; `--all` lists them all")
    return 0


def _listed(context: Context, options: Namespace) -> tuple[list[DocumentListed], int, bool]:
    """Return the documents, how many there are in all, and whether some were left out."""
    found: list[DocumentListed] = []
    cursor: str | None = None
    while True:
        answer = context.ask(asking.Documents(type=options.type, limit=500 if options.all else LISTED, cursor=cursor))
        found += answer["documents"]
        cursor = answer["nextCursor"]
        if cursor is None or not options.all:
            return found, answer["count"], cursor is not None


def _show(context: Context, options: Namespace) -> int:
    from siftd.cli.commands import show

    for cited in options.ids:
        show.run(context, Namespace(id=cited, json=options.json))
    return 0


def _refresh(context: Context, options: Namespace) -> int:
    """Read documents again from where they came: those that are named, or all."""
    from siftd.cli.commands.ingest import as_json, fetcher, report
    from siftd.cli.ingesting import Ingest, refresh

    found, _, _ = _listed(context, Namespace(type=options.type, all=True))
    if missing := set(options.ids) - {each["id"] for each in found}:
        raise RequestInvalid(f"there is no document {clean(min(missing))}", hint="`mem documents` lists them")
    ingest = Ingest(context)
    wanted = [each for each in found if not options.ids or each["id"] in options.ids]
    refresh(ingest, context.workspace.root, wanted, fetcher(context, may_be_private=options.private))
    if options.json:
        say_json(as_json(ingest))
    else:
        report(ingest)
    return 0


def _remove(context: Context, options: Namespace) -> int:
    answer = context.ask(asking.RemoveDocuments(ids=options.ids))
    if options.json:
        say_json(answer)
        return 0
    say(f"removed {count(answer['documents'], 'document')} of {count(answer['chunks'], 'chunk')}")
    note("mem: the log still holds what they said; `mem forget ID` erases that too")
    return 0
