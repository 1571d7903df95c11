"""Chunks that are changed where a document has changed are those of a document that was read in at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from siftd.embed.words import further_words, split_words
from siftd.store.chunks import Chunk, NewChunk, changes_between

TEXTS = st.lists(st.tuples(st.sampled_from(["", "A", "A > B"]), st.sampled_from("xyz"), st.integers(1, 5)), max_size=12)


def new(told: list[tuple[str, str, int]]) -> list[NewChunk]:
    return [NewChunk(heading, line, text, 1, "") for heading, text, line in told]


def stored(chunks: list[NewChunk]) -> list[Chunk]:
    return [Chunk(number, 1, at, c.heading, c.line, c.text) for at, (number, c) in enumerate(enumerate(chunks, 1))]


@given(TEXTS, TEXTS, st.integers(1, 4))
def test_any_change_ends_at_the_new_chunks_and_keeps_as_many_as_are_equal(
    before: list[tuple[str, str, int]], after: list[tuple[str, str, int]], size: int
) -> None:
    old = stored(new(before))
    changes = changes_between(old, new(after))
    rows = {each.id: each for each in old}
    free = len(old) + 1
    for piece in changes.pieces(size):
        for number in piece.gone:
            del rows[number]
        for place, line, number in piece.moved:
            rows[number] = rows[number]._replace(place=place, line=line)
        for place, chunk in piece.new:
            rows[free] = Chunk(free, 1, place, chunk.heading, chunk.line, chunk.text)
            free += 1
    found = sorted(rows.values(), key=lambda row: row.place)
    assert [(row.place, row.heading, row.line, row.text) for row in found] == [
        (place, chunk.heading, chunk.line, chunk.text) for place, chunk in enumerate(new(after))
    ]
    texts = [(heading, text) for heading, text, _ in before], [(heading, text) for heading, text, _ in after]
    equal = sum(min(texts[0].count(each), texts[1].count(each)) for each in set(texts[0]))
    assert len(changes.new) == len(after) - equal
    assert len(changes.gone) == len(before) - equal


@given(TEXTS)
def test_a_document_that_says_the_same_changes_nothing(told: list[tuple[str, str, int]]) -> None:
    changes = changes_between(stored(new(told)), new(told))
    assert (changes.gone, changes.moved, changes.new) == ([], [], [])


@given(st.text(max_size=200))
def test_further_words_are_words_that_are_not_there_by_themselves(text: str) -> None:
    found = further_words(text).split()
    assert set(found) <= set(split_words(text))
    assert len(found) == len(set(found))
