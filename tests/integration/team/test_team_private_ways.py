"""How a team's server is reached: with its own certificate, behind the proxy that was named, and by no other way."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres import Postgres, TeamDatabase, drop_database, make_team_database
from team_certificate import make_certificate
from team_service import join, run_team, team_service


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[TeamDatabase]:
    database = make_team_database(postgres)
    yield database
    drop_database(database)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("tls"))


def test_with_a_certificate_it_speaks_https_alone(database: TeamDatabase, certificate: tuple[Path, Path]) -> None:
    file, key = certificate
    with team_service(database.app, "--certificate", str(file), "--key", str(key)) as service:
        service.tls = ssl.create_default_context(cafile=str(file))
        ana = join(service, database, "ana", "tls")
        assert ana.push(ana.put("over https")).put == 1
        done = run_team("health", "--port", str(service.port))
        assert (done.returncode, done.stderr) == (0, "")
        service.tls = ssl.create_default_context()
        with pytest.raises(ssl.SSLCertVerificationError):
            ana.get(ana.v1("/members"))
        service.tls = None
        with pytest.raises(ConnectionError):
            ana.get(ana.v1("/members"))


def test_a_key_of_another_certificate_is_said_before_it_listens(
    database: TeamDatabase, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "key.pem"
    other.write_text("no key")
    done = run_team(
        "serve", "--certificate", str(certificate[0]), "--key", str(other), environ={"SIFTD_TEAM_DSN": database.app}
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot be used" in done.stderr


def test_behind_a_proxy_it_is_asked_by_that_one_alone_and_for_what_came_by_https(database: TeamDatabase) -> None:
    with team_service(database.app, "--host", "team.example", "--trusted-proxy", "127.0.0.1") as service:
        said = {"host": "team.example", "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.7"}
        assert service.ask("GET", "/api/v1/hello", headers=said).status == 200
        for wrong, code in (
            ({**said, "x-forwarded-proto": "http"}, "not_private"),
            ({"host": "team.example"}, "not_private"),
            ({**said, "host": "other.example"}, "wrong_host"),
            ({**said, "origin": "http://team.example"}, "foreign_origin"),
        ):
            assert service.ask("GET", "/api/v1/hello", headers=wrong).code == code, wrong
    with team_service(database.app, "--host", "team.example", "--trusted-proxy", "192.0.2.1") as service:
        # What is asked by the machine itself stays on it: a container's health check.
        assert service.ask("GET", "/health").status == 200


def test_behind_a_proxy_each_address_guesses_for_itself(database: TeamDatabase) -> None:
    few = {"siftd.team_server.limits.STRANGERS_PER_MINUTE": [1, 2]}
    with team_service(database.app, "--host", "team.example", "--trusted-proxy", "127.0.0.1", patches=few) as service:

        def guess(address: str) -> int:
            said = {"host": "team.example", "x-forwarded-proto": "https", "x-forwarded-for": f"10.9.9.9, {address}"}
            return service.ask("GET", "/api/v1/hello", token="guess", headers=said).status

        assert [guess("192.0.2.1") for _ in range(3)] == [200, 200, 429]
        assert guess("192.0.2.2") == 200
