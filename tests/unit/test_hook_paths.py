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
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from siftd.paths import Home
from siftd.workspace import find_workspace, start_folder, workspace_key

HOOKS = Path(__file__).resolve().parents[2] / "hooks"
PROBE = """
import json, posix, sys
sys.argv = ["claude_code.py"]
def ask(frame, key, deadline):
    print(json.dumps({"run": posix.getcwd(), "key": key, "frame": frame.hex()}), flush=True)
    return b'{"ok":true'
script = sys.path.pop()
source = open(script, encoding="utf-8").read()
assert "\\ndef ask(" in source
posix.environ.update({k.encode(): v.encode() for k, v in json.loads(sys.stdin_text).items()})
posix.dup2(posix.open("/dev/null", posix.O_RDONLY), 0)
hook = {"__name__": "hook", "__file__": script, "ask": ask}
exec(compile(source.replace("\\ndef ask(", "\\ndef _(", 1), "claude_code.py", "exec"), hook)
"""
"""Runs the hook up to the socket and tells where it would have connected."""


@dataclass(frozen=True)
class Case:
    """A folder to stand in, and the identity that its workspace has."""

    folder: Path
    identity: Path
    env: Mapping[str, str] = field(default_factory=dict)


def git(*arguments: str | Path, cwd: Path) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@localhost", "-c", "protocol.file.allow=always"]
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", *identity, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout.strip()


def new_repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git("init", "-q", cwd=folder)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=folder)
    return folder


def plain_folder(root: Path) -> Case:
    (root / "plain").mkdir()
    return Case(root / "plain", root / "plain")


def repository(root: Path) -> Case:
    made = new_repository(root / "repo")
    return Case(made, made / ".git")


def sub_folder(root: Path) -> Case:
    made = new_repository(root / "repo")
    (made / "a" / "b").mkdir(parents=True)
    return Case(made / "a" / "b", made / ".git")


def linked_worktree(root: Path) -> Case:
    made = new_repository(root / "repo")
    git("worktree", "add", "-q", root / "linked", cwd=made)
    (root / "linked" / "deep").mkdir()
    return Case(root / "linked" / "deep", made / ".git")


def submodule(root: Path) -> Case:
    outer, inner = new_repository(root / "outer"), new_repository(root / "inner")
    git("submodule", "add", "-q", inner, "libs/inner", cwd=outer)
    return Case(outer / "libs" / "inner", outer / ".git" / "modules" / "libs" / "inner")


def bare_repository(root: Path) -> Case:
    git("init", "-q", "--bare", root / "a.git", cwd=root)
    return Case(root / "a.git" / "refs", root / "a.git")


def worktree_of_a_bare_repository(root: Path) -> Case:
    made = new_repository(root / "repo")
    git("clone", "-q", "--bare", made, root / "a.git", cwd=root)
    git("worktree", "add", "-q", root / "linked", cwd=root / "a.git")
    return Case(root / "linked", root / "a.git")


def git_file_with_a_relative_gitdir(root: Path) -> Case:
    made = new_repository(root / "repo")
    (made / ".git").rename(root / "elsewhere.git")
    (made / ".git").write_text("gitdir: ../elsewhere.git\n")
    return Case(made, root / "elsewhere.git")


def git_folder_behind_a_link(root: Path) -> Case:
    made = new_repository(root / "repo")
    (made / ".git").rename(root / "elsewhere.git")
    (made / ".git").symlink_to("../elsewhere.git")
    return Case(made, root / "elsewhere.git")


def repository_inside_another(root: Path) -> Case:
    new_repository(root / "outer")
    made = new_repository(root / "outer" / "inner")
    return Case(made, made / ".git")


def broken_git_folder(root: Path) -> Case:
    outer = new_repository(root / "outer")
    (outer / "inner" / ".git").mkdir(parents=True)
    return Case(outer / "inner", outer / ".git")


def git_file_that_leads_nowhere(root: Path) -> Case:
    outer = new_repository(root / "outer")
    (outer / "inner").mkdir()
    (outer / "inner" / ".git").write_text("gitdir: /gone\n")
    return Case(outer / "inner", outer / ".git")


def git_loop_of_links(root: Path) -> Case:
    (root / "plain").mkdir()
    (root / "plain" / ".git").symlink_to(".git")
    return Case(root / "plain", root / "plain")


def git_pipe_that_nobody_writes(root: Path) -> Case:
    (root / "plain").mkdir()
    os.mkfifo(root / "plain" / ".git")
    return Case(root / "plain", root / "plain")


def linked_folder(root: Path) -> Case:
    made = new_repository(root / "repo")
    (root / "link").symlink_to(made)
    return Case(root / "link", made / ".git")


def odd_name(root: Path) -> Case:
    made = new_repository(root / "Grüße \"quoted\" 'and' \\ spaced\tout")
    return Case(made, made / ".git")


def name_that_is_not_utf8(root: Path) -> Case:
    made = root / os.fsdecode(b"caf\xe9")
    made.mkdir()
    return Case(made, made)


def project_folder_of_the_agent(root: Path) -> Case:
    made = new_repository(root / "repo")
    return Case(root, made / ".git", {"CLAUDE_PROJECT_DIR": str(made)})


def workspace_by_variable(root: Path) -> Case:
    made = new_repository(root / "repo")
    return Case(root, made / ".git", {"CLAUDE_PROJECT_DIR": str(root), "SIFTD_WORKSPACE": str(made)})


def workspace_by_relative_variable(root: Path) -> Case:
    made = new_repository(root / "repo")
    return Case(root, made / ".git", {"SIFTD_WORKSPACE": "repo"})


def missing_folder(root: Path) -> Case:
    return Case(root, root / "gone" / "deeper", {"CLAUDE_PROJECT_DIR": str(root / "gone" / "deeper") + "/"})


def missing_folder_in_a_repository(root: Path) -> Case:
    made = new_repository(root / "repo")
    return Case(root, made / ".git", {"CLAUDE_PROJECT_DIR": str(made / "gone" / "deeper")})


def root_folder(root: Path) -> Case:
    return Case(Path("/"), Path("/"))


CASES: tuple[Callable[[Path], Case], ...] = (
    plain_folder,
    repository,
    sub_folder,
    linked_worktree,
    submodule,
    bare_repository,
    worktree_of_a_bare_repository,
    git_file_with_a_relative_gitdir,
    git_folder_behind_a_link,
    repository_inside_another,
    broken_git_folder,
    git_file_that_leads_nowhere,
    git_loop_of_links,
    git_pipe_that_nobody_writes,
    linked_folder,
    odd_name,
    name_that_is_not_utf8,
    project_folder_of_the_agent,
    workspace_by_variable,
    workspace_by_relative_variable,
    missing_folder,
    missing_folder_in_a_repository,
    root_folder,
)


def reached_by_hook(cwd: Path, env: Mapping[str, str]) -> dict[str, str]:
    """Return where the hook's own code connects to, as `python -I -S` runs it."""
    probe = PROBE.replace("sys.path.pop()", repr(str(HOOKS / "claude_code.py"))).replace(
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
    assert os.path.isabs(header["root"])


@pytest.mark.parametrize(
    "make",
    [repository, sub_folder, linked_worktree, submodule, bare_repository, git_file_with_a_relative_gitdir],
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
        {"SIFTD_HOME": "elsewhere"},
    ],
    ids=["default", "home and namespace", "relative home"],
)
def test_hook_and_siftd_find_the_same_home(env: dict[str, str], tmp_path: Path) -> None:
    root = tmp_path.resolve()
    env = {name: value.format(root=root) for name, value in env.items()}
    home = Home.from_environment(env, str(root))
    (root / home.run).mkdir(parents=True)
    reached = reached_by_hook(root, env)
    assert reached["run"] == str(root / home.run)
