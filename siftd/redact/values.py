"""Values that no pattern knows: found again wherever they turn up, by keyed hashes alone.

Of a value nothing is kept that it could be read from. For each form in which it may be written (plain, escaped as in
JSON, URL-encoded, base64 at each of its three alignments) there is

    digest    BLAKE2 of the whole form under a key that this process has drawn
    sketch    its first 16 characters, each mapped by a secret table onto one of four classes: two bits a character

A text is mapped by the same table; one automaton finds the sketches in it in a single linear pass, whatever their
number, and only there the digests decide. A false alarm costs one digest; of random text one place in 65,000 gives one
to the shortest value, one in four billion to a long one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import quote

from siftd.redact.finder import SEPARATOR
from siftd.redact.found import Found
from siftd.redact.gate import Gate, gate_bytes, open_gate

NAME = "env-value"
SHORTEST = 8
"""Characters of the shortest value that is taken: a shorter one may stand in any text by chance."""
LONGEST = 4_096
SKETCH_CHARS = 16
_CLASSES = b"0123"


class Form(NamedTuple):
    """One way in which a value may be written, unreadable."""

    sketch: bytes
    size: int
    digest: bytes


class Hasher:
    """The key and the table of one process. Two processes hash the same value differently."""

    def __init__(self) -> None:
        self._keyed = hashlib.blake2b(key=os.urandom(32), digest_size=16)
        self._table = _draw_table()

    def sketch(self, text: str) -> bytes:
        return gate_bytes(text).translate(self._table)

    def digest(self, text: str) -> bytes:
        keyed = self._keyed.copy()
        keyed.update(text.encode("utf-8", "surrogatepass"))
        return keyed.digest()

    def forms(self, value: str) -> frozenset[Form]:
        """Return every form of `value`; none of a value that is too short, or longer than any."""
        if not SHORTEST <= len(value) <= LONGEST:
            return frozenset()
        written = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, safe="")}
        written.update(_base64_forms(value.encode("utf-8", "surrogatepass")))
        return frozenset(
            Form(self.sketch(each)[:SKETCH_CHARS], len(each), self.digest(each))
            for each in written
            if len(each) >= SHORTEST
        )


class KnownValues:
    """Finds the values whose forms it is given. Immutable; safe to use from several threads."""

    def __init__(self, hasher: Hasher, forms: Iterable[Form], *, pure: bool = False) -> None:
        self._hasher = hasher
        self._by_sketch: dict[bytes, list[Form]] = {}
        for form in forms:
            self._by_sketch.setdefault(form.sketch, []).append(form)
        self._widths = sorted({len(sketch) for sketch in self._by_sketch})
        heads = [sketch.decode("ascii") for sketch in sorted(self._by_sketch)]
        self._gate: Gate | None = open_gate(heads, pure=pure) if heads else None

    def find_suspects(self, texts: list[str]) -> set[str]:
        if self._gate is None:
            return set()
        data = self._hasher.sketch(SEPARATOR.join(texts))
        place = self._gate.search(data)
        if place is None:
            return set()
        ends = list(accumulate(len(text) + len(SEPARATOR) for text in texts))
        suspects = set()
        while place is not None:
            suspects.add(texts[bisect_right(ends, place.start())])
            place = self._gate.search(data, place.start() + 1)
        return {text for text in suspects if self.find(text)}

    def find(self, text: str) -> list[Found]:
        found: list[Found] = []
        if self._gate is None:
            return found
        data = self._hasher.sketch(text)
        position = 0
        while (place := self._gate.search(data, position)) is not None:
            size = self._size_at(text, data, place.start())
            if size:
                found.append((place.start(), place.start() + size, NAME))
            position = place.start() + (size or 1)
        return found

    def _size_at(self, text: str, data: bytes, start: int) -> int:
        """Return the length of the longest form that stands at `start`; 0 for none."""
        sizes = [
            form.size
            for width in self._widths
            for form in self._by_sketch.get(data[start : start + width], ())
            if self._hasher.digest(text[start : start + form.size]) == form.digest
        ]
        return max(sizes, default=0)


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


def _base64_forms(value: bytes) -> set[str]:
    """Return what of a value's base64 does not depend on what stands around it, for each place in a group of three."""
    forms = set()
    for before in range(3):
        first, last = -(-before * 8 // 6), (before + len(value)) * 8 // 6
        padded = bytes(before) + value + bytes(-(before + len(value)) % 3)
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            forms.add(encode(padded).decode("ascii")[first:last])
    return forms
