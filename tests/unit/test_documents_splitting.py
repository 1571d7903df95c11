"""Chunks: slices of the text by heading and definition, in windows that overlap, in linear time."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siftd.documents.model import Chunk, DocumentKind
from siftd.documents.splitting import iter_chunks, split
from siftd.documents.tokens import count
from siftd.documents.windows import CHARS_MAX, OVERLAP_TOKENS, TOKENS_MAX

PARTS = ["# A", "## B", "word " * 40, "", "===", "---", "```", "def f():", "  x", "\f"]
PROSE = "The daemon keeps every event that it was sent, and nothing else is kept by anybody at all. "


def _headings(chunks: list[Chunk]) -> list[str]:
    return [chunk.heading for chunk in chunks]


def test_markdown_headings_are_a_path_and_a_chunk_begins_at_its_heading() -> None:
    text = f"# Guide\n\n## Install\n\n{PROSE * 2}\n\n### Linux\n\n{PROSE * 2}\n\n## Use\n\n{PROSE * 2}\n"
    chunks = split("markdown", text)
    assert _headings(chunks) == ["Guide > Install", "Guide > Install > Linux", "Guide > Use"]
    assert [chunk.line for chunk in chunks] == [3, 7, 11]
    assert chunks[1].text.startswith("### Linux\n")


def test_setext_and_html_headings_count_and_those_in_fences_and_frontmatter_do_not() -> None:
    text = (
        f"---\ntitle: x\n# no heading\n---\nGuide\n=====\n\n{PROSE * 2}\n\n```sh\n# a comment\n```\n\n"
        f'<h2 align="center">Use <b>it</b></h2>\n\n{PROSE * 2}\n'
    )
    assert _headings(split("markdown", text)) == ["Guide", "Guide > Use it"]


def test_rest_titles_are_levels_in_the_order_of_their_styles() -> None:
    text = f"=====\nGuide\n=====\n\n{PROSE * 2}\n\nInstall\n-------\n\n{PROSE * 2}\n\nLinux\n.....\n\n{PROSE * 2}\n"
    assert _headings(split("rest", text)) == ["Guide", "Guide > Install", "Guide > Install > Linux"]


def test_code_is_chunked_by_definition_with_the_comments_and_decorators_above_it() -> None:
    body = "".join(f"        value_{number} = compute_the_value_of(number={number})\n" for number in range(6))
    text = (
        "import os\n\n\nclass Store:\n    # Closes.\n    @final\n    def close(self) -> None:\n"
        f"{body}\n    def open(self) -> None:\n{body}\n\nLIMIT = 3\n" + "OTHER = 'a constant'\n" * 8
    )
    chunks = split("code", text, "store.py")
    assert _headings(chunks) == ["Store > close", "Store > open", ""]
    assert "# Closes." in chunks[0].text
    assert chunks[2].text.startswith("LIMIT")


def test_code_of_an_unknown_language_is_one_section() -> None:
    assert _headings(split("code", PROSE * 2, "file.unknown")) == [""]


def test_pages_of_a_pdf_are_its_sections() -> None:
    assert _headings(split("pdf", f"{PROSE * 2}\f{PROSE * 2}")) == ["page 1", "page 2"]


def test_a_long_section_becomes_windows_that_end_with_a_sentence_and_overlap() -> None:
    sentences = [f"Sentence number {number} says what the daemon does with it, and why." for number in range(200)]
    chunks = split("text", " ".join(sentences))
    assert len(chunks) > 3
    for chunk, following in pairwise(chunks):
        assert TOKENS_MAX // 2 < chunk.tokens <= TOKENS_MAX
        assert chunk.text.endswith("why.")
        assert following.text.startswith("Sentence")
        shared = next(at for at in range(len(chunk.text)) if following.text.startswith(chunk.text[at:]))
        assert 0 < count(chunk.text[shared:]) <= OVERLAP_TOKENS


def test_a_heading_with_nothing_below_is_left_out_unless_nothing_deeper_follows() -> None:
    assert _headings(split("markdown", f"# A\n\n## B\n\n{PROSE * 2}\n\n## To do\n")) == ["A > B", "A > To do"]


def test_a_heading_that_is_longer_than_a_path_tells_is_in_a_chunk() -> None:
    chunks = split("markdown", f"{'word ' * 40}\n===\n## B")
    assert sum(chunk.text.count("word") for chunk in chunks) == 40


def test_no_text_makes_a_chunk_a_line() -> None:
    assert len(split("markdown", "# a\n" * 10_000)) < 1000


@pytest.mark.parametrize("kind", ["markdown", "text", "code"])
@pytest.mark.parametrize(
    "text",
    ["x" * 1_000_000, "word " * 200_000, " " * 1_000_000 + "x", "#" * 500_000, "\n   " * 250_000, "```\n" * 200_000],
    ids=["one word", "one line", "blanks", "one heading", "blank lines", "fences"],
)
def test_hostile_text_makes_bounded_chunks(kind: DocumentKind, text: str) -> None:
    for chunk in iter_chunks(kind, text, "a.py"):
        assert chunk.tokens <= TOKENS_MAX
        assert len(chunk.text) <= CHARS_MAX


@given(
    st.sampled_from(["markdown", "text", "rest", "code", "pdf"]),
    st.lists(
        st.sampled_from(["# A", "## B", "word " * 40, "", "===", "---", "```", "def f():", "  x", "\f"]), max_size=60
    ),
)
def test_every_word_is_in_a_chunk_that_stands_at_its_line(kind: DocumentKind, parts: list[str]) -> None:
    text = "\n".join(parts)
    lines = text.split("\n")
    chunks = split(kind, text, "a.py")
    for chunk in chunks:
        assert chunk.text
        assert chunk.text in text
        assert chunk.text.split("\n")[0].rstrip() in lines[chunk.line - 1]
    assert sum(chunk.text.count("word") for chunk in chunks) >= text.count("word")
