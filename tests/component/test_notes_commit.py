"""Notes in a project's own tree are committed: they alone, whatever else is going on in the repository."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from notebook import Notebook

IDENTITY = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


@pytest.fixture
def book(tmp_path: Path) -> Notebook:
    """A repository with one commit and notes in its tree, which a curator keeps."""
    folder = tmp_path / "proj"
    folder.mkdir()
    made = Notebook(tmp_path, in_tree=True, notes__curate=True)
    made.git("init", "-q", "-b", "main")
    made.git("config", "user.name", "Ada")
    made.git("config", "user.email", "ada@example.com")
    (folder / "code.py").write_text("one = 1\n")
    made.git("add", "code.py")
    made.git("commit", "-qm", "Begin")
    made.says(state_body="# State\n\n- quiet", summary="Quiet.")
    made.transcript(("One", "First."))
    return made


def files_of_last_commit(book: Notebook) -> list[str]:
    return sorted(book.git("show", "--name-only", "--format=", "HEAD").splitlines())


def test_the_notes_are_committed_and_nothing_else(book: Notebook) -> None:
    assert book.sync("session-end").status == "done"
    assert book.git("log", "-1", "--format=%s") == "Update project memory (session-end distill)"
    assert files_of_last_commit(book) == [
        ".memory/.model/CLAUDE.md", ".memory/decisions.md", ".memory/mistakes.md", ".memory/state.md", ".memory/todo.md"
    ]  # fmt: skip
    assert book.git("status", "--porcelain") == ""


def test_what_a_person_had_staged_stays_staged_and_is_not_committed(book: Notebook) -> None:
    (book.folder / "code.py").write_text("one = 2\n")
    (book.folder / "new.py").write_text("two = 2\n")
    book.git("add", "code.py", "new.py")
    (book.folder / "code.py").write_text("one = 3\n")
    before = book.git("diff", "--cached"), book.git("diff")
    assert book.sync().status == "done"
    assert not [path for path in files_of_last_commit(book) if not path.startswith(".memory/")]
    assert (book.git("diff", "--cached"), book.git("diff")) == before


def test_nothing_is_committed_without_a_difference(book: Notebook) -> None:
    book.sync()
    head = book.git("rev-parse", "HEAD")
    book.transcript(("Two", "Second."))
    book.says(summary="Nothing to add.")
    assert book.sync().status == "done"
    assert book.sync().status == "nothing"
    assert book.git("rev-parse", "HEAD") == head


def test_what_is_over_its_budget_is_committed_too(book: Notebook) -> None:
    book.sync()
    book.write_body("todo", "# To do\n\n" + "\n".join(f"- [ ] {number} {'y' * 90}" for number in range(150)))
    assert book.sync(distils=False).status == "done"
    assert book.git("status", "--porcelain") == ""
    assert any(path.startswith(".memory/archive/") for path in files_of_last_commit(book))


def test_what_a_person_edited_in_the_notes_is_committed_with_the_next_distil(book: Notebook) -> None:
    book.sync()
    book.write_body("decisions", "# Decisions\n\n- Typed by hand")
    assert book.sync().status == "nothing"
    assert book.git("status", "--porcelain") == ""
    assert files_of_last_commit(book) == [".memory/decisions.md"]


def test_no_hook_of_the_repository_runs(book: Notebook) -> None:
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction"):
        hook = book.folder / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch '{book.root}/ran-{name}'\nexit 1\n")
        hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    book.sync()
    assert book.git("log", "-1", "--format=%s").startswith("Update project memory")
    assert list(book.root.glob("ran-*")) == []


def test_no_filter_that_the_repository_configures_runs(book: Notebook) -> None:
    book.git("config", "filter.bad.clean", f"touch '{book.root}/ran'; cat")
    (book.folder / ".gitattributes").write_text("*.md filter=bad\n")
    book.sync()
    assert not (book.root / "ran").exists()


@pytest.mark.parametrize("what", ["MERGE_HEAD", "rebase-merge"])
def test_nothing_is_committed_in_the_middle_of_a_merge_or_a_rebase(book: Notebook, what: str) -> None:
    (book.folder / ".git" / what).mkdir() if "rebase" in what else (book.folder / ".git" / what).write_text(
        book.git("rev-parse", "HEAD")
    )
    head = book.git("rev-parse", "HEAD")
    outcome = book.sync()
    assert outcome.status == "done"
    assert any(what in remark for remark in outcome.remarks)
    assert book.git("rev-parse", "HEAD") == head
    path = book.folder / ".git" / what
    path.rmdir() if path.is_dir() else path.unlink()
    book.sync()
    assert book.git("log", "-1", "--format=%s").startswith("Update project memory")


def test_nothing_is_committed_where_no_branch_is_checked_out(book: Notebook) -> None:
    book.git("checkout", "-q", "--detach")
    head = book.git("rev-parse", "HEAD")
    assert any("no branch" in remark for remark in book.sync().remarks)
    assert book.git("rev-parse", "HEAD") == head


def test_a_failure_of_git_is_a_remark_and_no_failure(book: Notebook) -> None:
    book.git("config", "--unset", "user.name")
    book.git("config", "--unset", "user.email")
    book.git("config", "user.useConfigOnly", "true")
    outcome = book.sync()
    assert outcome.status == "done"
    assert any("not committed" in remark for remark in outcome.remarks)
    assert "- quiet" in book.body("state")


def test_the_first_commit_of_a_repository_may_be_the_notes(tmp_path: Path) -> None:
    book = Notebook(tmp_path, in_tree=True, notes__curate=True)
    book.git("init", "-q", "-b", "main")
    book.git("config", "user.name", "Ada")
    book.git("config", "user.email", "ada@example.com")
    book.transcript(("One", "First."))
    book.says(state_body="# State\n\n- quiet")
    book.sync()
    assert book.git("log", "--format=%s") == "Update project memory (manual distill)"


def test_notes_that_the_repository_ignores_are_not_committed(book: Notebook) -> None:
    (book.folder / ".git" / "info" / "exclude").write_text(".memory/\n")
    head = book.git("rev-parse", "HEAD")
    assert book.sync().remarks == []
    assert book.git("rev-parse", "HEAD") == head


def test_a_commit_can_be_switched_off(tmp_path: Path) -> None:
    book = Notebook(tmp_path, in_tree=True, notes__curate=True, notes__gitCommit=False)
    book.git("init", "-q", "-b", "main")
    book.transcript(("One", "First."))
    book.says(state_body="# State\n\n- quiet")
    assert book.sync().status == "done"
    assert "??" in book.git("status", "--porcelain")


def test_the_inbox_is_nobodys_history(book: Notebook) -> None:
    book.sync()
    book.drop("Remember the milk")
    assert book.git("status", "--porcelain") == ""


def test_a_deleted_note_file_is_made_again_and_its_history_goes_on(book: Notebook) -> None:
    book.sync()
    os.unlink(book.project.file("state"))
    book.transcript(("Two", "Second."))
    book.says(state_body="# State\n\n- back")
    assert book.sync().status == "done"
    assert "- back" in book.read("state")
    assert files_of_last_commit(book) == [".memory/state.md"]


@pytest.mark.parametrize("name", ["archive/2026-01.md", ".model/CLAUDE.md"])
def test_what_a_link_among_the_notes_leads_to_is_never_committed(book: Notebook, name: str) -> None:
    """A cloned project may bring one along."""
    secret = book.root / "id_ed25519"
    secret.write_text("-----BEGIN KEY-----")
    link = Path(book.project.folder, name)
    link.unlink(missing_ok=True)
    link.symlink_to(secret)
    outcome = book.sync()
    assert outcome.status == "done"
    assert any("no file that can be read" in remark for remark in outcome.remarks)
    assert "BEGIN KEY" not in book.git("log", "-p", "--all")


def test_a_draft_that_lies_beside_the_notes_is_not_committed(book: Notebook) -> None:
    Path(book.project.folder, "draft.md").write_text("not yet")
    Path(book.project.folder, "archive", "private.md").write_text("mine")
    assert book.sync().status == "done"
    assert not {".memory/draft.md", ".memory/archive/private.md"} & set(files_of_last_commit(book))
