"""Unicode's normal forms in time that is linear in the text, whatever it is.

Python sorts the marks on a letter one by one: a letter under 60,000 marks of two kinds takes it seconds, a megabyte of
them an hour. So a letter keeps MARKS_MAX of its marks, as Unicode's Stream-Safe Text Format has it (UAX #15); no
language writes more than a handful.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

MARKS_MAX = 30

_NO_MARKS = r"\u2000-\u20cf\u2100-\u2bff\u3000-\u3029\U0001f000-\U0001faff"
"""Lines of tables, arrows, signs, emoji: programs print long rows of them, and none is a mark."""
_STACKED = re.compile(rf"(?:[^\w\x00-\x7f{_NO_MARKS}]|[\uff9e\uff9f]){{{MARKS_MAX // 3}}}")
"""Where that many marks may be: one may stand for three, and none is a word's character, but for two that become marks
in NFKC."""


def normalized(form: Literal["NFC", "NFD", "NFKC"], text: str) -> str:
    """Return a text in a normal form, without marks that nobody could read."""
    if text.isascii():
        return text
    if _STACKED.search(text):
        text = _unstacked(text)
    return unicodedata.normalize(form, text)


def _unstacked(text: str) -> str:
    result: list[str] = []
    marks = 0
    for each in text:
        parts = len(unicodedata.normalize("NFKD", each))
        is_mark = unicodedata.category(each)[0] == "M" or each in "\uff9e\uff9f"
        if not is_mark or marks + parts <= MARKS_MAX:
            result.append(each)
            marks = marks + parts if is_mark else parts - 1
    return "".join(result)
