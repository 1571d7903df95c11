"""Captured text as a line of Markdown: it says what it says, and makes nothing.

Whatever a fact's text holds, a line of notes stays one line of prose: no heading, list, fence, table, comment, image,
link or frontmatter comes of it, and nothing is loaded by whoever shows it. Each function is one pass over its text.
"""

from __future__ import annotations

import re
import time

from siftd.harmless import harmless
from siftd.search.own_words import command_words, name_of
from siftd.summarise.extractive.text import clip

LINE_CHARS_MAX = 320
_LEADING = " \t#>+*=~|-_:"
"""What opens a heading, a quotation, a list, a rule or a table at a line's beginning."""
_BOX = re.compile(r"\[[ xX]?\]\s{0,8}")
_NUMBER = re.compile(r"\d{1,9}[.)]\s")
_FENCE = re.compile(r"`{2,200}|~{3,200}")
_LINK = re.compile(r"\]\s{0,8}(?=[(\[:])")
_SCHEME = re.compile(r"\b(?:javascript|data|vbscript|file):", re.IGNORECASE)


def plain(text: str, limit: int = LINE_CHARS_MAX) -> str:
    """Return captured text as prose of one line, of at most `limit` characters."""
    line = _FENCE.sub("'", harmless(clip(text, limit), 2 * limit))
    line = _SCHEME.sub(lambda found: f"{found[0][:-1]} :", _LINK.sub("] ", line)).replace("**", "")
    before = None
    while line != before:  # each turn takes a mark off the beginning
        before = line
        line = line.lstrip(_LEADING)
        for opening in (_BOX, _NUMBER):
            if found := opening.match(line):
                line = line[found.end() :]
    if line.count("`") % 2:
        head, _, tail = line.rpartition("`")
        line = f"{head}'{tail}"
    return (f"\\{line}" if line.startswith("[") else line).rstrip(" \\")


def sentence(text: str, limit: int = LINE_CHARS_MAX) -> str:
    """Return it with a full stop, where it ends without a mark."""
    line = plain(text, limit)
    return line if not line or line[-1] in ".!?…" else f"{line}."


def quoted(text: str, limit: int) -> str:
    """Return captured text in quotation marks that nothing in it closes."""
    return f"“{plain(text, limit).translate(_QUOTES)}”"


_QUOTES = str.maketrans("“”", "''")


def branch_name(branch: str) -> str:
    """Return a branch as a name, up to the first character that is none of a name's."""
    return name_of(branch)


def code(command: str) -> str:
    """Return a command as code: program, options and paths, never what it quotes."""
    return f"`{command_words(command).replace('`', '')}`"


def date_of(ts: int) -> str:
    """Return a moment's day, UTC."""
    return time.strftime("%Y-%m-%d", time.gmtime(max(0, ts) / 1000))
