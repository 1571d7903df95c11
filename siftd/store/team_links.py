"""Which team a workspace has joined: at most one, kept in the log, so that a rebuild joins it again and asks nobody.

    team_join   {"project", "name", "url", "device", "person", "personName", "epoch", "share"}
    team_leave  {"project"}

Joining says again what is shared. The token is in neither: it lies in a file of its own.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from siftd.log.record import Record
from siftd.store import team_outbox

_INSERT = """
INSERT INTO team_links (project, name, url, device, person, person_name, epoch, share, ts) VALUES
    (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_FIND = """
SELECT project, name, url, device, person, person_name, epoch, share, ts, problem, problem_ts, pushed_ts, pulled_ts
FROM team_links LIMIT 1
"""
_PROBLEM = """
UPDATE team_links SET problem = ?1, problem_ts = CASE WHEN ?1 IS NULL THEN NULL WHEN problem IS ?1 THEN problem_ts
    ELSE ?2 END
"""


@dataclass(frozen=True, slots=True)
class TeamLink:
    """A joined team."""

    project: str
    name: str
    url: str
    device: str
    person: str
    person_name: str
    epoch: str
    share: tuple[str, ...]
    ts: int
    problem: str | None
    problem_ts: int | None
    pushed_ts: int | None
    pulled_ts: int | None


def is_known(connection: sqlite3.Connection) -> bool:
    """Whether the database knows of teams: one that no daemon of this siftd has opened yet may not."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'team_links'").fetchone() is not None


def find_link(connection: sqlite3.Connection) -> TeamLink | None:
    """Return the team that this workspace has joined."""
    row = connection.execute(_FIND).fetchone()
    if row is None:
        return None
    project, name, url, device, person, person_name, epoch, share, *rest = row
    return TeamLink(project, name, url, device, person, person_name, epoch, _kinds(share), *rest)


def apply_join(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    """Do what a `team_join` record says; everything that is shared waits to be told."""
    known = find_link(connection)
    if known is not None and known.project != payload["project"]:
        _drop(connection)
    connection.execute("DELETE FROM team_links")
    if known is not None and known.device != payload["device"]:  # a copied home tells again what it forgot too
        team_outbox.mark_all_again(connection, record.ts)
    names = ("project", "name", "url", "device", "person", "personName", "epoch")
    said = [str(payload[each]) for each in names]
    connection.execute(_INSERT, (*said, json.dumps(payload["share"]), record.ts))
    team_outbox.mark_all(connection, record.ts)


def apply_leave(connection: sqlite3.Connection, payload: dict[str, Any], _: Record) -> None:
    """Do what a `team_leave` record says."""
    known = find_link(connection)
    if known is not None and known.project == payload["project"]:
        _drop(connection)


def _drop(connection: sqlite3.Connection) -> None:
    for table in ("team_links", "team_dirty", "team_shared", "team_forgets"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - constants


def note_problem(connection: sqlite3.Connection, problem: str | None, now_ms: int) -> None:
    """Note why nothing goes up or comes down any more; None: it does."""
    connection.execute(_PROBLEM, (problem, now_ms))


def note_pushed(connection: sqlite3.Connection, now_ms: int) -> None:
    """Note when all that waited was told last."""
    connection.execute("UPDATE team_links SET pushed_ts = ?", (now_ms,))


def note_pulled(connection: sqlite3.Connection, now_ms: int) -> None:
    """Note when everything that is there had come down last."""
    connection.execute("UPDATE team_links SET pulled_ts = ?", (now_ms,))


def set_epoch(connection: sqlite3.Connection, epoch: str, now_ms: int) -> None:
    """Go on with a server that was restored: all that it had is told again, forgettings too."""
    connection.execute("UPDATE team_links SET epoch = ?", (epoch,))
    team_outbox.mark_all_again(connection, now_ms)


def _kinds(text: str) -> tuple[str, ...]:
    try:
        kinds = json.loads(text)
    except ValueError:
        return ()
    return tuple(each for each in kinds if isinstance(each, str)) if isinstance(kinds, list) else ()
