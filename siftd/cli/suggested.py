"""`mem pins --suggested`: what a person said that sounds like a standing rule. What they accept is kept and pinned.

Reads the database; starts a daemon only to keep what is accepted.
"""

from __future__ import annotations

import time

from siftd import ids
from siftd.cli.context import Context
from siftd.cli.hits import say_wrapped
from siftd.cli.output import clean, format_day, note, paint, say, say_json
from siftd.cli.person import is_at_terminal, says_yes
from siftd.cli.stored import read_store
from siftd.errors import RequestInvalid
from siftd.search.standing import Said, list_said
from siftd.wire.asking import Remember

SHOWN_MAX = 30
LINES = 3


def run_suggested(context: Context, accepted: list[str] | None, *, is_json: bool) -> int:
    """Show them, or pin those that are named."""
    now_ms = time.time_ns() // 1_000_000
    said = read_store(context, lambda c: list_said(c, now_ms)) or []
    if accepted is not None:
        return _accept(context, said, accepted, is_json=is_json)
    if is_json:
        say_json({"suggested": [{"id": f"e{each.event_id}", "ts": each.ts, "text": each.text} for each in said]})
        return 0
    for each in said[:SHOWN_MAX]:
        times = f"{each.times} times  " if each.times > 1 else ""
        head = f"e{each.event_id:<6} {format_day(each.ts)}  {times}"
        say_wrapped(head, f"{paint(head[:7], 'cyan')}{head[7:]}", f"«{each.text}»", LINES)
    if said:
        note("mem: `mem pins --suggested --accept e12` has one stand in every session; `mem show e12` has the whole")
    else:
        note("mem: nothing that you said sounds like a standing rule, or it is remembered already")
    return 0


def _accept(context: Context, said: list[Said], named: list[str], *, is_json: bool) -> int:
    wanted = {ids.parse_number(each, ids.EVENT) for each in named}
    chosen = [each for each in said if each.event_id in wanted]
    unknown = wanted - {each.event_id for each in chosen}
    if unknown or not chosen:
        raise RequestInvalid("this is none of them", hint="`mem pins --suggested` lists them with their ids")
    if not is_at_terminal(context.environ):
        raise RequestInvalid("a person has to say so", hint="run it in a terminal of your own")
    for each in chosen:
        say(f"«{clean(each.text)}»")
    if not says_yes("Let this stand in every session?"):
        note("mem: nothing was kept")
        return 1
    remembered = [_keep(context, each) for each in chosen]
    if is_json:
        say_json({"accepted": remembered})
    else:
        say(f"{', '.join(remembered)} pinned")
    return 0


def _keep(context: Context, said: Said) -> str:
    request = Remember(
        text=said.text, type="instruction", pin=True, typed=True, source="mem", session_id=said.session_id
    )
    return context.ask(request)["id"]
