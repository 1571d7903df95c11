"""Searching memories: the same legs as for summaries, but scored by how much of the question each one answers.

Memories are few, so the first of them by rank need not be any good. A memory therefore stands where the first
summary of a leg would, times what it answers of the question; from `FULL` on it counts in full.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from siftd.search.query import Question, trigrams_match, words_match
from siftd.search.relevance import Relevance
from siftd.store import memories
from siftd.store.candidates import document_counts
from siftd.store.memories import MemoryScope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEPTH = 60
FULL = {"words": 0.5, "vector": 0.5, "trigram": 1.0, "recent": 1.0}
"""The share of a question, or the cosine, at which a memory counts in full."""
COSINE_FLOOR = 0.12
"""As for summaries: below it a cosine is noise of the built-in embedder."""
_TRIGRAM_SHARE = 0.3
"""What a memory answers that holds a word of the question only as a part of another. Arbitrary."""

Leg = list[tuple[int, float]]
"""(memory id, how far it was found), best first."""


def lexical_legs(connection: sqlite3.Connection, question: Question, scope: MemoryScope) -> dict[str, Leg]:
    """Return the memories that hold words of the question, or words that contain them."""
    words: dict[int, float] = {}
    parts: dict[int, float] = {}
    if match := words_match(connection, "memories_terms", question.terms):
        relevance = Relevance.of(connection, question)
        texts = memories.by_words(connection, match, scope, DEPTH)
        words = {each: share for each, text in texts if (share := relevance.share(text))}
    known = document_counts(connection, "memories_terms", question.terms)
    if match := trigrams_match([term for term in question.terms if term not in known]):
        found = memories.by_trigrams(connection, match, scope, DEPTH)
        parts = {each: _TRIGRAM_SHARE for each, _ in found if each not in words}
    return {"words": _best_first(words), "trigram": list(parts.items())}


def vector_leg(connection: sqlite3.Connection, scope: MemoryScope, embedder: str, vector: NDArray[np.float32]) -> Leg:
    """Return the memories whose vector is near `vector`, with their cosines.

    The vectors are read anew at each call: what is kept on purpose is hundreds of rows, about five milliseconds a
    thousand, and a row that a person changes with sqlite3 counts at once.
    """
    ids, packed = memories.find_vectors(connection, embedder, len(vector), scope)
    if not ids:
        return []
    import numpy as np

    cosines = np.frombuffer(b"".join(packed), dtype="<f4").reshape(len(ids), len(vector)) @ vector
    nearest = np.argsort(-cosines, kind="stable")[:DEPTH]
    return [(ids[at], float(cosines[at])) for at in nearest if cosines[at] >= COSINE_FLOOR]


def latest_leg(connection: sqlite3.Connection, scope: MemoryScope, limit: int) -> Leg:
    """Return the latest memories."""
    return [(each, 1.0) for each in memories.latest(connection, scope, limit)]


def _best_first(scores: dict[int, float]) -> Leg:
    return sorted(scores.items(), key=lambda item: (-item[1], -item[0]))
