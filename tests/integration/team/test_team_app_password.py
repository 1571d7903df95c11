"""The server's role gets its password from the environment, where the database wants one."""

from __future__ import annotations

import os
import subprocess
import sys

import psycopg
from postgres import TeamDatabase


def migrated(database: TeamDatabase, **environment: str) -> str:
    command = [sys.executable, "-m", "siftd", "team", "migrate"]
    variables = {**os.environ, "SIFTD_TEAM_DSN": database.operator, **environment}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def hashed(database: TeamDatabase) -> str | None:
    with psycopg.connect(database.superuser) as connection:
        row = connection.execute("SELECT rolpassword FROM pg_authid WHERE rolname = 'siftd_app'").fetchone()
    assert row is not None
    found: str | None = row[0]
    return found


def test_it_is_set_as_a_hash_and_stays_where_nothing_is_said(team_database: TeamDatabase) -> None:
    assert "password" not in migrated(team_database)
    assert "password of siftd_app" in migrated(team_database, SIFTD_TEAM_APP_PASSWORD="correct horse")
    first = hashed(team_database)
    assert first is not None
    assert first.startswith("SCRAM-SHA-256$")
    migrated(team_database)
    assert hashed(team_database) == first
    with psycopg.connect(team_database.superuser, autocommit=True) as connection:
        connection.execute("ALTER ROLE siftd_app PASSWORD NULL")  # the role is the whole server's
