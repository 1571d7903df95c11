"""`mem backfill`: read transcripts of earlier sessions into the memory, or all of them, each into its project's own."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import clean, count, format_day, note, say, say_json
from siftd.cli.progress import progress_bar
from siftd.clients.registry import CLIENTS, DEFAULT, client_asked_for
from siftd.errors import RequestInvalid
from siftd.wire.asking import Backfill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.clients.client import Client
    from siftd.wire.requests import BackfillAnswer

EVERY = "all"
"""Of the clients: each that keeps sessions."""
CONFIGURED_MAX = 100_000
"""Files that one glob of the configuration may name. Arbitrary."""
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
    parser.add_argument("--client", metavar="NAME", help=f"whose files they are, or all (default: {DEFAULT})")
    parser.add_argument(
        "--list", action="store_true", help="say what is there, of every client if none is named, and read nothing"
    )
    parser.add_argument(
        "--own", action="store_true", help="the files at PATH are an agent's of mine: believe its words"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--any-workspace", action="store_true", help="also sessions of other workspaces, into this one")
    which.add_argument("--all", action="store_true", help="every project's sessions, each into its own memory")


def run(context: Context, options: Namespace) -> int:
    if options.client == EVERY and options.paths:
        raise RequestInvalid("a file is of one client", hint="name it by --client")
    if options.all and options.paths:
        raise RequestInvalid("--all reads the clients' own files", hint="leave the paths out")
    is_every = options.client == EVERY or (options.list and options.client is None)
    named = [] if is_every else [client_asked_for(options.client)]
    clients = named or [each for each in CLIENTS.values() if _folder(context, each) is not None]
    if options.list:
        return _list(context, options, clients)
    read = _run_all if options.all else _run_one
    answers: dict[str, object] = {}
    statuses = []
    for client in clients:
        if len(clients) > 1 and not options.json:
            say(client.title)
        answers[client.name], status = read(context, options, client, is_one=bool(named))
        statuses.append(status)
    if options.json:
        say_json(answers[clients[0].name] if named else {"clients": answers})
    return max(statuses, default=0)


def _folder(context: Context, client: Client) -> str | None:
    return client.files.folder(context.environ, context.user_home)


def _list(context: Context, options: Namespace, clients: list[Client]) -> int:
    """Say of each client how many sessions are there, and when they were written."""
    from siftd.backfill.sources import list_sessions

    listed = {}
    for client in clients:
        found = list_sessions(
            client, _folder(context, client), context.workspace, any_workspace=options.all or options.any_workspace
        )
        times = [each.modified_ns // 1_000_000 for each in found]
        listed[client.name] = {
            "sessions": len(found),
            "firstTs": min(times, default=None),
            "lastTs": max(times, default=None),
        }
        if not options.json and (found or len(clients) == 1):
            when = _days(listed[client.name]["firstTs"], listed[client.name]["lastTs"])
            say(f"{client.title} ({client.name}): {count(len(found), 'session')}{when}")
    if options.json:
        say_json({"clients": listed})
    elif not any(each["sessions"] for each in listed.values()):
        note("mem: no session is here")
    return 0


def _run_one(context: Context, options: Namespace, client: Client, *, is_one: bool) -> tuple[BackfillAnswer, int]:
    """Read this workspace's sessions of one client, and those that the configuration names besides."""
    more = [] if options.paths else _configured(context, client, is_one=is_one)
    if _folder(context, client) is None and not options.paths and not more:
        raise RequestInvalid(f"{client.title} keeps no sessions of its own", hint="name the files to read")
    result = _fill(context, client, options.paths, any_workspace=options.any_workspace, own=options.own)
    if more:
        besides = _fill(context, client, more, any_workspace=True, own=True)
        result = _sum(result, besides)
    if not options.json:
        _say(result)
        if not result["scanned"] and not result["errors"] and is_one:
            whose = "none of it is this workspace's: --any-workspace takes all" if options.paths else "none is here"
            note(f"mem: no session of {client.title} was read; {whose}")
    return result, _status(result)


def _configured(context: Context, client: Client, *, is_one: bool) -> list[str]:
    """Return the files that `backfill.sources` names for this workspace: a person's own word, in their own home."""
    from glob import iglob
    from itertools import islice

    from siftd.workspace.home import load_settings

    globs = load_settings(context.home).settings.backfill_sources.get(context.workspace.root, [])
    found: dict[str, None] = {}
    for each in globs:
        name, colon, pattern = each.partition(":")
        if name not in CLIENTS or not colon:
            name, pattern = client.name if is_one else DEFAULT, each
        if name == client.name:
            matches = iglob(os.path.expanduser(pattern), recursive=True)  # noqa: PTH111, PTH207 - a text
            found |= dict.fromkeys(islice(matches, CONFIGURED_MAX))
    return sorted(found)


def _sum(one: BackfillAnswer, other: BackfillAnswer) -> BackfillAnswer:
    """Return both results as one."""
    both = (one, other)
    return {
        "source": one["source"],
        "scanned": sum(each["scanned"] for each in both),
        "captured": sum(each["captured"] for each in both),
        "skippedDuplicate": sum(each["skippedDuplicate"] for each in both),
        "errors": sum(each["errors"] for each in both),
        "firstError": one["firstError"] or other["firstError"],
        "sessions": sum(each["sessions"] for each in both),
        "growing": sum(each["growing"] for each in both),
        "firstTs": min((ts for each in both if (ts := each["firstTs"]) is not None), default=None),
        "lastTs": max((ts for each in both if (ts := each["lastTs"]) is not None), default=None),
    }


def _run_all(context: Context, options: Namespace, client: Client, *, is_one: bool) -> tuple[dict[str, object], int]:
    """Read every workspace's sessions of one client, each into its own memory."""
    from siftd.backfill.sources import list_roots
    from siftd.config import is_excluded
    from siftd.workspace.home import load_settings
    from siftd.workspaces.stopping import end_borrowed

    settings = load_settings(context.home).settings
    roots, gone = list_roots(client, _folder(context, client))
    results: dict[str, BackfillAnswer] = {}
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
    if gone and not options.json:
        note(
            f"mem: {count(len(gone), 'folder')} of earlier sessions are gone; --any-workspace PATH reads such a session"
        )
    if not results and is_one:
        note(f"mem: no session of {client.title} is here")
    return {"workspaces": results, "gone": gone}, max(map(_status, results.values()), default=0)


def _fill(
    context: Context, client: Client, paths: list[str], *, any_workspace: bool, own: bool = False
) -> BackfillAnswer:
    request = Backfill(
        client=client.name,
        paths=[os.path.abspath(os.path.expanduser(path)) for path in paths],  # noqa: PTH100, PTH111 - texts
        folder=_folder(context, client),
        any_workspace=any_workspace,
        own=own,
    )
    with progress_bar("reading transcripts", unit="bytes") as on_progress:
        return context.ask(request, timeout=WORK_SECONDS, on_progress=on_progress)


def _say(result: BackfillAnswer, indent: str = "") -> None:
    when = _days(result["firstTs"], result["lastTs"])
    say(
        f"{indent}{count(result['sessions'], 'session')}{when}: {result['scanned']:,} scanned,"
        f" {result['captured']:,} captured, {result['skippedDuplicate']:,} known already"
    )
    if result["growing"]:
        many = count(result["growing"], "file")
        note(f"mem: {many} written in the last minutes: how the last turn ends is read next time")
    if result["errors"]:
        file, _, reason = (result["firstError"] or "unknown").rpartition(": ")
        first = f"{file}: {_REASONS.get(reason, reason)}" if file else reason
        note(f"mem: {count(result['errors'], 'error')}, the first: {clean(first)}")


def _days(first_ts: int | None, last_ts: int | None) -> str:
    if first_ts is None or last_ts is None:
        return ""
    first, last = format_day(first_ts), format_day(last_ts)
    return f" of {first}" if first == last else f", {first} to {last}"


def _status(result: BackfillAnswer) -> int:
    return 1 if result["errors"] and not result["scanned"] else 0
