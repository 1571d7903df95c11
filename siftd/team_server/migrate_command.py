"""`siftd team migrate`."""

from __future__ import annotations

import argparse
import sys

from siftd.team_server import dsn
from siftd.team_server.migrate import Migrated, migrate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    dsn.add_arguments(parser)
    parser.add_argument("--no-vectors", action="store_true", help="without pgvector: search is by words alone")


def run(arguments: argparse.Namespace) -> int:
    """Migrate, and say what was done."""
    print_done(migrate(dsn.find_dsn(arguments), vectors=not arguments.no_vectors))
    return 0


def print_done(done: Migrated) -> None:
    """Print what a migration did."""
    print(f"applied: {', '.join(done.applied)}" if done.applied else "nothing to apply")
    print("vectors: pgvector" if done.vectors else "vectors: none (search is by words alone)")
    for note in done.notes:
        print(f"note: {note}", file=sys.stderr)
