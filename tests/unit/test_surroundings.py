"""What of its starter's environment a daemon has, and which homes it refuses."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from siftd.errors import HomeUnusable
from siftd.wire.environment import PASSED_ON, PATH, keep_harmless, of_daemon
from siftd.workspace.home import check_apart
from siftd.workspace.paths import Home

HOSTILE = {
    "SIFTD_MEMORY_BACKEND": "command:x",
    "SIFTD_MEMORY_COMMAND": '["/bin/sh"]',
    "SIFTD_WORKSPACE": "../bank",
    "OLLAMA_HOST": "http://evil.example",
    "ANTHROPIC_API_KEY": "k",
    "ANTHROPIC_BASE_URL": "http://evil.example",
    "HTTPS_PROXY": "http://evil.example",
    "SSL_CERT_FILE": "cert.pem",
    "LD_PRELOAD": "./evil.so",
    "PATH": "/clone/bin:/usr/bin",
    "TMPDIR": "/clone",
    "GIT_SSH_COMMAND": "evil",
    "CLAUDE_CONFIG_DIR": "/clone",
}


def test_nothing_that_runs_sends_or_spends_is_handed_on() -> None:
    given = of_daemon(HOSTILE | {"SIFTD_HOME": "/h", "LANG": "C"})
    assert {name: given[name] for name in given if not name.startswith("MALLOC")} == {
        "SIFTD_HOME": "/h",
        "LANG": "C",
        "PATH": PATH,
    }


def test_a_daemon_started_by_hand_drops_the_rest_itself() -> None:
    environ = {**HOSTILE, "HOME": "/home/a"}
    keep_harmless(environ)
    assert {*environ} <= {*PASSED_ON, "PATH", "MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"}
    assert environ["PATH"] == PATH


@pytest.mark.parametrize("home", ["{project}/.h", "{project}", "{link}/h"])
def test_a_home_in_the_project_is_refused(tmp_path: Path, home: str) -> None:
    """Cloned with it, its configuration could run something."""
    project = tmp_path / "project"
    (project / ".h").mkdir(parents=True)
    (tmp_path / "link").symlink_to(project)
    with pytest.raises(HomeUnusable, match="in the project itself"):
        check_apart(Home(home.format(project=project, link=tmp_path / "link")), str(project))


def test_a_home_beside_the_project_or_in_the_users_own_folder_is_none_of_it(tmp_path: Path) -> None:
    check_apart(Home(str(tmp_path / "project-2")), str(tmp_path / "project"))
    own = pwd.getpwuid(os.getuid()).pw_dir
    check_apart(Home(f"{own}/.siftd"), own, "/")


def test_a_relative_home_is_refused() -> None:
    with pytest.raises(HomeUnusable, match="no absolute path"):
        Home.from_environment({"SIFTD_HOME": "home"}, "/home/a")
    with pytest.raises(HomeUnusable, match="no absolute path"):
        Home.from_environment({}, "home")
