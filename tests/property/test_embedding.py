"""What holds for the built-in embedders whatever the text."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.embed import blend384, hash384
from siftd.embed.words import INDEX_WORDS_MAX_BYTES, index_words, split_words

BUILT_IN = st.sampled_from([blend384, hash384])
TEXTS = st.lists(st.text(max_size=80), max_size=5)


@settings(max_examples=100)
@given(BUILT_IN, TEXTS)
def test_every_row_has_length_one_or_is_zero_and_zero_means_no_words(space: Any, texts: list[str]) -> None:
    vectors = space.embed(texts)
    assert vectors.shape == (len(texts), space.DIM)
    assert vectors.dtype == np.float32
    for text, row in zip(texts, vectors, strict=True):
        length = float(np.linalg.norm(row.astype(np.float64)))
        assert abs(length - 1) < 1e-5 if split_words(text) else length == 0


@settings(max_examples=60)
@given(BUILT_IN, TEXTS)
def test_a_text_has_the_same_bytes_alone_as_in_company(space: Any, texts: list[str]) -> None:
    together = space.embed(texts)
    for text, row in zip(texts, together, strict=True):
        assert space.embed([text])[0].tobytes() == row.tobytes()


@settings(max_examples=60)
@given(st.text(alphabet="abcXYZ_/. 019", max_size=60))
def test_spaces_and_letter_case_of_plain_words_do_not_move_a_text(text: str) -> None:
    plain = text.lower()
    assert np.array_equal(hash384.embed([plain]), hash384.embed([f"  {plain.replace(' ', '   ')} "]))


@settings(max_examples=150)
@given(st.text(max_size=400))
def test_words_are_folded_hold_no_space_and_survive_a_second_splitting(text: str) -> None:
    for word in split_words(text):
        assert word
        assert not any(character.isspace() for character in word)
        assert word in split_words(word)
    assert len(index_words(text).encode()) <= INDEX_WORDS_MAX_BYTES


@settings(max_examples=60)
@given(st.text(max_size=200))
def test_the_indexed_words_are_exactly_the_words_a_question_of_the_same_text_asks_for(text: str) -> None:
    assert index_words(text).split(" ") == (list(dict.fromkeys(split_words(text))) or [""])
