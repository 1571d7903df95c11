"""`siftd team …`: what an operator does with a team's store. The password of the database is never an argument.

Each verb is a module of its own, imported when it is chosen.
"""

from __future__ import annotations

import argparse
import importlib
import sys

from siftd.errors import SiftdError

VERBS = {
    "migrate": ("migrate_command", "bring the database to this siftd's schema"),
    "sources": ("sources_command", "say which of issues, comments and jobs a project takes"),
    "serve": ("serve_command", "answer laptops and programs, before PostgreSQL"),
    "health": ("health_command", "ask whether the server of this machine answers"),
    "init": ("init_command", "migrate, make a project, and invite its first admin"),
    "invite": ("invite_command", "let a person, or another device of theirs, join a project"),
    "token": ("token_command", "make a token of a program, for webhooks and the API"),
    "members": ("members_command", "list projects, or a project's members and devices"),
    "revoke": ("revoke_command", "end a device's token, or take a person out"),
    "maintain": ("maintain_command", "count words anew, and index the vectors of large projects; once a night"),
    "vacuum": ("vacuum_command", "take the bytes of what was forgotten out of the database's files"),
    "export": ("export_command", "write a project as lines of JSON"),
    "import": ("import_command", "read a project that was exported"),
    "restored": ("restored_command", "say that a backup was put back"),
}
"""The verb, its module, what it is for."""
_NEEDS = "a team's server needs psycopg: pip install 'siftd-memory[team]'"


def run(arguments: list[str]) -> int:
    """Run one verb and return the exit status: 0 done, 1 failed, 2 misused."""
    parser = argparse.ArgumentParser(prog="siftd team", description="A team's memory, on PostgreSQL.")
    parsers = parser.add_subparsers(dest="verb", metavar="VERB")
    chosen = next((each for each in arguments if each in VERBS), None)
    for verb, (module, purpose) in VERBS.items():
        sub = parsers.add_parser(
            verb, help=purpose, description=purpose[0].upper() + purpose[1:] + ".", allow_abbrev=False
        )
        if verb == chosen:
            try:
                loaded = importlib.import_module(f"siftd.team_server.{module}")
            except ModuleNotFoundError as error:
                if (error.name or "").split(".")[0] not in ("psycopg", "psycopg_pool"):
                    raise
                print(_NEEDS, file=sys.stderr)
                return 1
            loaded.add_arguments(sub)
            sub.set_defaults(run=loaded.run)
    parsed = parser.parse_args(arguments)
    if parsed.verb is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        return int(parsed.run(parsed))
    except SiftdError as error:
        print(f"siftd team {parsed.verb}: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"  {error.hint}", file=sys.stderr)
        return 1
