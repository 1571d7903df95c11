"""Whether an agent says something in its own words, or repeats what it has read.

What an agent says after it has read something may be what a hostile file had it say. Who repeats it in another session
spreads it. So a sentence counts as the agent's own only if no run of words in it stands in what was read, and if it
tells nobody what to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from siftd.summarise.extractive.text import sentences

RUN = 5
"""Words in a row that nobody says twice by chance. Arbitrary."""
_WORD = re.compile(r"\w{1,100}")
_DIRECTS = re.compile(
    r"\b(?:always|never|must|should|shall|ought|from now on|do not|don't|make sure|be sure|ensure|ignore|disregard"
    r"|approve[ds]?|instruct\w{0,9}|maintainers?|system prompt|you (?:can|may|have|need|are)|please|remember to"
    r"|immer|niemals|siempre|nunca|toujours|jamais)\b|必须|总是|永远|不要|必ず|항상",
    re.IGNORECASE,
)


def is_own_wording(text: str, read: Iterable[str]) -> bool:
    """Whether a text directs nobody and shares no run of words with any of what was read before it. Linear."""
    if _DIRECTS.search(text):
        return False
    said = _runs(text)
    return all(said.isdisjoint(_runs(each)) for each in read)


def own_sentences(text: str, whole: str, read: Iterable[str]) -> list[str]:
    """Return the sentences of a text that direct nobody and share no run of words with what was read before. Linear.

    One of fewer words than a run could be anybody's. Where the `whole` that the text is from directs somebody in words
    that were read, nothing of it is its speaker's own.
    """
    said = {each: _runs(each) for each in sentences(text) if not _DIRECTS.search(each)}
    said = {each: runs for each, runs in said.items() if all(len(run) == RUN for run in runs)}
    directing = [_runs(each) for each in sentences(whole) if _DIRECTS.search(each)]
    for each in read:
        theirs = _runs(each)
        if not all(runs.isdisjoint(theirs) for runs in directing):
            return []
        said = {sentence: runs for sentence, runs in said.items() if runs.isdisjoint(theirs)}
    return list(said)


def _runs(text: str) -> set[tuple[str, ...]]:
    """Return every run of words, or all words of a text that has fewer."""
    words = _WORD.findall(text.casefold())
    return {tuple(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1))}
