"""Summaries of what reads and changes files."""

from __future__ import annotations

import re

from siftd.clients.tools import tool_named
from siftd.summarise.extractive.code import changed, definitions, difference, opening, patched, statements
from siftd.summarise.extractive.text import (
    SEEN,
    THIN,
    Call,
    Line,
    clip,
    count_of,
    first_text,
    join_within,
    line_count,
    lines_of,
    mapping,
    printed,
    relative,
    sequence,
    string,
    unique,
)

PATH_KEYS = ("file_path", "notebook_path", "filePath", "path", "absolute_path", "filename")
_PATCH_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.{1,400})$", re.MULTILINE)
_PATCH_MOVE = re.compile(r"^\*\*\* Move to: (.{1,400})$", re.MULTILINE)
_DONE = {"Add": "added", "Update": "edited", "Delete": "deleted"}
_BODY_CHARS = 300


def file_of(call: Call) -> str:
    return call.path(*PATH_KEYS) or relative(_answered_path(call), call.cwd) or "a file"


def read(call: Call) -> Line:
    """ "Read src/auth.py (13 lines): validate_token, decode"."""
    path, response = file_of(call), mapping(call.response)
    file = mapping(response.get("file"))
    kind = string(response.get("type"))
    if kind in ("image", "pdf", "parts"):
        return Line(f"Read {path} ({'an image' if kind == 'image' else 'a PDF'})", SEEN)
    if kind == "notebook" or "cells" in file:
        cells = "\n".join(string(mapping(cell).get("source")) for cell in sequence(file.get("cells"))[:40])
        return _with(f"Read notebook {path}", opening(path, cells, _BODY_CHARS))
    if kind == "file_unchanged":
        return Line(f"Read {path} again, unchanged", SEEN)
    content = string(file.get("content")) or printed(call.response)
    if not content and count_of(file.get("numLines")) == 0 and (total := count_of(file.get("totalLines"))):
        return Line(f"Read nothing of {path}: it ends at line {total}", SEEN)
    return _with(f"Read {path}{_extent(file, content)}", opening(path, content, 220))


def edit(call: Call) -> Line:
    """ "Edited src/auth.py: validate_token() — if claims["exp"] < …: raise ValueError("token expired")"."""
    response = mapping(call.response)
    old = first_text(call.input, "old_string", "oldString", "old_str") or string(response.get("oldString"))
    new = first_text(call.input, "new_string", "newString", "new_str") or string(response.get("newString"))
    gone, came = changed(old, new)
    _, _, shown = patched(response.get("structuredPatch"))
    scope = " (all occurrences)" if call.input.get("replace_all") is True else ""
    by_hand = ", changed by the user before saving" if response.get("userModified") is True else ""
    places = call.symbols or definitions(new, 4) or definitions(old, 4) or definitions(shown, 2)
    around = "\n".join((old[:4_000], new[:4_000], shown))
    return _edited(f"Edited {file_of(call)}{scope}{by_hand}", places, difference(gone, came, _BODY_CHARS), around)


def multi_edit(call: Call) -> Line:
    """Several edits of one file, told as one change."""
    gone: list[str] = []
    came: list[str] = []
    names: list[str] = []
    for part in sequence(call.input.get("edits"))[:40]:
        old, new = string(mapping(part).get("old_string")), string(mapping(part).get("new_string"))
        went, arrived = changed(old, new)
        gone += went
        came += arrived
        names += definitions(new, 4)
    return _edited(
        f"Edited {file_of(call)}",
        call.symbols or unique(names, 4),
        difference(gone, came, _BODY_CHARS),
        "\n".join(came),
    )


def write(call: Call) -> Line:
    """ "Created docs/tokens.md (4 lines): Tokens"; a rewrite says what changed."""
    response, path = mapping(call.response), file_of(call)
    content = first_text(call.input, "content", "file_text", "contents") or string(response.get("content"))
    gone, came, shown = patched(response.get("structuredPatch"))
    if response.get("type") == "update" and (gone or came):
        return _edited(
            f"Rewrote {path}", call.symbols or definitions(shown, 3), difference(gone, came, _BODY_CHARS), shown
        )
    verb = {"create": "Created", "update": "Rewrote"}.get(string(response.get("type")), "Wrote")
    lines = line_count(content)
    extent = f" ({lines} {'line' if lines == 1 else 'lines'})" if lines else " (empty)"
    body = join_within(call.symbols, 220) if call.symbols else _beginning(path, content)
    return _with(f"{verb} {path}{extent}", body)


def notebook_edit(call: Call) -> Line:
    """A cell replaced, inserted or deleted."""
    response = mapping(call.response)
    mode = string(call.input.get("edit_mode")) or string(response.get("edit_mode")) or "replace"
    verb = {"insert": "Inserted", "delete": "Deleted"}.get(mode, "Replaced")
    cell = first_text(call.input, "cell_id") or string(response.get("cell_id"))
    source = first_text(call.input, "new_source") or string(response.get("new_source"))
    gone, came = changed(string(response.get("old_source")), source)
    what = f"{verb} cell {clip(cell, 40)} of {file_of(call)}" if cell else f"{verb} a cell of {file_of(call)}"
    change = "" if mode == "delete" else difference(gone, came, _BODY_CHARS)
    return _edited(what, call.symbols or definitions(source, 4), change, source[:4_000])


def apply_patch(call: Call) -> Line:
    """A patch in the envelope that Codex uses: every file it touches, then the lines that came."""
    text = patch_text(call)
    files = [(verb, relative(path.strip(), call.cwd)) for verb, path in _PATCH_FILE.findall(text[:200_000])[:20]]
    if not files:
        return _with("Applied a patch", statements(lines_of(text, 4), _BODY_CHARS))
    moved = [f"moved to {relative(path.strip(), call.cwd)}" for path in _PATCH_MOVE.findall(text[:200_000])[:3]]
    touched = join_within([f"{_DONE[verb]} {path}" for verb, path in files] + moved, 160)
    touched = touched[0].upper() + touched[1:]
    body = text[:40_000].split("\n")
    gone = [line[1:].strip() for line in body if line.startswith("-")]
    came = [line[1:].strip() for line in body if line.startswith("+")]
    around = "\n".join(line[1:] for line in body if line[:1] in ("+", " "))
    names = call.symbols or definitions("\n".join(came), 4) or definitions(around, 2)
    return _edited(touched, names, difference(gone, came, _BODY_CHARS - len(touched) // 2), around)


def changed_files(call: Call) -> list[str]:
    """Return the files that a call changed; a patch may name several."""
    if named := _PATCH_FILE.findall(patch_text(call)[:200_000]) if tool_named(call.tool).operation == "patch" else []:
        return [relative(path.strip(), call.cwd) for _, path in named[:20]]
    return [path] if (path := call.path(*PATH_KEYS) or relative(_answered_path(call), call.cwd)) else []


def patch_text(call: Call) -> str:
    return (
        first_text(call.input, "command", "patch", "input") or printed(call.input.get("command")) or string(call.given)
    )


def _answered_path(call: Call) -> str:
    response = mapping(call.response)
    return first_text(response, *PATH_KEYS) or first_text(mapping(response.get("file")), *PATH_KEYS)


def _extent(file: dict[str, object], content: str) -> str:
    """ " (13 lines)", " (lines 40-79 of 300)", or nothing when the event does not say."""
    start, shown, total = (count_of(file.get(key)) for key in ("startLine", "numLines", "totalLines"))
    if start and shown and total and (start > 1 or shown < total):
        return f" (from line {start}, {shown} of {total} lines)"
    lines = total or line_count(content)
    return f" ({lines} {'line' if lines == 1 else 'lines'})" if lines else " (empty)"


def _beginning(path: str, content: str) -> str:
    """What a new file holds; of a short prose file also the first words, where decisions stand."""
    start = opening(path, content, 220)
    words = [line for line in lines_of(content, 8) if not line.startswith("#")]
    if len(start) < 120 and len(content) < 4_000 and words and words[0] not in start:
        return f"{start} — {statements(words, 300 - len(start))}"
    return start


def _edited(what: str, places: list[str], change: str, around: str = "") -> Line:
    """Join what was touched, where in it and how; `around` shows which places are called with parentheses."""
    named = join_within((f"{name}()" if f"{name}(" in around else name for name in places[:4]), 110)
    if named and change:
        return Line(f"{what}: {named} — {change}", SEEN)
    return _with(what, named or change)


def _with(what: str, body: str) -> Line:
    return Line(f"{what}: {body}", SEEN) if body else Line(what, THIN)
