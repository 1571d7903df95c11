"""`mem why`: why an agent was given one piece, and whether its session then touched it."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import Any

from siftd.cli.context import Context
from siftd.cli.output import clean, format_time, say, say_json, tell
from siftd.wire.asking import Injections

_SECTIONS = {
    "standing": "pinned, so it stands at the start of every session",
    "ending": "the last session ended with it",
    "failure": "it failed last and had not succeeded since",
    "kept": "it was in the kept brief, printed while no daemon ran",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="as cited: s7, m3, e12")


def run(context: Context, options: Namespace) -> int:
    answer = context.ask(Injections(id=options.id))
    if options.json:
        say_json(answer)
        return 0
    for each in answer["injections"]:
        touched = f"e{each['touchedBy']} then worked on it" if each["touchedBy"] else "the session did not touch it"
        say(f"{format_time(each['ts'])}  {each['hook']} of {clean(each['sessionId'])}")
        say(f"  because {_reason(each['why'])}; {touched}")
    if not answer["injections"]:
        tell("mem: no agent was given this; `mem injections` lists what was")
        return 1
    return 0


def _reason(why: dict[str, Any]) -> str:
    if why.get("section") in _SECTIONS:
        return _SECTIONS[why["section"]]
    share = why.get("share")
    legs = ", ".join(f"{leg} no. {rank}" for leg, rank in why.items() if leg not in ("score", "share"))
    return f"it answers {share:.0%} of the prompt (found by {legs})" if share is not None else json.dumps(why)
