"""Readers: what each kind becomes, and what is refused with a reason instead of being kept as rubbish."""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path

import pytest

from siftd.documents.model import TEXT_BYTES_MAX, DocumentKind
from siftd.documents.pdf import read_pdf
from siftd.documents.reading import content_hash, read
from siftd.documents.splitting import split
from siftd.errors import DocumentRefused


def _reason(source: str, data: bytes, kind: DocumentKind | None = None) -> str:
    with pytest.raises(DocumentRefused) as refused:
        read(source, data, kind)
    assert refused.value.message
    return refused.value.reason


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("README.md", "markdown"),
        ("a/index.rst", "rest"),
        ("LICENSE", "text"),
        ("x.py", "code"),
        ("Makefile", "code"),
        ("page.HTML", "html"),
        ("notes", "text"),
    ],
)
def test_the_name_decides_the_kind(name: str, kind: DocumentKind) -> None:
    assert read(name, b"some text").kind == kind


def test_the_title_is_the_documents_own_or_else_its_name() -> None:
    assert read("a.md", b"---\ntitle: 'The guide'\n---\n# Other\n").title == "The guide"
    assert read("a.md", b"[badge]\n\n# Install *it*\n").title == "Install *it*"
    assert read("docs/a.rst", b"=====\nGuide\n=====\n\nText.\n").title == "Guide"
    assert read("src/a.py", b"# Install\nx = 1\n").title == "a.py"
    assert read("a.md", b"# Own\n", title="Given").title == "Given"


def test_line_ends_are_of_one_form_and_lines_stay_where_they_were() -> None:
    assert read("a.txt", b"one\r\ntwo\rthree\n").text == "one\ntwo\nthree\n"


def test_a_terminals_commands_do_not_come_through() -> None:
    assert "\x1b" not in read("a.txt", b"red \x1b[31m text").text


def test_html_becomes_headings_lists_and_code_without_menus_and_scripts() -> None:
    page = b"""<!doctype html><html><head><title>The &amp; guide</title><style>h1 {}</style></head><body>
    <nav><a href="/">Home</a><h2>Menu</h2></nav><script>var secret = "<h1>no</h1>";</script>
    <h1>Guide<a class="headerlink" href="#g">&para;</a></h1><p>First  words
    of it.</p><ul><li>one</li><li>two &lt;3</li></ul><pre>def f():\n    # no heading\n    return 1</pre>
    <h2>Install</h2><p># not a heading</p><table><tr><td>a</td><td>b</td></tr></table></body></html>"""
    made = read("a.html", page)
    assert made.title == "The & guide"
    assert made.text == (
        "# Guide\n\nFirst words of it.\n\n- one\n- two <3\n\n````\ndef f():\n    # no heading\n    return 1\n````\n"
        "\n## Install\n\n\\# not a heading\n\na | b\n"
    )
    assert split("html", made.text + "y " * 60)[-1].heading == "Guide > Install"


@pytest.mark.parametrize(
    "page",
    [
        b"<nav>" + b"<p>words of a page" * 10,
        b"<p>words" + b"<!-- " * 50_000,
        b"<p>words" + b"<a b='" * 50_000,
        b"<p>words " + b"<" * 200_000,
        b"<p>words &#" + b"9" * 10_000 + b";",
        b"<p>words" + b"<pre>" * 50_000,
        b"<p>words<script>" * 20_000,
    ],
    ids=["menu without end", "comments", "quotes", "brackets", "no character", "code", "scripts"],
)
def test_a_hostile_page_is_read_to_its_end(page: bytes) -> None:
    assert "words" in read("a.html", page).text


def test_a_notebook_becomes_its_cells_without_outputs() -> None:
    book = {
        "metadata": {"language_info": {"name": "python"}},
        "cells": [
            {"cell_type": "markdown", "source": ["# Sales\n", "by month"]},
            {"cell_type": "code", "source": "print(key)", "outputs": [{"text": "sk-secret"}]},
        ],
    }
    made = read("a.ipynb", json.dumps(book).encode())
    assert made.text == "# Sales\nby month\n\n```python\nprint(key)\n```\n"
    assert (made.title, made.metadata) == ("Sales", {"language": "python"})


@pytest.mark.parametrize("data", [b"{not json", b"[1]", b"[" * 100_000, b'{"cells": 3}'])
def test_a_notebook_that_is_none_is_refused(data: bytes) -> None:
    assert _reason("a.ipynb", data) == "broken"


@pytest.mark.parametrize("data", [b"\x7fELF\x02\x01", b"PK\x03\x04zip", b"text\x00more", bytes(range(128, 256)) * 40])
def test_binary_under_a_texts_name_is_refused(data: bytes) -> None:
    assert _reason("a.md", data) == "binary"


def test_some_invalid_bytes_are_marked_and_said_so() -> None:
    made = read("a.txt", b"words and words " * 10 + b"caf\xe9")
    assert "caf\ufffd" in made.text
    assert made.metadata["encoding"] == "1 invalid bytes replaced"


def test_a_text_of_an_old_encoding_is_read() -> None:
    made = read("a.txt", "Größe und Höhe für die Prüfung der Geräte über dem Boden ".encode("cp1252") * 9)
    assert "Größe" in made.text
    assert made.metadata["encoding"] == "not UTF-8: read as Windows-1252"


def test_utf_16_with_its_mark_is_read() -> None:
    assert read("a.txt", "Größe".encode("utf-16")).text == "Größe"


def test_what_a_server_says_of_the_encoding_is_followed_only_where_it_can_be() -> None:
    assert read("a.txt", "Größe".encode("cp1252"), encoding="cp1252").text == "Größe"
    assert "plain" in read("a.txt", b"plain", encoding="unicode_escape").text


def test_one_line_of_twenty_megabytes_is_refused_and_one_of_three_is_read() -> None:
    assert _reason("a.txt", b"word " * 4_000_000) == "too large"
    assert len(read("a.txt", b"word " * 600_000).text) < TEXT_BYTES_MAX


def test_a_document_is_known_again_by_its_bytes_and_by_what_was_said_of_them() -> None:
    assert content_hash(b"a") == content_hash(b"a")
    assert len({content_hash(b"a"), content_hash(b"b"), content_hash(b"a", "html"), content_hash(b"a", None, "T")}) == 4


def test_nothing_but_blanks_is_refused() -> None:
    assert _reason("a.md", b" \n \n") == "empty"


def _pdf(content: bytes, packed: bytes | None = None) -> bytes:
    """A PDF with one page and the given content stream, compressed."""
    packed = zlib.compress(content, 9) if packed is None else packed
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), packed),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    made = bytearray(b"%PDF-1.4\n")
    places = []
    for number, each in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    start = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    made += b"".join(b"%010d 00000 n \n" % place for place in places)
    made += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(made)


@pytest.mark.slow
def test_a_pdf_is_read_page_by_page() -> None:
    pytest.importorskip("pypdf")
    made = read("a.pdf", _pdf(b"BT /F1 12 Tf 72 720 Td (Retention is ninety days) Tj ET"))
    assert made.text.strip() == "Retention is ninety days"
    assert made.metadata == {"pages": "1"}
    assert split("pdf", made.text)[0].heading == "page 1"


@pytest.mark.slow
def test_a_pdf_bomb_is_refused_and_costs_one_process() -> None:
    """A page of 160 megabytes in as many kilobytes."""
    pytest.importorskip("pypdf")
    compressor = zlib.compressobj(9)
    packed = b"".join(compressor.compress(b"BT (x) Tj ET " * 80_000) for _ in range(160)) + compressor.flush()
    assert _reason("a.pdf", _pdf(b"", packed)) in ("broken", "too large")


@pytest.mark.slow
def test_a_pdf_that_takes_too_long_is_refused() -> None:
    pytest.importorskip("pypdf")
    with pytest.raises(DocumentRefused, match="seconds"):
        read_pdf(_pdf(b"BT (x) Tj ET " * 500_000), seconds_max=0.2)


def test_what_only_calls_itself_a_pdf_is_refused() -> None:
    assert _reason("a.pdf", b"<html>not found</html>") == "broken"


@pytest.mark.slow
def test_without_its_library_a_pdf_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Isolated from the packages, the process finds none."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(DocumentRefused) as refused:
        read("a.pdf", _pdf(b"x"))
    assert "siftd-memory[documents]" in refused.value.hint
