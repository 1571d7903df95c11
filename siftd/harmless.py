"""Captured text as an agent may be shown it: nothing invisible, and nothing that passes for a form of ours.

An agent reads what no person sees. So whatever a reader's screen would not show goes: control and format characters,
variation selectors and tag characters (each can carry a byte), fillers that look like blanks, private use. What our
blocks are told by is broken: angle brackets and their look-alikes, the names of fences behind one, `#m1` as a piece is
cited, the signs in which a quotation stands, and the image that some clients would fetch.

Every function is one pass over a text, whatever it holds.
"""

from __future__ import annotations

import re
import unicodedata

ITEM_CHARS_MAX = 600
_FILLERS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\ufffe\uffff"
    "\U000e0000-\U000e0fff]"
)
"""Default-ignorable and blank-looking code points that are letters, marks or symbols by their category."""
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
_FOLDED = str.maketrans(
    dict.fromkeys("\uff1c\ufe64\u3008\u27e8\u2329\u276c\u276e\u1438\u02c2", "‹")
    | dict.fromkeys("\uff1e\ufe65\u3009\u27e9\u232a\u276d\u276f\u1433\u02c3", "›")
    | dict.fromkeys("«»\u300a\u300b\u226a\u226b", '"')
    | dict.fromkeys("\uff03\ufe5f", "#")
)
_OPENING = re.compile(r"<(?![ =0-9])")
"""What may open a tag; what compares stays as it is, for whoever copies code."""
_FENCE = re.compile(r"([<‹\uff1c\ufe64])([\s/\\]{0,8})(siftd|system)[-\u2010-\u2015](memory|reminder)", re.IGNORECASE)
_CITED = re.compile(r"#(?=[esmgt][0-9]|n:)", re.IGNORECASE)


def harmless(text: str, limit: int = ITEM_CHARS_MAX) -> str:
    """Return captured text as one line, of at most `limit` characters, that can be quoted in a block."""
    line = " ".join(visible(" ".join(text.split())).split()).translate(_FOLDED).replace("![", "! [")
    if "‹" in line or "<" in line:
        line = _FENCE.sub(r"‹\2\3 \4", line)
    if "#" in line:
        line = _CITED.sub("# ", line)
    line = line if len(line) <= limit else f"{line[: limit - 1]}…"
    return _OPENING.sub("‹", line) if "<" in line else line


def unfenced(text: str) -> str:
    """Return captured text with its lines and all that is seen of it, but no fence that an agent would believe."""
    shown = visible(text)
    return _FENCE.sub(r"‹\2\3 \4", shown) if "-" in shown or not shown.isascii() else shown


def visible(text: str) -> str:
    """Return text without what no reader sees; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    text = _FILLERS.sub("", text)
    if text.isprintable():
        return text
    return "".join(each for each in text if each in "\n\t" or unicodedata.category(each) not in _HIDDEN)
