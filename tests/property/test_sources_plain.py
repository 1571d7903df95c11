"""What another program holds as Markdown becomes plain text once and for all, in pieces that fit."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.team.sources.plain import canonical, one_line, plain
from siftd.team.sources.splitting import split

WORDS = (
    "* ** *** _ ~~ ` `` ``` [ "
    "]( ) ! < > <b> </b> <!-- --> # - | --- = == a b https://x.y é e\u0301 \u200b \u202e \ud800 \\ + :"
).split(" ")
BLANKS = [
    " ",
    "    ",
    "\t",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "# ",
    "- ",
    "* ",
    "+ ",
    "> ",
    "\xa0",
    "\u2028",
    "\x85",
    "\x00",
    "\x1b",
    '"',
]
SIGNS = st.sampled_from([*WORDS, *BLANKS])
TEXTS = st.lists(SIGNS, max_size=60).map("".join) | st.text(max_size=200)


@given(TEXTS)
@settings(max_examples=600, deadline=None)
def test_what_is_plain_stays_as_it_is(text: str) -> None:
    once = plain(text)
    assert plain(once) == once
    assert canonical(once) == once


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_plain_text_can_be_kept_anywhere(text: str) -> None:
    once = plain(text)
    once.encode()
    assert "\x00" not in once
    assert "\r" not in once
    assert "\n\n\n" not in once
    assert "\n" not in one_line(text, 40)
    assert len(one_line(text, 40)) <= 40


@given(st.text(alphabet="ab .\n", max_size=400), st.integers(30, 60), st.integers(1, 9))
@settings(max_examples=300, deadline=None)
def test_pieces_fit_and_hold_the_whole_text_unless_there_are_too_many(text: str, chars: int, many: int) -> None:
    pieces = split(text, chars, many)
    assert 1 <= len(pieces) <= many
    assert all(len(piece) <= chars for piece in pieces)
    if not pieces[-1].endswith("[the rest is left out]"):
        assert "".join("".join(pieces).split()) == "".join(text.split())
