"""Secrets in columns: under a head that tells, in tables of databases, CSV, Markdown, HTML and what blanks align.

An INSERT is a table too: its columns are the head, each list of values is a row.
"""

from __future__ import annotations

import re
from itertools import pairwise

from siftd.redact.secret_names import Kind
from siftd.redact.secret_words import meaning
from siftd.redact.shape import is_assigned
from siftd.redact.spans import Found, Range

MOST_ROWS = 500
LONGEST_ROW = 2_000

_HEADING = re.compile(r"[\"'`*+(]{0,3}[A-Za-z_][\w .()/#-]{0,40}[\"'`*]{0,3}|[\"']?#?[\"']?|")
_RULE = re.compile(r"[|+:=\s\u2500-\u257f-]*")
_BLANKS = re.compile(r"[ ]{2,}|\t+")
_DASHES = re.compile(r"\r?\n(?:-{2,80}[ ]{1,8}){1,24}-{2,80}[ ]{0,8}(?=\r?\n)")
"""Columns as wide as the dashes under their heads."""
_DASH = re.compile(r"-{2,80}")
_CLOSED = " \t\r\"'`*"


def secrets_of_table(text: str, begin: int, end: int) -> tuple[int, list[Found]]:
    """Return where the table ends whose head is this line, and its secrets; nothing where the line is no head."""
    if end - begin > LONGEST_ROW:
        return 0, []
    head = text[begin:end]
    sign = next((sign for sign in "|\u2502\u2503\t,;" if sign in head), "  " if "  " in head.strip() else "")
    dashes = _DASHES.match(text, end)
    columns_begin = [match.start() for match in _DASH.finditer(dashes[0], 1)] if dashes else []
    if dashes and len(columns_begin) > 1:
        sign, columns_begin = "-", [at - 1 for at in columns_begin]
    if not sign:
        return 0, []

    def cells_of(begin: int, end: int) -> list[Range]:
        if sign != "-":
            return _cells(text, begin, end, sign)
        edges = [*(min(end, begin + at) for at in columns_begin), end]
        return [_stripped(text, first, last) for first, last in pairwise(edges)]

    cells = cells_of(begin, end)
    if sum(first < last for first, last in cells) < 2 or not all(_HEADING.fullmatch(text, *cell) for cell in cells):
        return 0, []
    columns = [at for at, cell in enumerate(cells) if _kind(text, cell) is not None]
    if not columns:
        return 0, []
    found: list[Found] = []
    for _ in range(MOST_ROWS):
        begin, end = end + 1, text.find("\n", end + 1, end + LONGEST_ROW)
        end = end if end >= 0 else min(len(text), begin + LONGEST_ROW)
        if begin >= end:
            break
        if _RULE.fullmatch(text, begin, end):
            continue
        row = cells_of(begin, end)
        if len(row) != len(cells) or (sign == "-" and not text[begin:end].strip()):
            break
        for at in columns:
            first, last = row[at]
            kind = meaning(text[slice(*cells[at])].strip(_CLOSED)) or "password"
            if is_assigned(text[first:last], kind):
                found.append((first, last, "password" if kind == "password" else "secret"))
    return begin, found


_INSERT = re.compile(r"(?i)\binsert\b[^\n(]{1,120}\((?P<columns>[^()\n]{1,800})\)\s{0,8}values\s{0,8}(?=\()")
_QUOTED_OR_SIGN = re.compile(
    r"N?'(?P<text>(?:[^'\\\n]|''|\\.){0,512}+)'|\\?\"(?P<double>[^\"\n\\]{0,512}+)\\?\"|(?P<sign>[(),;])|"
    r"(?P<next>(?i:insert[ ]into))"
)


def secrets_of_insert(text: str, begin: int, end: int) -> tuple[int, list[Found]]:
    """Return how far was read for an INSERT whose columns are named on this line, and its secrets.

    It ends at its semicolon or where the next one begins; who asks again begins behind it, so that each is read once.
    """
    found: list[Found] = []
    match = _INSERT.search(text, begin, min(len(text), end + 400))
    if match is None or match.start() > end:
        return begin, found
    names = [name.strip(_QUOTES_OF_SQL) for name in match["columns"].split(",")]
    columns = {at: kind for at, name in enumerate(names) if (kind := meaning(name[:80])) is not None}
    at = depth = 0
    read_to = match.end()
    for value in _QUOTED_OR_SIGN.finditer(text, match.end(), match.end() + LONGEST_INSERT) if columns else ():
        if value["next"] is not None:
            break
        sign, read_to = value["sign"], value.end()
        if sign == ";" and depth == 0:
            break
        if sign is None:
            first, last = value.span("text" if value["double"] is None else "double")
            if depth == 1 and at in columns and is_assigned(text[first:last], columns[at]):
                found.append((first, last, "password" if columns[at] == "password" else "secret"))
        elif sign == ",":
            at = at + 1 if depth == 1 else at
        elif sign != ";":
            depth += 1 if sign == "(" else -1
            at = 0 if depth == 0 else at
    return read_to, found


LONGEST_INSERT = 20_000
"""Characters behind VALUES that are read."""
_QUOTES_OF_SQL = ' \t\r"`[]'
_ROW = re.compile(r"(?i)<tr\b|</tr|</table")
_CELL = re.compile(r"(?i)<t[hd](?:[ \t][^<>]{0,200})?>(?P<text>[^<]{0,512})</t[hd]>")
LONGEST_HTML_ROW = 4_000


def secrets_of_html(text: str, begin: int, end: int) -> tuple[int, list[Found]]:
    """Return how far was read for a table of HTML that has this line in its head, and its secrets."""
    if text.find("<t", begin, end) < 0:
        return 0, []
    start = text.rfind("<tr", max(0, end - LONGEST_HTML_ROW), end)
    start = start if start >= 0 else begin
    heads, position = _row_of_html(text, start)
    columns = {at: kind for at, cell in enumerate(heads) if (kind := _kind(text, cell)) is not None}
    found: list[Found] = []
    if len(heads) < 2 or not columns:
        return position, found
    for _ in range(MOST_ROWS):
        row, following = _row_of_html(text, position)
        if not row or following <= position:
            break
        position = following
        for at, kind in columns.items():
            if at < len(row) and is_assigned(text[slice(*row[at])], kind):
                found.append((*row[at], "password" if kind == "password" else "secret"))
    return position, found


def _row_of_html(text: str, position: int) -> tuple[list[Range], int]:
    """Return where the cells stand of the row that begins here, and where it ends."""
    opened = _ROW.search(text, position, position + LONGEST_HTML_ROW)
    if opened is None or opened[0][1] == "/":
        if opened is None or opened[0].lower() == "</table":
            return [], position
        opened = _ROW.search(text, opened.end(), opened.end() + LONGEST_HTML_ROW)
        if opened is None or opened[0][1] == "/":
            return [], position
    closed = _ROW.search(text, opened.end(), opened.end() + LONGEST_HTML_ROW)
    if closed is None:
        return [], position
    cells = [match.span("text") for match in _CELL.finditer(text, opened.end(), closed.start())]
    return [_stripped(text, *cell) for cell in cells], closed.start()


def _kind(text: str, cell: Range) -> Kind | None:
    name = text[slice(*cell)].strip(_CLOSED)
    return meaning(name.replace(" ", "_")) if name and len(name) <= 40 else None


def _cells(text: str, begin: int, end: int, sign: str) -> list[Range]:
    """Return where the cells of a line stand, without the blanks and quotes around them."""
    line = text[begin:end]
    if sign == "  ":
        gaps = [match.span() for match in _BLANKS.finditer(line.rstrip())]
        edges = [0, *(edge for gap in gaps if gap[0] for edge in gap), len(line)]
        spans = list(zip(edges[::2], edges[1::2], strict=True))
    else:
        spans, at = [], 0
        for part in line.split(sign):
            spans.append((at, at + len(part)))
            at += len(part) + 1
    return [_stripped(text, begin + first, begin + last) for first, last in spans]


def _stripped(text: str, begin: int, end: int) -> Range:
    while begin < end and text[begin] in _CLOSED:
        begin += 1
    while begin < end and text[end - 1] in _CLOSED:
        end -= 1
    return begin, end
