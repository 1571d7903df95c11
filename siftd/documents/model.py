"""The nouns of documents: their kinds, what a reader makes of one, and a chunk of it."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

DocumentKind = Literal["markdown", "text", "rest", "html", "code", "notebook", "pdf"]


def kind_named(name: str) -> DocumentKind:
    """Return the kind of a name; text for one that is none."""
    return _KINDS.get(name, "text")


_KINDS: dict[str, DocumentKind] = {kind: kind for kind in get_args(DocumentKind)}

TEXT_BYTES_MAX = 4 * 1024 * 1024
"""Of a document's text in UTF-8. What is kept of it is one line of the log and of an export, which take 8 MiB."""

BETWEEN = " > "
"""Between the headings of a path: "Install > Linux"."""
TITLED, TYPED = "titled", "typed"
"""In a document's metadata: that its title or its type was given, and stays when it is read again."""
BY_HAND = "by hand"


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader makes of a document: nothing of it is redacted yet."""

    source: str
    """The path or the URL that was read."""
    title: str
    """Its own title, or the name that it goes by."""
    kind: DocumentKind
    text: str
    """Plain text, its line ends `\\n`. Its lines are those of the source for Markdown, text, reST and code; for HTML
    as nearly as its form allows. A notebook's are its own, cell after cell; a PDF's pages are parted by `\\f`."""
    metadata: dict[str, str]


class Chunk(msgspec.Struct, frozen=True):
    """A piece of a document's text, as it stands there."""

    heading: str
    """The headings above it as a path, for code the definitions that it is in; empty where there is none."""
    line: int
    """The number of its first line in the text, from 1."""
    text: str
    tokens: int
