"""Notes that answer a question, in a short list of their own beside the hits.

A note is mostly made of what the hits say: ranked among them it would take the place of its own evidence. So few are
shown, and only those that hold most of what the question is about; what has gone to the archive stands behind.
"""

from __future__ import annotations

from siftd import ids
from siftd.search.query import Question, any_of
from siftd.search.relevance import Relevance
from siftd.store import notes
from siftd.store.access import Database
from siftd.store.notes import FoundNote
from siftd.wire.requests.finding import NoteHit

MOST = 3
SHARE_MIN = 0.6
"""Of a question's weight. Arbitrary: one of two words finds nothing, two of three do, and a rare one with a common."""
_LOOKED_AT = 64
ARCHIVE = "archive/"


def find(connection: Database, query: str) -> list[NoteHit]:
    """Return the notes that answer a question, best first."""
    if not notes.has_any(connection):
        return []
    question = Question.of(query)
    match = any_of(question.terms)
    relevance = Relevance.of(connection, question)
    if match is None or relevance.is_empty:
        return []
    is_one = len(notes.projects(connection)) == 1
    shares = [
        (relevance.share(f"{each.heading} {each.text}"), each) for each in notes.by_words(connection, match, _LOOKED_AT)
    ]
    found = sorted(
        ((share, each) for share, each in shares if share >= SHARE_MIN),
        key=lambda one: (one[1].file.startswith(ARCHIVE), -one[0]),
    )
    return [_hit(each, share, is_one=is_one) for share, each in found[:MOST]]


def _hit(found: FoundNote, share: float, *, is_one: bool) -> NoteHit:
    note = ids.Note(found.file, found.line, None if is_one else found.project)
    return {
        "id": ids.cite_note(note),
        "heading": found.heading,
        "text": found.text,
        "archived": found.file.startswith(ARCHIVE),
        "score": round(share, 4),
    }
