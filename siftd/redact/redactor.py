"""The redactor: takes secrets out of one text, or out of every string of a payload."""

from __future__ import annotations

import hmac
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from siftd.errors import EnvelopeRejected
from siftd.redact.context import ANSWERS, OUTPUTS, Expectation, expected_of, secrets_printed
from siftd.redact.labels import (
    ROWS,
    VALUES,
    columns_of,
    is_command,
    is_number_of_password,
    is_value,
    kind_of_key,
    kind_of_label,
    kind_of_pair,
    secrets_of_arguments,
)
from siftd.redact.reading import DEEPEST, PROMPT, read_values
from siftd.redact.secret_likelihood import is_plausible_value, is_worth_learning
from siftd.redact.secret_names import Kind
from siftd.redact.spans import Found, Range, Searcher, around, united
from siftd.redact.typed import secrets_typed

if TYPE_CHECKING:
    from siftd.redact.finder import Finder

MOST_PASSES = 8
"""Passes over one text. The second finds nothing, save where two replacements bring strangers together."""

NEIGHBOURS = 1_024
"""Characters around new placeholders that the next pass reads. Elsewhere nothing has changed since the last."""

NAMED = frozenset(["password", "secret", "key", "url-password", "curl-user", "netrc", "pgpass", "otp-secret"])
"""Names of what is a secret by what is said of it. Bare, elsewhere, no rule would know it; all else has a form."""

_READING = Lock()

Learn = Callable[[str], None]
"""Takes a value that was redacted under a name and can be told from a word, so that it can be hidden elsewhere."""


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
        self._made_finder: Finder | None = None
        self._searchers: tuple[Searcher, ...] = tuple(searchers)

    def with_searcher(self, searcher: Searcher) -> Redactor:
        """Return a redactor that finds what this one finds and what `searcher` finds; both count together."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))  # `copy` takes 10 microseconds, and each capture asks
        other._searchers = (*self._searchers, searcher)
        return other

    @property
    def _finder(self) -> Finder:
        if self._made_finder is None:
            with _READING:  # two threads that read them at once would take twice as long each
                from siftd.redact.finder import shared_finder  # slow, with the table of rules: a daemon answers before

                finder = shared_finder(self._off, self._pure)
                finder.find_suspects([""])  # compiles them
            self._made_finder = finder
        return self._made_finder

    def load(self) -> None:
        """Read the rules now, in any thread. It takes 0.1 s, which the first text takes longer otherwise."""
        _ = self._finder

    def text(self, text: str, *, jsx: bool = False, learn: Learn | None = None) -> str:
        """Return `text` without its secrets. With `jsx` only lower-case `<private>` is a tag.

        `learn` is told each value that was redacted because of its name or surroundings, not because of its own form.
        """
        if not self._finder.find_suspects([text]) and not self._find_suspects([text]):
            return text
        return self._lines([text], jsx, learn)[0]

    def value(self, value: Any, *, jsx: bool = False, learn: Learn | None = None) -> Any:
        """Return `value` with every string in it redacted, object keys too; the same object when nothing changed.

        A list of strings is one text of lines. A string under a key that names a secret is one. `learn` as in `text`.
        """
        read = read_values([value])
        suspects = self._finder.find_suspects(read.texts) | self._find_suspects(read.texts)
        if not read.may_hold(suspects):
            return value
        return self._rebuilt(value, suspects, jsx, learn, 0)

    def value_once_more(self, value: Any, *, jsx: bool = False) -> Any:
        """Return `value`, which the table's rules have been through, without what the searchers find in it by now."""
        suspects = self._find_suspects(read_values([value]).texts)
        return self._rebuilt(value, suspects, jsx, None, 0) if suspects else value

    def may_change(self, groups: Iterable[Iterable[Any]]) -> list[bool]:
        """Tell of each group of values whether `value` may change one of them. The gate reads all in one go.

        False is certain, whatever `jsx` and `learn` are; True promises nothing.
        """
        read = [read_values(group) for group in groups]
        texts = list(dict.fromkeys(text for each in read for text in each.texts))
        suspects = self._finder.find_suspects(texts) | self._find_suspects(texts)
        return [each.may_hold(suspects) for each in read]

    def _rebuilt(self, value: Any, suspects: set[str], jsx: bool, learn: Learn | None, depth: int) -> Any:
        if isinstance(value, str):
            return self._lines([value], jsx, learn)[0] if value in suspects else value
        if depth > DEEPEST:
            raise EnvelopeRejected("nested_too_deep")
        if isinstance(value, dict):
            return self._rebuilt_object(value, suspects, jsx, learn, depth)
        if isinstance(value, list | tuple) and value:
            if all(isinstance(item, str) for item in value):
                new = (
                    self._lines(list(value), jsx, learn) if "\n".join(value) in suspects or is_command(value) else value
                )
            else:
                new = [self._rebuilt(item, suspects, jsx, learn, depth + 1) for item in value]
            pair = kind_of_pair(new)
            if pair is not None:
                new = [new[0], self._named(pair, new[1], learn)]
            return value if all(a is b for a, b in zip(new, value, strict=True)) else new
        return value

    def _rebuilt_object(
        self, value: dict[Any, Any], suspects: set[str], jsx: bool, learn: Learn | None, depth: int
    ) -> dict[Any, Any]:
        new: dict[Any, Any] = {}
        tried: dict[str, int] = {}
        changed = False
        label = kind_of_label(value)
        columns = columns_of(value)
        expected = expected_of(value["tool_input"]) if "tool_input" in value else None
        for key, item in value.items():
            new_item = self._under(key, self._rebuilt(item, suspects, jsx, learn, depth + 1), learn)
            if key == PROMPT and isinstance(new_item, str):
                new_item = self._typed(new_item, learn)
            if label is not None and key in VALUES:
                new_item = self._named(label, new_item, learn)
            if columns and key in ROWS and isinstance(new_item, list):
                new_item = self._rows(columns, new_item, learn)
            if expected is not None and key in ANSWERS:
                new_item = self._printed(new_item, expected, learn, depth)
            new_key = self._lines([key], jsx, learn)[0] if key in suspects else key
            if new_key is not key and (new_key in new or new_key in value):
                new_key = self._free_key(new_key, new, value, tried)
            changed = changed or new_key is not key or new_item is not item
            new[new_key] = new_item
        return new if changed else value

    @staticmethod
    def _free_key(key: str, new: dict[Any, Any], value: dict[Any, Any], tried: dict[str, int]) -> str:
        """Return `key` with the next free number: two secrets may share four digits; neither value may be lost."""
        while True:
            tried[key] = tried.get(key, 1) + 1
            free = f"{key}'{tried[key]}"
            if free not in new and free not in value:
                return free

    def _under(self, key: Any, item: Any, learn: Learn | None) -> Any:
        """Return what `item` becomes because of the key above it."""
        kind = kind_of_key(key) if isinstance(key, str) else None
        if kind is None:
            return item
        if isinstance(item, list) and any(isinstance(part, str) for part in item):
            new = [self._named(kind, part, learn) if isinstance(part, str) else part for part in item]
            return item if all(a is b for a, b in zip(new, item, strict=True)) else new
        if isinstance(item, dict) and not item.keys().isdisjoint(VALUES):
            new_items = {
                name: self._named(kind, part, learn) if name in VALUES else part for name, part in item.items()
            }
            return item if all(new_items[name] is item[name] for name in item) else new_items
        return self._named(kind, item, learn)

    def _typed(self, prompt: str, learn: Learn | None) -> str:
        """Return a prompt without the passwords that no word tells of."""
        found = [span for span in secrets_typed(prompt) if "[REDACTED" not in prompt[span[0] : span[1]]]
        return self._replaced([prompt], prompt, found, learn)[0][0] if found else prompt

    def _rows(self, columns: dict[int, Kind], rows: list[Any], learn: Learn | None) -> list[Any]:
        """Return rows whose columns of these numbers hold secrets."""
        new = [
            [self._named(columns[at], cell, learn) if at in columns else cell for at, cell in enumerate(row)]
            if isinstance(row, list)
            else row
            for row in rows
        ]
        return rows if new == rows else new

    def _named(self, kind: Kind, item: Any, learn: Learn | None) -> Any:
        """Return what a value of this kind becomes."""
        if is_number_of_password(kind, item):
            return self._placeholder("password", str(item), learn)
        if not isinstance(item, str) or not (is_plausible_value(kind, item) or is_value(kind, item)):
            return item
        return self._placeholder("password" if kind == "password" else "secret", item, learn)

    def _printed(self, item: Any, expected: Expectation, learn: Learn | None, depth: int) -> Any:
        """Return what a tool's answer becomes because of what was asked of it."""
        if depth > DEEPEST:
            return item
        if isinstance(item, str):
            found = secrets_printed(item, expected)
            return self._replaced([item], item, found, learn)[0][0] if found else item
        if isinstance(item, dict):
            new = {
                key: self._printed(part, expected, learn, depth + 1) if key in OUTPUTS else part
                for key, part in item.items()
            }
            return item if all(new[key] is item[key] for key in item) else new
        if isinstance(item, list):
            parts = [self._printed(part, expected, learn, depth + 1) for part in item]
            return item if all(a is b for a, b in zip(parts, item, strict=True)) else parts
        return item

    def _lines(self, lines: list[str], jsx: bool, learn: Learn | None) -> list[str]:
        """Redact lines as one text. Each stays a line; what a secret took of the later ones is gone."""
        parts: list[Range] | None = None
        for _ in range(MOST_PASSES):
            text = "\n".join(lines)
            found = self.find(text, jsx=jsx, parts=parts)
            if len(lines) > 1 and (arguments := secrets_of_arguments(lines)):
                found = united(found, [span for span in arguments if "[REDACTED:" not in text[span[0] : span[1]]])
            if not found:
                break
            lines, placeholders = self._replaced(lines, text, found, learn)
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

    def _replaced(
        self, lines: list[str], text: str, found: list[Found], learn: Learn | None = None
    ) -> tuple[list[str], list[Range]]:
        """Return the lines of which `text` is made with placeholders in them, and where these stand in the new text."""
        ends: list[int] = []
        for line in lines:
            ends.append((ends[-1] + 1 if ends else 0) + len(line))
        pieces: list[list[str]] = [[] for _ in lines]
        placeholders: list[Range] = []
        position = shift = 0
        for begin, end, name in found:
            self._keep(text, ends, pieces, position, begin)
            placeholder = self._placeholder(name, text[begin:end], learn)
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

    def _placeholder(self, name: str, secret: str, learn: Learn | None) -> str:
        if learn is not None and name in NAMED and is_worth_learning(secret):
            learn(secret)
        with self._counting:
            self.counts[name] = self.counts.get(name, 0) + 1
        if name == "private":
            return "[REDACTED:private]"
        digest = hmac.digest(self._secret, secret.encode("utf-8", "surrogatepass"), "sha256")
        return f"[REDACTED:{name}:{digest[:2].hex()}]"
