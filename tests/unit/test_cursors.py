"""Cursors: where a long list goes on."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siftd.errors import RequestInvalid
from siftd.wire.cursors import decode, encode, page


@given(st.integers(), st.text(max_size=100))
def test_a_cursor_gives_back_its_key(number: int, text: str) -> None:
    assert decode(encode((number, text)), int, str) == (number, text)


def test_no_cursor_is_the_beginning() -> None:
    assert decode(None, int, str) == (None, None)


@pytest.mark.parametrize(
    "cursor", ["", "x", "====", "€", encode((1,)), encode(("1", "a")), encode((True, "a")), encode((1, "a", 2)),
               base64.urlsafe_b64encode(b"[" * 3_000).decode(), encode((1, "a")) * 500],
)  # fmt: skip
def test_what_is_no_cursor_of_ours_is_refused_with_the_remedy(cursor: str) -> None:
    with pytest.raises(RequestInvalid) as refused:
        decode(cursor, int, str)
    assert "nextCursor" in refused.value.hint


def test_a_page_has_a_cursor_only_when_more_is_there() -> None:
    assert page([1, 2, 3], 2, lambda each: (each,)) == ([1, 2], encode((2,)))
    assert page([1, 2], 2, lambda each: (each,)) == ([1, 2], None)
    assert page([], 2, lambda each: (each,)) == ([], None)
