"""What a document says: as a manifest, as source code, or as words, by its kind and its name."""

from __future__ import annotations

from itertools import islice

from siftd.graph.events import Problem, read_file
from siftd.graph.manifests import is_manifest
from siftd.graph.model import Found, Link, Named
from siftd.graph.pages import read_page
from siftd.symbols.definitions import find_pattern

CODE = "code"
TEXT_CHARS_MAX = 8_388_608
SYMBOLS_MAX = 256
SYMBOLS_CHARS_MAX = 1_048_576


def read_document(found: Found, path: str | None, kind: str, text: str, project: Named) -> list[Problem]:
    """Note what a document says; return the manifest that could not be read. `path` is None for one without a file."""
    text = text[:TEXT_CHARS_MAX]
    if path is not None:
        found.name(Named("file", path))
        if is_manifest(path):
            return read_file(found, path, text, project)
    if kind != CODE:
        read_page(found, text)
        return []
    if path is None:
        return []
    problems = read_file(found, path, text, project)
    _read_symbols(found, path, text[:SYMBOLS_CHARS_MAX])
    return problems


def _read_symbols(found: Found, path: str, text: str) -> None:
    """Note the definitions of a file of source code, each with its line."""
    pattern = find_pattern(path)
    if pattern is None:
        return
    file, line, upto = Named("file", path), 1, 0
    for match in islice(pattern.finditer(text), SYMBOLS_MAX):
        start = match.start(match.lastindex or 0)
        line += text.count("\n", upto, start)
        upto = start
        found.link(Link(Named("symbol", match[match.lastindex or 0]), "PART_OF", file, "code", line))
