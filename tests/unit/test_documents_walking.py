"""Folders, patterns and files as a person names them: what is found, and what is left out with its reason."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from siftd.documents.files import find_files, load
from siftd.documents.walking import FILE_BYTES_MAX, Found, Skipped
from siftd.errors import DocumentRefused


def _lay(folder: Path, *names: str, text: str = "words") -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def _found(named: Path | str, base: Path) -> list[str]:
    return [os.path.relpath(each.path, base) for each in find_files(str(named)) if isinstance(each, Found)]


def _skipped(named: Path | str, base: Path) -> dict[str, str]:
    return {
        os.path.relpath(each.path, base): each.reason for each in find_files(str(named)) if isinstance(each, Skipped)
    }


def test_a_folder_is_walked_in_the_order_of_its_paths(tmp_path: Path) -> None:
    _lay(tmp_path, "b.md", "a/z.md", "a/b/c.md", "README")
    assert _found(tmp_path, tmp_path) == ["README", "b.md", "a/z.md", "a/b/c.md"]


def test_what_the_project_ignores_is_left_out_and_the_nearest_file_decides(tmp_path: Path) -> None:
    _lay(tmp_path, "a.log", "out/x.md", "docs/a.log", "docs/keep.log", "docs/a.md", ".git/config", "mine.md")
    (tmp_path / ".gitignore").write_text("*.log\n/out/\n\n# words\n[\n")
    (tmp_path / "docs/.gitignore").write_text("!keep.log\n")
    (tmp_path / ".git/info").mkdir()
    (tmp_path / ".git/info/exclude").write_text("mine.md\n")
    assert _found(tmp_path, tmp_path) == [".gitignore", "docs/.gitignore", "docs/a.md", "docs/keep.log"]
    assert _skipped(tmp_path, tmp_path) == {
        "a.log": "ignored",
        "out": "ignored",
        "docs/a.log": "ignored",
        "mine.md": "ignored",
        ".git": "vendored",
    }


def test_a_repositorys_patterns_hold_in_a_folder_below_its_top(tmp_path: Path) -> None:
    _lay(tmp_path, "docs/a.tmp", "docs/a.md", ".git/config")
    (tmp_path / ".gitignore").write_text("*.tmp\n/build/\n")
    assert _found(tmp_path / "docs", tmp_path) == ["docs/a.md"]


def test_an_ignored_folder_that_a_person_names_is_walked(tmp_path: Path) -> None:
    _lay(tmp_path, "build/a.md", ".git/config")
    (tmp_path / ".gitignore").write_text("/build/\n")
    assert _found(tmp_path / "build", tmp_path) == ["build/a.md"]


def test_hostile_patterns_cost_linear_time(tmp_path: Path) -> None:
    _lay(tmp_path, "a" * 200 + ".md")
    (tmp_path / ".gitignore").write_text(("*a" * 60 + "*b\n") * 50)
    assert len(_found(tmp_path, tmp_path)) == 2


def test_secrets_vendored_and_generated_files_are_left_out(tmp_path: Path) -> None:
    _lay(
        tmp_path, ".env", ".env.example", "deploy/server.key", "id_rsa", ".ssh/config", "node_modules/a/README.md",
        "env/pyvenv.cfg", "app.min.js", "poetry.lock", "a.md",
    )  # fmt: skip
    assert _found(tmp_path, tmp_path) == [".env.example", "a.md"]
    assert _skipped(tmp_path, tmp_path) == {
        ".env": "secret",
        "deploy/server.key": "secret",
        "id_rsa": "secret",
        ".ssh": "secret",
        "node_modules": "vendored",
        "env": "vendored",
        "app.min.js": "generated",
        "poetry.lock": "generated",
    }


def test_a_folder_with_a_link_to_itself_ends(tmp_path: Path) -> None:
    _lay(tmp_path, "docs/a.md")
    (tmp_path / "docs/again").symlink_to(tmp_path / "docs")
    (tmp_path / "docs/outside").symlink_to("/etc/passwd")
    assert _found(tmp_path / "docs", tmp_path) == ["docs/a.md"]
    assert _skipped(tmp_path, tmp_path) == {"docs/again": "link", "docs/outside": "link"}


def test_pipes_and_sockets_are_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _lay(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    monkeypatch.chdir(tmp_path)  # a socket's address has 100 bytes
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")
        assert _skipped(tmp_path, tmp_path) == {"pipe.md": "special", "socket.md": "special"}
    with pytest.raises(DocumentRefused, match="not a regular file"):
        load(str(tmp_path / "pipe.md"))


def test_a_file_of_200_megabytes_is_left_out_unread(tmp_path: Path) -> None:
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    assert _skipped(tmp_path, tmp_path) == {"large.txt": "too large"}
    with pytest.raises(DocumentRefused, match="larger than 32 MiB"):
        load(str(tmp_path / "large.txt"))
    assert FILE_BYTES_MAX == 32 * 1024 * 1024


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable to root")
def test_an_unreadable_folder_is_told(tmp_path: Path) -> None:
    _lay(tmp_path, "shut/a.md", "b.md")
    (tmp_path / "shut").chmod(0)
    try:
        assert _skipped(tmp_path, tmp_path) == {"shut": "unreadable"}
    finally:
        (tmp_path / "shut").chmod(0o700)


def test_a_pattern_finds_what_it_fits_below_its_folder(tmp_path: Path) -> None:
    _lay(tmp_path, "docs/a.md", "docs/b/c.md", "docs/b/d.txt", "x.md")
    assert _found(f"{tmp_path}/docs/**/*.md", tmp_path) == ["docs/a.md", "docs/b/c.md"]
    assert _found(f"{tmp_path}/docs/*.md", tmp_path) == ["docs/a.md"]
    assert _found(f"{tmp_path}/docs/b/[cd].txt", tmp_path) == ["docs/b/d.txt"]


def test_a_file_whose_name_is_a_pattern_is_that_file(tmp_path: Path) -> None:
    _lay(tmp_path, "a[1].md")
    assert _found(tmp_path / "a[1].md", tmp_path) == ["a[1].md"]


@pytest.mark.parametrize(("name", "reason"), [("gone.md", "not found"), ("gone/*.md", "not found"), (".env", "secret")])
def test_what_cannot_be_meant_is_refused(name: str, reason: str, tmp_path: Path) -> None:
    _lay(tmp_path, ".env")
    with pytest.raises(DocumentRefused) as refused:
        list(find_files(str(tmp_path / name)))
    assert refused.value.reason == reason


def test_a_file_that_goes_on_changing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one")
    real, calls = os.fstat, iter(range(1000))

    def changing(descriptor: int) -> os.stat_result:
        with path.open("a") as file:
            file.write(str(next(calls)))
        return real(descriptor)

    monkeypatch.setattr(os, "fstat", changing)
    with pytest.raises(DocumentRefused) as refused:
        load(str(path))
    assert refused.value.reason == "changes"


def test_a_file_that_changes_once_is_read_as_it_is_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one")
    real, once = os.fstat, threading.Event()

    def changing(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        if not once.is_set():
            once.set()
            path.write_text("two, and longer")
        return status

    monkeypatch.setattr(os, "fstat", changing)
    assert load(str(path)) == b"two, and longer"
