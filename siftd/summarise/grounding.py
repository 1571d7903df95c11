"""Whether a summary says only what its event says.

A claim is anything exact that a reader would act on: a path, an identifier, a number, a hash, a version, a URL, a
command in backquotes. Ordinary words are not claims. A claim holds when the event, the request it served or a count
of the event's own lines and entries contains it whole; the cut end of a shortened word ("valida…") may be a beginning.
"""

from __future__ import annotations

import re
from typing import Any

from siftd.summarise.contract import Item
from siftd.summarise.extractive.text import TERMINAL_CODES

_SPAN = re.compile(r"`([^`\n]{1,300})`")
_URL = re.compile(r"https?://[^\s<>\"'`)\]]{3,}")
_TOKEN = re.compile(r"--?[A-Za-z][\w-]*|[~@\w./\\:#$-]*\w(?:\(\))?…?")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_IDENTIFIER = re.compile(
    r"\w+_\w+|_\w+|[a-z]+[a-z0-9]*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|\w+(?:\.\w+)+|\w+\(\)|[0-9a-f]*\d[0-9a-f]*|\$\w+|@[\w/-]+"
)
_HASH = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}")
_ABBREVIATION = frozenset(("e.g", "i.e", "etc", "vs", "and/or", "w/o", "n/a", "i/o", "ci/cd"))
_MAX_PARTS = 20_000


_PLACES_MAX = 1_000
"""Places of a claim that are looked at. Arbitrary: what stands within other words so often is said nowhere."""


class Source:
    """All that an event says, ready to be asked."""

    def __init__(self, text: str) -> None:
        self._text = " ".join(TERMINAL_CODES.sub("", text).casefold().split())
        self._numbers = frozenset(_NUMBER.findall(self._text))

    @classmethod
    def of(cls, item: Item) -> Source:
        """Take in the payload's names and values, the request, folder, outcome, counts, and the story's events."""
        spoken = item.tool.replace("__", " ").replace("plugin_", " ")
        parts = [spoken, item.tool, item.outcome or "", item.request or "", item.cwd or ""]
        _flatten(item.payload, parts)
        if item.story:
            parts.append(str(sum(event.kind == "prompt" for event in item.story)))
            for event in item.story:
                parts += [event.tool, event.outcome or ""]
                _flatten(event.payload, parts, len(parts) + _MAX_PARTS)
        return cls("\n".join(parts))

    def has_number(self, number: str) -> bool:
        return number in self._numbers

    def has(self, claim: str, *, is_cut: bool = False) -> bool:
        """Whether the claim occurs as a whole word; a cut one may be the beginning of a word."""
        wanted = " ".join(claim.casefold().split())
        place = self._text.find(wanted) if wanted else -1
        for _ in range(_PLACES_MAX):
            if place < 0:
                break
            end = place + len(wanted)
            starts = place == 0 or not _joined(self._text[place - 1], wanted[0])
            ends = is_cut or end == len(self._text) or not _joined(wanted[-1], self._text[end])
            if starts and ends:
                return True
            place = self._text.find(wanted, place + 1)
        return not wanted


def unsupported_claims(text: str, source: Source) -> list[str]:
    """Return the claims of a text that its source does not contain, in their order."""
    missing: list[str] = []
    rest = text
    for pattern in (_SPAN, _URL):
        for match in pattern.finditer(rest):
            claim = match[match.lastindex or 0].rstrip(".,;:")
            if not source.has(claim.rstrip("…"), is_cut=claim.endswith("…")):
                missing += _unsupported_words(claim, source) or ([claim] if pattern is _URL else [])
        rest = pattern.sub(" ", rest)
    return list(dict.fromkeys(missing + _unsupported_words(rest, source)))


def _unsupported_words(text: str, source: Source) -> list[str]:
    missing = []
    for match in _TOKEN.finditer(text):
        is_cut = match[0].endswith("…") or text[match.end() : match.end() + 1] == "…"
        token = match[0].rstrip("….,:;-/\\").lstrip("./:;") if not match[0].startswith("--") else match[0].rstrip("…")
        if token.casefold() in _ABBREVIATION or source.has(match[0].rstrip("…"), is_cut=is_cut):
            continue
        if _is_claim(token) and not _holds(token, source, is_cut=is_cut):
            missing.append(token)
    return missing


def _is_claim(token: str) -> bool:
    bare = token.removesuffix("()")
    if token.startswith("--") or "/" in token.strip("/") or "\\" in token:
        return True
    return bool(any(char.isdigit() for char in token) or _IDENTIFIER.fullmatch(token) or _HASH.fullmatch(bare))


def _holds(token: str, source: Source, *, is_cut: bool) -> bool:
    bare = token.removesuffix("()")
    if _NUMBER.fullmatch(bare):
        return source.has_number(bare)
    if source.has(bare, is_cut=is_cut):
        return True
    # "auth.py:9" or "lines 3-7": each side is a claim of its own; a path is one claim.
    parts = [part for part in re.split(r"[:#-]", bare) if part]
    if len(parts) > 1 and "/" not in bare:
        return all(not _is_claim(part) or _holds(part, source, is_cut=is_cut) for part in parts)
    return (
        len(parts) > 1
        and source.has(parts[0])
        and all(part.isdigit() and source.has_number(part) for part in parts[1:])
    )


def _joined(left: str, right: str) -> bool:
    """Whether two neighbouring characters belong to one word."""
    return (left.isalnum() or left == "_") and (right.isalnum() or right == "_")


def _flatten(value: Any, parts: list[str], room: int = _MAX_PARTS) -> None:
    """Collect every key, string and number, and how many lines or entries each has; iterative, for depth is hostile."""
    pending = [value]
    while pending and len(parts) < room:
        part = pending.pop()
        if isinstance(part, dict):
            parts.append(str(len(part)))
            pending.extend(part.values())
            parts.extend(key for key in part if isinstance(key, str))
        elif isinstance(part, list):
            parts.append(str(len(part)))
            pending.extend(part)
        elif isinstance(part, str):
            parts.append(part)
            parts.append(str(part.count("\n") + (not part.endswith("\n"))))
        elif part is not None:
            parts.append(str(part))


def has_concrete_name(text: str) -> bool:
    """Whether a text names anything exact: a path, an identifier, a number, a command."""
    return bool(_SPAN.search(text)) or any(_is_claim(match[0].rstrip("….,:;-/\\")) for match in _TOKEN.finditer(text))
