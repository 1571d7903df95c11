"""Escaped line breaks and tabs (`\\n` within JSON in a string): the letter behind the backslash is no part of a word.

`{"log":"first\\n517…:AA…"}`: to a rule whose match may not begin within a word the token seems to begin behind an `n`.
So the rules read such a text a second time with each escape as a blank and a line break, which are as long: a place in
one is the same place in the other. Texts without a backslash cost one look for it.
"""

from __future__ import annotations

from collections.abc import Callable

from siftd.redact.finder import Finder
from siftd.redact.found import Found

_BREAK = " \n"


class Escaped:
    """Finds by the table's rules what stands behind an escape."""

    def __init__(self, finder: Callable[[], Finder]) -> None:
        self._finder = finder

    def find_suspects(self, texts: list[str]) -> set[str]:
        views = {view: text for text in texts if "\\" in text and (view := _opened(text)) != text}
        return {views[view] for view in self._finder().find_suspects(list(views))} if views else set()

    def find(self, text: str) -> list[Found]:
        if "\\" not in text or (view := _opened(text)) == text:
            return []
        # What is private the text itself says, by the rules of its language.
        return [span for span in self._finder().find(view) if span[2] != "private"]


def _opened(text: str) -> str:
    return text.replace("\\n", _BREAK).replace("\\r", _BREAK).replace("\\t", _BREAK)
