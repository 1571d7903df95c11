"""The workspace's secret: whatever becomes of its file, the store goes on with the same one, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from opened_memory import opened

from siftd.errors import HomeUnusable
from siftd.workspace.home import ensure_workspace
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home, WorkspacePaths
from siftd.workspace.secret import SECRET_BYTES, ensure_secret, fingerprint_of


@pytest.fixture
def paths(tmp_path: Path) -> WorkspacePaths:
    found = Home(str(tmp_path / "home")).for_workspace(find_workspace(str(tmp_path)).key)
    ensure_workspace(found)
    return found


def delete(file: Path) -> None:
    file.unlink()


def empty(file: Path) -> None:
    file.write_bytes(b"")


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:20])


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[3] ^= 1
    file.write_bytes(bytes(data))


def add_a_newline(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\n")


def make_long(file: Path) -> None:
    file.write_bytes(b"x" * 65)


DAMAGE = [delete, empty, cut, flip, add_a_newline, make_long]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_secret_comes_back_from_its_copy(paths: WorkspacePaths, damage: Callable[[Path], None]) -> None:
    secret = ensure_secret(paths)
    damage(Path(paths.secret))
    assert ensure_secret(paths) == secret
    assert Path(paths.secret).read_bytes() == secret


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_copy_is_made_anew(paths: WorkspacePaths, damage: Callable[[Path], None]) -> None:
    secret = ensure_secret(paths)
    damage(Path(paths.secret_copy))
    assert ensure_secret(paths) == secret
    damage(Path(paths.secret))
    assert ensure_secret(paths) == secret
    assert {Path(each).stat().st_mode & 0o777 for each in (paths.secret, paths.secret_copy)} == {0o600}


async def test_what_was_forgotten_stays_so_and_nothing_comes_twice_after_the_secret_was_damaged(tmp_path: Path) -> None:
    """With another secret the next backfill would bring everything in once more."""
    async with opened(tmp_path) as memory:
        await memory.capture(1, uid="one")
        await memory.capture(2, uid="two")
        await memory.ask("forget", ids=["e1"], dryRun=False)
        paths = memory.services.paths
    flip(Path(paths.secret))
    async with opened(tmp_path) as memory:
        with pytest.raises(AssertionError):  # no id: it is forgotten
            await memory.capture(1, uid="one")
        assert await memory.capture(2, uid="two") == 2
        assert await memory.rows("SELECT id FROM events") == [(2,)]


async def test_a_store_whose_secret_and_copy_are_lost_starts_only_when_a_person_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.capture(1)
        paths = memory.services.paths
    Path(paths.secret).unlink()
    Path(paths.secret_copy).unlink()
    with pytest.raises(HomeUnusable) as refused:
        async with opened(tmp_path):
            pass
    assert f"touch {paths.new_secret}" in refused.value.hint
    Path(paths.new_secret).touch()
    async with opened(tmp_path) as memory:
        assert await memory.rows("SELECT id FROM events") == [(1,)]
    assert not Path(paths.new_secret).exists()
    async with opened(tmp_path) as memory:
        assert await memory.capture(2) == 2


@pytest.mark.parametrize("is_database_there", [True, False])
async def test_a_secret_that_was_replaced_copy_and_all_is_told_by_the_fingerprint(
    tmp_path: Path, is_database_there: bool
) -> None:
    """The database has it, and so has every segment of the log, for where the database is gone."""
    async with opened(tmp_path) as memory:
        await memory.capture(1)
        paths = memory.services.paths
    Path(paths.secret).write_bytes(b"s" * SECRET_BYTES)
    Path(paths.secret_copy).unlink()
    if not is_database_there:
        for each in Path(paths.folder).glob("db.sqlite*"):
            each.unlink()
    with pytest.raises(HomeUnusable):
        async with opened(tmp_path):
            pass


async def test_a_store_of_an_earlier_siftd_gets_the_fingerprint_and_the_copy(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.capture(1)
        await memory.by_hand("DELETE FROM meta WHERE key = 'secret'")
        paths = memory.services.paths
    Path(paths.secret_copy).unlink()
    async with opened(tmp_path) as memory:
        secret = Path(paths.secret).read_bytes()
        assert await memory.rows("SELECT value FROM meta WHERE key = 'secret'") == [(fingerprint_of(secret),)]
        assert Path(paths.secret_copy).exists()
