"""`siftd team vacuum`."""

from __future__ import annotations

import argparse

from siftd.team_server import dsn
from siftd.team_server.vacuuming import vacuum


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    dsn.add_arguments(parser)
    parser.add_argument("--all", action="store_true", help="every table, not those of what was forgotten alone")


def run(arguments: argparse.Namespace) -> int:
    """Write tables anew, and say where bytes may be still."""
    done = vacuum(dsn.find_dsn(arguments), everything=arguments.all)
    print(f"forgotten since the last time: {done.items} items")
    print(f"written anew: {', '.join(done.tables) or 'nothing'}")
    if done.segments:
        print(f"segments of the write-ahead log filled with zeros: {done.segments}")
    for each in done.left:
        print(f"may be still in: {each}")
    return 0
