"""Bringing a database to the team's schema of this siftd: `schema/team/NNNN_what.sql`, forward, in one transaction.

Tables are migrated, functions are replaced: those of `schema/team/functions/` are dropped and made anew whenever their
text differs from what was applied last, so that the policy of a database is that of one siftd and no mixture.

Nothing here needs a superuser. Two roles own and use the store; where whoever migrates may not make them, the sentence
says what an administrator is to run once. An advisory lock makes a second `migrate` wait for the first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from siftd.errors import MigrationFailed, SchemaTooNew
from siftd.resources import schema_folder

SERVER_MIN = 150_000
VECTOR_MIN = (0, 8)
VECTOR_SCHEMA = "siftd_vector"
"""Where pgvector is put where nobody has put it yet: no schema in which others may make functions."""
_ROLES = "CREATE ROLE siftd_owner NOLOGIN; CREATE ROLE siftd_app LOGIN; GRANT siftd_owner TO the role that migrates"
_EXTENSION: LiteralString = (
    f"CREATE SCHEMA {VECTOR_SCHEMA}; GRANT USAGE ON SCHEMA {VECTOR_SCHEMA} TO PUBLIC;"
    f" CREATE EXTENSION vector SCHEMA {VECTOR_SCHEMA}"
)
_LIMITS = {"statement_timeout": "5s", "lock_timeout": "2s", "idle_in_transaction_session_timeout": "10s"}
"""Of the server's role: a statement that hangs ends, so that one project cannot hold all connections."""

Connection = psycopg.Connection[Any]


@dataclass
class Migrated:
    """What a migration did, and what it could not do."""

    applied: list[str] = field(default_factory=list)
    vectors: bool = True
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class File:
    """A numbered file."""

    number: int
    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def known_files() -> list[File]:
    """Return the numbered files this siftd carries, in their order."""
    found = sorted(_folder().glob("[0-9][0-9][0-9][0-9]_*.sql"))
    return [File(int(each.name[:4]), each.stem, each.read_text(encoding="utf-8")) for each in found]


def functions_text() -> str:
    """Return the text of all functions, and of what hangs on them."""
    return "\n".join(each.read_text(encoding="utf-8") for each in sorted((_folder() / "functions").glob("*.sql")))


def migrate(dsn: str, *, vectors: bool = True) -> Migrated:
    """Apply what is missing; nothing is applied where anything fails.

    `vectors` off: no pgvector is wanted, and search is by words. Migrating again with it turns vectors on, never off.
    Raises MigrationFailed with what to do, SchemaTooNew for a store of a newer siftd.
    """
    try:
        with psycopg.connect(dsn) as connection:
            return _migrate(connection, Migrated(vectors=vectors))
    except psycopg.Error as error:
        raise MigrationFailed(
            f"the database could not be migrated ({_first_line(error)})", hint="nothing was changed"
        ) from error


def _migrate(connection: Connection, done: Migrated) -> Migrated:
    connection.execute("SELECT pg_advisory_xact_lock(hashtext('siftd team migrate'))")
    connection.execute("SET LOCAL client_min_messages = warning")
    if connection.info.server_version < SERVER_MIN:
        raise MigrationFailed(
            f"this is PostgreSQL {connection.info.server_version // 10_000}", hint="siftd needs PostgreSQL 15 or newer"
        )
    _ensure_roles(connection, done)
    _ensure_schema(connection)
    had_vectors = _had_vectors(connection)
    done.vectors = done.vectors or bool(had_vectors)
    vector_schema = _ensure_vectors(connection) if done.vectors else None
    connection.execute("SET LOCAL ROLE siftd_owner")
    connection.execute("SET LOCAL search_path = siftd, pg_temp")
    _apply_files(connection, vector_schema, done)
    if had_vectors is False and done.vectors:
        _turn_vectors_on(connection, vector_schema, done)
    _replace_functions(connection, vector_schema, done)
    _remember(connection, "vectors", "yes" if done.vectors else "no")
    connection.execute("RESET ROLE")
    return done


def _ensure_roles(connection: Connection, done: Migrated) -> None:
    for name, statement in (
        ("siftd_owner", "CREATE ROLE siftd_owner NOLOGIN"),
        ("siftd_app", "CREATE ROLE siftd_app LOGIN"),
    ):
        if _one(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", name) is not None:
            continue
        with _explained(f"the role {name} is missing, and may not be made by this one"):
            connection.execute(statement)
    if not _can_become_owner(connection):
        with _explained("this role may not act as siftd_owner"):
            connection.execute("GRANT siftd_owner TO CURRENT_USER")
            connection.execute("SET LOCAL ROLE siftd_owner")
        connection.execute("RESET ROLE")
    for setting, value in _LIMITS.items():
        _try_limit(connection, setting, value, done)


def _can_become_owner(connection: Connection) -> bool:
    try:
        with connection.transaction():
            connection.execute("SET LOCAL ROLE siftd_owner")
            connection.execute("RESET ROLE")
    except psycopg.errors.InsufficientPrivilege:
        return False
    return True


def _try_limit(connection: Connection, setting: str, value: str, done: Migrated) -> None:
    statement = sql.SQL("ALTER ROLE siftd_app SET {} = {}").format(sql.Identifier(setting), sql.Literal(value))
    try:
        with connection.transaction():
            connection.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        done.notes.append(f"{setting} of siftd_app could not be set; run: {statement.as_string(connection)}")


def _ensure_schema(connection: Connection) -> None:
    if _one(connection, "SELECT 1 FROM pg_namespace WHERE nspname = 'siftd'") is None:
        with _explained("this role may not make a schema here", "run as the database's owner, or GRANT CREATE to it"):
            connection.execute("CREATE SCHEMA siftd AUTHORIZATION siftd_owner")
    connection.execute("SET LOCAL ROLE siftd_owner")
    connection.execute("GRANT USAGE ON SCHEMA siftd TO siftd_app")
    connection.execute("ALTER DEFAULT PRIVILEGES FOR ROLE siftd_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS siftd.migrations (number integer PRIMARY KEY, name text NOT NULL,"
        " sha256 text NOT NULL, at timestamptz NOT NULL DEFAULT now())"
    )
    connection.execute("RESET ROLE")


def _had_vectors(connection: Connection) -> bool | None:
    """Return whether the store has vectors; None before the first migration."""
    if _one(connection, "SELECT to_regclass('siftd.meta')") is None:
        return None
    connection.execute("SET LOCAL ROLE siftd_owner")
    found = _one(connection, "SELECT value FROM siftd.meta WHERE key = 'vectors'")
    connection.execute("RESET ROLE")
    return None if found is None else found == "yes"


def _ensure_vectors(connection: Connection) -> str:
    """Return the schema that pgvector is in."""
    row = connection.execute(
        "SELECT e.extversion, n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
        " WHERE e.extname = 'vector'"
    ).fetchone()
    if row is None:
        offered = _one(connection, "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
        if offered is None:
            raise MigrationFailed(
                "this PostgreSQL does not have pgvector",
                hint="install pgvector 0.8 or newer, or search by words alone: siftd team migrate --no-vectors",
            )
        _check_vector_version(f"{offered}", "install a newer pgvector")
        with _explained("this role may not make the extension pgvector", f"have an administrator run: {_EXTENSION}"):
            connection.execute(_EXTENSION)
        return VECTOR_SCHEMA
    _check_vector_version(row[0], "install a newer pgvector and run: ALTER EXTENSION vector UPDATE")
    for role in ("siftd_owner", "siftd_app"):
        if not _one(connection, "SELECT has_schema_privilege(%s, %s, 'USAGE')", role, row[1]):
            remedy = f"have an administrator run: GRANT USAGE ON SCHEMA {row[1]} TO {role}"
            with _explained(f"{role} may not use the schema of pgvector", remedy):
                grant = sql.SQL("GRANT USAGE ON SCHEMA {} TO {}")
                connection.execute(grant.format(sql.Identifier(row[1]), sql.Identifier(role)))
    schema: str = row[1]
    return schema


def _check_vector_version(version: str, remedy: str) -> None:
    numbers = tuple(int(each) for each in version.split(".")[:2] if each.isdigit())
    if numbers < VECTOR_MIN:
        raise MigrationFailed(
            f"this is pgvector {version}",
            hint=f"siftd needs 0.8 or newer: {remedy}, or search by words alone: siftd team migrate --no-vectors",
        )


def _apply_files(connection: Connection, vector_schema: str | None, done: Migrated) -> None:
    known = known_files()
    applied = dict(connection.execute("SELECT number, sha256 FROM migrations").fetchall())
    if applied and max(applied) > known[-1].number:
        raise SchemaTooNew(
            f"the team's store has schema {max(applied)}, this siftd knows {known[-1].number}",
            hint="install the newer siftd",
        )
    for each in known:
        if each.number not in applied:
            _run(connection, each.text, vector_schema)
            connection.execute(
                "INSERT INTO migrations (number, name, sha256) VALUES (%s, %s, %s)",
                (each.number, each.name, each.sha256),
            )
            done.applied.append(each.name)
        elif applied[each.number] != each.sha256:
            raise MigrationFailed(f"{each.name} was applied from another text", hint="reinstall siftd")


def _turn_vectors_on(connection: Connection, vector_schema: str | None, done: Migrated) -> None:
    _drop_functions(connection)  # and the view: they name the column's type
    _run(connection, "ALTER TABLE memories ALTER COLUMN vector TYPE @vector@ USING NULL", vector_schema)
    done.applied.append("vectors")


def _replace_functions(connection: Connection, vector_schema: str | None, done: Migrated) -> None:
    text = functions_text()
    digest = hashlib.sha256(f"{vector_schema}\0{text}".encode()).hexdigest()
    if _one(connection, "SELECT value FROM meta WHERE key = 'functions'") == digest:
        return
    _drop_functions(connection)
    _run(connection, text, vector_schema)
    _remember(connection, "functions", digest)
    done.applied.append("functions")


def _drop_functions(connection: Connection) -> None:
    connection.execute("DROP VIEW IF EXISTS forge_memories")
    found = connection.execute("SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'siftd'::regnamespace")
    for (signature,) in found.fetchall():
        connection.execute(f"DROP FUNCTION {signature} CASCADE")
    connection.execute("DELETE FROM meta WHERE key = 'functions'")


def _run(connection: Connection, text: str, vector_schema: str | None) -> None:
    connection.execute(render(text, vector_schema))


def render(text: str, vector_schema: str | None) -> str:
    """Return the SQL of a file for a store with vectors, or without.

    Lines between `-- vectors:` (or `-- no vectors:`) and `-- end` are of one kind alone.
    """
    lines, skips = [], False
    left_out = "-- no vectors:" if vector_schema else "-- vectors:"
    for line in text.splitlines():
        if line.strip() == left_out:
            skips = True
        elif line.strip() == "-- end":
            skips = False
        elif not skips:
            lines.append(line)
    schema = f'"{vector_schema}"' if vector_schema else ""
    return "\n".join(lines).replace("@vector@", f"{schema}.halfvec" if schema else "text").replace("@ext@", schema)


def _remember(connection: Connection, key: str, value: str) -> None:
    connection.execute(
        "INSERT INTO meta VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value)
    )


@contextmanager
def _explained(what: str, remedy: str = f"have an administrator run: {_ROLES}") -> Iterator[None]:
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise MigrationFailed(what, hint=remedy) from error


def _one(connection: Connection, query: LiteralString, *values: object) -> object:
    row = connection.execute(query, values or None).fetchone()
    return None if row is None else row[0]


def _first_line(error: psycopg.Error) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _folder() -> Path:
    return schema_folder() / "team"
