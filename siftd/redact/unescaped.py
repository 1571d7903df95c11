"""A piece of text with its escapes undone at once, however deep: JSON within JSON, HTML entities, slashes of PHP.

Unlike the view of `escaped`, which keeps every place, this one knows where each of its characters stood.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from siftd.redact.spans import PLACEHOLDER

_ESCAPE = re.compile(
    rf"(?P<placeholder>{PLACEHOLDER})|\\+(?:u00(?P<code>2[267fF]|3[a-eA-E]|5[bdBD])|(?P<sign>[\"'`/=:&])|(?P<break>[nrt]|\r?\n))|"
    r"&(?P<entity>quot|apos|amp|lt|gt|#39|#x27|#34|#x22|#x3[dD]|#61);|\x1b\[[0-9;]{0,16}m"
)
_ENTITIES = {
    "quot": '"',
    "apos": "'",
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "#39": "'",
    "#x27": "'",
    "#34": '"',
    "#x22": '"',
    "#x3d": "=",
    "#61": "=",
}
_BREAKS = {"n": "\n", "r": "\n", "t": "\t"}


class Unescaped:
    """A text without escapes, with placeholders as one sign that belongs to no word."""

    def __init__(self, raw: str, end: int) -> None:
        """`end` is a place in `raw` whose place in `text` is kept as `end`."""
        self._begins = [0]
        self._places = [0]
        if "\\" not in raw and "&" not in raw and "[REDACTED:" not in raw and "\x1b" not in raw:
            self.text, self.end = raw, end
            return
        pieces: list[str] = []
        size = position = 0
        new_end = -1
        for match in _ESCAPE.finditer(raw):
            begin = match.start()
            if new_end < 0 and begin >= end:
                new_end = size + end - position
            sign = self._sign(match)
            pieces += (raw[position:begin], sign)
            size += begin - position
            self._begins += (size, size + len(sign))
            self._places += (begin, match.end())
            size += len(sign)
            position = match.end()
        pieces.append(raw[position:])
        self.text = "".join(pieces)
        self.end = new_end if new_end >= 0 else size + max(0, end - position)

    @staticmethod
    def _sign(match: re.Match[str]) -> str:
        if match["placeholder"]:
            return "\x01"
        if match["code"]:
            return chr(int(match["code"], 16))
        if match["sign"]:
            return match["sign"]
        if match["break"]:
            return _BREAKS.get(match["break"], " ")
        return _ENTITIES[match["entity"].lower()] if match["entity"] else ""

    def place(self, at: int) -> int:
        """Return where the character at `at` stood."""
        index = bisect_right(self._begins, at) - 1
        return self._places[index] + at - self._begins[index]
