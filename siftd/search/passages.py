"""The passage of an event that answers: the few sentences or lines of it that hold most of a question.

A summary is the short of an event and is made before anybody asks; the words that were asked for may stand anywhere.
The windows that are compared are sentences of what was said, lines of what was given and printed, at most
`WINDOW_MAX` of them one after the other and `PASSAGE_CHARS` together. A reason beside the words counts for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from siftd.embed.words import split_words
from siftd.search.relevance import inflections
from siftd.store.payload import texts_of
from siftd.summarise.extractive.text import clip, sentences
from siftd.summarise.extractive.words import is_filler, is_reason, without_marks

PASSAGE_CHARS = 280
WINDOW_MAX = 3
LOOKED_AT = 16_000
"""Characters of an event, and at most so many pieces of it."""
PIECES_MAX = 240
_REASON_WEIGHT = 0.4
"""Of the question's weight. Arbitrary: half of a word more of three."""
_LENGTH_WEIGHT = 1 / (100 * PASSAGE_CHARS)
"""Of two that hold as much the shorter one is told."""
_ASKING_LESS = 0.5
"""A question, or what announces a list, answers nothing by itself."""
_LINES_LESS = 0.4
"""A line of code or of output says less to a reader than the summary of its call: it has to hold so much more."""
_LEFT_OUT = ("_source", "_branch", "symbols", "_unhooked", "originalFile", "structuredPatch", "old_string", "oldString")
_SAID = frozenset(("prompt", "last_assistant_message", "text", "summary"))


class Wanted:
    """A question's words with their weights, each in the forms that it may have."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._forms: dict[str, list[str]] = {}
        self._weights = dict(weights)
        for term in weights:
            for form in (term, *inflections(term)):
                self._forms.setdefault(form, []).append(term)
        self._starts = tuple({_beginning([term, *inflections(term)]) for term in weights})
        """What a text without any of them need not be split into words for."""

    def __bool__(self) -> bool:
        return bool(self._weights)

    @property
    def total(self) -> float:
        return sum(self._weights.values())

    def found(self, text: str) -> frozenset[str]:
        """Return the words of the question that a text holds."""
        folded = text.casefold()
        if folded.isascii() and not any(map(folded.__contains__, self._starts)):
            return frozenset()
        return frozenset(term for word in split_words(text) for term in self._forms.get(word, ()))

    def weight(self, terms: frozenset[str]) -> float:
        return sum(self._weights[term] for term in terms)

    def share(self, text: str) -> float:
        """Return how much of the question a text holds, from 0 to 1."""
        return self.weight(self.found(text)) / self.total if self._weights else 0.0


def _beginning(forms: Sequence[str]) -> str:
    """Return what all forms of a word begin with."""
    first, last = min(forms), max(forms)
    return first[
        : next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    ]


def passage(payload: Mapping[str, Any], summary: str, wanted: Wanted) -> str | None:
    """Return what of an event holds more of a question than its summary does; None where nothing of it does.

    What somebody said is told with what they said next, as far as there is room: the reason often follows. Where its
    summary holds as much already, that is from where the words stand first. Of a story ("question → answer") the answer
    is compared: it does not answer by repeating the question.
    """
    is_said = not _SAID.isdisjoint(payload)
    answered = wanted.weight(wanted.found(answer_of(summary))) + (0 if is_said else _LINES_LESS * wanted.total)
    if answered >= wanted.total and not is_said:
        return None
    pieces = list(_pieces(payload))
    held = [wanted.found(piece) for piece in pieces]
    chosen = _best_window(pieces, held, answered, wanted, is_said=is_said)
    if chosen is None and is_said:
        at = next((at for at, terms in enumerate(held) if terms and wanted.weight(terms) >= answered), None)
        chosen = None if at is None or is_filler(pieces[at]) else (at, at)
    if chosen is None:
        return None
    start, end = chosen
    end = _with_what_follows(pieces, start, end) if is_said else end
    return clip(" ".join(pieces[start : end + 1]), PASSAGE_CHARS)


def shortened(said: str, wanted: Wanted, room: int) -> str:
    """Return of what somebody said the sentences that hold most of a question, with what follows, in `room`
    characters; all of it where it has room."""
    if len(said) <= room:
        return said
    pieces = sentences(said)
    held = [wanted.found(piece) for piece in pieces]
    start, end = _best_window(pieces, held, 0.0, wanted, is_said=True, room=room) or (0, 0)
    end = _with_what_follows(pieces, start, end, room)
    return clip(" ".join(pieces[start : end + 1]), room)


def _best_window(
    pieces: Sequence[str],
    held: Sequence[frozenset[str]],
    answered: float,
    wanted: Wanted,
    *,
    is_said: bool,
    room: int = PASSAGE_CHARS,
) -> tuple[int, int] | None:
    """Return from where to where a few pieces hold most of the question, and more than `answered`."""
    best = 0.0
    chosen: tuple[int, int] | None = None
    says_nothing = cache(lambda at: is_said and is_filler(pieces[at]))
    for start, first in enumerate(held):
        if not first:
            continue
        terms: frozenset[str] = frozenset()
        length = 0
        for end in range(start, min(start + WINDOW_MAX, len(pieces))):
            length += len(pieces[end]) + 1
            if (end > start and length > room) or says_nothing(end):
                break
            terms |= held[end]
            weight = wanted.weight(terms)
            if weight > answered:
                weight += _fit(pieces[start : end + 1], length) * wanted.total
                if weight > best:
                    best, chosen = weight, (start, end)
    return chosen


def opening(payload: Mapping[str, Any]) -> str | None:
    """Return how an agent's closing words begin, as far as there is room; None where a payload has none."""
    closing = {name: text for name, text in payload.items() if name == "last_assistant_message"}
    pieces = list(_pieces(closing))
    return clip(" ".join(pieces[: _with_what_follows(pieces, 0, 0) + 1]), PASSAGE_CHARS) if pieces else None


def answer_of(summary: str) -> str:
    """Return what a summary says that answers: of a story what follows the question."""
    return summary.rpartition(" → ")[2]


def _with_what_follows(pieces: Sequence[str], first: int, last: int, room: int = PASSAGE_CHARS) -> int:
    """Return up to where a window is widened by what follows, as far as there is room."""
    room -= sum(len(each) + 1 for each in pieces[first : last + 1])
    while last + 1 < len(pieces) and len(pieces[last + 1]) < room and not is_filler(pieces[last + 1]):
        last += 1
        room -= len(pieces[last]) + 1
    return last


def _fit(window: Sequence[str], length: int) -> float:
    """Return by how much a window that holds the words answers better, or worse, than its words say."""
    reason = _REASON_WEIGHT if any(map(is_reason, window)) else 0.0
    asking = _ASKING_LESS if window[-1].endswith(("?", ":")) else 0.0
    return reason - asking - _LENGTH_WEIGHT * length


def _pieces(payload: Mapping[str, Any]) -> Iterator[str]:
    """Yield the sentences of what was said, or the lines of a call's input and answer."""
    room, count = LOOKED_AT, 0
    for key in sorted(payload, key=lambda key: (key not in _SAID, key)):
        for text in texts_of(payload[key], _LEFT_OUT) if key not in _LEFT_OUT else ():
            shown = without_marks(text[:room]) if key in _SAID else text[:room]
            room -= len(shown)
            for line in shown.split("\n"):
                for piece in sentences(line.strip()) if key in _SAID else [line.strip()]:
                    if any(map(str.isalnum, piece[:200])):
                        yield piece
                        count += 1
                        if count >= PIECES_MAX:
                            return
            if room <= 0:
                return
