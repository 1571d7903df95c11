"""A document's text in chunks: sections by heading or definition, and windows of 512 tokens within each.

    # Install            "Install"           a section is never mixed with the next one
    ## Linux             "Install > Linux"   longer than 512 tokens: windows, 50 tokens of one in the next

A chunk is a slice of the text, so that its first line can be cited (`d4:12`) and nothing of a text is left out but
blanks and headings with nothing below. The same text gives the same chunks on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile

from siftd.documents import code_sections, sections
from siftd.documents.model import BETWEEN, Chunk, DocumentKind
from siftd.documents.sections import HEADING_CHARS_MAX, Section
from siftd.documents.windows import skip_blank_lines, windows

SECTION_CHARS_MIN = 100
"""What is shorter is part of its neighbour. Arbitrary: about two lines."""

_SECTIONS: dict[DocumentKind, Callable[[str], Iterator[Section]]] = {
    "markdown": sections.markdown,
    "notebook": sections.markdown,
    "html": sections.markdown,
    "rest": sections.underlined,
    "text": sections.underlined,
    "pdf": sections.pages,
}


def split(kind: DocumentKind, text: str, source: str = "") -> list[Chunk]:
    """Return the chunks of a document's text, in its order. `source` says by its extension which language code is in.

    Linear in the text; beside the chunks themselves it holds no more than one window. An empty text has none.
    """
    return list(iter_chunks(kind, text, source))


def iter_chunks(kind: DocumentKind, text: str, source: str = "") -> Iterator[Chunk]:
    """Yield what `split` returns, one by one."""
    starts = code_sections.definitions(text, source) if kind == "code" else _SECTIONS[kind](text)
    line, counted = 1, 0
    for begin, end, heading in _spans(starts, text):
        for first, last, tokens in windows(text, skip_blank_lines(text, begin, end), end):
            place = skip_blank_lines(text, first, last)
            line += text.count("\n", counted, place)
            counted = place
            yield Chunk(heading, line, text[place:last].rstrip(), tokens)


def _spans(starts: Iterator[Section], text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where each span of sections begins and ends, and its path of headings.

    A section is a span of its own. But a heading with nothing but a deeper one below is left out, for that one's path
    has it (unless it is longer than a path tells); and what is too short to be found by itself goes with what follows,
    so that no text makes a chunk a line.
    """
    begin, body, heading = next(starts)
    is_joined = False
    for following in starts:
        end = following.begin
        is_above = not heading or following.heading.startswith(heading + BETWEEN)
        is_whole_in_path = body - begin <= HEADING_CHARS_MAX
        if not is_joined and (is_above and is_whole_in_path and not text[body:end].strip()):
            begin, body, heading = following
        elif end - begin < SECTION_CHARS_MIN:
            is_joined = True
            heading = following.heading if is_above else _shared(heading, following.heading)
        else:
            yield begin, end, heading
            begin, body, heading = following
            is_joined = False
    yield begin, len(text), heading


def _shared(one: str, other: str) -> str:
    """The headings that two paths begin with."""
    both = takewhile(lambda pair: pair[0] == pair[1], zip(one.split(BETWEEN), other.split(BETWEEN), strict=False))
    return BETWEEN.join(heading for heading, _ in both)
