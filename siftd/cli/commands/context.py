"""`mem context`: the facts that an agent is handed here, pod by pod, and why each stands there."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import count, note, say, say_json
from siftd.cli.pod_page import say_pod
from siftd.wire import asking


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--explain", action="store_true", help="say why each stands there, and why others do not")
    parser.add_argument("--session", metavar="ID", help="as this session is handed them, with what was said in it")
    parser.add_argument(
        "--about", default="", metavar="TEXT", help="what is asked: it brings up the playbooks it names"
    )


def run(context: Context, options: Namespace) -> int:
    answer = context.ask(asking.Context(session=options.session, about=options.about, explain=options.explain))
    if options.json:
        say_json(answer)
        return 0
    shown = [pod for pod in answer["pods"] if pod["facts"] or options.explain]
    for number, pod in enumerate(shown):
        if number and options.explain:
            say()
        say_pod(pod, is_explained=options.explain)
    if not answer["facts"]:
        note("mem: no fact stands here; `mem remember` keeps one")
    else:
        say()
        say(
            f"{count(answer['facts'], 'fact')} of {answer['factsMax']}, {answer['chars']:,} characters of"
            f" {answer['charsMax']:,}"
        )
    return 0
