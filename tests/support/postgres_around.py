"""What stands around a real PostgreSQL in some places: a streaming replica of it, PgBouncer before it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from daemons import is_alive, wait_until
from postgres import Postgres


@contextmanager
def standby_of(primary: Postgres) -> Iterator[Postgres]:
    """Run a replica that follows by the log, made by `pg_basebackup` of the same wheel."""
    conf = {"primary_conninfo": f"'host={primary.folder} port={primary.port} user=postgres'", "hot_standby": "on"}
    replica = Postgres(primary.version, conf=conf)
    try:
        where = ("-h", primary.folder, "-p", str(primary.port), "-U", "postgres")
        primary.run("pg_basebackup", "-D", replica.data, *where, "-X", "stream", "-c", "fast", "-R", "--no-sync")
        replica.configure({})
        replica.start()
        yield replica
    finally:
        replica.remove()


def wait_for_replay(primary: Postgres, replica: Postgres) -> None:
    """Wait until the replica shows whatever the primary has committed by now."""
    with psycopg.connect(primary.dsn(), autocommit=True) as connection:
        written = connection.execute("SELECT pg_current_wal_lsn()::text").fetchone()
    assert written is not None
    with psycopg.connect(replica.dsn(), autocommit=True) as connection:

        def is_there() -> bool:
            row = connection.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", written).fetchone()
            return bool(row and row[0])

        wait_until("the replica has replayed", is_there)


@contextmanager
def replay_paused(replica: Postgres) -> Iterator[None]:
    """Let the replica stand still: what is committed from now on it does not show."""
    with psycopg.connect(replica.dsn(), autocommit=True) as connection:
        connection.execute("SELECT pg_wal_replay_pause()")
        wait_until(
            "the replay is paused",
            lambda: connection.execute("SELECT pg_get_wal_replay_pause_state()").fetchone() == ("paused",),
        )
        yield
        connection.execute("SELECT pg_wal_replay_resume()")


@contextmanager
def bouncer_before(server: Postgres, size: int = 4) -> Iterator[str]:
    """Run PgBouncer in transaction mode before a server; give the folder of its socket, for `host=`.

    A session has another connection in each transaction, of `size` that all share: what is prepared, listened to or set
    for a session is elsewhere the next time.
    """
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    if not Path(program).exists():
        pytest.skip("NO PGBOUNCER: apt-get install pgbouncer")
    folder = Path(tempfile.mkdtemp(prefix="spb-"))
    (folder / "users").write_text('"siftd_app" ""\n"operator" ""\n"postgres" ""\n')
    (folder / "ini").write_text(
        "[databases]\n"
        f"* = host={server.folder} port={server.port}\n"
        "[pgbouncer]\n"
        f"listen_addr =\nlisten_port = {server.port}\nunix_socket_dir = {folder}\nauth_type = trust\n"
        f"auth_file = {folder}/users\npool_mode = transaction\ndefault_pool_size = {size}\nlogfile = {folder}/log\n"
        "ignore_startup_parameters = extra_float_digits\n"
    )
    identity = server.data.stat()  # as whom the server runs: as root PgBouncer refuses to
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(folder, identity.st_uid, identity.st_gid)
    who = {"user": identity.st_uid, "group": identity.st_gid, "extra_groups": []} if is_root else {}
    process = subprocess.Popen(
        [program, "-q", folder / "ini"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **who
    )  # type: ignore[call-overload]
    try:
        wait_until("PgBouncer listens", (folder / f".s.PGSQL.{server.port}").exists)
        yield str(folder)
    finally:
        process.terminate()
        process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def asleep(server: Postgres) -> Iterator[None]:
    """Stop every process of a server, as SIGSTOP does: connections are taken by the kernel, nothing is answered."""
    pids = [server.pid, *_children(server.pid)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def kill(server: Postgres) -> None:
    """Kill the postmaster as `kill -9` does, and wait for its children, which end by themselves."""
    pid, children = server.pid, _children(server.pid)
    os.kill(pid, signal.SIGKILL)
    wait_until("PostgreSQL is dead", lambda: not any(map(is_alive, (pid, *children))))
    # Where the first process of the machine reaps nobody, the pid in these would be taken for a living server's.
    (server.data / "postmaster.pid").unlink(missing_ok=True)
    (server.folder / f".s.PGSQL.{server.port}.lock").unlink(missing_ok=True)


def _children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
