"""`siftd team restored`: to be run once after a backup was put back."""

from __future__ import annotations

import argparse

from siftd.team_server import dsn
from siftd.team_server.operator import as_owner, new_epoch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    dsn.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Begin another epoch."""
    with as_owner(dsn.find_dsn(arguments)) as connection:
        new_epoch(connection)
    print("a new epoch has begun: each device pulls all again, and pushes what the backup lacks")
    return 0
