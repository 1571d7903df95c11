"""`mem team`: share what is remembered with a team's server, and what comes of it."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import clean, count, format_bytes, note, say, say_json
from siftd.cli.person import is_an_agents, is_at_terminal, says_yes
from siftd.errors import RequestInvalid
from siftd.wire import asking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from siftd.wire.requests import TeamPreviewAnswer

    A = TypeVar("A")

VERBS = ("status", "join", "push", "pull", "members", "leave")
_NOUNS = {
    "memory": ("memory that was kept on purpose", "memories that were kept on purpose"),
    "fact": ("fact that was taken or learnt", "facts that were taken or learnt"),
    "session": ("story of a session", "stories of sessions"),
    "turn": ("story of a turn", "stories of turns"),
    "knowledge": ("statement about the codebase", "statements about the codebase"),
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", default="status", choices=VERBS, help="what to do (default: status)")
    parser.add_argument("url", nargs="?", metavar="URL", help="join: where the server is, https://team.example")
    parser.add_argument("--project", metavar="NAME", help="join: the project on the server")
    parser.add_argument(
        "--invite-file", metavar="FILE", help="join: what holds the invitation (default: it is asked for)"
    )
    parser.add_argument("--device", metavar="NAME", default="", help="join: what the team calls this machine")
    parser.add_argument(
        "--share", metavar="KINDS", help="join: memory,fact,session,turn,knowledge (default: `team.share`)"
    )
    parser.add_argument("--dry-run", action="store_true", help="join: print the very items that would go up, and end")
    parser.add_argument("--all", action="store_true", help="push: look at everything, try again what was parked")
    parser.add_argument("--forget-shared", action="store_true", help="leave: what you shared is forgotten there too")
    parser.add_argument("--force", action="store_true", help="leave: also where the server does not answer")
    parser.add_argument("--yes", action="store_true", help="join, leave: do not ask")


def run(context: Context, options: Namespace) -> int:
    if options.url is not None and options.what != "join":
        raise RequestInvalid("an address belongs to `mem team join`")
    return {
        "status": _status,
        "join": _join,
        "push": _push,
        "pull": _pull,
        "members": _members,
        "leave": _leave,
    }[options.what](context, options)


# Joining and leaving


def _join(context: Context, options: Namespace) -> int:
    share = None if options.share is None else [each.strip() for each in options.share.split(",") if each.strip()]
    if options.dry_run:
        return _dry_run(context, options, share)
    if not options.url or not options.project:
        raise RequestInvalid("a team has an address and a project", hint="`mem team join URL --project NAME`")
    if is_an_agents(context.environ):
        raise RequestInvalid("a person joins a team", hint="type it in a terminal of your own")
    found = context.ask(asking.TeamPreview(url=options.url, share=share), timeout=WORK_SECONDS)
    if not options.yes:
        _show_preview(found, options)
        if not is_at_terminal(context.environ) or not says_yes("join?"):
            note("mem: nothing was joined; --yes goes on without asking")
            return 1
    invite = _read_invite(options.invite_file)
    joined = context.ask(
        asking.TeamJoin(
            url=options.url, project=options.project, invite=invite, device=options.device, share=found["share"]
        ),
        timeout=WORK_SECONDS,
    )
    if options.json:
        say_json(joined)
    else:
        say(f"joined {clean(joined['name'])} as {clean(joined['person'])}; what is shared goes up from now on")
    return 0


def _show_preview(found: TeamPreviewAnswer, options: Namespace) -> None:
    note(f"server   {clean(found['url'] or '')} (siftd {clean(found['server'] or 'of an unknown version')})")
    note(f"project  {clean(options.project)}")
    note(f"device   {clean(options.device or found['device'])}")
    note("goes up now, and whenever it changes:")
    for each in found["share"]:
        number = found["byShare"].get(each, 0)
        note(f"  {number:>7,}  {_NOUNS[each][number != 1]}")
    note(f"  together {format_bytes(found['chars'])} of text, redacted; no event and no payload ever does")
    if found["private"]:
        note(f"  {found['private']:,} of them are preferences of yours: your own devices alone see those")
    note("`mem team join --dry-run` prints the very items")


def _dry_run(context: Context, options: Namespace, share: list[str] | None) -> int:
    after: str | None = ""
    printed = 0
    while after is not None:
        page = context.ask(asking.TeamItems(share=share, after=after), timeout=WORK_SECONDS)
        for item in page["items"]:
            printed += 1
            if options.json:
                import json

                say(json.dumps(item, ensure_ascii=False))
            else:
                private = "  private" if item.get("visibility") == "private" else ""
                say(f"{item['share']}{private}  {clean(item['text'])}")
        after = page["next"]
    if not options.json:
        note(f"mem: {count(printed, 'item')} would go up; nothing did")
    return 0


def _read_invite(path: str | None) -> str:
    """Return the invitation: from a file, from whoever is at the terminal, or from standard input. Never from the
    arguments, which every process can read."""
    if path is not None:
        from siftd.foreign_file import read

        return read(path, 4096, follow=True).decode("utf-8", "replace").strip()
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass("invitation: ").strip()
    return sys.stdin.readline(4096).strip()


def _leave(context: Context, options: Namespace) -> int:
    status = context.ask(asking.TeamStatus(ask=False))
    team = status["team"]
    if team is None:
        raise RequestInvalid("this workspace has joined no team", hint="`mem team join URL --project NAME`")
    if not options.yes:
        fate = "what you shared is forgotten there too" if options.forget_shared else "what you shared stays there"
        note(f"this leaves {clean(team['name'])}: what others share goes from here; {fate}; what is private goes")
        if not is_at_terminal(context.environ) or not says_yes("leave?"):
            note("mem: nothing was left; --yes goes on without asking")
            return 1
    left = context.ask(asking.TeamLeave(forget_shared=options.forget_shared, force=options.force), timeout=WORK_SECONDS)
    if options.json:
        say_json(left)
    else:
        say(f"left {clean(left['name'])}; {count(left['forgotten'], 'item')} forgotten there")
    return 0


# At a person's word


def _push(context: Context, options: Namespace) -> int:
    answer = context.ask(asking.TeamPush(all=options.all), timeout=WORK_SECONDS)
    if options.json:
        say_json(answer)
        return 0
    parts = [f"{count(answer['put'], 'item')} up"]
    parts += [f"{answer['forgotten']:,} forgotten"] if answer["forgotten"] else []
    parts += [f"{answer['unchanged']:,} as the team has them"] if answer["unchanged"] else []
    parts += [f"{answer['parked']:,} not taken (`mem team status` says why)"] if answer["parked"] else []
    say(", ".join(parts))
    return 0


def _pull(context: Context, options: Namespace) -> int:
    answer = context.ask(asking.TeamPull(), timeout=WORK_SECONDS)
    if options.json:
        say_json(answer)
    else:
        say(f"{count(answer['changed'], 'item')} came or changed, {answer['gone']:,} went")
    return 0


# What is there


def _members(context: Context, options: Namespace) -> int:
    from siftd.cli.team_page import say_members

    return _say(context.ask(asking.TeamMembers()), options, say_members)


def _status(context: Context, options: Namespace) -> int:
    from siftd.cli.team_page import say_status

    return _say(context.ask(asking.TeamStatus()), options, say_status)


def _say(answer: A, options: Namespace, for_people: Callable[[A], None]) -> int:
    if options.json:
        say_json(answer)
    else:
        for_people(answer)
    return 0
