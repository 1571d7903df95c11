"""`siftd team export`."""

from __future__ import annotations

import argparse
import os
import sys
from typing import BinaryIO

from siftd.team_server import dsn
from siftd.team_server.exporting import export
from siftd.team_server.operator import as_owner, find_project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    dsn.add_arguments(parser)
    parser.add_argument("project", metavar="PROJECT", help="its name or id")
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="a new one, for your eyes only (default: standard output)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the project, private items too."""
    with as_owner(dsn.find_dsn(arguments)) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        project = find_project(connection, arguments.project)
        with _opened(arguments.file) as file:
            number = 0
            for number, line in enumerate(export(connection, project), 1):  # noqa: B007 - counted
                file.write(line)
    print(f"{number} lines", file=sys.stderr)
    return 0


def _opened(path: str | None) -> BinaryIO:
    if path is None:
        return os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
