"""What deploy/team/ runs, run by hand: the same commands with the same environment, before a real PostgreSQL.

No container engine is asked for: what an engine would add is looked at in the files.
"""

from __future__ import annotations

import re
import ssl
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from postgres import NoPostgres, Postgres, running
from team_certificate import make_certificate
from team_service import Member, run_team, team_service

from siftd.team_server.settings import PORT

REPOSITORY = Path(__file__).parents[3]
FOLDER = REPOSITORY / "deploy" / "team"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
CONTAINERFILE = (FOLDER / "Containerfile").read_text()
OURS = ("migrate", "init", "team")
SAID = {"OPERATOR_PASSWORD": "of-the-operator", "SERVER_PASSWORD": "of-the-server", "TEAM_HOST": "localhost"}
"""What somebody writes into .env."""


def filled(text: str) -> str:
    """Return a text of the compose file with what .env says."""
    return re.sub(r"\$\{(\w+)(?::\?[^}]*)?\}", lambda found: SAID[found[1]], text)


def environment(service: str, postgres: Postgres) -> dict[str, str]:
    said: Mapping[str, str] = SERVICES[service]["environment"]
    return {
        name: filled(value).replace("host=postgres", f"host={postgres.folder} port={postgres.port}")
        for name, value in said.items()
    }


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    """A server as its image makes it: one role that may everything, one database."""
    said = SERVICES["postgres"]["environment"]
    try:
        with running(18) as server:
            with psycopg.connect(server.dsn(), autocommit=True) as connection:
                connection.execute(f"CREATE ROLE {said['POSTGRES_USER']} SUPERUSER LOGIN")
                connection.execute(f"CREATE DATABASE {said['POSTGRES_DB']} OWNER {said['POSTGRES_USER']}")
            # From here on as the image has it: who comes by a password comes by no other way.
            hba = server.data / "pg_hba.conf"
            hba.write_text("local all postgres trust\nlocal all all scram-sha-256\n")
            with psycopg.connect(server.dsn(), autocommit=True) as connection:
                connection.execute(f"ALTER ROLE {said['POSTGRES_USER']} PASSWORD '{SAID['OPERATOR_PASSWORD']}'")
                connection.execute("SELECT pg_reload_conf()")
            yield server
    except NoPostgres as error:
        pytest.skip(f"NO POSTGRESQL: {error}")


def test_the_commands_of_the_compose_file_reach_a_working_team(postgres: Postgres, tmp_path: Path) -> None:
    done = run_team(*SERVICES["migrate"]["command"], environ=environment("migrate", postgres))
    assert done.returncode == 0, done.stderr
    entry = SERVICES["init"]["entrypoint"]
    assert entry[:2] == ["siftd", "team"]
    done = run_team(*entry[2:], "--project", "shop", "--admin", "ana", environ=environment("init", postgres))
    assert done.returncode == 0, done.stderr
    invitation = done.stdout.split()[-1]

    certificate, key = make_certificate(tmp_path)
    verb, *options = [filled(each) for each in SERVICES["team"]["command"]]
    assert verb == "serve"
    options = [each.replace("/tls/", f"{tmp_path}/").replace("0.0.0.0", "127.0.0.1") for each in options]
    assert [f"--certificate={certificate}", f"--key={key}"] == options[-2:]
    said = environment("team", postgres)
    with team_service(said["SIFTD_TEAM_DSN"], *options) as service:
        service.tls = ssl.create_default_context(cafile=str(certificate))
        joined = service.ask(
            "POST", "/api/v1/join", {"invite": invitation, "device": "laptop", "store": uuid.uuid4()}
        )  # fmt: skip
        assert joined.status == 200, joined.body
        ana = Member.of(service, joined.body)
        ana.push(ana.put("The job queue runs on Postgres"))
        assert len(ana.get(ana.api("/memory/search?q=queue"))["hits"]) == 1
        assert run_team("health", "--port", str(service.port)).returncode == 0
        for secret in SAID["OPERATOR_PASSWORD"], SAID["SERVER_PASSWORD"]:
            assert secret not in service.log()


def test_what_the_engine_is_told_keeps_the_server_small() -> None:
    assert re.search(r"^USER 1\d{4}:1\d{4}$", CONTAINERFILE, re.M), "no root"
    assert f"EXPOSE {PORT}" in CONTAINERFILE
    assert '["siftd", "team", "health"]' in CONTAINERFILE
    for each in (SERVICES[name] for name in OURS):
        assert each["read_only"] is True
        assert each["cap_drop"] == ["ALL"]
        assert each["security_opt"] == ["no-new-privileges:true"]
    assert SERVICES["team"]["healthcheck"]["test"][1:] == ["siftd", "team", "health"]
    assert "ports" not in SERVICES["postgres"], "nobody but the server reaches PostgreSQL"
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert SERVICES["postgres"]["healthcheck"]


def test_no_password_has_a_default_and_none_is_an_argument() -> None:
    text = (FOLDER / "compose.yaml").read_text()
    assert set(re.findall(r"\$\{(\w+)", text)) == set(SAID)
    assert ":-" not in text
    assert not any("PASSWORD" in str(each) for name in OURS for each in SERVICES[name].get("command", []))
    example = dict(
        line.split("=", 1) for line in (FOLDER / "example.env").read_text().splitlines() if not line.startswith("#")
    )
    assert set(example) == set(SAID)
    assert example["OPERATOR_PASSWORD"] == example["SERVER_PASSWORD"] == ""


def test_what_the_image_is_built_from_is_there() -> None:
    for line in re.findall(r"^COPY (?!--from)(.+)$", CONTAINERFILE, re.M):
        for source in line.split()[:-1]:
            assert (REPOSITORY / source).exists(), source


def test_the_server_needs_no_folder_to_write_to(postgres: Postgres) -> None:
    """As in the image: another user, no home, nothing but PATH in the environment."""
    done = subprocess.run(
        [sys.executable, "-I", "-m", "siftd", "team", "health", "--port", "1"],
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}, cwd="/", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert "no server answers" in done.stderr
