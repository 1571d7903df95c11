"""`siftd team sources`: a project takes issues, comments and jobs only once somebody has said so."""

from __future__ import annotations

import subprocess
import sys

import psycopg
import pytest
from postgres import TeamDatabase

from siftd.errors import NothingFound
from siftd.team_server.operator import as_owner, ensure_project, find_project
from siftd.team_server.sources import list_sources, switch


def test_a_source_is_switched_on_and_off_and_the_audit_says_when(team_database: TeamDatabase) -> None:
    with as_owner(team_database.operator) as connection:
        project = ensure_project(connection, "bank", "hash-384")
        assert list_sources(connection, project) == {}
        switch(connection, project, "issue", is_on=True)
        switch(connection, project, "issue", is_on=True)
        assert list_sources(connection, project) == {"issue": (True, 0)}
        switch(connection, project, "issue", is_on=False)
        assert list_sources(connection, project) == {"issue": (False, 0)}
    with psycopg.connect(team_database.superuser) as connection:
        rows = connection.execute("SELECT what FROM siftd.audit WHERE what LIKE 'switched%' ORDER BY number").fetchall()
    assert [what for (what,) in rows] == ["switched issue on", "switched issue off"]


def test_the_command_says_how_all_of_them_stand(team_database: TeamDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    with as_owner(team_database.operator) as connection:
        ensure_project(connection, "bank", "hash-384")
    monkeypatch.setenv("SIFTD_TEAM_DSN", team_database.operator)
    command = [sys.executable, "-m", "siftd", "team", "sources"]
    done = subprocess.run(
        [*command, "bank", "--on", "issue", "--on", "job"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    stands = {line.split()[0]: line.split()[1] for line in done.stdout.splitlines()}
    assert stands == {"issue": "on", "job": "on", "comment": "off", "decision": "off", "policy": "off"}
    wrong = subprocess.run([*command, "bank", "--on", "memory"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    nobody = subprocess.run([*command, "shop"], capture_output=True, text=True, check=False)
    assert "there is no such project" in nobody.stderr


def test_a_project_that_is_not_there_is_said_to_be_none(team_database: TeamDatabase) -> None:
    with as_owner(team_database.operator) as connection, pytest.raises(NothingFound):
        find_project(connection, "shop")
