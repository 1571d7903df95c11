"""A notebook as Markdown: its cells in their order, code between fences, without what running them put out.

Outputs are left out: they are pictures, tables of data and secrets that somebody printed.
"""

from __future__ import annotations

import re

import msgspec

from siftd.errors import DocumentRefused

_TICKS = re.compile("`{3,}")
_LANGUAGE = re.compile(r"[\w+#-]{1,30}")


class _Cell(msgspec.Struct):
    cell_type: str = ""
    source: str | list[str] = ""
    input: str | list[str] = ""
    """What version 3 calls the source of code."""
    level: int = 1


class _Named(msgspec.Struct):
    name: str = ""
    language: str = ""


class _Metadata(msgspec.Struct):
    language_info: _Named = msgspec.field(default_factory=_Named)
    kernelspec: _Named = msgspec.field(default_factory=_Named)


class _Worksheet(msgspec.Struct):
    cells: list[_Cell] = []


class _Notebook(msgspec.Struct):
    cells: list[_Cell] = []
    worksheets: list[_Worksheet] = []
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


_DECODER = msgspec.json.Decoder(_Notebook)


def read_notebook(text: str) -> tuple[str, str]:
    """Return a notebook's text in Markdown, and the language of its code."""
    try:
        book = _DECODER.decode(text.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        raise DocumentRefused("broken", "it is no notebook", hint="open it in Jupyter and save it") from None
    named = book.metadata.language_info.name or book.metadata.kernelspec.language
    language = named.lower() if _LANGUAGE.fullmatch(named) else "python"
    cells = [*book.cells, *(cell for sheet in book.worksheets for cell in sheet.cells)]
    parts = (_cell(cell, language) for cell in cells)
    return "\n".join(part for part in parts if part.strip()), language


def _cell(cell: _Cell, language: str) -> str:
    source = cell.source or cell.input
    text = (source if isinstance(source, str) else "".join(source)).rstrip("\n")
    if not text.strip():
        return ""
    if cell.cell_type == "heading":
        return f"{'#' * min(max(cell.level, 1), 6)} {text}\n"
    if cell.cell_type != "code":
        return f"{text}\n"
    fence = "`" * (1 + max([2, *map(len, _TICKS.findall(text))]))
    return f"{fence}{language}\n{text}\n{fence}\n"
