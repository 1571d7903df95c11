"""`siftd team init`: from an empty database to an invitation."""

from __future__ import annotations

import argparse

from siftd.team_server import dsn
from siftd.team_server.migrate_command import prepare
from siftd.team_server.operator import INVITE_HOURS, as_owner, ensure_project, invite

EMBEDDER = "blend-384"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    dsn.add_arguments(parser)
    parser.add_argument("--no-vectors", action="store_true", help="without pgvector: search is by words alone")
    parser.add_argument("--project", required=True, metavar="NAME", help="made where there is none of that name")
    parser.add_argument("--admin", required=True, metavar="NAME", help="the person who is invited as its admin")
    parser.add_argument("--embedder", default=EMBEDDER, help=f"what makes its vectors (default: {EMBEDDER})")


def run(arguments: argparse.Namespace) -> int:
    """Migrate, make the project, print the invitation."""
    where = dsn.find_dsn(arguments)
    prepare(where, vectors=not arguments.no_vectors)
    with as_owner(where) as connection:
        project = ensure_project(connection, arguments.project, arguments.embedder)
        invitation = invite(connection, project, arguments.admin, "admin")
    print(f"project: {arguments.project} ({project})")
    print(f"invitation for {arguments.admin}, once, within {INVITE_HOURS} hours: {invitation.code}")
    return 0
