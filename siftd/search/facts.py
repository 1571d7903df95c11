"""Searching facts: the same retrievers as for summaries, scored by how much of the question each one answers."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from siftd.search.query import Question, any_of, quoted, trigrams_match
from siftd.search.relevance import Relevance, answered
from siftd.store import fact_candidates, postings
from siftd.store.access import Database, DatabaseError
from siftd.store.fact_scope import FactScope

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from siftd.search.vectors import VectorIndex

    Vector = NDArray[np.float32]

DEPTH = 60
COSINE_FLOOR = 0.12
"""As for summaries: below it a cosine is noise of the built-in embedder."""
_SAMPLE = 8
"""Facts from which on their mean cosine tells what is far in the space of a model."""
SAME_SUBJECT = 0.55
"""Cosine from which on two facts are about the same: of one the newer counts. Pairs of which one replaces the other
("CI runs on Jenkins", "Payments go through …") lie at 0.61 to 0.88 in the default space, all others of 80 below 0.4."""
_TRIGRAM_SHARE = 0.3
"""What a fact answers that holds a word of the question only as a part of another. Arbitrary."""

OWN, EVERYWHERE = "m", "g"
"""How a fact of this project is cited, and one for every project."""

Ranking = list[tuple[int, float]]
"""(fact id, how far it was found), best first."""


def lexical_rankings(connection: Database, question: Question, scope: FactScope) -> dict[str, Ranking]:
    """Return the memories that hold words of the question, or words that contain them."""
    words: dict[int, float] = {}
    parts: dict[int, float] = {}
    if match := any_of(question.terms):
        relevance = Relevance.of(connection, question)
        texts = fact_candidates.by_words(connection, match, scope, DEPTH)
        words = {each: share for each, text in texts if (share := relevance.share(text))}
    counts = postings.count(connection, "facts_fts", map(quoted, question.terms), 1)
    unknown = [term for term, count in zip(question.terms, counts, strict=True) if not count]
    if match := trigrams_match(unknown):
        found = fact_candidates.by_trigrams(connection, match, scope, DEPTH)
        parts = {each: _TRIGRAM_SHARE for each, _ in found if each not in words}
    return {"words": _best_first(words), "trigram": list(parts.items())}


class FactVectors:
    """The facts' vectors of one embedder, kept while nobody has written to the database."""

    def __init__(self) -> None:
        self._version: tuple[int, int, str] | None = None
        self._ids: NDArray[np.int64] | None = None
        self._matrix: NDArray[np.float32] | None = None

    def nearest(self, connection: Database, scope: FactScope, embedder: str, vector: NDArray[np.float32]) -> Ranking:
        """Return the memories within the scope whose vector is near `vector`, with their cosines."""
        import numpy as np

        from siftd.search.vectors import is_orthogonal, usual_of_few  # numpy too: 20 MB that a daemon at rest lacks

        version = (*fact_candidates.version(connection), embedder)
        if self._ids is None or self._matrix is None or version != self._version:
            ids, packed = fact_candidates.find_vectors(connection, embedder, len(vector))
            self._ids = np.array(ids, dtype=np.int64)
            self._matrix = np.frombuffer(b"".join(packed), dtype="<f4").reshape(len(ids), len(vector))
            self._version = version
        if not len(self._ids):
            return []
        cosines = self._matrix @ vector
        if not is_orthogonal(embedder):
            usual = float(cosines.mean()) if len(cosines) >= _SAMPLE else usual_of_few(embedder)
            cosines = (cosines - usual) / (1 - usual) if usual < 1 else np.zeros_like(cosines)
        nearest = np.flatnonzero(cosines >= COSINE_FLOOR)
        nearest = nearest[np.argsort(-cosines[nearest], kind="stable")]
        found: Ranking = []
        begin, count = 0, 4 * DEPTH
        while begin < len(nearest) and len(found) < DEPTH:  # few filters leave out most: a store may hold many
            rows = nearest[begin : begin + count]
            ids = self._ids[rows].tolist()
            shown = fact_candidates.within(connection, ids, scope)
            found += [(each, float(cosines[at])) for each, at in zip(ids, rows, strict=True) if each in shown]
            begin, count = begin + count, 4 * count
        return found[:DEPTH]

    def alike(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """Return the pairs of these facts that are about the same, as their vectors tell; none before `nearest`."""
        import numpy as np

        if self._ids is None or self._matrix is None:
            return []
        rows = np.flatnonzero(np.isin(self._ids, ids))
        known = self._ids[rows].tolist()
        near = np.triu(self._matrix[rows] @ self._matrix[rows].T >= SAME_SUBJECT, 1)
        return [
            (known[one], known[other]) for one, other in zip(*(each.tolist() for each in near.nonzero()), strict=True)
        ]


def _best_first(scores: dict[int, float]) -> Ranking:
    return sorted(scores.items(), key=lambda item: (-item[1], -item[0]))


class FactCollection:
    """The facts of one store, and the letter that they are cited with."""

    def __init__(self, letter: str, connection: Database) -> None:
        self.letter = letter
        self.connection = connection
        self._vectors = FactVectors()

    def alike(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """Return the pairs of these facts that are about the same."""
        return self._vectors.alike(ids)

    def latest(self, scope: FactScope, limit: int) -> Ranking:
        """Return the latest facts."""
        return [(each, 1.0) for each in fact_candidates.latest(self.connection, self._seen(scope), limit)]

    def shown(self, ranking: Ranking, scope: FactScope) -> Ranking:
        """Return those of a ranking that are within the scope."""
        within = fact_candidates.within(self.connection, [each for each, _ in ranking], self._seen(scope))
        return [each for each in ranking if each[0] in within]

    def _seen(self, scope: FactScope) -> FactScope:
        """Return what of the scope this project may see: of those for every project, what a person let stand."""
        return scope.accepted if self.letter == EVERYWHERE else scope

    def retrieve(
        self, question: Question | None, scope: FactScope, vector: Vector | None, index: Callable[[], VectorIndex]
    ) -> dict[str, Ranking]:
        """Return what each retriever finds: by the question's words, where these are asked for, and by its vector."""
        scope = self._seen(scope)
        retrievers = {} if question is None else lexical_rankings(self.connection, question, scope)
        if vector is not None:
            nearest = self._vectors.nearest(self.connection, scope, index().embedder, vector)
            retrievers["vector"] = [(fact_id, answered(cosine)) for fact_id, cosine in nearest]
        return retrievers


class FactCollections:
    """This project's facts and those for every project, which another daemon keeps in a store of their own."""

    def __init__(self, connection: Database, everywhere: Callable[[], Database | None]) -> None:
        self._own = FactCollection(OWN, connection)
        self._find_shared = everywhere
        self._shared: FactCollection | None = None

    def filled(self, *, is_shared: bool) -> list[FactCollection]:
        """Return those that hold anything; `is_shared` asks for those of every project too."""
        found = self._find_shared() if is_shared else None
        if found is None:
            self._shared = None
        elif self._shared is None or self._shared.connection is not found:
            self._shared = FactCollection(EVERYWHERE, found)
        filled = [self._own] if fact_candidates.has_any(self._own.connection) else []
        with suppress(DatabaseError):  # another daemon's store must not take a search away
            if self._shared is not None and fact_candidates.has_any(self._shared.connection):
                filled.append(self._shared)
        return filled
