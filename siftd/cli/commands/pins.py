"""`mem pins`: what stands in every session, what waits for a person's word, what they said that might, that word."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from typing import TypedDict, cast

from siftd import ids
from siftd.cli.context import Context
from siftd.cli.output import clean, count, format_time, note, one_line, paint, say, say_json
from siftd.cli.person import is_at_terminal, says_yes
from siftd.errors import RequestInvalid
from siftd.wire.asking import Accept, Memories, elsewhere
from siftd.wire.global_routing import LETTER
from siftd.workspace.paths import GLOBAL


class Pin(TypedDict):
    """A memory that is pinned or waits, by the id that it is cited by."""

    id: str
    ts: int
    updatedTs: int
    type: str
    text: str
    source: str | None
    saidBy: str
    waits: bool


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--accept", nargs="*", metavar="ID", help="let these stand (none named: all that wait); a person is asked"
    )

    parser.add_argument(
        "--suggested", action="store_true", help="what you said that sounds like a standing rule; --accept e12 pins it"
    )


def run(context: Context, options: Namespace) -> int:
    if options.suggested:
        from siftd.cli.suggested import run_suggested

        return run_suggested(context, options.accept, is_json=options.json)
    pins = _list(context)
    if options.accept is not None:
        return _accept(context, pins, options)
    if options.json:
        say_json({"pins": pins})
        return 0
    for each in pins:
        _say(each)
    waiting = sum(each["waits"] for each in pins)
    if waiting:
        note(f"mem: {count(waiting, 'pin')} waiting; `mem pins --accept` in a terminal lets them stand")
    elif not pins:
        note("mem: nothing is pinned; `mem remember --pin` does it")
    return 0


def _list(context: Context) -> list[Pin]:
    """Return what is pinned or waits, here and for every project, as it is cited; what waits comes last."""
    found: dict[str, Pin] = {}
    letters = ["m"]
    if os.path.exists(context.home.for_workspace(GLOBAL).database):  # noqa: PTH110 - pathlib would cost 10 ms
        letters.append(LETTER)
    for letter in letters:
        for request in (Memories(pinned=True, limit=500), Memories(waiting=True, limit=500)):
            rows = context.ask(elsewhere(request) if letter == LETTER else request)["memories"]
            found |= {f"{letter}{row['id']}": cast("Pin", row | {"id": f"{letter}{row['id']}"}) for row in rows}
    return sorted(found.values(), key=lambda each: (each["waits"], each["id"][0] != "m", -each["updatedTs"]))


def _accept(context: Context, pins: list[Pin], options: Namespace) -> int:
    waiting = {each["id"]: each for each in pins if each["waits"]}
    wanted = [ids.normal(each, ids.MEMORY) for each in options.accept] or list(waiting)
    if unknown := [each for each in wanted if each not in waiting]:
        raise RequestInvalid(f"{unknown[0]} waits for nothing", hint="`mem pins` lists what does")
    if not wanted:
        note("mem: nothing waits")
        return 0
    if not is_at_terminal(context.environ):
        raise RequestInvalid("a person has to say so", hint="run `mem pins --accept` in a terminal of your own")
    for each in wanted:
        _say(waiting[each])
    if not says_yes("Let this stand in every session?"):
        note("mem: it waits on; `mem forget ID` takes it away")
        return 1
    for each in wanted:
        context.ask(Accept(id=each))
    if options.json:
        say_json({"accepted": wanted})
    else:
        say(f"{', '.join(wanted)} accepted")
    return 0


def _say(memory: Pin) -> None:
    state = "waits" if memory["waits"] else "pinned"
    by = f"{memory['saidBy']} by {memory['source']}" if memory["source"] else memory["saidBy"]
    head = f"{memory['id']:<6} {format_time(memory['updatedTs'])}  {state:<6}  {clean(memory['type'])} ({clean(by)})"
    say(f"{paint(memory['id'], 'cyan')}{head[len(memory['id']) :]}  {one_line(memory['text'], len(head) + 2)}")
