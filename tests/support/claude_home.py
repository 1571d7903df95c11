"""Where Claude Code keeps a folder's transcripts: `<claude home>/projects/<encoded folder>/<session>.jsonl`."""

from __future__ import annotations

import struct

LONGEST_NAME = 200
"""Beyond it the client cuts the name and appends a hash of the whole path."""

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def encode_project_dir(path: str) -> str:
    """The directory name for a canonical folder path: every character but ASCII letters and digits a dash.

    The client counts in UTF-16 units, as JavaScript does: an emoji gives two dashes. The encoding is lossy;
    which folder a transcript belongs to is told by the `cwd` in its records.
    """
    raw = path.encode("utf-16-le", "surrogatepass")
    units = struct.unpack(f"<{len(raw) // 2}H", raw)
    name = "".join(chr(unit) if unit < 128 and chr(unit).isalnum() else "-" for unit in units)
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}-{_base36(abs(_java_hash(units)))}"


def _java_hash(units: tuple[int, ...]) -> int:
    """Java's string hash: 31-based, as a signed 32-bit number."""
    number = 0
    for unit in units:
        number = (number * 31 + unit) & 0xFFFFFFFF
    return number - 2**32 if number >= 2**31 else number


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"
