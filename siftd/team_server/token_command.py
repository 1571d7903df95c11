"""`siftd team token`: for a program, such as one that brings issues by webhooks."""

from __future__ import annotations

import argparse

from siftd.team_server import dsn
from siftd.team_server.operator import as_owner, find_project, make_token


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    dsn.add_arguments(parser)
    parser.add_argument("project", metavar="PROJECT", help="its name or id; the token is for this one alone")
    parser.add_argument("name", metavar="NAME", help="of the program, as members see it")
    parser.add_argument("--role", choices=["reader", "writer", "admin"], default="writer", help="(default: writer)")
    parser.add_argument("--days", type=int, choices=range(1, 3651), metavar="N", help="(default: until revoked)")


def run(arguments: argparse.Namespace) -> int:
    """Print the token: the only time that anybody sees it."""
    with as_owner(dsn.find_dsn(arguments)) as connection:
        project = find_project(connection, arguments.project)
        token = make_token(connection, project, arguments.name, arguments.role, arguments.days)
    print(token)
    return 0
