"""Bringing a database to the schema of this siftd: numbered files, applied in order, never edited once released.

Each file runs statement by statement in one transaction with its row in `migrations` (number, name, SHA-256 of the
file), so that a crash leaves either both or neither.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from siftd.errors import MigrationFailed, SchemaTooNew, StoreCorrupt
from siftd.resources import schema_folder
from siftd.store.connection import translate

_BOOKKEEPING = """
CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, ts INTEGER NOT NULL)
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file of `schema/`."""

    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


def known_migrations() -> list[Migration]:
    """Return the migrations this siftd carries, in their order."""
    files = sorted(schema_folder().glob("[0-9][0-9][0-9][0-9]_*.sql"))
    return [Migration(int(file.name[:4]), file.stem, file.read_text(encoding="utf-8")) for file in files]


def migrate(connection: sqlite3.Connection, now_ms: int, migrations: list[Migration] | None = None) -> None:
    """Apply what is missing.

    Raises SchemaTooNew for a database of a newer siftd, StoreCorrupt for a damaged one, MigrationFailed otherwise.
    """
    known = known_migrations() if migrations is None else migrations
    connection.execute(_BOOKKEEPING)
    check_not_newer(connection, known)
    applied = dict(connection.execute("SELECT number, sha256 FROM migrations"))
    if not applied and connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'events'").fetchone():
        raise StoreCorrupt("the database is damaged (its list of migrations is empty)")
    for migration in known:
        if migration.number not in applied:
            _apply(connection, migration, now_ms)
        elif applied[migration.number] != migration.sha256:
            raise MigrationFailed(f"{migration.name} was applied from another text", hint="reinstall siftd")


def check_complete(connection: sqlite3.Connection) -> None:
    """Raise StoreCorrupt for a database that lacks a migration, or the note of one. Reads only."""
    applied = set(connection.execute("SELECT number, sha256 FROM migrations"))
    if any((each.number, each.sha256) not in applied for each in known_migrations()):
        raise StoreCorrupt("the database is damaged (its list of migrations is not complete)")


def check_not_newer(connection: sqlite3.Connection, migrations: list[Migration] | None = None) -> None:
    """Raise SchemaTooNew for a database of a newer siftd. Reads only."""
    known = known_migrations() if migrations is None else migrations
    newest = known[-1].number if known else 0
    applied = connection.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()[0]
    if applied > newest:
        raise SchemaTooNew(
            f"the database has schema {applied}, this siftd knows {newest}", hint="install the newer siftd"
        )


def _apply(connection: sqlite3.Connection, migration: Migration, now_ms: int) -> None:
    try:
        connection.execute("BEGIN IMMEDIATE")
        for statement in statements(migration.sql):
            connection.execute(statement)
        connection.execute(
            "INSERT INTO migrations VALUES (?, ?, ?, ?)", (migration.number, migration.name, migration.sha256, now_ms)
        )
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(translate(error), StoreCorrupt):
            raise translate(error) from error
        raise MigrationFailed(
            f"{migration.name} could not be applied ({error})", hint="nothing was changed; see `mem doctor`"
        ) from error


def statements(sql: str) -> Iterator[str]:
    """Yield the statements of a file; `sqlite3.complete_statement` knows where a trigger ends.

    What follows the last one is a comment, or a statement without its end: SQLite decides.
    """
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    yield statement
