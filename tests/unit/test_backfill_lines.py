"""Reading the lines of files that others write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.backfill import lines as lines_module
from siftd.backfill.lines import FileChanged, Lines
from siftd.foreign_file import open_regular


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def read(path: Path) -> list[bytes]:
    with open_regular(str(path)) as file:
        return list(Lines(file, str(path)))


@settings(max_examples=50)
@given(parts=st.lists(st.binary(max_size=20).map(lambda part: part.replace(b"\n", b"")), max_size=6), rest=st.binary())
def test_whole_lines_are_read_whatever_follows(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], rest: bytes
) -> None:
    path = tmp_path_factory.mktemp("lines") / "s.jsonl"
    whole = [part + b"\n" for part in parts]
    path.write_bytes(b"".join(whole) + rest.replace(b"\n", b""))
    assert read(path) == whole


def test_what_is_appended_after_opening_waits(path: Path) -> None:
    path.write_bytes(b"a\nb\n")
    with open_regular(str(path)) as file:
        lines = Lines(file, str(path))
        found = iter(lines)
        assert next(found) == b"a\n"
        with path.open("ab") as more:
            more.write(b"c\n")
        assert list(found) == [b"b\n"]
        assert lines.done_bytes == 4


def test_a_line_that_is_too_long_is_passed_over_and_counted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "LINE_BYTES_MAX", 8)
    path.write_bytes(b"a\n" + b"x" * 50 + b"\nb\n" + b"1234567\n" + b"y" * 30)
    with open_regular(str(path)) as file:
        lines = Lines(file, str(path))
        assert list(lines) == [b"a\n", b"b\n", b"1234567\n"]
        assert (lines.passed_over, lines.longest) == (1, 8)


def test_a_file_that_is_cut_while_it_is_read_says_so(path: Path) -> None:
    path.write_bytes(b"a\n" * 100_000)
    with open_regular(str(path)) as file:
        found = iter(Lines(file, str(path)))
        next(found)
        os.truncate(path, 10)
        with pytest.raises(FileChanged):
            list(found)


def test_a_file_that_is_replaced_while_it_is_read_says_so(path: Path) -> None:
    path.write_bytes(b"a\nb\n")
    with open_regular(str(path)) as file:
        found = iter(Lines(file, str(path)))
        next(found)
        other = path.with_name("other")
        other.write_bytes(b"c\nd\ne\n")
        other.rename(path)
        with pytest.raises(FileChanged):
            list(found)


def test_a_pipe_is_refused_without_waiting_for_its_writer(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        open_regular(str(path))
