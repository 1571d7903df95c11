"""The queue of summaries that wait for their vectors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from workbench import Workbench

from siftd.embed.blend384 import embed
from siftd.store import vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    async with Workbench(tmp_path) as opened:
        yield opened


class Other:
    """A model, with a space of its own: every text has the same vector."""

    name = "other-2"
    works = True

    def __init__(self, *vector: float) -> None:
        self.vector = np.array(vector or (0.6, 0.8), dtype=np.float32)
        self.dim = len(self.vector)
        self.known_dim: int | None = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not self.works:
            raise ConnectionError("the words of a summary")
        self.known_dim = self.dim
        return np.repeat(self.vector[np.newaxis], len(texts), axis=0)

    def embed_question(self, text: str, weights: Mapping[str, float]) -> NDArray[np.float32]:
        return self.embed([text])


async def embed_all(bench: Workbench) -> int:
    return await bench.embedding.run(lambda: True)


async def test_every_live_summary_gets_a_little_endian_float32_vector(bench: Workbench) -> None:
    await bench.tell("built the parser")
    await bench.drain()
    assert await embed_all(bench) == 1
    ((dim, vec, embedder),) = bench.rows("SELECT dim, vec, embedder FROM summary_embeddings")
    assert (dim, len(vec), embedder) == (384, 4 * 384, "blend-384")
    assert np.frombuffer(vec, "<f4").tobytes() == embed(["built the parser"])[0].tobytes()


async def test_nothing_waits_after_a_run(bench: Workbench) -> None:
    await bench.tell(*(f"call {number}" for number in range(300)))
    await bench.drain()
    assert await embed_all(bench) == 300
    assert await embed_all(bench) == 0


async def test_emptied_vectors_are_made_again(bench: Workbench) -> None:
    await bench.tell("one", "two")
    await bench.settle()
    before = bench.rows("SELECT summary_id, dim, vec, embedder FROM summary_embeddings ORDER BY 1")
    bench.by_hand("DELETE FROM summary_embeddings")
    await bench.settle()
    assert bench.rows("SELECT summary_id, dim, vec, embedder FROM summary_embeddings ORDER BY 1") == before


async def test_a_failing_embedder_delays_no_summary_and_search_says_so(bench: Workbench) -> None:
    other = Other()
    other.works = False
    bench.embedder = other  # type: ignore[assignment]
    bench.put_together()
    await bench.tell("mended the parser")
    await bench.settle()
    assert bench.rows("SELECT status FROM events") == [("summarized",)]
    assert bench.embedding.last_error == "the embedder failed (ConnectionError)"
    assert bench.hits("parser") == [1]
    other.works = True
    await bench.settle()
    assert bench.embedding.last_error is None
    assert bench.rows("SELECT embedder, dim FROM summary_embeddings") == [("other-2", 2)]


async def test_another_embedder_makes_every_vector_anew(bench: Workbench) -> None:
    await bench.tell("one", "two")
    await bench.settle()
    bench.embedder = Other()  # type: ignore[assignment]
    bench.put_together()
    assert await embed_all(bench) == 2
    assert bench.rows("SELECT DISTINCT embedder FROM summary_embeddings") == [("other-2",)]


@pytest.mark.parametrize("vector", [(0.8, -0.6), (1.0, 0.0, 0.0)], ids=["other weights", "another dimension"])
async def test_what_another_model_made_under_the_same_name_is_made_anew(
    bench: Workbench, vector: tuple[float, ...]
) -> None:
    """Only what it answers tells a model from its successor; after a restart the first answer does."""
    await bench.tell("one", "two")
    bench.embedder = Other()  # type: ignore[assignment]
    bench.put_together()
    await bench.settle()
    bench.embedder = Other(*vector)  # type: ignore[assignment]
    bench.put_together()
    assert await embed_all(bench) == 0, "nobody has asked it yet"
    bench.embedder.embed_question("what was one?", {})
    assert await embed_all(bench) == 2
    packed = np.array(vector, dtype="<f4").tobytes()
    assert bench.rows("SELECT DISTINCT vec, dim FROM summary_embeddings") == [(packed, len(vector))]


async def test_the_same_model_after_a_restart_makes_nothing_anew(bench: Workbench) -> None:
    await bench.tell("one")
    bench.embedder = Other()  # type: ignore[assignment]
    bench.put_together()
    await bench.settle()
    bench.embedder = Other(0.6001, 0.7999)  # type: ignore[assignment]
    bench.put_together()
    await bench.tell("two")
    await bench.settle()
    assert bench.rows("SELECT summary_id FROM summary_embeddings ORDER BY 1") == [(1,), (2,)]
    assert bench.rows("SELECT count(DISTINCT vec) FROM summary_embeddings") == [(2,)]


async def test_what_is_added_while_others_are_embedded_is_not_left_out(bench: Workbench) -> None:
    await bench.tell(*(f"call {number}" for number in range(300)))
    await bench.drain()
    asked = 0

    def goes_on() -> bool:
        nonlocal asked
        asked += 1
        if asked == 6:
            bench.by_hand(
                "INSERT INTO summaries (event_id, ts, model, prompt_hash, text) VALUES (1, 1, 'me', '', 'new')"
            )
        return True

    assert await bench.embedding.run(goes_on) == 301


async def test_a_hidden_summary_needs_no_vector_until_it_is_brought_back(bench: Workbench) -> None:
    await bench.tell("said twice", "said twice")
    await bench.settle()
    bench.by_hand("DELETE FROM summary_embeddings")
    assert await embed_all(bench) == 1
    bench.by_hand("DELETE FROM summary_supersedes")
    assert await embed_all(bench) == 1


async def test_only_what_has_changed_since_nothing_was_missing_is_looked_at(bench: Workbench) -> None:
    """Each tick asks, and a store may have a million summaries."""
    await bench.tell("said twice", "said twice", "another thing")
    await bench.settle()
    bench.by_hand("DELETE FROM summary_embeddings WHERE summary_id = 1")
    assert await embed_all(bench) == 0, "the first is hidden by the second"
    known = vectors.mark(bench.store.reader)
    assert vectors.lowest_since(bench.store.reader, known) == 4
    for undone, lowest in (
        ("DELETE FROM summary_embeddings WHERE summary_id = 3", 3),
        ("UPDATE summaries SET text = 'said thrice' WHERE id = 2", 2),
        ("DELETE FROM summary_supersedes", 1),
        ("DELETE FROM vector_changes", vectors.BOTTOM),
    ):
        bench.by_hand(undone)
        assert vectors.lowest_since(bench.store.reader, known) == lowest
    assert await embed_all(bench) == 3


async def test_the_newest_are_embedded_first(bench: Workbench) -> None:
    await bench.tell(*(f"call {number}" for number in range(200)))
    await bench.drain()
    await bench.embedding.run(lambda: not bench.rows("SELECT 1 FROM summary_embeddings LIMIT 1"))
    ((oldest, count),) = bench.rows("SELECT min(summary_id), count(*) FROM summary_embeddings")
    assert (count, oldest) == (128, 73)


async def test_a_summary_inserted_by_hand_gets_its_vector_and_its_split_words(bench: Workbench) -> None:
    (event_id,) = await bench.tell("one")
    await bench.settle()
    bench.by_hand(
        "INSERT INTO summaries (event_id, ts, model, prompt_hash, text)"
        f" VALUES ({event_id}, 1, 'me', '', 'renamed checkSession')"
    )
    await bench.settle()
    ((words, dim),) = bench.rows(
        "SELECT words, dim FROM summaries JOIN summary_embeddings ON summary_id = id WHERE model = 'me'"
    )
    assert ("session" in words.split(), dim) == (True, 384)
    assert bench.hits("session") == [event_id]


async def test_a_text_changed_by_hand_is_embedded_anew_and_found_by_its_new_words_only(bench: Workbench) -> None:
    (event_id,) = await bench.tell("mended parseInvoice", file_path="/src/x.py")
    await bench.settle()
    bench.by_hand("UPDATE summaries SET text = 'painted the bikeShed'")
    await bench.settle()
    ((words, vec),) = bench.rows("SELECT words, vec FROM summaries JOIN summary_embeddings ON summary_id = id")
    assert words.split() == ["painted", "the", "bikeshed", "bike", "shed"]
    assert vec == embed(["painted the bikeShed"])[0].tobytes()
    found = bench.search("bike shed").hits[0]
    assert (found["eventId"], found["text"]) == (event_id, "painted the bikeShed")
    assert "words" not in {retriever for hit in bench.search("parseInvoice").hits for retriever in hit["why"]}
