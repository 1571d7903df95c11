"""Making large payloads small: head and tail of what is long stay, what was between is counted.

Two cuts, at two places. `cut_raw` keeps redaction affordable: a text above 512 KiB is cut before, each half is
redacted by itself, and 64 KiB on each side of the cut go, so that half a secret at the edge goes with them. What is
marked private goes first, over the whole text: its two tags may lie on two sides of the cut.
`shorten` runs on redacted values only, so it may cut anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from heapq import nlargest
from typing import Any

from siftd.redact.private import cut_private

RAW_TEXT_MAX = 512 * 1024
"""Twice what is kept of a payload by default. A text of nothing but secrets takes 4 µs a byte to be redacted, and a
hook's courier ends after 30 s: what is not redacted by then is lost."""
DROPPED_AT_CUT = 64 * 1024
_SHORTEST_CUT = 256
"""No string is cut below this many characters: names and paths stay whole."""
_FIELDS_MAX = 3
"""Fields that are made text one after the other; beyond, the whole payload is."""
_LONGEST_CHARACTER = 4
"""Bytes of UTF-8; a character that JSON escapes takes two, and none takes more than this here."""


def cut_raw(value: Any, redact: Callable[[str], str], *, jsx: bool = False, most: int | None = None) -> Any:
    """Return `value` with every text above `most` characters (512 KiB) replaced by its redacted, shortened form.

    A list of strings is one text of lines, as it is for redaction.
    """
    most = RAW_TEXT_MAX if most is None else most
    if isinstance(value, str):
        return _cut_one(value, redact, jsx, most) if len(value) > most else value
    if isinstance(value, dict):
        again = partial(cut_raw, redact=redact, jsx=jsx, most=most)
        return {again(key): again(item) for key, item in value.items()}
    if isinstance(value, list):
        if all(isinstance(item, str) for item in value) and sum(map(len, value)) > most:
            return _cut_one("\n".join(value), redact, jsx, most).split("\n")
        return [cut_raw(item, redact, jsx=jsx, most=most) for item in value]
    return value


def shorten(value: dict[str, Any], encode: Callable[[Any], bytes], max_bytes: int) -> dict[str, Any]:
    """Return redacted `value` with its longest strings cut until `encode(value)` has at most `max_bytes`.

    Where that is not enough (a list of a million numbers, or of short strings), the largest fields are kept as the
    head and tail of their JSON text.
    """
    longest = max((len(text) for text in _strings(value)), default=0)
    limit = min(longest, max_bytes)
    while limit > _SHORTEST_CUT:
        limit //= 2
        shorter: dict[str, Any] = _map_strings(value, partial(_keep_ends, limit=limit))
        if len(encode(shorter)) <= max_bytes:
            return shorter
    for name in nlargest(_FIELDS_MAX, value, key=lambda name: len(encode(value[name]))):
        text = encode(value[name]).decode()
        value = value | {name: {"_shortened": _keep_ends(text, max_bytes // 4 // _LONGEST_CHARACTER)}}
        if len(encode(value)) <= max_bytes:
            return value
    text = encode(value).decode()
    return {"_shortened": _keep_ends(text, max_bytes // 2 // _LONGEST_CHARACTER)}


def _cut_one(text: str, redact: Callable[[str], str], jsx: bool, most: int) -> str:
    text = cut_private(text, jsx=jsx)
    if len(text) <= most:
        return text
    half = most // 2
    head = redact(text[:half])[:-DROPPED_AT_CUT]
    tail = redact(text[-half:])[DROPPED_AT_CUT:]
    return f"{head}{_note(len(text) - len(head) - len(tail))}{tail}"


def _keep_ends(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    left_out = len(text[half:-half].encode("utf-8", "replace"))
    return f"{text[:half]}{_note(left_out)}{text[-half:]}"


LEFT_OUT = " bytes left out …]"
"""In every text that was cut."""


def _note(left_out_bytes: int) -> str:
    return f"\n[… {left_out_bytes}{LEFT_OUT}\n"


def _map_strings(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _map_strings(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_map_strings(item, change) for item in value]
    return value


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
