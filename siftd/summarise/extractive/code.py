"""What a piece of a file says: the names it defines, the lines that changed, the words it opens with."""

from __future__ import annotations

import re

from siftd.summarise.extractive.text import (
    bounded,
    clip,
    join_within,
    lines_of,
    mapping,
    one_line,
    sequence,
    string,
    unique,
)

_DEFINITION = re.compile(
    r"^[ \t]*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]+\))?"
    r"|unsafe|override|virtual|sealed|partial|inline|constexpr|open|data|suspend)[ \t]+){0,5}"
    r"(?:def|class|function\*?|func(?:[ \t]*\([^)\n]{0,80}\))?|fn|fun|interface|struct|enum|trait|impl|module|type)"
    r"[ \t]+(?:self\.)?([A-Za-z_$][\w$]{1,80})",
    re.MULTILINE,
)
_ARROW = re.compile(
    r"^[ \t]*(?:export[ \t]+)?const[ \t]+([A-Za-z_$][\w$]{1,80})[^=\n]{0,80}=[ \t]*(?:async[ \t]*)?\(", re.MULTILINE
)
_CASE = re.compile(r"^[ \t]*(?:describe|it|test)(?:\.\w{1,20})?\([ \t]*['\"`]([^'\"`\n]{2,80})", re.MULTILINE)
_HEADING = re.compile(r"^#{1,4}[ \t]+(\S.{0,160})$", re.MULTILINE)
_NOISE = re.compile(
    r"^[\W_]*$|^(?:end|fi|done|else:?|try:?|pass|return|break|begin|then)$"
    r"|^(?:import .*|from .* import .*|#!.*|//|/\*.*|\*.*)$"
)
_OPENS = (":", "{", "(", "[", ",", "=", "->", "=>", "&&", "||", "+", ";")
_COMMENTS = ("//", "#", "*", "/*", "--", '"""')
MAX_DIFF_LINES = 400


def definitions(text: str, limit: int = 8) -> list[str]:
    """Return the names that this text defines, in their order; of a test file without any, its cases."""
    text = bounded(text)
    names = _DEFINITION.findall(text)
    if "=>" in text or "= (" in text:
        names += _ARROW.findall(text)
    if not names:
        names = _CASE.findall(text)
    return unique(names, limit)


def headings(text: str, limit: int = 6) -> list[str]:
    return unique((one_line(title) for title in _HEADING.findall(bounded(text))), limit)


def is_prose(path: str) -> bool:
    return path.lower().endswith((".md", ".mdx", ".txt", ".rst", ".adoc", ".markdown"))


def opening(path: str, content: str, limit: int) -> str:
    """Say what a whole file holds: its headings or definitions, else the words it opens with."""
    if is_prose(path):
        if titles := headings(content):
            return join_within(titles, limit, "; ")
    elif names := definitions(content):
        return join_within(names, limit)
    return statements(_informative(lines_of(content, 12))[:6], limit)


def changed(old: str, new: str) -> tuple[list[str], list[str]]:
    """Return the lines that went and the lines that came; linear, and bounded in lines."""
    before, after = _lines(old), _lines(new)
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    before, after = before[start : len(before) - end], after[start : len(after) - end]
    useful, known = set(after), set(before)
    return [line for line in before if line not in useful], [line for line in after if line not in known]


def patched(hunks: object) -> tuple[list[str], list[str], str]:
    """Return what went, what came and all that a structured patch shows."""
    gone: list[str] = []
    came: list[str] = []
    shown: list[str] = []
    for hunk in sequence(hunks)[:20]:
        for line in sequence(mapping(hunk).get("lines"))[:MAX_DIFF_LINES]:
            text = string(line)[:2_000]
            shown.append(text[1:])
            if text.startswith("-"):
                gone.append(text[1:].strip())
            elif text.startswith("+"):
                came.append(text[1:].strip())
    useful, known = set(came), set(gone)
    return [line for line in gone if line not in useful], [line for line in came if line not in known], "\n".join(shown)


def difference(gone: list[str], came: list[str], limit: int) -> str:
    """Say a change in its own lines: "`old` → `new`", or what was added, or what was removed."""
    gone, came = _informative(gone), _informative(came)
    if len(gone) == 1 and len(came) == 1:
        old, new = _apart(gone[0], came[0], limit // 2 - 6)
        if old and new:
            return f"{old} → {new}"
    if came:
        return statements(_with_code_soon(came), limit)
    if gone:
        return "removed: " + statements(gone, limit - 9)
    return ""


def statements(lines: list[str], limit: int) -> str:
    """Join lines of code or prose so that they read as one."""
    text = ""
    for line in lines:
        piece = one_line(line)
        joined = text.endswith((*_OPENS, ".", "!", "?")) or piece[:1] in ")}]"
        between = "" if not text else " " if joined else "; "
        if text and len(text) + len(between) + len(piece) > limit - 2:
            room = limit - len(text) - len(between)
            return text + between + clip(piece, room) if room > 60 else text.rstrip(" ;,") + " …"
        text += between + piece
        if len(text) >= limit:
            break
    return clip(text, limit)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text[:40_000].split("\n", MAX_DIFF_LINES)[:MAX_DIFF_LINES]]


def _with_code_soon(lines: list[str]) -> list[str]:
    """Keep a comment's beginning (it says why) without letting it crowd out the code that it explains."""
    first_code = next((index for index, line in enumerate(lines) if not line.startswith(_COMMENTS)), 0)
    return lines[:2] + lines[first_code:] if first_code > 2 else lines


def _informative(lines: list[str]) -> list[str]:
    """Return the lines that carry meaning; all of them when none does."""
    useful = [line for line in lines if not _NOISE.match(line[:200])]
    return useful or [line for line in lines if line]


def _apart(old: str, new: str, room: int) -> tuple[str, str]:
    """Return two lines cut down to where they differ, at word boundaries, when they are long."""
    old, new = one_line(old), one_line(new)
    if len(old) <= room and len(new) <= room:
        return old, new
    before, after = old.split(" "), new.split(" ")
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    start = max(0, start - 3)
    lead = "… " if start else ""
    return lead + clip(" ".join(before[start:]), room), lead + clip(" ".join(after[start:]), room)
