"""What an operator does to projects and people, over the database's own connection rather than with a token."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg

from siftd.errors import NothingFound, StoreError
from siftd.team.protocol import Role

INVITE_HOURS = 24

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Invitation:
    """An invitation. The code is told once: only its digest is kept."""

    code: str
    project: uuid.UUID
    person: uuid.UUID


@contextmanager
def as_owner(dsn: str) -> Iterator[Connection]:
    """Open a transaction as the owner of the store. Raises StoreError."""
    try:
        with psycopg.connect(dsn) as connection:
            connection.execute("SET LOCAL ROLE siftd_owner")
            connection.execute("SET LOCAL search_path = siftd, pg_temp")
            yield connection
    except psycopg.errors.InvalidParameterValue as error:
        raise StoreError("the database has no store of a team", hint="siftd team migrate") from error
    except psycopg.Error as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise StoreError(f"the team's store could not do it ({first})", hint="siftd team migrate") from error


def ensure_project(connection: Connection, name: str, embedder: str) -> uuid.UUID:
    """Return the project of a name, made where there is none."""
    connection.execute(
        "INSERT INTO projects (name, embedder) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING", (name, embedder)
    )
    return find_project(connection, name)


def find_project(connection: Connection, name: str) -> uuid.UUID:
    """Return a project's id by its name or id. Raises NothingFound."""
    row = connection.execute("SELECT id FROM projects WHERE name = %s OR id::text = %s", (name, name)).fetchone()
    if row is None:
        raise NothingFound("there is no such project", hint="siftd team members lists them; siftd team init makes one")
    return uuid.UUID(str(row[0]))


def invite(
    connection: Connection,
    project: uuid.UUID,
    person: str,
    role: Role,
    hours: int = INVITE_HOURS,
    token_days: int | None = None,
) -> Invitation:
    """Invite a person, by name, to a project; who is one already gets another device, with this role from then on."""
    who = _ensure_person(connection, person)
    code = secrets.token_urlsafe(32)
    connection.execute(
        "INSERT INTO invitations (digest, project_id, person, role, expires_at, token_days)"
        " VALUES (%s, %s, %s, %s, now() + make_interval(hours => %s), %s)",
        (digest(code), project, who, role, hours, token_days),
    )
    note(connection, project, f"invited {person} as {role}")
    return Invitation(code, project, who)


def make_token(connection: Connection, project: uuid.UUID, name: str, role: Role, days: int | None = None) -> str:
    """Return a token of a program, in a name of its own, for one project; it is told once."""
    who = _ensure_person(connection, name)
    token = secrets.token_urlsafe(32)
    connection.execute(
        "INSERT INTO members (project_id, person, role) VALUES (%s, %s, %s)"
        " ON CONFLICT (project_id, person) DO UPDATE SET role = excluded.role",
        (project, who, role),
    )
    connection.execute(
        "INSERT INTO tokens (digest, person, project_id, kind, expires_at)"
        " VALUES (%s, %s, %s, 'service', now() + make_interval(days => %s))",
        (digest(token), who, project, days),
    )
    note(connection, project, f"made a token of {name} as {role}")
    return token


def _ensure_person(connection: Connection, name: str) -> uuid.UUID:
    connection.execute("INSERT INTO persons (name) VALUES (%s) ON CONFLICT (name) DO NOTHING", (name,))
    row = connection.execute("SELECT id FROM persons WHERE name = %s", (name,)).fetchone()
    assert row is not None
    return uuid.UUID(str(row[0]))


def note(connection: Connection, project: uuid.UUID, what: str) -> None:
    """Write down what the operator did."""
    connection.execute("INSERT INTO audit (project_id, what) VALUES (%s, %s)", (project, what))


def digest(secret: str) -> bytes:
    """Return what is kept of a token or of an invitation."""
    return hashlib.sha256(secret.encode()).digest()


def revoke_device(connection: Connection, project: uuid.UUID, device: str) -> None:
    """End a device's token. Raises NothingFound."""
    row = connection.execute(
        "UPDATE devices SET left_at = coalesce(left_at, now()) WHERE project_id = %s AND id::text = %s RETURNING id",
        (project, device),
    ).fetchone()
    if row is None:
        raise NothingFound("there is no such device in the project", hint="siftd team members PROJECT lists them")
    connection.execute("UPDATE tokens SET revoked_at = coalesce(revoked_at, now()) WHERE device = %s", (row[0],))
    connection.execute(
        "INSERT INTO audit (project_id, what, id) VALUES (%s, 'revoked a device', %s)", (project, row[0])
    )


def dismiss(connection: Connection, project: uuid.UUID, person: str, *, forget_shared: bool) -> int:
    """Take a person out of a project, and return how many of their items went. Raises NothingFound."""
    row = connection.execute(
        "SELECT m.person FROM members m JOIN persons n ON n.id = m.person WHERE m.project_id = %s AND n.name = %s",
        (project, person),
    ).fetchone()
    if row is None:
        raise NothingFound("there is no such member", hint="siftd team members PROJECT lists them")
    went = connection.execute("SELECT dismiss(%s, %s, %s)", (project, row[0], forget_shared)).fetchone()
    note(connection, project, f"took out {person}")
    return 0 if went is None else int(went[0])


def disable(connection: Connection, person: str) -> None:
    """End every token of a person, and let none of theirs begin."""
    connection.execute("UPDATE persons SET disabled_at = coalesce(disabled_at, now()) WHERE name = %s", (person,))


def new_epoch(connection: Connection) -> None:
    """Begin another epoch: devices pull everything again, and push again what is theirs."""
    connection.execute("UPDATE meta SET value = gen_random_uuid()::text WHERE key = 'epoch'")
    connection.execute("INSERT INTO audit (project_id, what) SELECT id, 'a backup was put back' FROM projects")
