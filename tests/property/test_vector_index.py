"""The vector index against brute force, and any text as a query, under random changes by SQL."""

from __future__ import annotations

import sqlite3
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.filters import Filters
from siftd.search import bitsliced_scan
from siftd.search import vectors as vectors_module
from siftd.search.bitsliced_scan import Bits
from siftd.search.engine import SearchEngine
from siftd.search.id_rows import NOWHERE, Places
from siftd.search.vectors import VectorIndex
from siftd.store.migrate import migrate

DIM = 4
SPACE = "tiny"
SUMMARIES = 150
"""More than the index's first window."""


def small_store() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, 1)
    connection.execute(
        "INSERT INTO events (ts, session_id, tool, input_hash, payload_json) VALUES (1, 's', 'Bash', 'x', '{}')"
    )
    connection.executemany(
        "INSERT INTO summaries (id, event_id, ts, model, prompt_hash, text) VALUES (?, 1, 1, 'm', '', 'seen')",
        [(number,) for number in range(1, SUMMARIES + 1)],
    )
    return connection


# Few different vectors: equal ones are the rule, not the exception, as with texts that repeat.
vectors = st.tuples(*[st.sampled_from([-1.0, 0.0, 1.0])] * DIM)
ids = st.integers(1, SUMMARIES)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), ids, vectors),
        st.tuples(st.just("put many"), ids, vectors),
        st.tuples(st.just("other space"), ids, vectors),
        st.tuples(st.just("wrong size"), ids, vectors),
        st.tuples(st.just("delete"), ids, vectors),
        st.tuples(st.just("renumber"), ids, vectors),
        st.tuples(st.just("delete summary"), ids, vectors),
        st.tuples(st.just("clear"), ids, vectors),
        st.tuples(st.just("forget journal"), ids, vectors),
        st.tuples(st.just("look"), ids, vectors),
    ),
    max_size=25,
)
_PUT = "INSERT OR REPLACE INTO summary_embeddings (summary_id, dim, vec, embedder) VALUES (?, ?, ?, ?)"


def apply(connection: sqlite3.Connection, kind: str, summary_id: int, vector: tuple[float, ...]) -> None:
    packed = np.array(vector, dtype="<f4").tobytes()
    match kind:
        case "put" | "put many":
            count = 1 if kind == "put" else 90
            here = [(each, DIM, packed, SPACE) for each in range(summary_id, min(summary_id + count, SUMMARIES + 1))]
            connection.executemany(_PUT, here)
        case "other space":
            connection.execute(_PUT, (summary_id, DIM, packed, "another"))
        case "wrong size":
            connection.execute(_PUT, (summary_id, DIM, packed[:-1], SPACE))
        case "delete":
            connection.execute("DELETE FROM summary_embeddings WHERE summary_id = ?", (summary_id,))
        case "renumber":
            connection.execute(
                "UPDATE OR IGNORE summary_embeddings SET summary_id = ? WHERE summary_id = ?",
                (SUMMARIES + 1 - summary_id, summary_id),
            )
        case "delete summary":
            connection.execute("DELETE FROM summaries WHERE id = ?", (summary_id,))
        case "clear":
            connection.execute("DELETE FROM summary_embeddings")
        case "forget journal":
            connection.execute("DELETE FROM vector_changes WHERE id > ?", (summary_id % 3,))


def stored(connection: sqlite3.Connection) -> dict[int, Any]:
    rows = connection.execute("SELECT summary_id, vec FROM summary_embeddings WHERE embedder = ?", (SPACE,))
    return {number: np.frombuffer(vec, "<f4") for number, vec in rows if len(vec) == 4 * DIM}


def check(connection: sqlite3.Connection, index: VectorIndex, question: Any) -> None:
    index.refresh(connection)
    truth = stored(connection)
    expected = sorted(((-float(vec @ question), -number) for number, vec in truth.items()))
    assert [(number, cosine) for number, cosine in index.nearest(question)] == [
        (-number, -cosine) for cosine, number in expected
    ]
    some = [number for number in range(1, SUMMARIES + 1) if number % 3]
    assert [number for ids, _ in index.windows(question, np.array(some)) for number in ids.tolist()] == [
        -number for _, number in expected if -number % 3
    ]
    for number, vec in truth.items():
        found = index.vector_of(number)
        assert found is not None
        assert np.array_equal(found, vec)


@pytest.mark.slow
@given(steps, vectors)
@settings(max_examples=60)
def test_the_index_follows_every_change_by_sql_and_ranks_as_brute_force_does(
    steps: list[tuple[str, int, tuple[float, ...]]], question: tuple[float, ...]
) -> None:
    """Small whole numbers: their products are exact, so that equal scores are equal in both."""
    connection = small_store()
    index = VectorIndex(SPACE, DIM)
    asked = np.array(question, dtype=np.float32)
    for kind, summary_id, vector in steps:
        if kind == "look":
            check(connection, index, asked)
        else:
            apply(connection, kind, summary_id, vector)
            if kind == "forget journal":
                index = VectorIndex(SPACE, DIM)
    check(connection, index, asked)
    connection.close()


def many_vectors(count: int, dim: int) -> sqlite3.Connection:
    """Vectors of a few hundred directions each with its own noise, as texts have that repeat themselves."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, 1)
    random = np.random.default_rng(5)
    directions = random.standard_normal((300, dim))
    made = directions[random.integers(0, 300, count)] + 1.5 * random.standard_normal((count, dim))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN")
    connection.executemany(_PUT, [(n + 1, dim, row.astype("<f4").tobytes(), SPACE) for n, row in enumerate(made)])
    connection.execute("COMMIT")
    return connection


def sums_of(bits: Bits, asked: np.ndarray, count: int) -> list[int]:
    """How much each row agrees, read from the digits."""
    digits = [np.unpackbits(each.view(np.uint8), bitorder="little")[:count] for each in bits.sums_of_bits(asked, count)]
    return [sum(int(digit[row]) << at for at, digit in enumerate(digits)) for row in range(count)]


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([64, 70, 384]), st.integers(1, 200))
def test_a_coarse_sum_counts_the_large_values_that_agree_less_those_that_differ(
    seed: int, nothing: float, dim: int, count: int
) -> None:
    chance = np.random.default_rng(seed)
    rows, asked = chance.standard_normal((count, dim)).astype(np.float32), chance.standard_normal(dim)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    asked[chance.random(dim) < nothing] = 0
    asked = asked.astype(np.float32)
    bits = Bits(dim, 256)
    bits.put(np.arange(count), -rows)
    for some in np.array_split(np.roll(np.arange(count), int(chance.integers(count))), [count // 3, count // 2]):
        if len(some):
            bits.put(some, rows[some])
    size = np.abs(asked)
    size[np.argsort(size)[: -bitsliced_scan.DIMENSIONS_MAX]] = 0
    mean = size[size > 0].mean() if size.any() else 1
    weights = np.minimum(np.rint(size / mean), bitsliced_scan.WEIGHT_MAX) * np.sign(asked)
    large = np.where(np.abs(rows) > bitsliced_scan.LARGE / dim**0.5, np.sign(rows), 0)
    agreeing = (large @ weights).astype(int)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bitsliced_scan, "BLOCK", 2)
        more = np.array(sums_of(bits, asked, count)) - agreeing
    assert (more == more[0]).all(), "the same is added for each"


@given(st.lists(st.integers(0, 20), min_size=1, max_size=200), st.integers(1, 250))
def test_the_greatest_sums_are_taken_with_all_that_equal_the_last(sums: list[int], wanted: int) -> None:
    words = -(-len(sums) // 64)
    every = bitsliced_scan._first(len(sums), words)
    padded = np.array(sums + [31] * (64 * words - len(sums)))
    digits = [np.packbits(padded >> at & 1, bitorder="little").view(np.uint64) for at in range(5)]
    cut = sorted(sums, reverse=True)[:wanted][-1]
    found = bitsliced_scan._rows(bitsliced_scan.greatest(digits, every, wanted))
    assert found.tolist() == [row for row, each in enumerate(sums) if each >= cut]


def test_a_row_that_takes_anothers_place_leaves_its_neighbours_as_they_were() -> None:
    chance = np.random.default_rng(3)
    rows = chance.standard_normal((100, 64)).astype(np.float32)
    moved, made = Bits(64, 128), Bits(64, 128)
    moved.put(np.arange(100), rows)
    moved.move(99, 42)
    rows[42] = rows[99]
    made.put(np.arange(100), rows)
    assert np.array_equal(moved.octets, made.octets)


@pytest.mark.slow
def test_the_coarse_pass_keeps_what_an_exact_look_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = many_vectors(6_000, 96)
    index = VectorIndex(SPACE, 96)
    index.refresh(connection)
    assert index.is_whole
    questions = [index.vector_of(number) for number in range(1, 6_000, 199)]
    exact = [[each for each, _ in islice(index.nearest(asked), 10)] for asked in questions]
    monkeypatch.setattr(vectors_module, "COARSE_FROM", 100)
    found = [[each for each, _ in islice(index.nearest(asked), 10)] for asked in questions]
    kept = sum(len(set(one) & set(other)) for one, other in zip(exact, found, strict=True))
    assert kept >= 0.98 * 10 * len(questions)
    whole = [each for each, _ in index.nearest(questions[0])]
    assert sorted(whole) == list(range(1, 6_001)), "who goes on gets every row once"
    connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("pairs_max", [10**6, 0])
def test_those_alike_are_the_same_as_one_by_one(monkeypatch: pytest.MonkeyPatch, pairs_max: int) -> None:
    monkeypatch.setattr(vectors_module, "PAIRS_MAX", pairs_max)
    connection = many_vectors(500, 96)
    index = VectorIndex(SPACE, 96)
    index.refresh(connection)
    monkeypatch.setattr(vectors_module, "BLOCK", 64)
    asked = [3, 77, 400, 12_345]
    found = index.alike(asked, 0.4, 5)
    assert list(found) == [3, 77, 400]
    for number, near in found.items():
        alone = [(each, cos) for each, cos in index.nearest(index.vector_of(number)) if each != number and cos >= 0.4]
        assert [each for each, _ in near] == [each for each, _ in alone[:5]]
        pieces = (index.alike([number], 0.4, 500, range(start, start + 100)) for start in range(0, 500, 100))
        assert sorted(each for piece in pieces for each, _ in piece[number]) == sorted(each for each, _ in alone)
    connection.close()


def test_a_large_table_is_read_piece_by_piece_newest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = small_store()
    apply(connection, "put many", 1, (1.0, 0.0, 0.0, 0.0))
    monkeypatch.setattr(vectors_module, "PIECE", 40)
    index = VectorIndex(SPACE, DIM)
    index.refresh(connection, seconds=0)
    assert (len(index), index.is_whole) == (40, False)
    assert index.vector_of(90) is not None
    apply(connection, "delete", 1, (0.0,))
    apply(connection, "delete", 90, (0.0,))
    index.refresh(connection, seconds=0)
    index.refresh(connection)
    assert index.is_whole
    check(connection, index, np.ones(DIM, dtype=np.float32))
    connection.close()


def test_many_changes_are_followed_a_batch_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors_module, "CHANGES", 7)
    connection = small_store()
    index = VectorIndex(SPACE, DIM)
    check(connection, index, np.ones(DIM, dtype=np.float32))
    apply(connection, "put many", 1, (1.0, 0.0, 0.0, 0.0))
    for number in range(3, 60, 5):
        apply(connection, "delete", number, (0.0,))
    check(connection, index, np.ones(DIM, dtype=np.float32))
    connection.close()


def test_an_index_that_the_journal_has_left_behind_loads_anew() -> None:
    connection = small_store()
    index = VectorIndex(SPACE, DIM)
    apply(connection, "put many", 1, (1.0, 0.0, 0.0, 0.0))
    check(connection, index, np.ones(DIM, dtype=np.float32))
    apply(connection, "put many", 60, (0.0, 1.0, 0.0, 0.0))
    apply(connection, "delete", 5, (0.0,))
    connection.execute("DELETE FROM vector_changes WHERE id < (SELECT max(id) FROM vector_changes)")
    check(connection, index, np.ones(DIM, dtype=np.float32))
    apply(connection, "clear", 1, (0.0,))
    connection.execute("DELETE FROM vector_changes")
    check(connection, index, np.ones(DIM, dtype=np.float32))
    connection.close()


@pytest.mark.slow
@given(st.text(max_size=200) | st.text(alphabet="ab\"'()*:^-+{}|& \x00", max_size=40), st.integers(-5, 500))
@settings(max_examples=150)
def test_any_text_is_a_query(query: str, k: int) -> None:
    connection = _KEPT
    index = VectorIndex(SPACE, DIM)
    engine = SearchEngine(connection, lambda: index, lambda texts: np.ones((len(texts), DIM)), lambda: 1)
    found = engine.search(query, k, Filters())
    assert len(found.hits) <= max(0, k)


_KEPT = small_store()
_KEPT.execute("INSERT INTO event_words VALUES (1, 'a b ab ba aab text near and or not')")
_KEPT.execute("UPDATE summaries SET text = 'a b ab aab abab' WHERE id = 1")


sparse_ids = st.one_of(st.integers(1, 40), st.sampled_from([1_023, 1_024, 1_025, 10**12, 2**62, -3]))


@given(st.lists(st.one_of(st.lists(sparse_ids, unique=True, max_size=6), sparse_ids), max_size=30))
def test_places_are_those_that_a_dict_would_have(steps: list[list[int] | int]) -> None:
    """A list of ids is added; an id alone is taken out, and whoever has the last row moves into its place."""
    places, truth = Places(), dict[int, int]()
    for step in steps:
        if isinstance(step, list):
            assert places.add(step).tolist() == [truth.setdefault(each, len(truth)) for each in step]
        else:
            row = truth.pop(step, None)
            assert places.take_out(step) == row
            last = next((each for each, held in truth.items() if held == len(truth)), None)
            if last is not None and row is not None:
                truth[last] = row
                places.move(last, row)
        asked = [*truth, 7, 10**15]
        assert len(places) == len(truth)
        assert places.find_all(asked).tolist() == [truth.get(each, NOWHERE) for each in asked]
        assert [places.find(each) for each in asked] == [truth.get(each) for each in asked]
