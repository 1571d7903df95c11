"""`siftd team revoke`: end a device's token, or take a person out."""

from __future__ import annotations

import argparse

from siftd.errors import NothingFound
from siftd.team_server import dsn
from siftd.team_server.operator import as_owner, disable, dismiss, find_project, revoke_device


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    dsn.add_arguments(parser)
    parser.add_argument("project", metavar="PROJECT", help="its name or id")
    whom = parser.add_mutually_exclusive_group(required=True)
    whom.add_argument("--device", metavar="ID", help="a lost laptop: its token ends, nothing else changes")
    whom.add_argument("--person", metavar="NAME", help="takes them out of the project; their private items go")
    parser.add_argument("--forget-shared", action="store_true", help="what the person shared goes too")
    parser.add_argument("--everywhere", action="store_true", help="end all of the person's tokens, in every project")


def run(arguments: argparse.Namespace) -> int:
    """Revoke, and say what went."""
    if arguments.device and (arguments.forget_shared or arguments.everywhere):
        raise NothingFound("--forget-shared and --everywhere are of a person", hint="give --person NAME")
    with as_owner(dsn.find_dsn(arguments)) as connection:
        project = find_project(connection, arguments.project)
        if arguments.device:
            revoke_device(connection, project, arguments.device)
            print("the device's token has ended")
            return 0
        went = dismiss(connection, project, arguments.person, forget_shared=arguments.forget_shared)
        if arguments.everywhere:
            disable(connection, arguments.person)
    print(f"{arguments.person} is out of the project; {went} of their items were taken away")
    if went:
        print("their bytes stay in files until: siftd team vacuum")
    return 0
