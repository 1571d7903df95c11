"""`mem remember`: keep a statement on purpose."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import note, say, say_json
from siftd.cli.person import is_at_terminal, says_yes
from siftd.wire.asking import Remember, Supersede

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("text", nargs="+", metavar="TEXT", help="the statement; - reads it from standard input")
    parser.add_argument("--type", help="fact (default), preference, decision, procedure, context, episode, instruction")
    parser.add_argument("--tag", action="append", default=[], dest="tags", help="a word to know it by; may be repeated")
    parser.add_argument("--importance", type=int, metavar="1-5", help="how much it matters (default: 3)")
    parser.add_argument("--confidence", type=float, metavar="0-1", help="how sure it is")
    parser.add_argument("--from", dest="valid_from", metavar="WHEN", help="holds from then on: a date, 2d (ago)")
    parser.add_argument("--until", dest="valid_until", metavar="WHEN", help="holds until then: a date")
    parser.add_argument("--pin", action="store_true", help="a standing instruction")
    parser.add_argument(
        "--supersedes", metavar="ID", help="keep it in the place of this memory, which stays as history"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--project", action="store_true", default=True, help="for this project (default)")
    where.add_argument("--global", action="store_false", dest="project", help="for every project; it is known as g3")


def run(context: Context, options: Namespace) -> int:
    text = sys.stdin.buffer.read().decode("utf-8", "replace") if options.text == ["-"] else " ".join(options.text)
    typed = is_at_terminal(context.environ)
    if typed and (options.pin or not options.project or options.supersedes):
        where = "this project" if options.project else "every project"
        if not says_yes(f"Every session of {where} may be given this. Keep it?"):
            note("mem: nothing was kept")
            return 1
    fields = {"text": text, "source": "mem", "typed": typed, **_fields(options)}
    answer = context.ask(Supersede(id=options.supersedes, **fields) if options.supersedes else Remember(**fields))
    if options.json:
        say_json(answer)
    elif answer.get("duplicate"):
        say(f"{answer['id']} says this already")
    else:
        say(f"{answer['id']} remembered")
    if answer.get("waits"):
        note("mem: it waits for a person: `mem pins --accept` in a terminal lets it stand")
    if answer["similar"] and not options.json:
        near = ", ".join(answer["similar"])
        note(f"mem: it resembles {near}; `mem show ID` tells, `mem remember --supersedes ID` replaces one")
    return 0


def _fields(options: Namespace) -> dict[str, Any]:
    """Return what was given; the daemon has the defaults."""
    fields = {"tags": options.tags, "project": options.project, "pin": options.pin}
    if options.supersedes:  # what is not said is inherited
        fields = {name: value for name, value in fields.items() if name != "project" and value}
    given = {
        name: value for name in ("type", "importance", "confidence") if (value := getattr(options, name)) is not None
    }
    times = {"valid_from": options.valid_from, "valid_until": options.valid_until}
    if any(times.values()):
        import time

        from siftd.timestamps import parse_moment

        now_ms = time.time_ns() // 1_000_000
        given |= {name: parse_moment(moment, now_ms) for name, moment in times.items() if moment}
    return fields | given
