"""The redactor: takes secrets out of one text, or out of every string of a payload."""

from __future__ import annotations

import hmac
from bisect import bisect_left
from collections.abc import Sequence
from threading import Lock
from typing import Any

from siftd.errors import EnvelopeRejected
from siftd.redact.finder import Finder, shared_finder
from siftd.redact.found import Found, Range, Searcher, around, united
from siftd.redact.names import kind_of_name
from siftd.redact.plausible import is_plausible_value

DEEPEST = 400
"""Levels of nesting that are followed. Real payloads have fewer than 20."""

MOST_PASSES = 8
"""Passes over one text. The second finds nothing, save where two replacements bring strangers together."""

NEIGHBOURS = 1_024
"""Characters around new placeholders that the next pass reads. Elsewhere nothing has changed since the last."""


class Redactor:
    """Replaces secrets by placeholders such as `[REDACTED:github-token:7f3a]`.

    The four hex digits are keyed by the workspace's secret: equal secrets look equal, and nobody without the key
    can test a guess. Redacting twice changes nothing. Safe to use from several threads.
    """

    def __init__(
        self,
        secret: bytes,
        *,
        emails: bool = True,
        phones: bool = True,
        pure: bool = False,
        searchers: Sequence[Searcher] = (),
    ) -> None:
        """`searchers` find what no rule of the table knows: the workspace's own values, rules of one's own.

        `pure` finds the same with the standard library alone, as happens where re2 cannot be imported.
        """
        self.counts: dict[str, int] = {}
        self._secret = secret
        self._off = frozenset(name for name, wanted in (("email", emails), ("phone", phones)) if not wanted)
        self._counting = Lock()
        self._pure = pure
        self._searchers: tuple[Searcher, ...] = tuple(searchers)

    @property
    def _finder(self) -> Finder:
        return shared_finder(self._off, self._pure)

    def text(self, text: str, *, jsx: bool = False) -> str:
        """Return `text` without its secrets. With `jsx` only lower-case `<private>` is a tag."""
        if not self._finder.may_match(text) and not self._find_suspects([text]):
            return text
        return self._lines([text], jsx)[0]

    def value(self, value: Any, *, jsx: bool = False) -> Any:
        """Return `value` with every string in it redacted, object keys too; the same object when nothing changed.

        A list of strings is one text of lines. A string under a key that names a secret is one.
        """
        texts, names_secret = _texts(value)
        suspects = self._finder.find_suspects(texts) | self._find_suspects(texts)
        if not suspects and not names_secret:
            return value
        return self._rebuilt(value, suspects, jsx, 0)

    def _rebuilt(self, value: Any, suspects: set[str], jsx: bool, depth: int) -> Any:
        if isinstance(value, str):
            return self._lines([value], jsx)[0] if value in suspects else value
        if depth > DEEPEST:
            raise EnvelopeRejected("nested_too_deep")
        if isinstance(value, dict):
            return self._rebuilt_object(value, suspects, jsx, depth)
        if isinstance(value, list | tuple) and value:
            if all(isinstance(item, str) for item in value):
                new = self._lines(list(value), jsx) if "\n".join(value) in suspects else value
            else:
                new = [self._rebuilt(item, suspects, jsx, depth + 1) for item in value]
            return value if all(a is b for a, b in zip(new, value, strict=True)) else new
        return value

    def _rebuilt_object(self, value: dict[Any, Any], suspects: set[str], jsx: bool, depth: int) -> dict[Any, Any]:
        new: dict[Any, Any] = {}
        changed = False
        for key, item in value.items():
            new_item = self._under(key, self._rebuilt(item, suspects, jsx, depth + 1))
            new_key = self._lines([key], jsx)[0] if key in suspects else key
            while new_key is not key and (new_key in new or new_key in value):
                new_key += "'"  # two secrets may share four digits; neither value may be lost
            changed = changed or new_key is not key or new_item is not item
            new[new_key] = new_item
        return new if changed else value

    def _under(self, key: Any, item: Any) -> Any:
        """Return what `item` becomes because of the key above it."""
        kind = kind_of_name(key) if isinstance(key, str) else None
        if kind is None:
            return item
        if isinstance(item, str):
            return (
                self._placeholder("password" if kind == "password" else "secret", item)
                if is_plausible_value(kind, item)
                else item
            )
        if isinstance(item, list) and any(isinstance(part, str) for part in item):
            new = [self._under(key, part) if isinstance(part, str) else part for part in item]
            return item if all(a is b for a, b in zip(new, item, strict=True)) else new
        return item

    def _lines(self, lines: list[str], jsx: bool) -> list[str]:
        """Redact lines as one text. Each stays a line; what a secret took of the later ones is gone."""
        parts: list[Range] | None = None
        for _ in range(MOST_PASSES):
            text = "\n".join(lines)
            found = self.find(text, jsx=jsx, parts=parts)
            if not found:
                break
            lines, placeholders = self._replaced(lines, text, found)
            parts = around(placeholders, NEIGHBOURS, NEIGHBOURS)
        return lines

    def _find_suspects(self, texts: list[str]) -> set[str]:
        return {text for searcher in self._searchers for text in searcher.find_suspects(texts)}

    def find(self, text: str, *, jsx: bool = False, parts: list[Range] | None = None) -> list[Found]:
        """Return what one pass over `text` would replace, in order and apart from each other.

        With `parts` the rules of the table read only these.
        """
        found = self._finder.find(text, jsx=jsx, parts=parts)
        for searcher in self._searchers:
            found = united(searcher.find(text), found)
        return found

    def replace(self, text: str, found: list[Found]) -> str:
        """Return `text` with placeholders in the places of `found`."""
        return self._replaced([text], text, found)[0][0]

    def _replaced(self, lines: list[str], text: str, found: list[Found]) -> tuple[list[str], list[Range]]:
        """Return the lines of which `text` is made with placeholders in them, and where these stand in the new text."""
        ends: list[int] = []
        for line in lines:
            ends.append((ends[-1] + 1 if ends else 0) + len(line))
        pieces: list[list[str]] = [[] for _ in lines]
        placeholders: list[Range] = []
        position = shift = 0
        for begin, end, name in found:
            self._keep(text, ends, pieces, position, begin)
            placeholder = self._placeholder(name, text[begin:end])
            first, last = bisect_left(ends, begin), bisect_left(ends, end)
            pieces[first].append(placeholder)
            size = len(placeholder) + last - first  # the ends of its lines stay
            placeholders.append((begin + shift, begin + shift + size))
            shift += size - (end - begin)
            position = end
        self._keep(text, ends, pieces, position, len(text))
        new = ["".join(parts) if parts != [line] else line for parts, line in zip(pieces, lines, strict=True)]
        return new, placeholders

    @staticmethod
    def _keep(text: str, ends: list[int], pieces: list[list[str]], begin: int, end: int) -> None:
        """Copy text[begin:end] to the lines it belongs to."""
        index = bisect_left(ends, begin)
        while begin < end:
            stop = min(end, ends[index])
            if begin < stop:
                pieces[index].append(text[begin:stop])
            begin = ends[index] + 1
            index += 1

    def _placeholder(self, name: str, secret: str) -> str:
        with self._counting:
            self.counts[name] = self.counts.get(name, 0) + 1
        if name == "private":
            return "[REDACTED:private]"
        digest = hmac.digest(self._secret, secret.encode("utf-8", "surrogatepass"), "sha256")
        return f"[REDACTED:{name}:{digest[:2].hex()}]"


def _texts(value: Any) -> tuple[list[str], bool]:
    """Return the texts of a payload, keys too and a list's strings as one; and whether a key names a secret."""
    texts: list[str] = []
    names_secret = False
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            texts.append(node)
        elif isinstance(node, dict):
            for key, item in node.items():
                if isinstance(key, str):
                    texts.append(key)
                    if kind_of_name(key) is not None and isinstance(item, str | list):
                        names_secret = True
            waiting.extend(node.values())
        elif isinstance(node, list | tuple):
            if all(isinstance(item, str) for item in node):
                texts.append("\n".join(node))
            else:
                waiting.extend(node)
    return texts, names_secret
