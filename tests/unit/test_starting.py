"""Waiting for a daemon to start: as long as it works, and not much longer than it shows nothing of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from siftd.wire import launch
from siftd.workspace.home import ensure_workspace
from siftd.workspace.paths import Home, WorkspacePaths


@pytest.fixture
def paths(tmp_path: Path) -> WorkspacePaths:
    found = Home(str(tmp_path / "home")).for_workspace("0123456789abcdef")
    ensure_workspace(found)
    return found


def test_a_daemon_that_writes_its_workspace_s_files_is_at_work(paths: WorkspacePaths) -> None:
    """Replaying a long log takes longer than the wait for one that does nothing."""
    Path(paths.database).touch()
    assert launch.is_working(paths)


def test_one_whose_files_have_rested_is_not(paths: WorkspacePaths) -> None:
    long_ago = time.time() - 2 * launch.START_SECONDS
    Path(paths.database).touch()
    for each in Path(paths.folder).iterdir():
        os.utime(each, (long_ago, long_ago))
    assert not launch.is_working(paths)


def test_a_workspace_without_a_folder_is_not_at_work(tmp_path: Path) -> None:
    assert not launch.is_working(Home(str(tmp_path)).for_workspace("0123456789abcdef"))


@pytest.mark.slow
def test_a_daemon_that_is_not_asked_anything_holds_nothing_that_searches() -> None:
    """A brief is kept at each start: it searches nothing."""
    modules = "siftd.daemon.services, siftd.daemon.handlers.router, siftd.search.brief"
    code = f"import sys, {modules}; print('numpy' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False"]


@pytest.mark.slow
def test_a_daemon_says_hello_before_it_reads_the_table_of_rules() -> None:
    """Five hundred rows take as long to read as all else that is ours."""
    names = "'siftd.redact.redactor' in sys.modules, 'siftd.redact.rules' in sys.modules"
    code = f"import sys, siftd.daemon.server; print({names})"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True", "False"]
