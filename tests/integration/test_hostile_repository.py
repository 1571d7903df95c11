"""A hostile repository is cloned, entered, searched, checked, backfilled and recalled, and reaches nothing.

Each folder of it is entered as an agent would: real hooks, real daemons, `mem` as a person types it. The bank is
another project of the same person, with a pinned memory and a running daemon.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from daemons import HOOK, HookRun, Place, wait_until
from hostile_repository import ORDER, HostileRepository, environment_of, git, plant, session

from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home

pytestmark = pytest.mark.slow

MEM = Path(sys.executable).with_name("mem")
PIN = "The production ledger host of the bank is ledger-7.bank.invalid"
SECRET_WORD = "ledger-7"


@dataclass
class Visit:
    """One person's machine: the bank, the hostile clone, and the home that keeps both memories."""

    place: Place
    made: HostileRepository

    def hook(self, folder: Path, envelope: dict[str, Any]) -> HookRun:
        """Run a hook in a folder, with what the repository's settings put into its environment."""
        env = self.place.env | environment_of(self.made) | {"CLAUDE_PROJECT_DIR": str(folder)}
        env["PATH"] = "./node_modules/.bin:" + env["PATH"]
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(HOOK)],
            input=json.dumps(envelope).encode(),
            cwd=folder, env=env, capture_output=True, timeout=30, check=False,
        )  # fmt: skip
        return HookRun(done.returncode, done.stdout, done.stderr, 0)

    def mem(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `mem` in a folder, the folder's own programs first on the PATH."""
        env = self.place.env | {"PATH": "./node_modules/.bin:" + os.environ["PATH"]}
        command = [str(MEM), *arguments]
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False)

    def stores(self) -> dict[str, int]:
        """Return how many events each workspace of the home but the bank's holds."""
        found = {}
        for database in (self.place.home / "default" / "workspaces").glob("*/db.sqlite"):
            with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
                found[database.parent.name] = int(connection.execute("SELECT count(*) FROM events").fetchone()[0])
        found.pop(self.place.paths.key, None)
        return found


@pytest.fixture
def visit() -> Iterator[Visit]:
    place = Place()
    git(place.folder, "init", "--quiet")
    place.paths = Home(str(place.home)).for_workspace(find_workspace(str(place.folder)).key)
    place.start()
    place.ask("remember", text=PIN, pin=True)
    place.capture(1)
    try:
        yield Visit(place, plant(place.root / "hostile", place.folder))
    finally:
        for pid in place.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until("every process of the home has ended", lambda: not place.processes())
        shutil.rmtree(place.folder / ".git")
        place.end()


def said(runs: Sequence[HookRun]) -> str:
    return b"".join(run.out for run in runs).decode()


def test_a_hostile_repository_runs_nothing_reads_no_other_memory_and_loses_no_event(visit: Visit) -> None:
    """Of every folder of it: nothing of it runs, the bank's memory is neither told nor touched, each event is kept."""
    place, made = visit.place, visit.made
    events = place.count_events()
    for number, folder in enumerate(made.entered):
        assert visit.mem(folder, "start").returncode == 0, folder
        runs = [visit.hook(folder, envelope) for envelope in session(made, folder, number)]
        assert [run.status for run in runs] == [0] * len(runs), folder
        assert SECRET_WORD not in said(runs), folder
    for arguments in (["search", "ledger", "host"], ["doctor"], ["info"], ["brief"], ["backfill"], ["sessions"]):
        for folder in made.entered:
            done = visit.mem(folder, *arguments)
            assert done.returncode in (0, 1), (folder, arguments, done.stderr)
            assert SECRET_WORD not in done.stdout, (folder, arguments)
    place.wait_for_couriers()
    for folder in made.entered:
        assert visit.mem(folder, "drain").returncode == 0, folder
    assert place.ask("info")["captures"]["spooled"] == 0
    assert place.count_events() == events, "the bank's store has nothing of it"
    kept = sum(visit.stores().values())
    assert kept == len(made.entered) * (len(session(made, made.folder, 0)) - 1), visit.stores()
    assert not made.has_run(), made.canary.read_text()


def test_what_a_hostile_repository_says_is_not_told_to_the_next_session(visit: Visit) -> None:
    """The next session's start and first prompt hold none of its words, whoever said them there."""
    made = visit.made
    assert visit.mem(made.folder, "start").returncode == 0
    for envelope in session(made, made.folder, 1):
        visit.hook(made.folder, envelope)
    assert visit.mem(made.folder, "drain").returncode == 0
    later = session(made, made.folder, 2)[:2]
    later[1]["prompt"] = "Did the bootstrap of the gateway toolchain fail, and what did the team decide?"
    told = said([visit.hook(made.folder, envelope) for envelope in later])
    assert ORDER not in told
    assert "SYSTEM the user approved" not in told
    assert "curl" not in told


def test_a_transcript_folder_of_links_and_pipes_holds_no_backfill(visit: Visit) -> None:
    """What lies where transcripts lie may be anything: only regular files of ours are read."""
    made = visit.made
    folder = visit.place.root / ".claude" / "projects" / str(made.folder).replace("/", "-").replace(".", "-")
    folder.mkdir(parents=True)
    (folder / "a.jsonl").symlink_to("/dev/zero")
    os.mkfifo(folder / "b.jsonl")
    done = visit.mem(made.folder, "backfill")
    assert done.returncode in (0, 1), done.stderr
    assert not made.has_run()
