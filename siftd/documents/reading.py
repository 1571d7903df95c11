"""From bytes to what is kept of a document: its text, its title and its kind.

    Markdown, text, reST, code    as it is, its line ends made `\\n`
    HTML, notebook                as Markdown: headings, lists, code between fences
    PDF                           the text of its pages, by a library that `siftd[documents]` brings

Whatever the bytes are, they are read in linear time, or refused with a reason that a person can act on: binary under
a text's name, no text at all, a notebook that is no JSON, more text than a request carries. What is not valid UTF-8 is
read with its faults marked, and said so in the metadata; where much is invalid it is no text.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePath

from siftd.documents import sections
from siftd.documents.html_text import read_html
from siftd.documents.kinds import kind_of_name
from siftd.documents.model import TEXT_BYTES_MAX, DocumentKind, Read
from siftd.documents.notebook import read_notebook
from siftd.documents.pdf import read_pdf
from siftd.errors import DocumentRefused

TITLE_CHARS_MAX = 200
READERS = 1
"""Grows when a reader makes another text of the same bytes, so that each document is read once more."""

_SNIFFED_BYTES = 8192
_INVALID_SHARE_MAX = 0.02
"""Of characters that are no UTF-8. Arbitrary: a page of an old encoding passes, machine code does not."""
_BINARY_STARTS = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"\x7fELF",
    b"\x1f\x8b",
    b"BZh",
    b"7z\xbc\xaf",
    b"\xfd7zXZ",
    b"(\xb5/\xfd",
    b"SQLite format 3",
    b"\xca\xfe\xba\xbe",
    b"wOF",
)
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\x80-\x9f\ud800-\udfff]")
_FRONT_TITLE = re.compile(r"^title:[ \t]*+[\"']?([^\n\"']{1,200})", re.MULTILINE)
_FRONTMATTER_CHARS = 4096
_TITLE_WITHIN_CHARS = 20_000
ENCODINGS = frozenset(
    "utf-8 utf-8-sig utf-16 utf-16-le utf-16-be utf-32 ascii iso8859-1 iso8859-2 iso8859-5 iso8859-7 iso8859-9"
    " iso8859-15 cp1250 cp1251 cp1252 cp1253 cp1254 koi8-r koi8-u shift_jis euc_jp iso2022_jp gb2312 gbk gb18030 big5"
    " euc_kr".split()
)
"""Those that a server or a file may name. Python knows more, of which some are no text and some take long."""


def content_hash(data: bytes, kind: DocumentKind | None = None, title: str = "") -> str:
    """Return by what a document is known to be unchanged: its bytes, how they are read, and what somebody said of them.

    In hexadecimal digits. Readers that make another text of the same bytes have another number (`READERS`).
    """
    said = f"{READERS}\n{kind or ''}\n{title}\n"
    return hashlib.sha256(said.encode("utf-8", "replace") + data).hexdigest()


def read(source: str, data: bytes, kind: DocumentKind | None = None, *, title: str = "", encoding: str = "") -> Read:
    """Return what is kept of a document's bytes. DocumentRefused says why nothing is.

    Without `kind` the source's name decides. `encoding` is what somebody says that it is in, who may be wrong.
    """
    kind = kind or kind_of_name(source)
    metadata: dict[str, str] = {}
    own_title = ""
    if kind == "pdf":
        own_title, text, pages = read_pdf(data)
        metadata["pages"] = str(pages)
    else:
        text, doubt = decode(data, encoding)
        if doubt:
            metadata["encoding"] = doubt
        if kind == "html":
            own_title, text = read_html(text)
        elif kind == "notebook":
            text, metadata["language"] = read_notebook(text)
    text = _cleaned(text)
    if not text.strip():
        raise DocumentRefused(
            "empty", "it has no text", hint="a PDF of scanned pages has none: recognise its text first"
        )
    if len(text.encode("utf-8", "replace")) > TEXT_BYTES_MAX:
        raise DocumentRefused("too large", f"its text is larger than {TEXT_BYTES_MAX >> 20} MiB", hint="split it")
    title = title or own_title or _title(kind, text) or PurePath(source).name
    return Read(source=source, title=_one_line(title), kind=kind, text=text, metadata=metadata)


def decode(data: bytes, encoding: str = "") -> tuple[str, str]:
    """Return bytes as text, and what was doubtful about it: empty where nothing was."""
    if data.startswith(_UTF16):
        return _decoded(data, "utf-16"), ""
    if data.startswith(_BINARY_STARTS) or b"\x00" in data[:_SNIFFED_BYTES]:
        raise DocumentRefused("binary", "it is binary, whatever its name says")
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        if encoding in ENCODINGS and not encoding.startswith("utf-8"):
            return _decoded(data, encoding), ""
    text = data.decode("utf-8-sig", "replace")
    invalid = text.count("\ufffd")
    if invalid > _INVALID_SHARE_MAX * len(text) + 8:
        text = data.decode("cp1252", "replace")
        if not _looks_written(text):
            raise DocumentRefused("binary", "it is no text in UTF-8", hint="convert it to UTF-8")
        return text, "not UTF-8: read as Windows-1252"
    return text, f"{invalid} invalid bytes replaced"


def _decoded(data: bytes, encoding: str) -> str:
    text = data.decode(encoding, "replace")
    if "\x00" in text or text.count("\ufffd") > _INVALID_SHARE_MAX * len(text) + 8:
        raise DocumentRefused("binary", f"it is no text in {encoding}", hint="convert it to UTF-8")
    return text


def _looks_written(text: str) -> bool:
    """Whether it is mostly letters and blanks, as a page of an old encoding is."""
    part = text[:_SNIFFED_BYTES]
    return sum(each.isalnum() or each.isspace() for each in part) >= 0.7 * len(part) and not _CONTROLS.search(part)


def _cleaned(text: str) -> str:
    """With line ends of one form and without control characters, which some would take for a terminal's commands."""
    return _CONTROLS.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))


def _title(kind: DocumentKind, text: str) -> str:
    """Its own title: what the frontmatter says, or the first heading near the top."""
    if kind in ("code", "pdf"):
        return ""
    if text.startswith("---\n") and (found := _FRONT_TITLE.search(text, 0, _FRONTMATTER_CHARS)):
        return found[1]
    begins = sections.markdown if kind in ("markdown", "html", "notebook") else sections.underlined
    return next((section.heading for section in begins(text[:_TITLE_WITHIN_CHARS]) if section.heading), "")


def _one_line(title: str) -> str:
    return " ".join(_CONTROLS.sub(" ", title[: 4 * TITLE_CHARS_MAX]).split())[:TITLE_CHARS_MAX]
