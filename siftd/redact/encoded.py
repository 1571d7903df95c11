"""What a text says once its base64 or its percent signs are undone."""

from __future__ import annotations

import binascii
import re
from urllib.parse import unquote

from siftd.redact.shape import Shape, shape_of

MEASURED = 64
"""Of a longer text only the beginning decides whether it is text at all: images and hashes are refused at once."""


def from_base64(text: str) -> str | None:
    """Return the text that `text` encodes, in either alphabet; None where that is no text."""
    plain = text.rstrip("=").lstrip("+-").translate(_TO_STANDARD)  # a diff's sign; no text begins so
    if not _is_text(_decoded(plain[:MEASURED])):
        return None
    decoded = _decoded(plain)
    return decoded.decode("utf-8", "replace") if _is_text(decoded) else None


def from_short_base64(text: str) -> str | None:
    """As `from_base64`, of a value alone, as Kubernetes has it: a password is the whole of what it says."""
    said = from_base64(text)
    if said is None or not said.isascii():
        return None
    word = said.strip()
    return f"password: '{word}'" if ":" not in word and shape_of(word) >= Shape.TWISTED else said


def from_lines(text: str) -> str | None:
    """As `from_base64`, of what was wrapped."""
    return from_base64(_BREAKS.sub("", text))


def from_escapes(text: str) -> str | None:
    """Return what is written letter by letter: `\\x50\\x61`, `\\u0050`, `&#80;`; a word alone may be a password."""
    said = "".join(chr(int(match[1], 16) if match[1] else int(match[2])) for match in _ESCAPED.finditer(text))
    return f"password: '{said}'" if shape_of(said.strip()) >= Shape.TWISTED else said


_ESCAPED = re.compile(r"(?:\\x|\\u00|%u00|&#[xX])([0-9A-Fa-f]{2})|&#([0-9]{2,3})")


def from_hex(text: str) -> str | None:
    """Return the text whose bytes stand in hexadecimal."""
    data = binascii.a2b_hex(text[: len(text) // 2 * 2])
    return data.decode("ascii", "replace") if _is_text(data) else None


def from_url(text: str) -> str | None:
    """Return `text` with its percent encoding undone."""
    return unquote(text)


_TO_STANDARD = str.maketrans("-_", "+/")
_NO_TEXT = re.compile(rb"[^\t\r\n\x20-\x7e\xc2-\xf4\x80-\xbf]")
_LETTERS_BEYOND = re.compile(rb"[\xc2-\xf4\x80-\xbf]")


def _decoded(plain: str) -> bytes:
    return binascii.a2b_base64(plain[: len(plain) // 4 * 4] + _TAIL[len(plain) % 4](plain))


def _is_text(data: bytes) -> bool:
    """Whether it is text, in which other letters than ASCII's are the few of a word here and there."""
    return _NO_TEXT.search(data) is None and len(_LETTERS_BEYOND.findall(data)) * 4 <= len(data)


_BREAKS = re.compile(r"\\[nr]|[^A-Za-z0-9+/=_-]")


_TAIL = (lambda _: "", lambda _: "", lambda plain: plain[-2:] + "==", lambda plain: plain[-3:] + "=")
