"""`mem verify`: say that a fact holds, or that it holds no more."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import say, say_json
from siftd.cli.person import is_at_terminal
from siftd.wire.asking import Verify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the fact (m3)")
    verdict = parser.add_mutually_exclusive_group(required=True)
    verdict.add_argument("--confirmed", action="store_true", help="it holds, also if something had replaced it")
    verdict.add_argument("--outdated", action="store_true", help="it holds no more, and is found no more")


def run(context: Context, options: Namespace) -> int:
    verdict: Literal["confirmed", "outdated"] = "confirmed" if options.confirmed else "outdated"
    answer = context.ask(Verify(id=options.id, verdict=verdict, typed=is_at_terminal(context.environ)))
    if options.json:
        say_json(answer)
    else:
        say(f"{answer['id']} {'holds' if options.confirmed else 'holds no more'}")
    return 0
