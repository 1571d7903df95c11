"""`siftd team import`."""

from __future__ import annotations

import argparse
from pathlib import Path

from siftd.errors import ConfigInvalid
from siftd.team_server import dsn
from siftd.team_server.exporting import read
from siftd.team_server.operator import as_owner


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    dsn.add_arguments(parser)
    parser.add_argument("file", metavar="FILE", help="what `siftd team export` wrote")


def run(arguments: argparse.Namespace) -> int:
    """Import the project, all of it or nothing."""
    try:
        file = Path(arguments.file).open("rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise ConfigInvalid(f"{arguments.file} cannot be read ({type(error).__name__})") from error
    with file, as_owner(dsn.find_dsn(arguments)) as connection:
        name, items, gone = read(connection, file)
    print(f"project: {name}; {items} items and {gone} tombstones were new")
    return 0
