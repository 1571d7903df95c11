"""`siftd team migrate` on a real PostgreSQL: numbered, forward, without a superuser, once at a time."""

from __future__ import annotations

import subprocess
import sys
import threading

import psycopg
import pytest
from postgres import Postgres, TeamDatabase, add_vectors, make_database

from siftd.errors import MigrationFailed, SchemaTooNew
from siftd.team_server import migrate as module
from siftd.team_server.migrate import known_files, migrate


def test_an_empty_database_becomes_a_store_and_migrating_again_applies_nothing(empty_database: TeamDatabase) -> None:
    first = migrate(empty_database.operator)
    assert first.applied == [*(each.name for each in known_files()), "functions"]
    assert first.vectors
    assert first.notes == []
    assert migrate(empty_database.operator).applied == []


def test_the_servers_role_may_read_no_table(team_database: TeamDatabase) -> None:
    with psycopg.connect(team_database.superuser) as connection:
        tables = [row[0] for row in connection.execute(
            "SELECT c.relname FROM pg_class c WHERE relnamespace = 'siftd'::regnamespace AND relkind IN ('r', 'p', 'v')"
        )]  # fmt: skip
    assert {"memories", "memories_00", "tokens", "forge_memories"} <= set(tables)
    with psycopg.connect(team_database.app, autocommit=True) as connection:
        for table in tables:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT 1 FROM siftd.{table}")


def test_other_programs_find_the_columns_that_they_name(team_database: TeamDatabase) -> None:
    with psycopg.connect(team_database.superuser) as connection:
        described = connection.execute("SELECT * FROM siftd.forge_memories").description
    assert described is not None
    assert " ".join(each.name for each in described) == (
        "documentId project source sourceRef text metadata vector embeddedAt"
    )


def test_two_that_migrate_at_once_apply_each_file_once(empty_database: TeamDatabase) -> None:
    applied: list[str] = []
    threads = [
        threading.Thread(target=lambda: applied.extend(migrate(empty_database.operator).applied)) for _ in range(3)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(applied) == sorted([*(each.name for each in known_files()), "functions"])


def test_a_store_of_a_newer_siftd_is_left_alone(team_database: TeamDatabase) -> None:
    with psycopg.connect(team_database.superuser) as connection:
        connection.execute("INSERT INTO siftd.migrations (number, name, sha256) VALUES (9999, 'later', '')")
    with pytest.raises(SchemaTooNew):
        migrate(team_database.operator)


def test_a_file_that_was_applied_from_another_text_is_refused(team_database: TeamDatabase) -> None:
    with psycopg.connect(team_database.superuser) as connection:
        connection.execute("UPDATE siftd.migrations SET sha256 = 'x' WHERE number = 1")
    with pytest.raises(MigrationFailed, match="another text"):
        migrate(team_database.operator)


def test_a_role_that_may_not_make_roles_hears_what_an_administrator_runs(postgres: Postgres) -> None:
    database = make_database(postgres)
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute(f"DROP ROLE IF EXISTS humble_{database.name}")
        connection.execute(f"CREATE ROLE humble_{database.name} LOGIN")
        connection.execute(f"ALTER DATABASE {database.name} OWNER TO humble_{database.name}")
    with pytest.raises(MigrationFailed) as refused:
        migrate(postgres.dsn(database.name, f"humble_{database.name}"))
    assert "GRANT siftd_owner" in refused.value.hint


def test_a_role_that_may_not_make_pgvector_hears_what_an_administrator_runs(bare_database: TeamDatabase) -> None:
    with pytest.raises(MigrationFailed) as refused:
        migrate(bare_database.operator)
    with psycopg.connect(bare_database.superuser, autocommit=True) as connection:
        connection.execute(refused.value.hint.partition("run: ")[2])
    assert migrate(bare_database.operator).vectors


def test_a_superuser_needs_no_preparation(bare_database: TeamDatabase) -> None:
    assert migrate(bare_database.superuser).vectors


def test_an_older_pgvector_is_refused_with_a_sentence(
    empty_database: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel has one version alone: what is asked for is raised above it instead."""
    monkeypatch.setattr(module, "VECTOR_MIN", (99, 0))
    with pytest.raises(MigrationFailed) as refused:
        migrate(empty_database.operator)
    assert "--no-vectors" in refused.value.hint
    with psycopg.connect(empty_database.superuser) as connection:
        assert connection.execute("SELECT to_regclass('siftd.meta')").fetchone() == (None,)


def test_a_store_without_vectors_needs_no_pgvector_and_gets_them_later(bare_database: TeamDatabase) -> None:
    assert not migrate(bare_database.operator, vectors=False).vectors
    add_vectors(bare_database)
    assert migrate(bare_database.operator).applied == ["vectors", "functions"]
    assert migrate(bare_database.operator, vectors=False).vectors, "it is never turned off"
    with psycopg.connect(bare_database.superuser) as connection:
        row = connection.execute(
            "SELECT format_type(atttypid, NULL) FROM pg_attribute"
            " WHERE attrelid = 'siftd.memories_03'::regclass AND attname = 'vector'"
        ).fetchone()
    assert row is not None
    assert row[0].split(".")[-1] == "halfvec"


def test_init_prints_an_invitation_and_the_dsn_stays_out_of_the_arguments(
    empty_database: TeamDatabase, tmp_path
) -> None:
    file = tmp_path / "dsn"
    file.write_text(empty_database.operator)
    command = [sys.executable, "-m", "siftd", "team", "init", "--project", "bank", "--admin", "Ana", "--dsn-file", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "project: bank (" in done.stdout
    assert "invitation for Ana" in done.stdout


def test_without_psycopg_the_command_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None; import siftd.__main__ as m; sys.exit(m.main(['team', 'migrate']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'siftd-memory[team]'" in done.stderr
