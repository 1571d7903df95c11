"""What a text says once its base64 or its percent signs are undone."""

from __future__ import annotations

import binascii
import re
from urllib.parse import unquote

MEASURED = 64
"""Of a longer text only the beginning decides whether it is text at all: images and hashes are refused at once."""


def from_base64(text: str) -> str | None:
    """Return the text that `text` encodes, in either alphabet; None where that is no text."""
    plain = text.rstrip("=").lstrip("+-").translate(_TO_STANDARD)  # a diff's sign; no text begins so
    if not _is_text(_decoded(plain[:MEASURED])):
        return None
    decoded = _decoded(plain)
    return decoded.decode("ascii", "replace") if _is_text(decoded) else None


def from_url(text: str) -> str | None:
    """Return `text` with its percent encoding undone."""
    return unquote(text)


_TO_STANDARD = str.maketrans("-_", "+/")
_NO_TEXT = re.compile(rb"[^\t\r\n\x20-\x7e]")


def _decoded(plain: str) -> bytes:
    return binascii.a2b_base64(plain[: len(plain) // 4 * 4] + _TAIL[len(plain) % 4](plain))


def _is_text(data: bytes) -> bool:
    return _NO_TEXT.search(data) is None


_TAIL = (lambda _: "", lambda _: "", lambda plain: plain[-2:] + "==", lambda plain: plain[-3:] + "=")
