"""PostgreSQL fails under a team's store: who asks hears it, nothing is half done, and the same again works.

On the newest version; on both where SIFTD_TEAM_FAULTS is set.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from postgres import VERSIONS, NoPostgres, Postgres, TeamDatabase, make_team_database, running
from postgres_around import asleep, bouncer_before, kill, replay_paused, standby_of, wait_for_replay
from team_people import Seat, seat

from siftd.team_server import pool
from siftd.team_server.refusals import Behind, Unavailable
from siftd.team_server.store import TeamStore

pytestmark = pytest.mark.slow
WITHIN_SECONDS = 30
"""For what would hang for ever."""


TRIED = VERSIONS if "SIFTD_TEAM_FAULTS" in os.environ else VERSIONS[-1:]


@pytest.fixture(params=TRIED, ids=[f"postgres{each}" for each in TRIED], scope="module")
def frail(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    """A PostgreSQL of one's own: it will be killed."""
    try:
        with running(request.param, conf={"fsync": "on"}) as server:
            yield server
    except NoPostgres as error:
        pytest.skip(f"NO POSTGRESQL: {error}")


@asynccontextmanager
async def seated(database: TeamDatabase, dsn: str | None = None) -> AsyncIterator[Seat]:
    """Give a device that has joined, and has told one thing."""
    store = TeamStore(dsn or database.app)
    await store.open()
    try:
        ana = await seat(store, database, "ana")
        await ana.push(ana.item("before", "said before"))
        yield ana
    finally:
        await store.close()


async def test_a_postgres_that_hangs_is_told_from_one_that_answers(
    frail: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stopped as by SIGSTOP: the kernel still takes connections, and no limit of its own can strike."""
    monkeypatch.setattr(pool, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(pool, "WAIT_SECONDS", 0.5)
    async with seated(make_team_database(frail)) as ana:
        told = ana.item("during", "said while it hung")
        with asleep(frail):
            async with asyncio.timeout(WITHIN_SECONDS):
                for _ in range(10):  # more than there are connections
                    with pytest.raises(Unavailable) as refused:
                        await ana.push(told)
                    assert refused.value.status == 503
        async with asyncio.timeout(WITHIN_SECONDS):
            await until_taken(lambda: ana.push(told))
        assert await ana.texts() == ["said before", "said while it hung"]


async def test_the_first_calls_after_a_long_outage_are_answered(
    frail: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pool's own attempts to connect come further and further apart, for minutes."""
    monkeypatch.setattr(pool, "WAIT_SECONDS", 0.4)
    monkeypatch.setattr(pool, "RECONNECT_SECONDS", 0.4)
    async with seated(make_team_database(frail)) as ana:
        await asyncio.to_thread(frail.stop)
        for _ in range(12):
            with pytest.raises(Unavailable):
                await ana.push(ana.item("during", "said while it was away"))
        await asyncio.to_thread(frail.start)
        refused = 0
        while True:
            try:
                await ana.push(ana.item("during", "said while it was away"))
            except Unavailable:
                refused += 1
                assert refused < 5
            else:
                break


@pytest.mark.parametrize("ending", ["immediate", "kill"])
async def test_what_was_acknowledged_is_there_after_postgres_died_amid_pushes(frail: Postgres, ending: str) -> None:
    async with seated(make_team_database(frail)) as ana:
        taken: list[str] = []
        is_over = asyncio.Event()

        async def tell(name: str) -> None:
            number = 0
            while not is_over.is_set():
                number += 1
                try:
                    await ana.push(
                        *(ana.item(f"{name}-{number}-{each}", f"{name}-{number}-{each}") for each in range(5))
                    )
                except Unavailable:
                    number -= 1  # nobody knows whether it was done: the same again
                    await asyncio.sleep(0)
                else:
                    taken.extend(f"{name}-{number}-{each}" for each in range(5))

        async with asyncio.TaskGroup() as group:
            for each in range(4):
                group.create_task(tell(f"t{each}"))
            for _ in range(2):
                so_far = len(taken)
                while len(taken) < so_far + 50:
                    await asyncio.sleep(0.01)
                await asyncio.to_thread(kill if ending == "kill" else lambda server: server.stop("immediate"), frail)
                await asyncio.to_thread(frail.start)
            so_far = len(taken)
            while len(taken) < so_far + 20:
                await asyncio.sleep(0.01)
            is_over.set()
        page, after = await ana.changes(), 0
        there: list[str] = []
        while True:
            there += [each.item.text for each in page.changes]  # type: ignore[union-attr]
            after = page.cursor
            if after >= page.head:
                break
            page = await ana.changes(after)
        assert set(taken) <= set(there)
        assert len(there) == len(set(there))
        assert {each[: each.rindex("-")] for each in there if each != "said before"} == {
            each[: each.rindex("-")] for each in taken
        }, "a push is there whole, and was told in the end"


def test_a_full_disk_refuses_writes_and_takes_them_again(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk, running_there(disk) as server:
        asyncio.run(_fill_up(make_team_database(server), disk))


async def _fill_up(database: TeamDatabase, disk: Path) -> None:
    async with seated(database) as ana:
        (disk / "ballast").write_bytes(b"x" * _free_bytes(disk))
        number = 0
        refused: Unavailable | None = None
        while refused is None and number < 2_000:  # there may be room in pages that are there
            number += 1
            told = [ana.item(f"{number}-{each}", f"{number} {each} " + "x" * 20_000) for each in range(20)]
            try:
                await ana.push(*told)
            except Unavailable as error:
                refused = error
        assert refused is not None
        assert refused.status == 503
        page = await ana.changes(0, limit=1)
        assert page.head == 1 + (number - 1) * 20, "nothing of the push that failed"
        assert await ana.texts(0) != [], "it is still read"
        (disk / "ballast").unlink()
        await until_taken(lambda: ana.push(ana.item("after", "said after")))


async def test_pgbouncer_in_transaction_mode_may_stand_between(frail: Postgres) -> None:
    database = make_team_database(frail)
    with bouncer_before(frail) as folder:
        async with seated(database, frail.dsn(database.name, "siftd_app", host=folder)) as ana:
            async with asyncio.TaskGroup() as group:
                for each in range(40):
                    group.create_task(ana.push(ana.item(f"r{each}", f"said {each}")))
            ben = await seat(ana.store, database, "ben")
            assert sorted(await ben.texts()) == sorted(["said before", *(f"said {each}" for each in range(40))])


async def test_a_replica_that_is_behind_says_so_and_a_follower_misses_nothing(frail: Postgres) -> None:
    database = make_team_database(frail)
    with standby_of(frail) as replica:
        async with seated(database) as ana:
            wait_for_replay(frail, replica)
            read = TeamStore(database.app, read_dsn=replica.dsn(database.name, "siftd_app"))
            await read.open()
            try:
                with replay_paused(replica):
                    pushed = await ana.push(ana.item("late", "said while the replica stood still"))
                    with pytest.raises(Behind) as refused:
                        await read.check_seen(ana.digest, ana.project, pushed.head)
                    assert refused.value.status == 409
                    behind = await read.changes(ana.digest, ana.project, 0)
                    assert [each.seq for each in behind.changes] == [1]
                    ahead = await read.changes(ana.digest, ana.project, pushed.head)
                    assert ahead.head == pushed.head, "who has seen more than the replica is answered by the primary"
                wait_for_replay(frail, replica)
                await read.check_seen(ana.digest, ana.project, pushed.head)
                rest = await read.changes(ana.digest, ana.project, behind.cursor)
                assert [each.seq for each in rest.changes] == [2]
            finally:
                await read.close()


async def until_taken(push: Callable[[], object]) -> None:
    """Push until it is taken: right after a fault, connections that broke are found one by one."""
    while True:
        try:
            await push()  # type: ignore[misc]
        except Unavailable:
            await asyncio.sleep(0.02)
        else:
            return


@contextmanager
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of 120 MB that is of memory."""
    folder = Path(tempfile.mkdtemp(prefix="sfd-", dir="/tmp"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=120m,mode=0755", "tmpfs", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip(f"NO MOUNT: a full disk cannot be tried: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
        folder.rmdir()


@contextmanager
def running_there(disk: Path) -> Iterator[Postgres]:
    try:
        with running(18, folder=disk / "pg", conf={"max_wal_size": "64MB", "min_wal_size": "32MB"}) as server:
            yield server
    except NoPostgres as error:
        pytest.skip(f"NO POSTGRESQL: {error}")


def _free_bytes(disk: Path) -> int:

    told = os.statvfs(disk)
    return told.f_bavail * told.f_frsize
