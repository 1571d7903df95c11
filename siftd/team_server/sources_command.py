"""`siftd team sources`: which sources besides people's own memories a project takes."""

from __future__ import annotations

import argparse

from siftd.team.items import NATURAL
from siftd.team_server import dsn
from siftd.team_server.operator import as_owner, find_project
from siftd.team_server.sources import list_sources, switch

NAMES = sorted(NATURAL)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    dsn.add_arguments(parser)
    parser.add_argument("project", metavar="PROJECT", help="its name or id")
    parser.add_argument("--on", action="append", default=[], choices=NAMES, help="take it; may be given several times")
    parser.add_argument(
        "--off", action="append", default=[], choices=NAMES, help="take no more of it; what is there stays"
    )


def run(arguments: argparse.Namespace) -> int:
    """Switch sources on and off, and print how all of them stand."""
    with as_owner(dsn.find_dsn(arguments)) as connection:
        project = find_project(connection, arguments.project)
        for source in arguments.on:
            switch(connection, project, source, is_on=True)
        for source in arguments.off:
            switch(connection, project, source, is_on=False)
        found = list_sources(connection, project)
    for source in NAMES:
        is_on, items = found.get(source, (False, 0))
        print(f"{source:<10} {'on' if is_on else 'off':<4} {items:>9,} items so far")
    return 0
