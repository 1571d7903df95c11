"""The hook finds workspace and socket with C modules only, siftd with its own: one table of folders holds both.

The key is SHA-256 over the canonical path of git's common directory, else of the folder; `git` itself says which.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import whose_folders
from whose_folders import CASES, HOSTILE, Case, git

from siftd.backfill.sources import find_sources
from siftd.clients.registry import CLIENTS
from siftd.workspace.identity import Workspace, find_workspace, path_from_text, start_folder, workspace_key
from siftd.workspace.paths import Home

HOOKS = Path(__file__).resolve().parents[2] / "hooks"
PROBE = """
import json, posix, sys
sys.argv = ["hook.py"]
def ask(frame, key, deadline):
    print(json.dumps({"run": posix.getcwd(), "key": key, "frame": frame.hex()}), flush=True)
    return b'{"ok":true'
script = sys.path.pop()
source = open(script, encoding="utf-8").read()
assert "\\ndef ask(" in source
posix.environ.update({k.encode(): v.encode() for k, v in json.loads(sys.stdin_text).items()})
posix.dup2(posix.open("/dev/null", posix.O_RDONLY), 0)
hook = {"__name__": "hook", "__file__": script, "ask": ask}
exec(compile(source.replace("\\ndef ask(", "\\ndef _(", 1), "hook.py", "exec"), hook)
"""
"""Runs the hook up to the socket and tells where it would have connected."""


def reached_by_hook(cwd: Path, env: Mapping[str, str]) -> dict[str, str]:
    """Return where the hook's own code connects to, as `python -I -S` runs it."""
    probe = PROBE.replace("sys.path.pop()", repr(str(HOOKS / "hook.py"))).replace(
        "sys.stdin_text", repr(json.dumps(dict(env)))
    )
    command = [sys.executable, "-I", "-S", "-c", probe]
    done = subprocess.run(command, cwd=cwd, env={}, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_hook_and_siftd_find_the_same_socket(make: Callable[[Path], Case], tmp_path: Path) -> None:
    root = tmp_path.resolve()
    case = make(root)
    home = root / "home"
    (home / "default" / "run").mkdir(parents=True)
    env = {**case.env, "SIFTD_HOME": str(home), "HOME": str(root)}

    here = start_folder(env, str(case.folder))
    workspace = find_workspace(os.path.join(case.folder, here))
    assert workspace.key == workspace_key(str(case.identity))
    assert workspace.key == hashlib.sha256(os.fsencode(case.identity)).hexdigest()[:16]

    reached = reached_by_hook(case.folder, env)
    paths = Home.from_environment(env, str(root)).for_workspace(workspace.key)
    assert f"{reached['run']}/{reached['key']}.sock" == paths.socket
    header = json.loads(bytes.fromhex(reached["frame"])[7:].decode())
    assert (header["client"], header["bytes"]) == ("claude-code", 0)
    assert os.path.isabs(path_from_text(header["root"]))
    assert find_workspace(path_from_text(header["root"])).key == workspace.key


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
def test_what_leads_elsewhere_and_is_not_pointed_back_to_gets_no_other_workspaces_key(
    make: Callable[[Path], Case], tmp_path: Path
) -> None:
    """A clone or an archive may hold any pointer; neither memory nor captures of another project are its own."""
    case = make(tmp_path.resolve())
    assert case.leads_to is not None
    assert find_workspace(str(case.folder)).key != find_workspace(str(case.leads_to)).key


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        whose_folders.repository,
        whose_folders.sub_folder,
        whose_folders.linked_worktree,
        whose_folders.submodule,
        whose_folders.nested_submodule,
        whose_folders.submodule_whose_git_folder_was_absorbed,
        whose_folders.submodule_with_a_configuration_for_each_worktree,
        whose_folders.submodule_of_a_worktree,
        whose_folders.worktree_of_a_submodule,
        whose_folders.worktree_that_was_moved_by_git,
        whose_folders.bare_repository,
        whose_folders.worktree_of_a_bare_repository,
        whose_folders.hidden_bare_repository_beside_its_worktrees,
        whose_folders.worktree_of_a_hidden_bare_repository,
        whose_folders.separate_git_dir_that_says_whose_it_is,
        whose_folders.separate_git_dir_that_says_it_relatively_and_in_quotes,
        whose_folders.git_folder_behind_a_link_that_says_whose_it_is,
    ],
    ids=lambda make: make.__name__,
)
def test_the_identity_is_what_git_itself_calls_the_common_directory(
    make: Callable[[Path], Case], tmp_path: Path
) -> None:
    case = make(tmp_path.resolve())
    told = git("rev-parse", "--path-format=absolute", "--git-common-dir", cwd=case.folder)
    assert Path(told).resolve() == case.identity


@pytest.mark.parametrize(
    "env",
    [
        {"HOME": "{root}"},
        {"HOME": "{root}", "SIFTD_HOME": "{root}/elsewhere", "SIFTD_NS": "work-2"},
    ],
    ids=["default", "home and namespace"],
)
def test_hook_and_siftd_find_the_same_home(env: dict[str, str], tmp_path: Path) -> None:
    root = tmp_path.resolve()
    env = {name: value.format(root=root) for name, value in env.items()}
    home = Home.from_environment(env, str(root))
    (root / home.run).mkdir(parents=True)
    reached = reached_by_hook(root, env)
    assert reached["run"] == str(root / home.run)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [make for make in CASES if make is not whose_folders.name_that_is_not_utf8],  # no transcript can name it
    ids=lambda make: make.__name__,
)
def test_backfill_finds_a_session_in_the_workspace_of_its_folder(make: Callable[[Path], Case], tmp_path: Path) -> None:
    """The folder that a transcript names is asked in the same way, whatever it leads to."""
    root = tmp_path.resolve()
    case = make(root)
    cwd = os.path.join(case.folder, start_folder(case.env, str(case.folder)))
    head = json.dumps({"type": "user", "sessionId": "s", "cwd": cwd}, ensure_ascii=False).encode()
    (root / "claude" / "projects" / "x").mkdir(parents=True)
    (root / "claude" / "projects" / "x" / "s.jsonl").write_bytes(head + b"\n")

    def found_in(identity: Path) -> int:
        workspace = Workspace(str(identity), workspace_key(str(identity)))
        sources = find_sources(
            CLIENTS["claude-code"],
            [],
            folder=str(root / "claude" / "projects"),
            workspace=workspace,
            any_workspace=False,
            is_excluded=lambda _: False,
        )
        return len(sources.transcripts)

    assert found_in(case.identity) == 1
    if case.leads_to is not None:
        assert found_in(case.leads_to / ".git") == 0
