"""`mem ingest`: read documents in, to be found again: files, folders, patterns, URLs, or a text on standard input."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import clean, count, note, say, say_json
from siftd.cli.person import is_an_agents
from siftd.cli.progress import progress_bar
from siftd.errors import DocumentRefused, RequestInvalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from siftd.cli.ingesting import Ingest
    from siftd.documents.fetching import Fetched

TYPES = ("markdown", "text", "rest", "html", "code", "notebook", "pdf")
EXAMPLES = 3
"""Of what was left out for one reason, those that are named to a person."""
QUIET = ("ignored", "vendored", "generated", "empty")
"""Reasons that are nothing to look at: they are counted."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "what", nargs="+", metavar="WHAT", help="files, folders, 'docs/**/*.md', URLs; - reads standard input"
    )
    parser.add_argument("--title", help="what it is called (default: its own title, or its name); - needs one")
    parser.add_argument("--type", choices=TYPES, help="what it is, whatever its name says")
    parser.add_argument("--private", action="store_true", help="a URL may lead to an address that is not public")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be read in, and what left out")


def run(context: Context, options: Namespace) -> int:
    from siftd.cli.ingesting import Ingest

    _check(options)
    ingest = Ingest(context, kind=options.type, title=options.title or "", is_dry=options.dry_run)
    refused = [what for what in options.what if not _read_in(context, ingest, what, options)]
    if options.json:
        say_json(as_json(ingest))
    else:
        report(ingest, is_dry=options.dry_run)
    return 1 if refused else 0


def _check(options: Namespace) -> None:
    if options.title and len(options.what) > 1:
        raise RequestInvalid("one title is for one document", hint="ingest them one by one")
    if "-" in options.what and not options.title:
        raise RequestInvalid("what comes on standard input needs a title", hint="--title says it")
    if options.title is not None and not options.title.strip():
        raise RequestInvalid("the title is empty", hint="leave it out, or say one")


def _read_in(context: Context, ingest: Ingest, what: str, options: Namespace) -> bool:
    """Read in one thing that was named. False where it is left out itself, rather than something in it."""
    before = sum(ingest.done.values())
    try:
        if what == "-":
            _read_standard_input(ingest)
        elif what.startswith(("http://", "https://")):
            ingest.add_fetched(what, fetcher(context, may_be_private=options.private)(what))
        else:
            return _read_files(ingest, what)
    except DocumentRefused as refused:
        ingest.skip(what, refused.reason, refused.message, refused.hint)
        return False
    return sum(ingest.done.values()) > before


def fetcher(context: Context, *, may_be_private: bool) -> Callable[[str], Fetched]:
    """Return what fetches a URL that a person named; where an agent runs the command, one that the person lets it."""

    def fetch_url(url: str) -> Fetched:
        from siftd.documents.addresses import is_public
        from siftd.documents.fetching import fetch

        if is_an_agents(context.environ):
            _check_agents_may(context, may_be_private=may_be_private)
        return fetch(url, is_allowed=(lambda _address: True) if may_be_private else is_public)

    return fetch_url


def _check_agents_may(context: Context, *, may_be_private: bool) -> None:
    from siftd.workspace.home import load_settings

    if may_be_private:
        raise DocumentRefused("private", "an agent has nothing read in from a private address", hint="a person may")
    if not load_settings(context.home).settings.documents_agents_fetch:
        raise DocumentRefused(
            "not allowed",
            "the person lets no agent have a URL read in",
            hint="they may: in a terminal of their own, or `mem config documents.agentsFetch true`",
        )


def _read_standard_input(ingest: Ingest) -> None:
    from siftd.documents.walking import FILE_BYTES_MAX

    data = sys.stdin.buffer.read(FILE_BYTES_MAX + 1)
    if len(data) > FILE_BYTES_MAX:
        raise DocumentRefused("too large", f"it is larger than {FILE_BYTES_MAX >> 20} MiB", hint="split it")
    ingest.add_text(data)


def _read_files(ingest: Ingest, what: str) -> bool:
    from siftd.documents.files import find_files
    from siftd.documents.walking import Found

    with progress_bar("reading in") as on_progress:
        if on_progress is not None:
            # The walk is done twice rather than held: a tree has no bound, and one walk takes a hundredth of an ingest.
            total = sum(isinstance(each, Found) for each in find_files(what))
            done = iter(range(1, total + 1))
            ingest.on_done = lambda: on_progress({"done": next(done, total), "total": total})
        one = _is_one_file(what)
        before = sum(ingest.done.values())
        ingest.add_files(find_files(what))
    return not one or sum(ingest.done.values()) > before


def _is_one_file(what: str) -> bool:
    """Whether one file is named, whose refusal is the command's."""
    from pathlib import Path

    return not Path(what).expanduser().is_dir() and Path(what).expanduser().exists()


def as_json(ingest: Ingest) -> dict[str, object]:
    """Return what came of it, for programs."""
    return {
        "added": ingest.done["added"],
        "changed": ingest.done["changed"],
        "unchanged": ingest.done["unchanged"],
        "chunks": ingest.chunks,
        "chunksMade": ingest.made,
        "id": ingest.last_id,
        "skipped": dict(sorted(ingest.skipped.items())),
        "leftOut": ingest.left_out,
    }


def report(ingest: Ingest, *, is_dry: bool = False) -> None:
    """Say what came of it, and what was left out with its reason."""
    done = ingest.done
    if is_dry:
        say(f"{count(done['added'], 'document')} would be read in")
    else:
        one = f" as {ingest.last_id}" if sum(done.values()) == 1 and ingest.last_id else ""
        added = count(done["added"], "document")
        say(
            f"{added} added{one}, {done['changed']:,} changed, {done['unchanged']:,} unchanged;"
            f" {count(ingest.made, 'chunk')} made"
        )
    for reason, number in ingest.skipped.most_common():
        named = [each for each in ingest.left_out if each["reason"] == reason][:EXAMPLES]
        if reason in QUIET and number > 1:
            note(f"mem: {number:,} {reason}")
            continue
        for each in named:
            message = f": {each['message']}" if each["message"] else ""
            hint = f" ({each['hint']})" if each["hint"] else ""
            note(f"mem: {clean(each['what'])} left out, {reason}{message}{hint}")
        if number > len(named):
            note(f"mem: {number - len(named):,} more {reason}; `--json` names them")
