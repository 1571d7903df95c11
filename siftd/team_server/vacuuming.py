"""Taking the bytes of what was forgotten out of PostgreSQL's files, and saying where they may be still.

A deleted row stays in its table's file until the file is written anew, and in the write-ahead log until its segments
are: PostgreSQL renames old segments for later use, with what they hold. So, after the tables: end the segment and
checkpoint, by which old segments become spare ones; end as many segments as there are, by which every spare one is
filled with zeros; checkpoint. Standbys, archives of the log and backups keep the bytes until they expire: how long is
the operator's to say.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from siftd.errors import StoreError

SEGMENTS_MAX = 256
"""Of 16 MB: a log of more than 4 GB is not filled with zeros, and the answer says so."""
_RIGHTS = "GRANT pg_checkpoint TO {0}; GRANT EXECUTE ON FUNCTION pg_switch_wal(), pg_ls_waldir() TO {0}"
Connection = psycopg.Connection[Any]


@dataclass
class Vacuumed:
    """What was written anew, and where bytes may be still."""

    items: int = 0
    tables: list[str] = field(default_factory=list)
    segments: int = 0
    left: list[str] = field(default_factory=list)


def vacuum(dsn: str, *, everything: bool = False) -> Vacuumed:
    """Write anew the tables of what was forgotten since the last time, or all of them. Raises StoreError.

    Each table is locked while it is written: at night, or in a quiet hour.
    """
    done = Vacuumed()
    try:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("SET ROLE siftd_owner")
            connection.execute("SET search_path = siftd, pg_temp")
            pending = connection.execute("SELECT project_id, items FROM unvacuumed").fetchall()
            done.items = sum(items for _, items in pending)
            for table in _tables(connection, [project for project, _ in pending], everything=everything):
                connection.execute(sql.SQL("VACUUM (FULL) {}").format(sql.Identifier("siftd", table)))
                done.tables.append(table)
            connection.execute("RESET ROLE")
            if done.tables:
                _zero_log(connection, done)
            _name_copies(connection, done)
            connection.execute("SET ROLE siftd_owner")
            for project, items in pending:  # what was forgotten meanwhile stays for the next time
                connection.execute(
                    "UPDATE siftd.unvacuumed SET items = items - %s WHERE project_id = %s", (items, project)
                )
            connection.execute("DELETE FROM siftd.unvacuumed WHERE items <= 0")
    except psycopg.Error as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise StoreError(f"not all was written anew ({first})", hint="run it again; nothing is lost") from error
    return done


def _tables(connection: Connection, projects: list[uuid.UUID], *, everything: bool) -> list[str]:
    """Return the partitions of projects, and the tables that hold words of them."""
    if not projects and not everything:
        return []
    for project in projects:
        connection.execute("DELETE FROM terms WHERE project_id = %s", (project,))  # words of what was forgotten
        connection.execute("UPDATE projects SET terms_head = -1000000000, terms_rows = 0 WHERE id = %s", (project,))
        connection.execute("SELECT remake_terms(%s, %s)", (project, 2**62))
    partitions = connection.execute(
        "SELECT 'memories_' || lpad(k::text, 2, '0') FROM generate_series(0, 15) AS k WHERE %s OR EXISTS ("
        " SELECT 1 FROM unnest(%s::uuid[]) AS p(id) WHERE satisfies_hash_partition('memories'::regclass, 16, k, p.id))",
        (everything, projects),
    ).fetchall()
    return [*(name for (name,) in partitions), "feedback", "terms"]


def _zero_log(connection: Connection, done: Vacuumed) -> None:
    role = connection.info.user
    try:
        connection.execute("SELECT pg_switch_wal()")
        connection.execute("CHECKPOINT")
        row = connection.execute("SELECT count(*) FROM pg_ls_waldir()").fetchone()
        spare = 0 if row is None else int(row[0])
        for _ in range(min(spare + 1, SEGMENTS_MAX)):
            connection.execute("SELECT pg_logical_emit_message(true, 'siftd', '')")  # an empty segment is not ended
            connection.execute("SELECT pg_switch_wal()")
            done.segments += 1
        connection.execute("CHECKPOINT")
    except psycopg.errors.InsufficientPrivilege:
        done.left.append(
            "the write-ahead log, until its segments are used again: this role may not end them;"
            f" an administrator may run: {_RIGHTS.format(role)}"
        )
        return
    if spare + 1 > SEGMENTS_MAX:
        done.left.append(f"{spare + 1 - SEGMENTS_MAX} segments of the write-ahead log, until they are used again")


def _name_copies(connection: Connection, done: Vacuumed) -> None:
    for query, what in _COPIES:
        row = connection.execute(query).fetchone()
        if row is not None and row[0]:
            done.left.append(what)


_COPIES: list[tuple[LiteralString, str]] = [
    (
        "SELECT current_setting('archive_mode') <> 'off'",
        "the archive of the write-ahead log, until it expires there",
    ),
    (
        "SELECT count(*) > 0 FROM pg_replication_slots",
        "segments that a replication slot holds back, until its reader has read them",
    ),
    ("SELECT true", "backups and standbys that were made before, until they expire or are vacuumed"),
]
