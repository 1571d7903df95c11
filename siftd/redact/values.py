"""Values that no pattern knows: found again wherever they turn up, by keyed hashes alone.

Of a value nothing is kept that it could be read from. For each form in which it may be written (plain, escaped as JSON,
HTML and shells do, URL-encoded, in hex, base64 at each of its three alignments) there is

    digest    BLAKE2 of the whole form under a key that this process has drawn
    sketch    its first 16 characters, each mapped by a secret table onto one of four classes: two bits a character

A text is mapped by the same table; one automaton finds the sketches in it in a single linear pass, whatever their
number, and only there the digests decide. A false alarm costs one digest; of random text one place in 16,000 gives one
to the shortest value, one in four billion to a long one. What stands between colour codes is read without them.

A value that texts hold by chance is found only where it is assigned: behind a telling name and a sign, as the value of
a telling flag, glued to `-p`, as the password in a URL. So a file cannot blank a word wherever it stands.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import secrets
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import quote

from siftd.redact.ansi import Plain, is_coloured
from siftd.redact.prefilter import SEPARATOR, Prefilter, open_prefilter, prefilter_bytes
from siftd.redact.secret_names import Kind, kind_of_name
from siftd.redact.spans import Found, united

NAME = "env-value"
SHORTEST = 7
"""Characters of the shortest value that is taken: a shorter one may stand in any text by chance."""
LONGEST = 4_096
SKETCH_CHARS = 16
_CLASSES = b"0123"


class Form(NamedTuple):
    """One way in which a value may be written, unreadable."""

    sketch: bytes
    size: int
    digest: bytes
    is_plain: bool
    """Whether it counts only where it is assigned."""


class Hasher:
    """The key and the table of one process. Two processes hash the same value differently."""

    def __init__(self) -> None:
        self._keyed = hashlib.blake2b(key=os.urandom(32), digest_size=16)
        self._table = _draw_table()

    def sketch(self, text: str) -> bytes:
        return prefilter_bytes(text).translate(self._table)

    def digest(self, text: str) -> bytes:
        keyed = self._keyed.copy()
        keyed.update(text.encode("utf-8", "surrogatepass"))
        return keyed.digest()

    def forms(self, value: str, *, is_plain: bool = False) -> frozenset[Form]:
        """Return every form of `value`; none of a value that is too short, or longer than any."""
        if not SHORTEST <= len(value) <= LONGEST:
            return frozenset()
        # No text holds a word's base64 or hex by chance.
        written = dict.fromkeys(_encoded_forms(value), False) | dict.fromkeys(_written_forms(value), is_plain)
        return frozenset(
            Form(self.sketch(each)[:SKETCH_CHARS], len(each), self.digest(each), plain)
            for each, plain in written.items()
            if len(each) >= SHORTEST
        )


class KnownValues:
    """Finds the values whose forms it is given. Immutable; safe to use from several threads."""

    def __init__(self, hasher: Hasher, forms: Iterable[Form], *, name: str = NAME, pure: bool = False) -> None:
        """`name` is what the placeholders bear."""
        self._hasher = hasher
        self._name = name
        self._by_sketch: dict[bytes, list[Form]] = {}
        for form in forms:
            self._by_sketch.setdefault(form.sketch, []).append(form)
        self._widths = sorted({len(sketch) for sketch in self._by_sketch})
        heads = [sketch.decode("ascii") for sketch in sorted(self._by_sketch)]
        self._prefilter: Prefilter | None = open_prefilter(heads, pure=pure) if heads else None

    def find_suspects(self, texts: list[str]) -> set[str]:
        if self._prefilter is None:
            return set()
        joined = SEPARATOR.join(texts)
        data = self._hasher.sketch(joined)
        suspects = {text for text in texts if is_coloured(text, None)} if is_coloured(joined, None) else set()
        place = self._prefilter.search(data)
        ends = list(accumulate(len(text) + len(SEPARATOR) for text in texts)) if place is not None else []
        while place is not None:
            suspects.add(texts[bisect_right(ends, place.start())])
            place = self._prefilter.search(data, place.start() + 1)
        return {text for text in suspects if self.find(text)}

    def find(self, text: str) -> list[Found]:
        if self._prefilter is None:
            return []
        found = self._find(text)
        if not is_coloured(text, None):
            return found
        plain = Plain(text)
        return united(found, [(*plain.span(begin, end), name) for begin, end, name in self._find(plain.text)])

    def _find(self, text: str) -> list[Found]:
        assert self._prefilter is not None
        found: list[Found] = []
        data = self._hasher.sketch(text)
        position = 0
        while (place := self._prefilter.search(data, position)) is not None:
            size = self._size_at(text, data, place.start())
            if size:
                found.append((place.start(), place.start() + size, self._name))
            position = place.start() + (size or 1)
        return found

    def _size_at(self, text: str, data: bytes, start: int) -> int:
        """Return the length of the longest form that stands at `start` and counts there; 0 for none."""
        there = [
            form
            for width in self._widths
            for form in self._by_sketch.get(data[start : start + width], ())
            if self._hasher.digest(text[start : start + form.size]) == form.digest
        ]
        return max([form.size for form in there if not form.is_plain or is_assigned(text, start, form.size)], default=0)


BEFORE_CHARS = 112
"""How much before a value is read to see whether it is assigned: a name, a sign, quotes."""
_QUOTES = "\\\"'`([ \t"
_WORD = re.compile(r"\w")
_NAME_BACKWARDS = re.compile(r"[\w.-]{1,64}")
_IN_URL = re.compile(r"://[^\s/@:]{0,64}:\Z")
_LITERALS = "NbBrRuUfF@"
"""Letters that some languages put before a quote."""
_MORE_ENDS = (
    *("dsn", "salt", "pepper", "seed", "mnemonic", "webhook", "signature", "sas", "jwt", "passkey", "otp", "psk"),
    *("pass", "pw", "pwd", "pswd", "masterauth", "connectionstring", "keypem"),
)
_NO_ENDS = ("compass", "bypass", "trespass", "underpass", "overpass", "encompass")


def kind_in_settings(name: str) -> Kind | None:
    """Return what a name means in a file of settings, where more names mean a secret than elsewhere."""
    kind = kind_of_name(name)
    if kind is not None:
        return kind
    low = name.lower().replace("_", "").replace("-", "").rstrip("0123456789")
    return "secret" if low.endswith(_MORE_ENDS) and not low.endswith(_NO_ENDS) else None


def is_assigned(text: str, start: int, size: int) -> bool:
    """Whether what stands at `start` is given to a telling name, flag or place, and is the whole of what is given."""
    end = start + size
    if _WORD.match(text, end):
        return False
    before = text[max(0, start - BEFORE_CHARS) : start]
    left = before.rstrip(_QUOTES)
    if len(left) < len(before) and left[-1:] in _LITERALS and left[-2:-1] in (" ", "=", "(", ":"):
        left = left[:-1].rstrip(_QUOTES)
    if left.endswith((":", "=", ">")):
        name = _name_before(left.rstrip(":=->").rstrip(_QUOTES + ")]"))
        is_in_url = text[end : end + 1] == "@" and _IN_URL.search(before) is not None
        return kind_in_settings(name) is not None or is_in_url
    name = _name_before(left.rstrip(_QUOTES + ","))
    if name.startswith("-"):
        is_glued = name == "-p" and before.rstrip("\\\"'").endswith("-p")
        return is_glued or (left != before and kind_in_settings(name.lstrip("-")) is not None)
    is_quoted = before[-1:] in ("'", '"')
    return is_quoted and (name.lower() == "password" or left.lower().endswith("identified by"))


def _name_before(text: str) -> str:
    """Return the name, or the flag, with which a text ends."""
    match = _NAME_BACKWARDS.match(text[: -BEFORE_CHARS - 1 : -1])
    return match[0][::-1] if match else ""


def _draw_table() -> bytes:
    """Return a random table in which each class has a like share of every kind of character."""
    table = bytearray(256)
    kinds: dict[tuple[bool, bool, bool], list[int]] = {}
    for byte in range(256):
        character = chr(byte)
        kinds.setdefault((character.isdigit(), character.islower(), character.isupper()), []).append(byte)
    for kind in kinds.values():
        secrets.SystemRandom().shuffle(kind)
        for place, byte in enumerate(kind):
            table[byte] = _CLASSES[place % len(_CLASSES)]
    return bytes(table)


def _written_forms(value: str) -> set[str]:
    """Return how a value is written by programs that show or quote it."""
    if value.isalnum() and value.isascii():
        return {value}
    in_json = json.dumps(value, ensure_ascii=False)[1:-1]
    written = {value, in_json, json.dumps(value)[1:-1], quote(value, safe=""), quote(value)}
    written |= {value.replace("!", "\\!"), value.translate(_FOR_SHELLS)}
    if "'" in value:
        written |= {value.replace("'", each) for each in ("''", "'\\''", "'\"'\"'")}
    if _IN_MARKUP.search(value):  # Go writes JSON so, and others who fear for pages
        written |= {html.escape(value), html.escape(value, quote=False), in_json.translate(_FOR_PAGES)}
    return written | {each.replace("\\", "\\\\").replace('"', '\\"') for each in written}


_IN_MARKUP = re.compile(r"[<>&\"']")
_FOR_PAGES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&"}
_FOR_SHELLS = {ord(each): f"\\{each}" for each in " !\"#$&'()*;<>?[\\]^`{|}~"}
_HEX = re.compile(r"[0-9a-fA-F]{16,}")


def _encoded_forms(value: str) -> set[str]:
    data = value.encode("utf-8", "surrogatepass")
    other_case = {value.lower(), value.upper()} if _HEX.fullmatch(value) else set()
    return {data.hex(), data.hex().upper()} | other_case | _base64_forms(data)


def _base64_forms(value: bytes) -> set[str]:
    """Return what of a value's base64 does not depend on what stands around it, for each place in a group of three."""
    forms = set()
    for before in range(3):
        first, last = -(-before * 8 // 6), (before + len(value)) * 8 // 6
        padded = bytes(before) + value + bytes(-(before + len(value)) % 3)
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            forms.add(encode(padded).decode("ascii")[first:last])
    return forms
