"""Settings of notes that no other test turns: which models, which further session files, notes for what was seen."""

from __future__ import annotations

import subprocess
from pathlib import Path

from notebook import Notebook
from opened_memory import opened

from siftd.notes import registry
from siftd.notes.sweep import sweep


def test_the_models_are_the_ones_that_are_set(tmp_path: Path) -> None:
    models = {"notes__model": "small", "notes__largeModel": "large", "notes__escalateChars": 1_000}
    book = Notebook(tmp_path, notes__curate=True, **models)
    book.says(summary="-")
    book.transcript(("One", "First."))
    book.sync()
    assert (book.curator / "model").read_text() == "small"
    book.transcript(("x" * 1_100, "Second."))
    book.sync()
    assert (book.curator / "model").read_text() == "large"


def test_further_session_files_are_read_for_the_project_that_names_them(tmp_path: Path) -> None:
    other = Notebook(tmp_path / "elsewhere", notes__curate=True)
    found = other.transcript(("Asked on another machine", "Yes."))
    sources = {"proj": [f"claude-code:{found.parent}/*.jsonl"]}
    book = Notebook(tmp_path / "here", notes__curate=True, notes__sources=sources)
    Path(book.books.cursors).write_text('{"version": 1}')
    book.says(summary="-")
    assert book.sync().status == "done"
    assert "Asked on another machine" in book.prompts[0]


async def test_what_was_worked_in_gets_notes_only_where_that_is_on(tmp_path: Path) -> None:
    for is_on in (False, True):
        root = tmp_path / str(is_on)
        book = Notebook(root, notes__autoScaffold=is_on)
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        async with opened(root) as memory:
            await memory.capture(1)
            book.clock.forward((memory.clock.now_ms() - book.clock.now_ms()) / 1000)
        around = book.around._replace(user_home="/home/nobody")
        list(sweep(around))
        known = registry.load(book.home)
        named = {project.path for project in known.projects}
        assert (str(root) in known.offered, str(root) in named) == (not is_on, is_on)
        assert not (root / ".memory").exists()
