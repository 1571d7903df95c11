"""`mem slash`: run what a person typed behind `/mem`, as it stands on standard input."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from siftd.cli import command_table
from siftd.cli.context import Context
from siftd.cli.output import say
from siftd.errors import RequestInvalid
from siftd.install.slash import parse_slash


def add_arguments(parser: ArgumentParser) -> None:
    pass


def run(context: Context, options: Namespace) -> int:
    typed = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        verb, rest = command_table.choose(parse_slash(typed.strip()))
    except RequestInvalid as error:  # of a command that fails the client shows the text with which it was run
        say(f"mem: {error.message}; {error.hint}")
        return 0
    module = command_table.load(verb)
    workspace = ["--workspace", options.workspace] if options.workspace else []
    status: int = module.run(context, command_table.parse(verb, module, [*workspace, *rest]))
    return status
