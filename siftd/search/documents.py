"""Documents that answer a question, in a list of their own beside the hits.

A hit is what happened or was said here; a document is what somebody had read in. Ranked among the hits, chunks of a
large manual would take the places of what only this memory knows, so few are shown beside them, and as many as wanted
where documents are asked for (kind "document"). Words and vectors are added up as for summaries: how much of the
question a chunk holds, by how rare each word is among the chunks, bm25 between those that hold as much, and how near
it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from siftd import ids
from siftd.errors import SiftdError
from siftd.filters import Filters
from siftd.search.passages import PASSAGE_CHARS, Wanted, shortened
from siftd.search.query import Question, any_of
from siftd.search.relevance import Relevance, answered
from siftd.store import chunks, documents, postings
from siftd.store.access import Database
from siftd.store.chunks import Chunk, ChunkScope
from siftd.store.documents import Document
from siftd.wire.requests.documents import DocumentHit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from siftd.search.vectors import VectorIndex

    Vector = NDArray[np.float32]

KIND = "document"
FEW = 3
"""Shown beside other hits."""
SHARE_MIN = 0.5
"""Of a question's weight, that a chunk holds which is shown beside other hits. Arbitrary: one of two words, if it is
the rarer one."""
OF_ONE_MAX = 5
"""Chunks of one document among those that are shown. With 3 a question of the seen half more goes unanswered, in a list
of five; with no bound a long manual fills a long list."""
LOOKED_AT = 60
"""Chunks that words find, and as many that vectors do."""
COMMON_FROM, RARE_SHARE = 5_000, 0.5
"""Of more chunks than that only those are looked for beside other hits that hold one of a question's rarer words, of
half the weight of the rarest at least: bm25 takes some microseconds for each row that matches. Where documents are
asked for, every word counts: with 0.2 four of a hundred questions more go unanswered."""
COSINE_FLOOR = 0.12
"""As for summaries."""
_WORDS, _RANK, _VECTOR = 0.5, 0.25, 0.25
"""Weights of the share of a question, of bm25 against the best one's, and of nearness. Arbitrary: 0.15 to 0.35 of the
last two do the same."""
_PIECE = 4_096
_BLOCK = 8_192
_SPARE = 1_024
"""Vectors of chunks that are gone, from which on all are read anew: so many, and a third of those that are there."""

Embed = Callable[[str, Mapping[str, float] | None], "Vector"]


class ChunkVectors:
    """The chunks' vectors of one embedder, in half precision: 40 MB for 50,000 chunks. Used from one thread at a
    time."""

    def __init__(self) -> None:
        self._embedder: str | None = None
        self._seen = 0
        self._ids: NDArray[np.int64]
        self._matrix: NDArray[np.float16]

    def nearest(self, connection: Database, embedder: str, vector: Vector, limit: int) -> list[tuple[int, float]]:
        """Return (chunk, cosine) of those that are near, best first; some may be gone."""
        import numpy as np

        self._refresh(connection, embedder, len(vector))
        cosines = np.empty(len(self._ids), dtype=np.float32)
        for start in range(0, len(cosines), _BLOCK):
            block = self._matrix[start : start + _BLOCK].astype(np.float32)
            cosines[start : start + len(block)] = block @ vector
        cosines = _without_the_usual(cosines, embedder)
        best = np.argsort(-cosines, kind="stable")[: 2 * limit]
        found: dict[int, float] = {}
        for at in best.tolist():
            if cosines[at] >= COSINE_FLOOR:
                found.setdefault(int(self._ids[at]), float(cosines[at]))
        return list(found.items())[:limit]

    def _refresh(self, connection: Database, embedder: str, dim: int) -> None:
        """Read the vectors that were made since; all of them where too many are of chunks that are gone."""
        import numpy as np

        if self._embedder == embedder and self._matrix.shape[1] == dim:
            there = chunks.count_vectors(connection)
            is_stale = len(self._ids) > there + max(_SPARE, there // 3)
        else:
            is_stale = True
        if is_stale:
            self._embedder, self._seen = embedder, 0
            self._ids, self._matrix = np.empty(0, np.int64), np.empty((0, dim), np.float16)
        pieces = list(self._read(connection, embedder, dim))
        if pieces:
            self._ids = np.concatenate([self._ids, *(each for each, _ in pieces)])
            self._matrix = np.concatenate([self._matrix, *(each for _, each in pieces)])

    def _read(
        self, connection: Database, embedder: str, dim: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float16]]]:
        import numpy as np

        while rows := chunks.list_vectors(connection, embedder, dim, self._seen, _PIECE):
            self._seen = rows[-1][0]
            packed = np.frombuffer(b"".join(row[2] for row in rows), dtype="<f4").reshape(len(rows), dim)
            yield np.array([row[1] for row in rows], np.int64), packed.astype(np.float16)


def _without_the_usual(cosines: NDArray[np.float32], embedder: str) -> NDArray[np.float32]:
    """Return cosines counted from what is far in a space: a model's begin at a half or so."""
    import numpy as np

    from siftd.search.vectors import is_orthogonal, usual_of_few

    if is_orthogonal(embedder) or not len(cosines):
        return cosines
    usual = float(cosines.mean()) if len(cosines) >= _PIECE // 16 else usual_of_few(embedder)
    return (cosines - usual) / (1 - usual) if usual < 1 else np.zeros_like(cosines)


class _Scored(NamedTuple):
    chunk: Chunk
    document: Document
    score: float
    share: float
    why: dict[str, dict[str, float]]


class DocumentSearch:
    """Finds in the documents of one store. Used from one thread at a time."""

    def __init__(self, connection: Database, index: Callable[[], VectorIndex], embed_question: Embed) -> None:
        self._connection = connection
        self._index = index
        self._embed_question = embed_question
        self._vectors = ChunkVectors()

    def find(self, query: str, filters: Filters, k: int) -> list[DocumentHit]:
        """Return the chunks that answer, best first: `k` where documents are asked for, else a few, and only where no
        filter says what hits must be."""
        is_asked = filters.kind == KIND
        question = Question.of(query)
        if not question.text or not (is_asked or filters == Filters()) or not documents.has_any(self._connection):
            return []
        scope = ChunkScope(type=filters.type, file=filters.file, since=filters.since, until=filters.until)
        relevance = self._relevance(question)
        terms = question.terms if is_asked else self._rarer(question, relevance)
        scored = [] if relevance.is_empty and not is_asked else self._scored(question, terms, relevance, scope)
        if not is_asked:
            scored = [each for each in scored if each.share >= SHARE_MIN]
        wanted = Wanted(relevance.weights)
        shown = _spread(scored, k if is_asked else min(k, FEW))
        return [_hit(each, wanted) for each in shown]

    def _relevance(self, question: Question) -> Relevance:
        return Relevance.of(
            self._connection, question, ("chunks_fts",), rows=postings.last_id(self._connection, "chunks")
        )

    def _scored(
        self, question: Question, terms: Sequence[str], relevance: Relevance, scope: ChunkScope
    ) -> list[_Scored]:
        match = any_of(terms)
        ranks = dict([] if match is None else chunks.by_words(self._connection, match, scope, LOOKED_AT))
        near = dict(self._nearest(question, relevance))
        best_rank = max(ranks.values(), default=0.0)
        found = chunks.find_all(self._connection, {*ranks, *near}, scope)
        of = documents.find_all(self._connection, {each.document_id for each in found.values()})
        places = {name: _places(leg, found) for name, leg in (("words", ranks), ("vector", near))}
        scored = []
        for number, chunk in found.items():
            document = of[chunk.document_id]
            share = relevance.share(f"{document.title} {chunk.heading} {chunk.text}")
            rank = ranks.get(number, 0.0) / best_rank if best_rank else 0.0
            nearness = answered(max(0.0, near.get(number, 0.0)))
            score = _WORDS * share + _RANK * rank + _VECTOR * nearness
            scores = {"words": share, "vector": nearness}
            why = {
                name: {"rank": places[name][number], "score": scores[name]} for name in scores if number in places[name]
            }
            scored.append(_Scored(chunk, document, score, share, why))
        return sorted(scored, key=lambda each: (-each.score, each.chunk.id))

    def _rarer(self, question: Question, relevance: Relevance) -> Sequence[str]:
        """Return the words of which a chunk must hold one that is shown beside other hits."""
        weights = relevance.weights
        if not weights or postings.last_id(self._connection, "chunks") < COMMON_FROM:
            return question.terms
        least = RARE_SHARE * max(weights.values())
        return [term for term, weight in weights.items() if weight >= least]

    def _nearest(self, question: Question, relevance: Relevance) -> list[tuple[int, float]]:
        """Return the chunks whose vector is near; none while an embedder is away, which hits tell."""
        if not question.has_content_words:
            return []
        try:
            vector = self._embed_question(question.text, relevance.weights)
            return self._vectors.nearest(self._connection, self._index().embedder, vector, LOOKED_AT)
        except SiftdError:
            return []


def _places(leg: Mapping[int, float], found: Iterable[int]) -> dict[int, int]:
    """Return by chunk its place in what one retriever found."""
    there = set(found)
    best_first = sorted((each for each in leg if each in there), key=lambda each: -leg[each])
    return {number: place for place, number in enumerate(best_first, start=1)}


def _spread(scored: Iterable[_Scored], most: int) -> list[_Scored]:
    """Return the best, a few of each document at most."""
    shown: list[_Scored] = []
    taken: Counter[int] = Counter()
    for each in scored:
        if taken[each.document.id] < OF_ONE_MAX and len(shown) < most:
            taken[each.document.id] += 1
            shown.append(each)
    return shown


def _hit(scored: _Scored, wanted: Wanted) -> DocumentHit:
    chunk, document = scored.chunk, scored.document
    return {
        "id": ids.cite_document(document.id, chunk.line),
        "path": document.path,
        "url": document.url,
        "type": document.type,
        "title": document.title,
        "heading": chunk.heading,
        "line": chunk.line,
        "text": chunk.text,
        "passage": shortened(chunk.text, wanted, PASSAGE_CHARS),
        "ts": document.ingested_ts,
        "score": round(scored.score, 4),
        "why": dict(scored.why),
    }
