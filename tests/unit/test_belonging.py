"""Whose a folder is, as a daemon asks before it tells or takes anything."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import whose_folders

from siftd.workspace import belonging
from siftd.workspace.belonging import HELD_SECONDS, Belonging
from siftd.workspace.identity import find_workspace


def test_folders_of_the_repository_are_ours_and_others_are_not(tmp_path: Path) -> None:
    made = whose_folders.new_repository(tmp_path / "repo")
    whose_folders.git("worktree", "add", "-q", tmp_path / "linked", cwd=made)
    (made / "deep").mkdir()
    belongs = Belonging(find_workspace(str(made)).key)
    for folder in (made, made / "deep", made / "deep" / "gone", tmp_path / "linked"):
        assert belongs.whose(str(folder)) == "ours", folder
    assert belongs.whose(str(tmp_path)) == "another's"
    assert belongs.whose(str(tmp_path / "gone")) == "nobody's"


@pytest.mark.parametrize("make", whose_folders.HOSTILE, ids=lambda make: make.__name__)
def test_what_only_leads_to_the_repository_is_anothers(make: object, tmp_path: Path) -> None:
    assert callable(make)
    case = make(tmp_path.resolve())
    assert Belonging(find_workspace(str(case.leads_to)).key).whose(str(case.folder)) == "another's"


@pytest.mark.parametrize(
    "folder", ["", "\0", "a\0b", "/" + "a/" * 5000, "/\ud800"], ids=["empty", "nul", "in", "long", "odd"]
)
def test_what_is_no_path_is_nobodys(folder: str) -> None:
    assert Belonging("0" * 16).whose(folder) in ("nobody's", "another's")


def test_what_was_found_holds_for_half_a_minute(tmp_path: Path) -> None:
    """Hooks come at every tool call; a worktree that was removed is asked about again soon enough."""
    made = whose_folders.new_repository(tmp_path / "repo")
    whose_folders.git("worktree", "add", "-q", tmp_path / "linked", cwd=made)
    now = [0.0]
    belongs = Belonging(find_workspace(str(made)).key, lambda: now[0])
    assert belongs.whose(str(tmp_path / "linked")) == "ours"
    shutil.rmtree(tmp_path / "linked")
    (tmp_path / "linked").mkdir()
    now[0] += HELD_SECONDS - 1
    assert belongs.whose(str(tmp_path / "linked")) == "ours"
    now[0] += 2
    assert belongs.whose(str(tmp_path / "linked")) == "another's"


def test_a_client_that_names_ever_new_folders_fills_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(belonging, "HELD_MAX", 10)
    belongs = Belonging("0" * 16)
    for number in range(100):
        belongs.whose(f"{tmp_path}/{number}")
    assert len(belongs.held) <= 10
