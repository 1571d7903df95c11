"""`siftd team migrate`."""

from __future__ import annotations

import argparse
import sys

from siftd.team_server import dsn
from siftd.team_server.app_password import APP, VARIABLE, set_app_password
from siftd.team_server.migrate import Migrated, migrate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    dsn.add_arguments(parser)
    parser.add_argument("--no-vectors", action="store_true", help="without pgvector: search is by words alone")


def run(arguments: argparse.Namespace) -> int:
    """Migrate, and say what was done."""
    prepare(dsn.find_dsn(arguments), vectors=not arguments.no_vectors)
    return 0


def prepare(where: str, *, vectors: bool) -> None:
    """Migrate, give the server's role its password where one is said, and print what was done."""
    print_done(migrate(where, vectors=vectors))
    if set_app_password(where):
        print(f"password of {APP}: as ${VARIABLE} says")


def print_done(done: Migrated) -> None:
    """Print what a migration did."""
    print(f"applied: {', '.join(done.applied)}" if done.applied else "nothing to apply")
    print("vectors: pgvector" if done.vectors else "vectors: none (search is by words alone)")
    for note in done.notes:
        print(f"note: {note}", file=sys.stderr)
