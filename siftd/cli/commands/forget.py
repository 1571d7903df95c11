"""`mem forget`: forget for good; shows what that would be and asks first. `--status` says what is not gone yet."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from siftd.cli.context import WORK_SECONDS, Context
from siftd.cli.output import clean, count, note, say, say_json
from siftd.cli.person import says_yes
from siftd.errors import RequestInvalid
from siftd.wire.asking import Forget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from siftd.wire.requests import ForgetAnswer

_NOUNS = {
    "tool": "tool call",
    "prompt": "prompt",
    "stop": "turn's end",
    "summary": "summary",
    "memory": "memory",
    "record": "record of the log",
    "session": "session's name",
    "title": "title",
    "folder": "session's folder",
    "note": "entry of the notes",
    "snapshotLine": "line of the snapshot",
}
_PLURALS = {
    "turn's end": "turns' ends",
    "summary": "summaries",
    "memory": "memories",
    "record of the log": "records of the log",
    "session's name": "sessions' names",
    "session's folder": "sessions' folders",
    "entry of the notes": "entries of the notes",
    "line of the snapshot": "lines of the snapshot",
}

_NAMED = ("ids", "session", "file", "query")
_TIMES = ("since", "until")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "ids", nargs="*", default=[], metavar="ID", help="e12 an event, s7 a summary's, m3 a memory, d4 a document"
    )
    parser.add_argument("--session", help="everything of this session")
    parser.add_argument("--file", help="every call about this file, or files that match a glob")
    parser.add_argument("--query", metavar="TEXT", help="everything that holds this text, in any case")
    parser.add_argument("--since", metavar="WHEN", help="not before: 2d, 3h, 1w, a date, milliseconds since 1970")
    parser.add_argument("--until", metavar="WHEN", help="not after")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="only say what it would be")
    parser.add_argument(
        "--status", action="store_true", help="say what still holds something, and which devices of a team are behind"
    )


def run(context: Context, options: Namespace) -> int:
    if options.status:
        return _status(context, options)
    asked = _asked(options)
    found = context.ask(Forget(**asked, dry_run=True), timeout=WORK_SECONDS)
    # A session, a file or a time is forgotten even while nothing of it is here: what comes late stays out.
    is_wanted = found["matched"] or options.session or options.file or options.since or options.until
    if options.dry_run or not is_wanted:
        _say(found, options, "would be forgotten")
        return 0 if found["matched"] else 1
    if not options.yes and not _is_confirmed(found):
        note("mem: nothing was forgotten; --yes goes on without asking")
        return 1
    done = context.ask(Forget(**asked, dry_run=False), timeout=WORK_SECONDS)
    _say(done, options, "forgotten")
    return 0


def _status(context: Context, options: Namespace) -> int:
    """Say what of all that was ever forgotten is not known to be gone: here, and from the devices of a team."""
    from siftd.cli.commands.info import read_state
    from siftd.cli.team_page import forgetting
    from siftd.wire.asking import TeamStatus

    if any(getattr(options, name) for name in (*_NAMED, *_TIMES)):
        raise RequestInvalid("--status is about all that was forgotten", hint="`mem forget --status`")
    state = read_state(context)
    pending = state["forget"]["pending"]
    team = context.ask(TeamStatus()) if state.get("team") else {"team": None}
    if options.json:
        forgets = {name: team.get(name, otherwise) for name, otherwise in (("forgetsWaiting", 0), ("forgets", []))}
        say_json({"pending": pending, "team": team["team"], **forgets})
        return 0
    lines = [f"still held by {each}; it is tried again at every tick" for each in pending] + forgetting(team)
    for line in lines or ["nothing that was forgotten is known to be held anywhere any more"]:
        say(clean(line))
    return 0


def _asked(options: Namespace) -> dict[str, Any]:
    import time

    from siftd.timestamps import parse_moment

    now_ms = time.time_ns() // 1_000_000
    named = {name: value for name in _NAMED if (value := getattr(options, name))}
    times = {name: parse_moment(text, now_ms) for name in _TIMES if (text := getattr(options, name))}
    if not named and not times:
        raise RequestInvalid("there is nothing to forget", hint="give ids, or --session, --file, --query, --since")
    return named | times


def _is_confirmed(found: ForgetAnswer) -> bool:
    if not sys.stdin.isatty():
        return False
    note(f"this forgets {_summary(found)}, for good")
    return says_yes("go on?")


def _say(answer: ForgetAnswer, options: Namespace, what: str) -> None:
    if options.json:
        say_json(answer)
        return
    say(f"{_summary(answer)} {what}")
    for each in answer["left"]:
        note(f"mem: it stays in {clean(each)}")
    for each in answer["pending"]:
        note(f"mem: still held by {clean(each)}; it is tried again at every tick")


def _summary(answer: ForgetAnswer) -> str:
    kinds = [_count(number, _NOUNS.get(kind, kind)) for kind, number in answer["byKind"].items() if number]
    return ", ".join(kinds) or "nothing"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {_PLURALS[noun]}" if number != 1 and noun in _PLURALS else count(number, noun)
