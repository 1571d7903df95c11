"""A session that ends, or is about to be compacted, brings the notes of its project up to date in a process apart."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from siftd.daemon import notes_sync
from siftd.daemon.notes_sync import NotesSync, Run
from siftd.notes import registry
from siftd.notes.layout import Project, project_id
from siftd.workspace.paths import Home

RECORDING = """
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
fds = [os.path.realpath(f"/proc/self/fd/{each}") for each in range(3, 64) if os.path.islink(f"/proc/self/fd/{each}")]
told = {"argv": sys.argv[1:], "leads": os.getsid(0) == os.getpid(), "cwd": os.getcwd(), "env": dict(os.environ),
        "files": fds,
        "input": sys.stdin.read()}
with open(f"{here}/told.new", "w") as file:
    json.dump(told, file)
os.rename(f"{here}/told.new", f"{here}/told")
"""


def register(home: Home, *folders: Path, excluded: Sequence[Path] = ()) -> list[str]:
    """Note that these folders have notes; return their projects' ids."""
    ids = []
    with registry.changing(home) as known:
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            path = str(folder.resolve())
            ids.append(project_id(path))
            known.projects.append(Project(ids[-1], folder.name, path, "k", f"{path}/.memory", 0, True))
        known.excluded += [str(each.resolve()) for each in excluded]
    return ids


class Slow:
    """Stands in for the process: it runs until the test lets it end."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.running = 0
        self.most = 0
        self._lock = threading.Lock()
        self._started = threading.Semaphore(0)
        self._may_end = threading.Semaphore(0)

    def __call__(self, argv: Sequence[str], home: Home) -> None:
        with self._lock:
            self.asked.append(list(argv[argv.index("notes") :]))
            self.running += 1
            self.most = max(self.most, self.running)
        self._started.release()
        assert self._may_end.acquire(timeout=30)
        with self._lock:
            self.running -= 1

    async def has_started(self) -> None:
        assert await asyncio.to_thread(self._started.acquire, timeout=30)

    def end(self) -> None:
        self._may_end.release()

    def triggers(self, project: str) -> list[str]:
        return [words[-1] for words in self.asked if words[3] == project]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(str(tmp_path / "home"))


async def has_ended(sync: NotesSync) -> None:
    """Wait until nothing runs any more."""
    async with asyncio.timeout(30):
        while sync.is_running:
            await asyncio.sleep(0)


def syncing(
    home: Home, is_off: Callable[[str], bool] | None = None, run: Run | None = None, root: str = "/src/elsewhere"
) -> NotesSync:
    """Return what starts syncs in the daemon of the workspace `k`."""
    return NotesSync(home.for_workspace("k"), root, is_off or never, run)


def never(session_id: str) -> bool:
    return False


async def test_the_project_that_a_session_was_in_is_synced_and_its_neighbour_by_name_is_not(
    home: Home, tmp_path: Path
) -> None:
    proj, other, outer = register(home, tmp_path / "x/proj", tmp_path / "x/proj-other", tmp_path / "x")
    slow = Slow()
    sync = syncing(home, run=slow)
    (tmp_path / "x/proj/src").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "x/proj/src")
    await sync.note("s", str(tmp_path / "link"), "session-end")
    await slow.has_started()
    await slow.has_started()
    assert sorted(slow.asked) == sorted(
        ["notes", "sync", "--project", each, "--trigger", "session-end"] for each in (proj, outer)
    )
    assert slow.triggers(other) == []
    slow.end()
    slow.end()


async def test_a_session_in_a_worktree_elsewhere_is_one_of_its_workspaces_project(home: Home, tmp_path: Path) -> None:
    inner, project, other = register(home, tmp_path / "proj/inner", tmp_path / "proj", tmp_path / "other")
    slow = Slow()
    sync = syncing(home, run=slow, root=str((tmp_path / "proj").resolve()))
    await sync.note("s", str(tmp_path / "worktree"), "session-end")
    await slow.has_started()
    slow.end()
    await has_ended(sync)
    assert (slow.triggers(project), slow.triggers(inner), slow.triggers(other)) == (["session-end"], [], [])


async def test_one_runs_at_a_time_and_what_comes_meanwhile_is_done_once(home: Home, tmp_path: Path) -> None:
    [project] = register(home, tmp_path / "proj")
    slow = Slow()
    sync = syncing(home, run=slow)
    await sync.note("s", str(tmp_path / "proj"), "pre-compact")
    await slow.has_started()
    for _ in range(5):
        await sync.note("s", str(tmp_path / "proj"), "pre-compact")
    await sync.note("s", str(tmp_path / "proj"), "session-end")
    slow.end()
    await slow.has_started()
    slow.end()
    await has_ended(sync)
    assert slow.triggers(project) == ["pre-compact", "session-end"]
    assert slow.most == 1


async def test_nothing_is_started_for_a_session_that_is_not_captured(home: Home, tmp_path: Path) -> None:
    register(home, tmp_path / "proj")
    slow = Slow()
    sync = syncing(home, lambda session: session == "off", slow)
    await sync.note("off", str(tmp_path / "proj"), "session-end")
    assert not sync.is_running
    await sync.note("on", str(tmp_path / "proj"), "session-end")
    await slow.has_started()
    slow.end()


async def test_nothing_is_started_for_a_project_without_notes_or_one_that_is_excluded(
    home: Home, tmp_path: Path
) -> None:
    slow = Slow()
    sync = syncing(home, run=slow)
    await sync.note("s", str(tmp_path / "proj"), "session-end")
    register(home, tmp_path / "out/proj", excluded=[tmp_path / "out"])
    await sync.note("s", str(tmp_path / "proj"), "session-end")
    await sync.note("s", str(tmp_path / "out/proj"), "session-end")
    assert not sync.is_running


async def test_nothing_is_started_for_a_session_in_siftds_own_home(home: Home, tmp_path: Path) -> None:
    """A curator works there; a person whose whole folder has notes would have it start another one for ever."""
    register(home, tmp_path)
    slow = Slow()
    sync = syncing(home, run=slow)
    await sync.note("s", f"{home.folder}/notes/1/curator", "session-end")
    assert not sync.is_running


async def test_a_registry_that_cannot_be_read_costs_no_session_anything(home: Home, tmp_path: Path) -> None:
    register(home, tmp_path / "proj")
    Path(home.folder, "notes/registry.json").write_text("{")
    slow = Slow()
    sync = syncing(home, run=slow)
    await sync.note("s", str(tmp_path / "proj"), "session-end")
    assert not sync.is_running


async def test_the_process_has_nothing_of_the_daemons_and_leaves_nothing_behind(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [project] = register(home, tmp_path / "proj")
    (tmp_path / "entry.py").write_text(RECORDING)
    monkeypatch.setattr(notes_sync, "entry_point", lambda: str(tmp_path / "entry.py"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-planted")
    monkeypatch.setenv("PYTHONPATH", "/planted")
    sync = syncing(home)
    with (tmp_path / "held").open("w"):
        await sync.note("s", str(tmp_path / "proj"), "session-end")
        await has_ended(sync)
    told = json.loads((tmp_path / "told").read_text())
    assert told["argv"] == ["notes", "sync", "--project", project, "--trigger", "session-end"]
    assert (told["leads"], told["cwd"], told["files"], told["input"]) == (True, "/", [], "")
    assert (told["env"]["SIFTD_HOME"], told["env"]["SIFTD_NS"]) == (home.root, home.namespace)
    assert "planted" not in str(told["env"])
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


async def test_a_process_that_cannot_be_started_is_tried_again_at_the_next_end(home: Home, tmp_path: Path) -> None:
    register(home, tmp_path / "proj")
    started = threading.Event()

    def run(argv: Sequence[str], home: Home) -> None:
        if not started.is_set():
            started.set()
            raise OSError(11, "no process can be had")

    sync = syncing(home, run=run)
    for _ in range(2):
        await sync.note("s", str(tmp_path / "proj"), "session-end")
        assert sync.is_running
        await has_ended(sync)
