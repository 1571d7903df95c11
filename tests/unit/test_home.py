"""The home is ours alone: nobody else's, writable by nobody else, and no link at a name of ours is followed."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from siftd.errors import HomeUnusable
from siftd.log.spool import iter_spool
from siftd.workspace.home import ensure_workspace
from siftd.workspace.paths import Home, WorkspacePaths
from siftd.workspace.secret import ensure_secret

KEY = "0123456789abcdef"


@pytest.fixture
def paths(tmp_path: Path) -> WorkspacePaths:
    found = Home(str(tmp_path / "home")).for_workspace(KEY)
    ensure_workspace(found)
    ensure_secret(found)
    return found


@pytest.mark.parametrize(
    "name",
    [
        *("run", "logs", "workspaces", f"workspaces/{KEY}", f"workspaces/{KEY}/spool", f"workspaces/{KEY}/snapshots"),
        *(f"run/{KEY}.{suffix}" for suffix in ("sock", "lock", "start", "hold", "slow", "dropped")),
        *(f"workspaces/{KEY}/{file}" for file in ("db.sqlite", "db.sqlite-wal", "wal.ndjson", "secret", "quarantine")),
        *(f"logs/{file}" for file in (f"{KEY}.ndjson", "hooks.ndjson")),
    ],
)
@pytest.mark.parametrize("is_dangling", [False, True], ids=["", "dangling"])
def test_a_link_planted_at_a_name_of_ours_is_refused(paths: WorkspacePaths, name: str, is_dangling: bool) -> None:
    target = Path(paths.home.root).parent / "elsewhere"
    planted = Path(paths.home.folder, name)
    if planted.exists():
        planted.rename(planted.with_name("moved-away"))
    if not is_dangling:
        target.mkdir()
    planted.symlink_to(target)
    with pytest.raises(HomeUnusable, match="is a link") as refused:
        ensure_workspace(paths)
    assert str(planted) in refused.value.message
    assert not is_dangling or not target.exists()


def test_the_home_itself_may_be_a_link_to_a_folder_of_ours(tmp_path: Path) -> None:
    (tmp_path / "large-disk").mkdir(mode=0o700)
    (tmp_path / "home").symlink_to(tmp_path / "large-disk")
    ensure_workspace(Home(str(tmp_path / "home")).for_workspace(KEY))
    assert (tmp_path / "large-disk" / "default" / "run").is_dir()


@pytest.mark.parametrize("name", ["", "default", "default/run", "default/logs", f"default/workspaces/{KEY}"])
@pytest.mark.parametrize("mode", [0o770, 0o702])
def test_a_folder_that_others_may_write_to_is_refused_with_the_remedy(
    paths: WorkspacePaths, name: str, mode: int
) -> None:
    folder = Path(paths.home.root, name)
    folder.chmod(mode)
    with pytest.raises(HomeUnusable, match="can be written by others") as refused:
        ensure_workspace(paths)
    assert refused.value.hint == f"chmod 700 {folder}"


def test_a_home_of_another_user_is_refused(paths: WorkspacePaths, monkeypatch: pytest.MonkeyPatch) -> None:
    somebody = os.getuid() + 1
    monkeypatch.setattr("siftd.workspace.home.os.getuid", lambda: somebody)
    with pytest.raises(HomeUnusable, match="belongs to another user"):
        ensure_workspace(paths)


def test_nothing_is_made_in_a_home_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `sudo mem` made there, as root's, the user's own hooks could not write to."""
    paths = Home(str(tmp_path / "home")).for_workspace(KEY)
    Path(paths.home.folder).mkdir(parents=True, mode=0o700)
    Path(paths.home.root).chmod(0o700)
    somebody = os.getuid() + 1
    monkeypatch.setattr("siftd.workspace.home.os.getuid", lambda: somebody)
    with pytest.raises(HomeUnusable, match="belongs to another user"):
        ensure_workspace(paths)
    assert list(Path(paths.home.folder).iterdir()) == []


def test_the_count_of_what_was_lost_is_there_before_anything_can_be_lost(paths: WorkspacePaths) -> None:
    """A disk without a free inode takes no new file; a few bytes in one that is there it takes."""
    assert Path(paths.dropped).read_bytes() == b""


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_what_is_made_is_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        paths = Home(str(tmp_path / "fresh")).for_workspace(KEY)
        ensure_workspace(paths)
        ensure_secret(paths)
    finally:
        os.umask(before)
    made = [Path(paths.home.root), *Path(paths.home.root).rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in made if path.is_dir()} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in made if path.is_file()} == {0o600}


def test_the_spool_follows_no_link_waits_for_no_pipe_and_outlives_any_nesting(paths: WorkspacePaths) -> None:
    spool = Path(paths.spool)
    outside = Path(paths.home.root).parent / "outside.json"
    good = msgspec.json.encode({"version": 1, "kind": "rejected", "reason": "not_json", "ts": 1})
    outside.write_bytes(good)
    (spool / "1-link.json").symlink_to(outside)
    os.mkfifo(spool / "2-pipe.json")
    (spool / "3-folder.json").mkdir()
    (spool / "4-deep.json").write_bytes(b"[" * 200_000)
    (spool / "5-text.json").write_bytes(b'{"version":1,"kind":"\xed\xa0\x80"}')
    (spool / "6-good.json").write_bytes(good)
    assert [file.path.name for file in iter_spool(paths.spool)] == ["6-good.json"]
