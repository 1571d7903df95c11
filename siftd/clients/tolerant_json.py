"""JSON as clients really write it, made into values that canonical JSON can carry.

msgspec reads what is well formed. What it refuses (a lone surrogate, broken UTF-8, NaN, a raw control
character) is read once more by the standard library: a broken character becomes U+FFFD, in keys too, and a
number that JSON cannot carry becomes the text it was written as. A captured fact with one odd character is
worth more than a rejection.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, TypeVar

import msgspec

from siftd.errors import EnvelopeRejected

T = TypeVar("T", bound=msgspec.Struct)

MAX_DEPTH = 200
"""Levels of nesting that are accepted. Arbitrary: real payloads stay below 20, and every walk over a payload
(ours, the redaction's) must end far from the interpreter's recursion limit."""

LONGEST_INTEGER = 20
"""Characters of an integer that is kept as a number: 64 bits and a sign."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def decode_as(raw: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """The document as the decoder's type.

    Raises EnvelopeRejected: `not_json`, `bad_type` (JSON of another shape), `too_deep`.
    """
    try:
        value = decoder.decode(raw)
    except RecursionError:
        raise EnvelopeRejected("too_deep") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = _convert(_read_leniently(raw), decoder)
    # Fewer brackets than levels is the usual case and costs nothing to see.
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH and _is_deeper_than(_fields(value), MAX_DEPTH):
        raise EnvelopeRejected("too_deep")
    return value


def _convert(value: Any, decoder: msgspec.json.Decoder[T]) -> T:
    if _is_deeper_than(value, MAX_DEPTH):
        raise EnvelopeRejected("too_deep")
    try:
        return msgspec.convert(_repair_text(value), decoder.type)
    except msgspec.ValidationError:
        raise EnvelopeRejected("bad_type") from None


def _read_leniently(raw: bytes) -> Any:
    text = raw.decode("utf-8-sig", "replace")
    try:
        return json.loads(text, strict=False, parse_int=_integer, parse_float=_float, parse_constant=str)
    except RecursionError:
        raise EnvelopeRejected("too_deep") from None
    except ValueError:
        raise EnvelopeRejected("not_json") from None


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= LONGEST_INTEGER else digits


def _float(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


def _repair_text(value: Any) -> Any:
    """The value with every lone surrogate, in keys too, replaced."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_repair_text(item) for item in value]
    if isinstance(value, dict):
        return {_repair_text(key): _repair_text(item) for key, item in value.items()}
    return value


def _is_deeper_than(value: Any, levels: int) -> bool:
    """Whether containers nest deeper; looks level by level, so that no depth can hurt it."""
    layer = [value]
    for _ in range(levels + 1):
        layer = [item for container in layer for item in _children(container) if isinstance(item, (dict, list))]
        if not layer:
            return False
    return True


def _fields(value: msgspec.Struct) -> list[Any]:
    return [getattr(value, name) for name in value.__struct_fields__]


def _children(container: Any) -> Any:
    if isinstance(container, dict):
        return container.values()
    return container if isinstance(container, list) else ()
