"""`siftd team invite`."""

from __future__ import annotations

import argparse

from siftd.team_server import dsn
from siftd.team_server.operator import INVITE_HOURS, as_owner, find_project, invite


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    dsn.add_arguments(parser)
    parser.add_argument("project", metavar="PROJECT", help="its name or id")
    parser.add_argument("person", metavar="PERSON", help="a name; who is a member already gets another device")
    parser.add_argument("--role", choices=["reader", "writer", "admin"], default="writer", help="(default: writer)")
    parser.add_argument(
        "--hours", type=int, choices=range(1, 24 * 30 + 1), default=INVITE_HOURS, metavar="N",
        help=f"how long it holds (default: {INVITE_HOURS})",
    )  # fmt: skip
    parser.add_argument(
        "--token-days",
        type=int,
        metavar="N",
        choices=range(1, 3651),
        help="how long the device may stay (default: until revoked)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print an invitation: the only time that anybody sees it."""
    with as_owner(dsn.find_dsn(arguments)) as connection:
        project = find_project(connection, arguments.project)
        invitation = invite(
            connection, project, arguments.person, arguments.role, arguments.hours, arguments.token_days
        )
    print(f"invitation for {arguments.person}, once, within {arguments.hours} hours: {invitation.code}")
    return 0
