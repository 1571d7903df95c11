"""A sync of notes, and something that is forgotten while it is at work."""

from __future__ import annotations

from pathlib import Path

import pytest
from notebook import Notebook

from siftd.notes.forgotten import change_mark, is_pending
from siftd.notes.layout import NOTE_NAMES


@pytest.fixture
def book(tmp_path: Path) -> Notebook:
    """A project with notes that a curator keeps, and something that it has not read yet."""
    book = Notebook(tmp_path, notes__curate=True)
    book.transcript(("The zebra is called Zanzibar", "I see."))
    book.drop("Zanzibar has moved")
    book.says(summary="Of Zanzibar.", decisions_body="# Decisions\n\n- The zebra is called Zanzibar")
    return book


def holders(book: Notebook) -> list[str]:
    files = [
        *map(book.read, NOTE_NAMES),
        book.archive(),
        *(each.read_text() for each in Path(book.books.folder).glob("*.json")),
    ]
    return [text for text in files if "Zanzibar" in text]


def test_what_is_forgotten_while_the_curator_thinks_is_not_written(book: Notebook) -> None:
    (book.curator / "during.py").write_text(f"pathlib.Path({book.books.forgotten!r}).write_text('another')")
    outcome = book.sync()
    assert (outcome.status, outcome.message) == (
        "failed",
        "something was forgotten meanwhile; the next sync reads what is left",
    )
    assert holders(book) == []
    (book.curator / "during.py").unlink()
    assert book.sync().status == "done"
    assert len(book.prompts) == 2
    assert "Zanzibar has moved" in book.prompts[1], "the inbox note waited for it"


def test_no_sync_begins_while_something_is_still_to_leave_the_notes(book: Notebook) -> None:
    change_mark(book.books)
    assert is_pending(book.books)
    outcome = book.sync()
    assert outcome.status == "locked"
    assert "still to leave the notes" in outcome.message
    assert book.prompts == []
    change_mark(book.books, is_done=True)
    assert book.sync().status == "done"
