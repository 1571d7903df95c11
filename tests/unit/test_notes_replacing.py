"""A file that a person may be editing is replaced only while it holds what was read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from siftd.notes.replacing import EditedMeanwhile, left_by_killed, replace
from siftd.notes.replacing import digest_of as hashed


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "state.md"
    path.write_bytes(b"before")
    path.chmod(0o640)
    return path


def test_a_file_that_holds_what_was_read_is_replaced_and_keeps_its_mode(note: Path) -> None:
    assert replace(str(note), b"before", b"after", mode=0o600).settle()
    assert note.read_bytes() == b"after"
    assert note.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in note.parent.iterdir()] == ["state.md"]


def test_one_that_holds_something_else_is_left_alone(note: Path) -> None:
    with pytest.raises(EditedMeanwhile):
        replace(str(note), b"something", b"after", mode=0o600)
    assert note.read_bytes() == b"before"


@pytest.mark.parametrize("how", ["in place", "by a new file"])
def test_an_edit_between_the_comparison_and_the_writing_wins(
    note: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    fsync = os.fsync

    def edited_meanwhile(descriptor: int) -> None:
        monkeypatch.setattr(os, "fsync", fsync)
        fsync(descriptor)
        if how == "in place":
            note.write_bytes(b"typed")
        else:
            fresh = note.with_suffix(".swp")
            fresh.write_bytes(b"typed")
            fresh.replace(note)

    monkeypatch.setattr(os, "fsync", edited_meanwhile)
    with pytest.raises(EditedMeanwhile):
        replace(str(note), b"before", b"after", mode=0o600)
    assert note.read_bytes() == b"typed"
    assert [each.name for each in note.parent.iterdir()] == ["state.md"]


def test_a_new_file_never_takes_the_place_of_one_that_came_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "todo.md"
    fsync = os.fsync

    def made_meanwhile(descriptor: int) -> None:
        monkeypatch.setattr(os, "fsync", fsync)
        path.write_bytes(b"typed")

    monkeypatch.setattr(os, "fsync", made_meanwhile)
    with pytest.raises(EditedMeanwhile):
        replace(str(path), None, b"after", mode=0o600)
    assert path.read_bytes() == b"typed"


def test_what_an_editor_writes_into_the_file_that_it_had_open_wins(note: Path) -> None:
    with note.open("r+b") as editor:
        replacement = replace(str(note), b"before", b"after", mode=0o600)
        editor.write(b"typed!")
    assert not replacement.settle()
    assert note.read_bytes() == b"typed!"


def test_an_edit_that_a_killed_sync_had_displaced_is_put_back(note: Path) -> None:
    replace(str(note), b"before", b"after", mode=0o600)
    (note.parent / ".state.md.siftd").write_bytes(b"typed")
    assert not left_by_killed(str(note), hashed(b"before")).settle()
    assert note.read_bytes() == b"typed"


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    aim = tmp_path / "elsewhere"
    aim.write_bytes(b"before")
    link = tmp_path / "state.md"
    link.symlink_to(aim)
    with pytest.raises(OSError, match="symbolic links"):
        replace(str(link), b"before", b"after", mode=0o600)
    assert aim.read_bytes() == b"before"
