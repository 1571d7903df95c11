"""A repository that is moved keeps its memory: found by the root commit, adopted by hand."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home
from siftd.workspace.repository import find_root_commit
from siftd.workspaces.stopping import stop_and_hold

PROGRAM = "import sys; from siftd.cli import run; sys.exit(run(sys.argv[1:]))"


class Repository:
    """A git repository that may be moved, and `mem` in it."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.folder = root / "before"
        self.folder.mkdir()
        identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com"}
        identity |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com"}
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("SIFTD_", "CLAUDE", "GIT_"))}
        self.environment = clean | identity | {"SIFTD_HOME": str(self.home), "HOME": str(root)}
        self.git("init", "--quiet")
        self.git("commit", "--quiet", "--allow-empty", "--message", "first")
        self.git("commit", "--quiet", "--allow-empty", "--message", "second")

    def git(self, *arguments: str) -> str:
        command = ["git", *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    def mem(self, *arguments: str, status: int = 0) -> dict[str, Any]:
        command = [sys.executable, "-c", PROGRAM, *arguments, "--json"]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {"refused": done.stderr}
        return answer

    @property
    def key(self) -> str:
        return find_workspace(str(self.folder)).key

    def move(self) -> str:
        """Move it; return the key it had."""
        key = self.key
        self.folder = self.folder.rename(self.folder.with_name("after"))
        return key

    def wait_for_root_commit(self) -> None:
        """The daemon notes it at a tick; a drain waits for the tick with which a daemon begins."""
        self.mem("drain")

    def found_by_doctor(self) -> list[dict[str, Any]]:
        return [each for each in self.mem("doctor", status=1)["checks"] if each["link"] == "workspace"]


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    made = Repository(tmp_path)
    yield made
    home = Home(str(made.home))
    for folder in Path(home.workspaces).glob("*/"):
        stop_and_hold(home.for_workspace(folder.name))


def test_the_memory_of_a_moved_repository_is_offered_and_adopted(repository: Repository) -> None:
    repository.mem("remember", "the build needs make 4.4")
    repository.wait_for_root_commit()
    old = repository.move()  # its daemon still runs
    [offer] = repository.found_by_doctor()
    assert offer["remedy"] == f"if it moved here: `mem workspaces adopt {old}`"
    assert repository.mem("workspaces", "adopt", old) == {"adopted": old, "added": 0}
    assert repository.mem("search", "which make does the build need")["hits"]
    assert [each["root"] for each in repository.mem("workspaces")["workspaces"]] == [str(repository.folder)]
    assert repository.found_by_doctor() == []


def test_what_was_captured_under_the_new_path_is_kept_too(repository: Repository) -> None:
    repository.mem("remember", "the build needs make 4.4")
    old = repository.move()
    repository.mem("remember", "the port is 8080")
    repository.mem("workspaces", "adopt", old)
    for question in ("which make does the build need", "what is the port"):
        assert repository.mem("search", question)["hits"], question
    assert [each.name for each in Path(Home(str(repository.home)).workspaces).iterdir()] == [repository.key]


def test_a_workspace_whose_folder_is_still_there_is_not_adopted(repository: Repository) -> None:
    repository.mem("remember", "the build needs make 4.4")
    staying = repository.key
    repository.folder = repository.folder.with_name("other")
    repository.folder.mkdir()
    assert "still there" in repository.mem("workspaces", "adopt", staying, status=2)["refused"]
    assert "no memory" in repository.mem("workspaces", "adopt", "0" * 16, status=2)["refused"]


def test_the_root_commit_is_the_oldest_and_only_known_of_a_whole_history(repository: Repository) -> None:
    first = repository.git("rev-list", "--max-parents=0", "HEAD").strip()
    assert find_root_commit(str(repository.folder)) == first
    shallow = repository.folder.with_name("shallow")
    repository.git("clone", "--quiet", "--depth", "1", f"file://{repository.folder}", str(shallow))
    assert find_root_commit(str(shallow)) is None
    assert find_root_commit(str(repository.home)) is None


def test_a_git_directory_that_does_not_point_back_is_told_and_the_remedy_joins_it(repository: Repository) -> None:
    """`git init --separate-git-dir` notes nowhere whose it made; a person can say it."""
    repository.git("init", "--quiet", "--separate-git-dir", str(repository.folder.with_name("elsewhere.git")))
    alone = repository.key
    [note] = repository.found_by_doctor()
    assert note["state"] == "note"
    assert f"leads to {repository.folder.with_name('elsewhere.git')}, which does not point back" in note["message"]
    repository.git("config", "core.worktree", str(repository.folder))
    assert repository.key != alone
    assert repository.found_by_doctor() == []


@pytest.mark.parametrize("name", ["commondir", "HEAD", "config", "packed-refs", "shallow", "refs/heads/main"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_git_is_not_asked_about_a_repository_that_would_keep_it_reading(
    repository: Repository, name: str, kind: str
) -> None:
    """An archive may hold a pipe or a link to a device in place of any file of git."""
    repository.git("branch", "--move", "main")
    path = repository.folder / ".git" / name
    path.unlink(missing_ok=True)
    if kind == "pipe" and name != "refs/heads/main":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    assert find_root_commit(str(repository.folder)) is None
    most_kilobytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert most_kilobytes < 2 << 20, "without a bound git takes whatever there is"
