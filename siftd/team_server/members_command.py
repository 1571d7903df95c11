"""`siftd team members`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from siftd.team_server import dsn
from siftd.team_server.operator import Connection, as_owner, find_project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    dsn.add_arguments(parser)
    parser.add_argument("project", nargs="?", metavar="PROJECT", help="its name or id (default: list the projects)")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the projects, or who is in one and how far each device has applied its feed."""
    with as_owner(dsn.find_dsn(arguments)) as connection:
        if arguments.project is None:
            found = list_projects(connection)
            lines = [f"{each['name']}  {each['id']}  {each['members']} members, place {each['head']}" for each in found]
        else:
            found = list_members(connection, arguments.project)
            lines = [line for each in found for line in _lines(each)]
    print(json.dumps(found, indent=2) if arguments.json else "\n".join(lines))
    return 0


def list_projects(connection: Connection) -> list[dict[str, Any]]:
    """Return the projects of the store."""
    rows = connection.execute(
        "SELECT p.id::text, p.name, p.head, p.embedder, (SELECT count(*) FROM members m WHERE m.project_id = p.id)"
        " FROM projects p ORDER BY p.name"
    )
    return [dict(zip(("id", "name", "head", "embedder", "members"), row, strict=True)) for row in rows]


def list_members(connection: Connection, name: str) -> list[dict[str, Any]]:
    """Return the members of a project with their devices. Raises NothingFound."""
    project = find_project(connection, name)
    rows = connection.execute(
        """
        SELECT n.name, m.role, n.disabled_at IS NOT NULL, coalesce((
            SELECT jsonb_agg(jsonb_build_object('id', d.id, 'name', d.name, 'seq', coalesce(k.seq, 0),
                'seenAt', d.seen_at) ORDER BY d.joined_at)
            FROM devices d LEFT JOIN cursors k ON k.project_id = d.project_id AND k.device = d.id
            WHERE d.project_id = m.project_id AND d.person = m.person AND d.left_at IS NULL), '[]')
        FROM members m JOIN persons n ON n.id = m.person WHERE m.project_id = %s ORDER BY n.name
        """,
        (project,),
    )
    return [dict(zip(("person", "role", "disabled", "devices"), row, strict=True)) for row in rows]


def _lines(member: dict[str, Any]) -> list[str]:
    state = ", disabled" if member["disabled"] else ""
    devices = [
        f"  {each['name']}  {each['id']}  applied {each['seq']}, seen {each['seenAt'] or 'never'}"
        for each in member["devices"]
    ]
    return [f"{member['person']} ({member['role']}{state})", *devices]
