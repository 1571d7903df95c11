"""Folders, and whose each of them is: one table for the hook, for siftd and for backfill.

The good ones `git` itself makes. The hostile ones are made by hand, as a clone or an unpacked archive can bring them:
each leads to the repository `bank`, which knows nothing of them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Case:
    """A folder to stand in, and the identity that its workspace has."""

    folder: Path
    identity: Path
    env: Mapping[str, str] = field(default_factory=dict)
    leads_to: Path | None = None
    """The folder whose memory a hostile one is after."""


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


def fake_git_dir(folder: Path) -> None:
    """Make what looks like a git directory; a file in each folder, so that git keeps them."""
    for name in ("objects", "refs"):
        (folder / name).mkdir(parents=True)
        (folder / name / "keep").touch()
    (folder / "HEAD").write_text("ref: refs/heads/main\n")


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


def nested_submodule(root: Path) -> Case:
    outer, middle, inner = (new_repository(root / name) for name in ("outer", "middle", "inner"))
    git("submodule", "add", "-q", inner, "deep/inner", cwd=middle)
    git("commit", "-q", "-m", "inner", cwd=middle)
    git("submodule", "add", "-q", middle, "libs/middle", cwd=outer)
    git("submodule", "update", "-q", "--init", "--recursive", cwd=outer)
    made = outer / "libs" / "middle" / "deep" / "inner"
    return Case(made, outer / ".git" / "modules" / "libs" / "middle" / "modules" / "deep" / "inner")


def submodule_whose_git_folder_was_absorbed(root: Path) -> Case:
    outer, inner = new_repository(root / "outer"), new_repository(root / "outer" / "inner")
    git("submodule", "add", "-q", "./inner", "inner", cwd=outer)
    assert (inner / ".git").is_dir()
    git("submodule", "absorbgitdirs", cwd=outer)
    return Case(inner, outer / ".git" / "modules" / "inner")


def submodule_with_a_configuration_for_each_worktree(root: Path) -> Case:
    made = submodule(root)
    git("config", "extensions.worktreeConfig", "true", cwd=made.folder)
    git("config", "--worktree", "core.worktree", git("config", "core.worktree", cwd=made.folder), cwd=made.folder)
    git("config", "--local", "--unset", "core.worktree", cwd=made.folder)
    assert "worktree =" not in (made.identity / "config").read_text()
    return made


def worktree_of_a_submodule(root: Path) -> Case:
    made = submodule(root)
    git("worktree", "add", "-q", root / "linked", cwd=made.folder)
    return Case(root / "linked", made.identity)


def submodule_of_a_worktree(root: Path) -> Case:
    outer, inner = new_repository(root / "outer"), new_repository(root / "inner")
    git("submodule", "add", "-q", inner, "inner", cwd=outer)
    git("commit", "-q", "-m", "inner", cwd=outer)
    git("worktree", "add", "-q", root / "linked", cwd=outer)
    git("submodule", "update", "-q", "--init", cwd=root / "linked")
    return Case(root / "linked" / "inner", outer / ".git" / "worktrees" / "linked" / "modules" / "inner")


def worktree_that_was_moved_by_git(root: Path) -> Case:
    made = new_repository(root / "repo")
    git("worktree", "add", "-q", root / "linked", cwd=made)
    git("worktree", "move", root / "linked", root / "moved", cwd=made)
    return Case(root / "moved", made / ".git")


def worktree_with_relative_pointers(root: Path) -> Case:
    """As git makes them since 2.48 where `worktree.useRelativePaths` is set."""
    made = linked_worktree(root)
    (root / "linked" / ".git").write_text("gitdir: ../repo/.git/worktrees/linked\n")
    (made.identity / "worktrees" / "linked" / "gitdir").write_text("../../../../linked/.git\n")
    return made


def hidden_bare_repository_beside_its_worktrees(root: Path) -> Case:
    made = new_repository(root / "repo")
    git("clone", "-q", "--bare", made, root / "project" / ".bare", cwd=root)
    (root / "project" / ".git").write_text("gitdir: ./.bare\n")
    git("worktree", "add", "-q", "feature", cwd=root / "project")
    return Case(root / "project", root / "project" / ".bare")


def worktree_of_a_hidden_bare_repository(root: Path) -> Case:
    made = hidden_bare_repository_beside_its_worktrees(root)
    return Case(root / "project" / "feature", made.identity)


def separate_git_dir(root: Path) -> Case:
    """Nothing in it says whose it is: the folder is a workspace of its own."""
    git("init", "-q", "--separate-git-dir", root / "elsewhere.git", root / "repo", cwd=root)
    return Case(root / "repo", root / "repo")


def separate_git_dir_that_says_whose_it_is(root: Path) -> Case:
    made = separate_git_dir(root).folder
    git("config", "core.worktree", made, cwd=made)
    return Case(made, root / "elsewhere.git")


def separate_git_dir_that_says_it_relatively_and_in_quotes(root: Path) -> Case:
    made = separate_git_dir(root).folder
    made = made.rename(root / "a; b")
    git("config", "core.worktree", "../a; b", cwd=made)
    assert '"../a; b"' in (root / "elsewhere.git" / "config").read_text()
    return Case(made, root / "elsewhere.git")


def git_folder_behind_a_link_that_says_whose_it_is(root: Path) -> Case:
    made = new_repository(root / "repo")
    (made / ".git").rename(root / "elsewhere.git")
    (made / ".git").symlink_to("../elsewhere.git")
    git("config", "core.worktree", made, cwd=made)
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


def another_workspace_by_variable(root: Path) -> Case:
    """A cloned project's settings may set it for the hooks; it counts for a person's `mem` only."""
    made = new_repository(root / "repo")
    new_repository(root / "other")
    return Case(root, made / ".git", {"CLAUDE_PROJECT_DIR": str(made), "SIFTD_WORKSPACE": str(root / "other")})


def project_folder_by_a_relative_name(root: Path) -> Case:
    made = new_repository(root / "repo")
    return Case(root, made / ".git", {"CLAUDE_PROJECT_DIR": "repo"})


def missing_folder(root: Path) -> Case:
    return Case(root, root / "gone" / "deeper", {"CLAUDE_PROJECT_DIR": str(root / "gone" / "deeper") + "/"})


def missing_folder_in_a_repository(root: Path) -> Case:
    made = new_repository(root / "repo")
    return Case(root, made / ".git", {"CLAUDE_PROJECT_DIR": str(made / "gone" / "deeper")})


def root_folder(root: Path) -> Case:
    return Case(Path("/"), Path("/"))


def commondir_that_is_a_pipe(root: Path) -> Case:
    made = new_repository(root / "repo")
    os.mkfifo(made / ".git" / "commondir")
    return Case(made, made / ".git")


def commondir_that_is_a_device(root: Path) -> Case:
    made = new_repository(root / "repo")
    (made / ".git" / "commondir").symlink_to("/dev/zero")
    return Case(made, made / ".git")


def head_that_is_a_pipe(root: Path) -> Case:
    made = new_repository(root / "repo")
    (made / ".git" / "HEAD").unlink()
    os.mkfifo(made / ".git" / "HEAD")
    return Case(made, made)


def git_link_to_a_pipe(root: Path) -> Case:
    (root / "plain").mkdir()
    os.mkfifo(root / "pipe")
    (root / "plain" / ".git").symlink_to("../pipe")
    return Case(root / "plain", root / "plain")


def git_link_to_an_endless_device(root: Path) -> Case:
    (root / "plain").mkdir()
    (root / "plain" / ".git").symlink_to("/dev/zero")
    return Case(root / "plain", root / "plain")


def worktree_whose_gitdir_is_a_pipe(root: Path) -> Case:
    made = linked_worktree(root)
    note = made.identity / "worktrees" / "linked" / "gitdir"
    note.unlink()
    os.mkfifo(note)
    return Case(root / "linked", root / "linked")


def git_file_of_100_kilobytes(root: Path) -> Case:
    (root / "plain").mkdir()
    (root / "plain" / ".git").write_text("gitdir: " + "a/" * 50_000)
    return Case(root / "plain", root / "plain")


def git_file_with_a_nul(root: Path) -> Case:
    (root / "plain").mkdir()
    (root / "plain" / ".git").write_bytes(b"gitdir: a\0b")
    return Case(root / "plain", root / "plain")


def clone_with_a_bare_repository_that_is_part_of_another(root: Path) -> Case:
    """Git keeps a folder of these four names like any other. The clone's own folder, below its own repository."""
    bank, made = new_repository(root / "bank"), new_repository(root / "clone")
    inside = made / "examples"
    fake_git_dir(inside)
    (inside / "commondir").write_text("../../bank/.git\n")
    git("add", "-f", ".", cwd=made)
    return Case(inside, made / ".git", leads_to=bank)


def bare_repository_that_is_part_of_another(root: Path) -> Case:
    bank = new_repository(root / "bank")
    fake_git_dir(root / "archive")
    (root / "archive" / "commondir").write_text("../bank/.git\n")
    return Case(root / "archive", root / "archive", leads_to=bank)


def archive_with_a_git_file(root: Path) -> Case:
    bank = new_repository(root / "bank")
    (root / "archive").mkdir()
    (root / "archive" / ".git").write_text("gitdir: ../bank/.git\n")
    return Case(root / "archive", root / "archive", leads_to=bank)


def archive_with_a_git_file_that_leads_to_a_worktree(root: Path) -> Case:
    bank = new_repository(root / "bank")
    git("worktree", "add", "-q", root / "linked", cwd=bank)
    (root / "archive").mkdir()
    (root / "archive" / ".git").write_text("gitdir: ../bank/.git/worktrees/linked\n")
    return Case(root / "archive", root / "archive", leads_to=bank)


def archive_with_a_worktree_entry_of_its_own(root: Path) -> Case:
    """Everything points back but the repository, which lists no such worktree."""
    bank = new_repository(root / "bank")
    entry = root / "archive" / "worktrees" / "linked"
    fake_git_dir(entry)
    (entry / "commondir").write_text("../../../bank/.git\n")
    (entry / "gitdir").write_text(f"{root}/archive/.git\n")
    (root / "archive" / ".git").write_text("gitdir: worktrees/linked\n")
    return Case(root / "archive", root / "archive", leads_to=bank)


def archive_with_a_git_file_that_leads_to_a_submodule(root: Path) -> Case:
    bank, inner = new_repository(root / "bank"), new_repository(root / "inner")
    git("submodule", "add", "-q", inner, "inner", cwd=bank)
    (root / "archive").mkdir()
    (root / "archive" / ".git").write_text("gitdir: ../bank/.git/modules/inner\n")
    return Case(root / "archive", root / "archive", leads_to=bank / "inner")


def archive_beside_a_bare_repository(root: Path) -> Case:
    bank = new_repository(root / "bank")
    git("clone", "-q", "--bare", bank, root / "bank.git", cwd=root)
    (root / "archive").mkdir()
    (root / "archive" / ".git").write_text("gitdir: ../bank.git\n")
    return Case(root / "archive", root / "archive", leads_to=root / "bank.git")


def git_file_among_repositories(root: Path) -> Case:
    """An archive that was unpacked where all the projects are."""
    bank = new_repository(root / "bank")
    (root / ".git").write_text("gitdir: bank/.git\n")
    return Case(root, root, leads_to=bank)


def git_folder_with_a_commondir(root: Path) -> Case:
    bank, made = new_repository(root / "bank"), new_repository(root / "archive")
    (made / ".git" / "commondir").write_text("../../bank/.git\n")
    return Case(made, made / ".git", leads_to=bank)


def git_link_to_a_repository(root: Path) -> Case:
    bank = new_repository(root / "bank")
    (root / "archive").mkdir()
    (root / "archive" / ".git").symlink_to("../bank/.git")
    return Case(root / "archive", root / "archive", leads_to=bank)


def hidden_link_to_a_repository(root: Path) -> Case:
    bank = new_repository(root / "bank")
    (root / "archive").mkdir()
    (root / "archive" / ".bare").symlink_to("../bank/.git")
    (root / "archive" / ".git").write_text("gitdir: .bare\n")
    return Case(root / "archive", root / "archive", leads_to=bank)


HOSTILE: tuple[Callable[[Path], Case], ...] = (
    clone_with_a_bare_repository_that_is_part_of_another,
    bare_repository_that_is_part_of_another,
    archive_with_a_git_file,
    archive_with_a_git_file_that_leads_to_a_worktree,
    archive_with_a_worktree_entry_of_its_own,
    archive_with_a_git_file_that_leads_to_a_submodule,
    archive_beside_a_bare_repository,
    git_file_among_repositories,
    git_folder_with_a_commondir,
    git_link_to_a_repository,
    hidden_link_to_a_repository,
)

CASES: tuple[Callable[[Path], Case], ...] = (
    plain_folder,
    repository,
    sub_folder,
    linked_worktree,
    submodule,
    bare_repository,
    worktree_of_a_bare_repository,
    nested_submodule,
    submodule_whose_git_folder_was_absorbed,
    submodule_with_a_configuration_for_each_worktree,
    worktree_of_a_submodule,
    submodule_of_a_worktree,
    worktree_that_was_moved_by_git,
    worktree_with_relative_pointers,
    hidden_bare_repository_beside_its_worktrees,
    worktree_of_a_hidden_bare_repository,
    separate_git_dir,
    separate_git_dir_that_says_whose_it_is,
    separate_git_dir_that_says_it_relatively_and_in_quotes,
    git_folder_behind_a_link_that_says_whose_it_is,
    commondir_that_is_a_pipe,
    commondir_that_is_a_device,
    head_that_is_a_pipe,
    git_link_to_a_pipe,
    git_link_to_an_endless_device,
    worktree_whose_gitdir_is_a_pipe,
    git_file_of_100_kilobytes,
    git_file_with_a_nul,
    repository_inside_another,
    broken_git_folder,
    git_file_that_leads_nowhere,
    git_loop_of_links,
    git_pipe_that_nobody_writes,
    linked_folder,
    odd_name,
    name_that_is_not_utf8,
    project_folder_of_the_agent,
    another_workspace_by_variable,
    project_folder_by_a_relative_name,
    missing_folder,
    missing_folder_in_a_repository,
    root_folder,
    *HOSTILE,
)
"""Every folder of the table."""
