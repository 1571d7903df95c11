"""`mem session ID`: one session whole: what was asked, said, done, and how each turn ended."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.hits import say_events, say_in_short
from siftd.cli.output import clean, count, format_time, paint, say, say_json
from siftd.wire.asking import Timeline

EVENTS_MAX = 500
_SHOWN = ("prompt", "turn_end", "subagent_end", "assistant_text", "compaction", "ask")
"""Kinds of events, and an action."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="a session's id, or the beginning of it")
    parser.add_argument("--full", action="store_true", help="every event, and all of each")


def run(context: Context, options: Namespace) -> int:
    answer = context.ask(Timeline(session=options.id, before=EVENTS_MAX, after=0))
    events = answer["events"]
    if options.json:
        say_json(answer)
        return 0
    shown = [
        each
        for each in events
        if options.full or (each["action"] or each["eventKind"]) in _SHOWN or each["outcome"] == "failed"
    ]
    if events:
        first, last = events[0], events[-1]
        head = f"{clean(first['sessionId'])}  {format_time(first['ts'])} to {format_time(last['ts'])}"
        which = f"the last {len(events)} events" if len(events) == EVENTS_MAX else count(len(events), "event")
        branches = list(dict.fromkeys(clean(each["branch"]) for each in events if each["branch"]))
        where = f", on {', '.join(branches)}" if branches else ""
        say(paint(f"{head}, {which}{where}", "bold"))
    if goals := answer.get("goals"):
        say_in_short(goals, answer.get("open", ""), "", most=5)
        say()
    say_events(shown, is_full=options.full)
    if len(shown) < len(events):
        say(paint(f"{count(len(events) - len(shown), 'call')} not shown; --full shows all", "dim"))
    return 0
