"""A hook that fails before a daemon answers leaves one line for `mem doctor`, and nothing else, anywhere."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from test_hook_cost import Stand, is_silent, stand, wait_for_couriers

from siftd.cli import DONE, run
from siftd.cli.diagnose.hook_failures import list_unseen
from siftd.workspace.paths import Home

__all__ = ["stand"]

CAP_BYTES = 256 * 1024


@pytest.fixture
def failing(stand: Stand) -> Stand:
    """A stand whose sockets anybody might have made: no hook may trust them, so each fails."""
    (stand.home / "default" / "run").chmod(0o777)
    return stand


def failures_file(stand: Stand) -> Path:
    return stand.home / "default" / "logs" / "hooks.ndjson"


def lines(stand: Stand) -> list[dict[str, Any]]:
    return [json.loads(line) for line in failures_file(stand).read_bytes().splitlines()]


def test_a_failing_hook_is_silent_and_leaves_time_hook_and_class(failing: Stand) -> None:
    secret = b'{"prompt":"tell nobody of swordfish"}'
    assert is_silent(failing.run(secret, env=failing.env | {"TOKEN": "swordfish"}, umask=0))
    [line] = lines(failing)
    assert (line.keys(), line["hook"], line["error"]) == ({"ts", "hook", "error"}, "claude-code", "PermissionError")
    assert line["ts"] > 1_700_000_000_000
    made = [failures_file(failing), failures_file(failing).parent]
    assert [path.stat().st_mode & 0o777 for path in made] == [0o600, 0o700]
    wait_for_couriers(failing.home)
    assert not any(b"swordfish" in file.read_bytes() for file in failing.root.rglob("*") if file.is_file())


def test_what_hooks_tell_stays_below_256_kilobytes_and_the_newest_is_there(failing: Stand) -> None:
    file = failures_file(failing)
    file.parent.mkdir(mode=0o700)
    old = file.with_name("hooks.ndjson.1")
    for each in (file, old):
        each.write_bytes(b'{"ts":1,"hook":"claude-code","error":"OSError"}\n' * 2730)
    assert is_silent(failing.run())
    assert [line["error"] for line in lines(failing)] == ["PermissionError"]
    assert file.stat().st_size + old.stat().st_size <= CAP_BYTES


@pytest.mark.parametrize("planted", ["file", "folder"])
def test_a_link_planted_where_failures_are_told_leads_nowhere(failing: Stand, planted: str) -> None:
    elsewhere = failing.root / "elsewhere"
    elsewhere.mkdir()
    target = elsewhere / "hooks.ndjson"
    target.write_text("mine")
    if planted == "file":
        failures_file(failing).parent.mkdir(mode=0o700)
        failures_file(failing).symlink_to(target)
    else:
        failures_file(failing).parent.symlink_to(elsewhere)
    assert is_silent(failing.run())
    assert target.read_text() == "mine"


def test_a_folder_that_others_may_write_to_is_told_nothing(failing: Stand) -> None:
    failures_file(failing).parent.mkdir()
    failures_file(failing).parent.chmod(0o777)
    assert is_silent(failing.run())
    assert not failures_file(failing).exists()


def test_a_hook_asks_nobody_in_a_folder_that_others_may_write_to(failing: Stand) -> None:
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.bind(str(failing.home / "default" / "run" / f"{failing.key}.sock"))
        stranger.listen()
        stranger.setblocking(False)
        assert is_silent(failing.run())
        with pytest.raises(BlockingIOError):
            stranger.accept()


def test_a_hook_without_a_folder_of_sockets_asks_nobody_where_it_stands(stand: Stand, tmp_path: Path) -> None:
    """A socket in the work tree, with the very name, is somebody else's."""
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.bind(str(stand.folder / f"{stand.key}.sock"))
        stranger.listen()
        stranger.setblocking(False)
        home = stand.root / "unmade"
        env = stand.env | {"SIFTD_HOME": str(home)}
        assert is_silent(stand.run(env=env))
        with pytest.raises(BlockingIOError):
            stranger.accept()
        wait_for_couriers(home)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    for name in ("SIFTD_NS", "SIFTD_WORKSPACE", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SIFTD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.chdir(tmp_path)
    return Home(str(tmp_path / "home"))


def fail(home: Home, *errors: str, ts: int = 1_760_000_000_000) -> None:
    file = Path(home.hook_failures)
    file.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    with file.open("a") as out:
        out.writelines(f'{{"ts":{ts},"hook":"courier","error":"{error}"}}\n' for error in errors)


def test_failures_are_grouped_with_their_remedy(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    fail(home, "NotKept", "DaemonNotStarted", "NotKept", "KeyError")
    with Path(home.hook_failures).open("a") as file:
        file.write('{"ts":17600\nnothing of ours\n{"ts":"x","hook":1,"error":2}\n')
    run(["doctor"])
    told = capsys.readouterr()
    assert "courier failed 2 times (NotKept)" in told.out
    assert "make room on the disk" in told.out
    assert "courier failed 1 time (DaemonNotStarted)" in told.out
    assert "courier failed 1 time (KeyError)" in told.out
    assert "hooks have failed" not in told.err


def test_acknowledged_failures_are_told_no_more_and_new_ones_are(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    fail(home, "NotKept")
    assert run(["info", "--json"]) == DONE
    told = capsys.readouterr()
    assert told.err.count("hooks have failed; `mem doctor` says why") == 1
    assert json.loads(told.out)["daemon"]["running"] is False, "the facts are as they were"
    run(["doctor", "--ack"])
    capsys.readouterr()
    assert run(["info"]) == DONE
    assert "hooks have failed" not in capsys.readouterr().err
    run(["doctor"])
    assert "NotKept" not in capsys.readouterr().out
    later = int(Path(home.hook_failures_seen).read_text()) + 1
    fail(home, "DaemonNotStarted", ts=later)
    assert [(each.error, each.count) for each in list_unseen(home)] == [("DaemonNotStarted", 1)]
    assert run(["info"]) == DONE
    assert "hooks have failed" in capsys.readouterr().err


def test_without_failures_nothing_is_told_and_nothing_made(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["info"]) == DONE
    assert "hooks have failed" not in capsys.readouterr().err
    assert not Path(home.root).exists()
