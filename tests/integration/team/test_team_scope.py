"""What a token reaches: each function that the server's role may execute, by each way of not being allowed to.

The functions are read from the schema's files, and PostgreSQL's own list must be the same: no new one is forgotten.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from postgres import Postgres, TeamDatabase, drop_database, make_team_database
from team_people import item

from siftd.resources import schema_folder
from siftd.team.items import Put
from siftd.team_server.operator import as_owner, digest, ensure_project, invite

SECRET = "quokka"
WITHOUT_TOKEN = {"hello", "join"}
"""What is spoken here, and how an invitation becomes a token: they give nothing of any project."""
READERS = {
    "changes", "applied", "members_json", "leave", "renew", "search", "items", "latest", "embedders",
}  # fmt: skip
"""What who only reads may do: see, and say how far a device is, and go."""
ADMINS = {"expel", "set_embedder", "read_audit"}
FUNCTIONS = sorted(
    name.strip('"')
    for file in (schema_folder() / "team" / "functions").glob("*.sql")
    for name in re.findall(r'^GRANT EXECUTE ON FUNCTION ("?\w+"?)\(', file.read_text(), re.MULTILINE)
)
SCOPED = [each for each in FUNCTIONS if each not in WITHOUT_TOKEN]


@dataclass
class Stage:
    """Two projects; in the first an admin, two writers and a reader, and a private row of one writer."""

    database: TeamDatabase
    app: psycopg.Connection[Any]
    bank: uuid.UUID
    shop: uuid.UUID
    epoch: uuid.UUID
    private: Put
    people: dict[str, uuid.UUID] = field(default_factory=dict)
    tokens: dict[str, bytes] = field(default_factory=dict)

    def call(self, function: str, token: bytes | None, project: uuid.UUID | None, *, keep: bool = False) -> list[Any]:
        """Call a function as the server does, with arguments that ask for the private row; undone, unless to `keep`."""
        try:
            names, types = self.signature(self.app, function)
            given = [self.value(function, name, kind, token, project) for name, kind in zip(names, types, strict=True)]
            places = ", ".join(f"%s::{kind}" for kind in types)
            rows = self.app.execute(f'SELECT * FROM siftd."{function}"({places})', given).fetchall()
            if keep:
                self.app.commit()
        finally:
            self.app.rollback()
        return rows

    @staticmethod
    def signature(connection: psycopg.Connection[Any], function: str) -> tuple[list[str], list[str]]:
        row = connection.execute(
            "SELECT proargnames, array(SELECT format_type(t, NULL) FROM unnest(proargtypes) WITH ORDINALITY AS a(t, n)"
            " ORDER BY n) FROM pg_proc WHERE proname = %s AND pronamespace = 'siftd'::regnamespace",
            (function,),
        ).fetchone()
        assert row is not None
        return list(row[0])[: len(row[1])], list(row[1])

    def value(self, function: str, name: str, kind: str, token: bytes | None, project: uuid.UUID | None) -> Any:
        mine = self.private
        named: dict[str, Any] = {
            "token": token, "p": project, "known_epoch": self.epoch, "of_person": self.people["Ana"],
            "new_token": uuid.uuid4().bytes * 2,
            "gone": [mine.id] if function != "push" else [], "ids": [mine.id], "item": mine.id, "hashes": [b"h" * 32],
            "kinds": ["memory"], "refs": [mine.source_ref], "visibilities": ["project"], "metadatas": ["{}"],
            "strategy": "keyword", "models": [None], "vectors": [None], "said_verdict": "wrong", "model": "hash-384",
            "in_sources": None, "of_type": None, "of_session": None, "of_source": None, "before": None,
            "moment_ms": None, "after": 0, "archived": [None], "successors": [None], "froms": [None], "tos": [None],
            "bytes": 10**6, "n": 50,
        }  # fmt: skip
        if name in named:
            return named[name]
        by_type: dict[str, Any] = {
            "text": SECRET, "text[]": [SECRET], "bigint[]": [99], "bigint": 1, "integer": 50, "boolean": True,
            "uuid": mine.id, "uuid[]": [mine.id], "bytea": b"x" * 32,
        }  # fmt: skip
        assert kind in by_type, f"say in this test what {function} gets as {name} {kind}"
        return by_type[kind]


@pytest.fixture(scope="module")
def stage(postgres: Postgres) -> Iterator[Stage]:
    database = make_team_database(postgres)
    with as_owner(database.operator) as owner:
        bank, shop = ensure_project(owner, "bank", "hash-384"), ensure_project(owner, "shop", "hash-384")
        owner.execute("UPDATE projects SET dimensions = 384")
        row = owner.execute("SELECT epoch()").fetchone()
        assert row is not None
        private = item(bank, "m1", f"the {SECRET} is under the mat", visibility="private")
        made = Stage(database, psycopg.connect(database.app), bank, shop, row[0], private)
        for person, role, project in (
            ("Ana", "writer", bank), ("Ben", "writer", bank), ("Rea", "reader", bank), ("Zoe", "admin", bank),
            ("Sam", "admin", shop), ("Dis", "admin", bank), ("Old", "admin", bank), ("Rev", "admin", bank),
        ):  # fmt: skip
            code = invite(owner, project, person, role).code  # type: ignore[arg-type]
            made.tokens[person] = digest(f"token of {person}")
            told = owner.execute(
                'SELECT "join"(%s, %s, %s, %s)', (digest(code), made.tokens[person], "laptop", uuid.uuid4())
            ).fetchone()
            assert told is not None
            made.people[person] = uuid.UUID(told[0]["person"]["id"])
        owner.execute("UPDATE persons SET disabled_at = now() WHERE name = 'Dis'")
        owner.execute("UPDATE tokens SET expires_at = now() WHERE digest = %s", (made.tokens["Old"],))
        owner.execute("UPDATE tokens SET revoked_at = now() WHERE digest = %s", (made.tokens["Rev"],))
        owner.execute(
            "INSERT INTO memories (project_id, id, seq, rev, hash, source, source_ref, author, device, visibility,"
            " was_shared, text, ts) VALUES (%s, %s, 1, 1, %s, 'memory', 'm1', %s, %s, 'private', false, %s, now())",
            (bank, private.id, b"h" * 32, made.people["Ana"], uuid.uuid4(), private.text),
        )
        owner.execute("UPDATE projects SET head = 1 WHERE id = %s", (bank,))
    yield made
    made.app.close()
    drop_database(database)


def test_postgresql_knows_the_same_functions_as_the_schemas_files(stage: Stage) -> None:
    with psycopg.connect(stage.database.superuser) as connection:
        rows = connection.execute(
            "SELECT proname, has_function_privilege('siftd_app', oid, 'EXECUTE'), prosecdef, proconfig::text,"
            " proowner::regrole::text, proacl IS NULL OR proacl::text ~ '[{,]=', proargnames"
            " FROM pg_proc WHERE pronamespace = 'siftd'::regnamespace"
        ).fetchall()
    assert sorted(row[0] for row in rows if row[1]) == FUNCTIONS
    assert len({row[0] for row in rows}) == len(rows), "no function has two forms"
    for name, may, is_definer, settings, owner, is_public, arguments in rows:
        assert owner == "siftd_owner", name
        assert not is_public, f"{name} may be executed by everybody"
        assert is_definer == may, f"{name}: what the server may execute runs as the owner, and nothing else does"
        if may:
            assert "search_path=siftd, pg_temp" in settings, name
        if may and name not in WITHOUT_TOKEN:
            assert arguments[:2] == ["token", "p"], name


def test_the_servers_role_has_no_right_to_any_table_and_owns_nothing(stage: Stage) -> None:
    with psycopg.connect(stage.database.superuser) as connection:
        rights = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'siftd'::regnamespace AND relkind = ANY ('{r,p,v,m,S}')"
            " AND (CASE WHEN relkind = 'S' THEN has_sequence_privilege('siftd_app', oid, 'USAGE, SELECT, UPDATE')"
            " ELSE has_table_privilege('siftd_app', oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')"
            " OR has_any_column_privilege('siftd_app', oid, 'SELECT, INSERT, UPDATE, REFERENCES') END)"
        ).fetchall()
        owned = connection.execute("SELECT 1 FROM pg_class WHERE relowner = 'siftd_app'::regrole").fetchall()
        bare = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'siftd'::regnamespace AND relkind IN ('r', 'p')"
            " AND NOT relrowsecurity AND NOT relispartition AND relname <> 'migrations'"
        ).fetchall()
        role = connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, pg_has_role(oid, 'siftd_owner', 'MEMBER')"
            " FROM pg_roles WHERE rolname = 'siftd_app'"
        ).fetchone()
    assert (rights, owned, bare) == ([], [], [])
    assert role == (False, False, False, False, False)


def test_inner_functions_cannot_be_called(stage: Stage) -> None:
    with psycopg.connect(stage.database.superuser) as connection:
        inner = connection.execute(
            "SELECT proname, array(SELECT format_type(t, NULL) FROM unnest(proargtypes) AS t) FROM pg_proc"
            " WHERE pronamespace = 'siftd'::regnamespace AND NOT has_function_privilege('siftd_app', oid, 'EXECUTE')"
        ).fetchall()
    assert {"caller", "bury", "dismiss", "said", "near", "remake_terms"} <= {row[0] for row in inner}
    with psycopg.connect(stage.database.app, autocommit=True) as connection:
        for name, types in inner:
            nulls = ", ".join(f"NULL::{kind}" for kind in types)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT siftd.{name}({nulls})")


NOT_ALLOWED: dict[str, tuple[str | None, str, str]] = {
    "no token": (None, "bank", "ST401"),
    "an unknown token": ("", "bank", "ST401"),
    "a revoked token": ("Rev", "bank", "ST401"),
    "an expired token": ("Old", "bank", "ST401"),
    "a disabled person": ("Dis", "bank", "ST401"),
    "another project": ("Sam", "bank", "ST403"),
    "a project that is none": ("Zoe", "none", "ST403"),
    "no project": ("Zoe", "NULL", "ST403"),
}


@pytest.mark.parametrize("case", NOT_ALLOWED)
@pytest.mark.parametrize("function", SCOPED)
def test_who_is_not_allowed_is_refused(stage: Stage, function: str, case: str) -> None:
    person, project, code = NOT_ALLOWED[case]
    token = stage.tokens.get(person, b"?" * 32) if person is not None else None
    where = {"bank": stage.bank, "none": uuid.uuid4(), "NULL": None}[project]
    with pytest.raises(psycopg.Error) as refused:
        stage.call(function, token, where)
    assert refused.value.sqlstate == code


@pytest.mark.parametrize("function", SCOPED)
def test_readers_and_writers_may_what_is_theirs(stage: Stage, function: str) -> None:
    """The control: the same arguments, by who may, are not refused."""
    assert {*READERS, *ADMINS} <= set(SCOPED)
    for person, may in (("Rea", function in READERS), ("Ben", function not in ADMINS), ("Zoe", True)):
        try:
            stage.call(function, stage.tokens[person], stage.bank)
            code = None
        except psycopg.Error as error:
            code = error.sqlstate
        if may:
            assert code in (None, "ST404"), (person, code)
        else:
            assert code in ("ST4RO", "ST4AD"), (person, code)


@pytest.mark.parametrize("function", SCOPED)
def test_somebodys_private_row_is_neither_seen_nor_changed(stage: Stage, function: str) -> None:
    """Asked for by its id, by its words and by its source."""
    for person in ("Ben", "Rea"):
        answer: object
        try:
            answer = stage.call(function, stage.tokens[person], stage.bank, keep=True)
        except psycopg.Error as error:
            answer = str(error)
            code = error.sqlstate
        else:
            code = None
        _undo(stage, person)
        assert code in (None, "ST4RO", "ST4AD", "ST404")
        assert "under the mat" not in repr(answer)
        with psycopg.connect(stage.database.superuser) as connection:
            row = connection.execute(
                "SELECT text, rev, visibility, author, vector FROM siftd.memories WHERE id = %s", (stage.private.id,)
            ).fetchone()
        assert row == (stage.private.text, 1, "private", stage.people["Ana"], None)


def _undo(stage: Stage, person: str) -> None:
    """Let who has left be there again."""
    with as_owner(stage.database.operator) as owner:
        owner.execute("UPDATE tokens SET revoked_at = NULL WHERE digest = %s", (stage.tokens[person],))
        owner.execute("UPDATE devices SET left_at = NULL WHERE person = %s", (stage.people[person],))
        owner.execute(
            "INSERT INTO members (project_id, person, role) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            (stage.bank, stage.people[person], "writer" if person == "Ben" else "reader"),
        )


def test_a_devices_token_is_for_its_project_alone(stage: Stage) -> None:
    """Ben is in the shop too; the token of his laptop in the bank does not open it."""
    with as_owner(stage.database.operator) as owner:
        owner.execute("INSERT INTO members VALUES (%s, %s, 'writer')", (stage.shop, stage.people["Ben"]))
    with pytest.raises(psycopg.Error) as refused:
        stage.call("latest", stage.tokens["Ben"], stage.shop)
    assert refused.value.sqlstate == "ST403"


def test_every_file_of_functions_is_covered() -> None:
    assert len(SCOPED) >= 17
    assert all(Path(file).read_text().strip() for file in (schema_folder() / "team" / "functions").glob("*.sql"))
