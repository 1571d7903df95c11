"""`mem facts`: every fact that holds, by category; a page to read through."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import clean, count, format_day, is_terminal, note, one_line, paint, say, say_json
from siftd.wire import asking
from siftd.wire.global_routing import LETTER
from siftd.workspace.paths import GLOBAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HEADINGS = {
    "preference": "Preferences",
    "decision": "Decisions",
    "convention": "Conventions",
    "constraint": "Constraints",
    "architecture": "Architecture",
    "workflow": "Workflow",
    "domain": "Domain",
    "metric": "Metrics",
    "issue": "Issues",
    "action": "Actions",
    "fact": "Facts",
    "instruction": "Instructions",
    "procedure": "Procedures",
    "context": "Context",
    "episode": "Episodes",
}
"""How the page names categories, in its order."""


_ID_WIDTH = 6
_INDENT = " " * (_ID_WIDTH + 3)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--as-of", metavar="WHEN", help="what held then: a date, 2d (ago)")
    parser.add_argument("--category", help="only of this one: preference, decision, convention, workflow, ...")
    parser.add_argument("--project", action="store_true", help="only this project's, not those for every project (g3)")
    parser.add_argument("--all", action="store_true", help="also what a single session said")


def run(context: Context, options: Namespace) -> int:
    as_of = None
    if options.as_of:
        import time

        from siftd.timestamps import parse_moment

        as_of = parse_moment(options.as_of, time.time_ns() // 1_000_000)
    found, of_sessions = _read(context, options, as_of, "m")
    shared = context.home.for_workspace(GLOBAL).database
    if not options.project and context.workspace.key != GLOBAL and os.path.exists(shared):  # noqa: PTH110 - 10 ms
        found += _read(context, options, as_of, LETTER)[0]
    if options.json:
        say_json({"facts": found, "ofSessions": of_sessions})
        return 0
    for number, (category, heading) in enumerate(_groups(found)):
        say(("\n" if number else "") + paint(heading, "bold"))
        for each in found:
            if each["type"] == category:
                _say_fact(each)
    if of_sessions:
        note(f"mem: {count(of_sessions, 'fact')} more of single sessions; --all lists them")
    elif not found:
        note("mem: there is none; `mem remember` keeps one")
    return 0


def _read(context: Context, options: Namespace, as_of: int | None, letter: str) -> tuple[list[dict[str, Any]], int]:
    """Return every fact of one store, and how many more single sessions said."""
    found: list[dict[str, Any]] = []
    cursor, of_sessions = None, 0
    while True:
        request = asking.Facts(category=options.category, sessions=options.all, as_of=as_of, cursor=cursor)
        answer = context.ask(asking.elsewhere(request) if letter == LETTER else request)
        found += [{**each, "id": f"{letter}{each['id']}"} for each in answer["facts"]]
        of_sessions, cursor = answer["ofSessions"], answer["nextCursor"]
        if cursor is None:
            return found, of_sessions


def _groups(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the categories there are, with their headings; those of a later siftd last."""
    there = {each["type"] for each in found}
    known = [(name, heading) for name, heading in _HEADINGS.items() if name in there]
    return known + [(name, clean(name).capitalize()) for name in sorted(there - _HEADINGS.keys())]


def _say_fact(fact: dict[str, Any]) -> None:
    """Print a fact whole, with whose word it is and since when: in one line, at a terminal in as many as it needs."""
    name = f"{fact['id']:<{_ID_WIDTH}}"
    text = f"{one_line(fact['text'], used=-10_000)}  ({', '.join(_notes(fact))})"
    lines = [text]
    if is_terminal():
        from textwrap import wrap

        columns = os.get_terminal_size(sys.stdout.fileno()).columns or 80
        lines = wrap(text, max(columns - len(_INDENT), 20), break_on_hyphens=False)
    say(f"  {paint(name, 'cyan')} {lines[0]}")
    for line in lines[1:]:
        say(f"{_INDENT}{line}")


def _notes(fact: dict[str, Any]) -> list[str]:
    by = clean(fact["client"] or fact["saidBy"]) if fact["saidBy"] == "agent" else clean(fact["saidBy"])
    if fact["origin"] == "learnt":
        by = "seen"
    notes = [by, format_day(fact["validFrom"] or fact["ts"])]
    if fact["validTo"] is not None:
        notes.append(f"until {format_day(fact['validTo'])}")
    if fact["sources"] > 1:
        notes.append(f"{fact['sources']} times")
    if fact["waits"]:
        notes.append("waits for your word")
    if fact["gone"]:
        notes.append(f"cited file is gone: {clean(fact['gone'][0])}")
    return notes
