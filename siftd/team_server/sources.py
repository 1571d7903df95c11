"""Which sources a project takes: issues, comments, jobs, decisions and policies are off until somebody says so."""

from __future__ import annotations

import uuid

from siftd.team.items import Source
from siftd.team_server.operator import Connection, note


def switch(connection: Connection, project: uuid.UUID, source: Source, *, is_on: bool) -> None:
    """Switch a source on or off; what the project has of it stays."""
    done = connection.execute(
        "INSERT INTO sources AS s (project_id, source, is_on) VALUES (%s, %s, %s)"
        " ON CONFLICT (project_id, source) DO UPDATE SET is_on = excluded.is_on WHERE s.is_on <> excluded.is_on",
        (project, source, is_on),
    )
    if done.rowcount:
        note(connection, project, f"switched {source} {'on' if is_on else 'off'}")


def list_sources(connection: Connection, project: uuid.UUID) -> dict[str, tuple[bool, int]]:
    """Return by source whether it is on, and how many items it has ever brought."""
    rows = connection.execute("SELECT source, is_on, received FROM sources WHERE project_id = %s", (project,))
    return {str(source): (bool(is_on), int(items)) for source, is_on, items in rows}
