"""`siftd team maintain`."""

from __future__ import annotations

import argparse

from siftd.team_server import dsn
from siftd.team_server.maintaining import EXACT_MAX, maintain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    dsn.add_arguments(parser)
    parser.add_argument(
        "--exact-max", type=int, default=EXACT_MAX, metavar="N",
        help=f"vectors of a project that are compared without an index (default: {EXACT_MAX})",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Do what is due, and say what it was."""
    done = maintain(dsn.find_dsn(arguments), exact_max=arguments.exact_max)
    print(f"words counted anew: {', '.join(done.counted) or 'of no project'}")
    for each in done.indexes:
        state = "used" if each.used else "too low: all vectors are compared"
        print(f"index of {each.project}: {each.vectors} vectors, recall {each.recall:.3f} ({state})")
    return 0
