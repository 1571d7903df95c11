"""The first hits in order of what they answer, by the very text that is shown of each.

Where a question asks what came of the work, more hits are looked at than are wanted: the right turn is among twenty
for nine of ten questions, among three for six. Three things that are known of a shown text then count: how much of the
question it holds; for a "why", whether it gives a reason; and whether it closes a turn, which says at its end what was
found, changed and decided, where what was said on the way announces it. What was kept on purpose is lifted as much.
Other queries name work rather than ask: for them the first ten are put in order by the text alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from siftd.search.passages import Wanted, answer_of
from siftd.search.query import Question
from siftd.summarise.extractive.words import is_reason
from siftd.wire.requests.finding import Hit

LOOKED_AT = 10
"""Hits whose events are read for the passage that answers, and that are put in order by it."""
LOOKED_AT_FOR_QUESTIONS = 16
"""The same where a question is asked; of those beyond the tenth only what closes, which is lifted: reading costs."""
REASON = 0.35
CLOSES = 0.6
"""Added to the share of the question that is held; the score is multiplied by e to the sum. As a conditional logit
over the open half of the recorded questions chooses them, two repositories at a time: each pair chooses the same within
0.1, and the third one's questions are answered as often as those that were fitted."""
REASON_OF_WORK = 0.5
"""The same for a query that asks nothing, where the score is multiplied by one and the sum."""


def depth(question: Question) -> int:
    """Return among how many hits answers are looked for."""
    return LOOKED_AT_FOR_QUESTIONS if question.asks_what_came_of_it else LOOKED_AT


def looked_at(hits: Sequence[Hit], question: Question) -> list[Hit]:
    """Return those of the hits, which stand in order of their scores, that are read for what they answer."""
    return [*hits[:LOOKED_AT], *filter(_closes, hits[LOOKED_AT : depth(question)])]


def put_answers_first(hits: list[Hit], question: Question, wanted: Wanted) -> None:
    """Put the first hits, which stand in order of their scores, in order of what is shown of them too."""
    if not wanted:
        return
    for hit in looked_at(hits, question):
        asked = (hit["asked"] and hit["asked"]["text"]) or ""
        text = f"{hit['passage'] or answer_of(hit['text'])} {asked}"
        answer = wanted.share(text)
        gives_reason = question.asks_why and is_reason(text)
        if question.asks_what_came_of_it:
            answer += REASON * gives_reason + CLOSES * _closes(hit)
            factor = math.exp(answer)
        else:
            answer += REASON_OF_WORK * gives_reason
            factor = 1 + answer
        hit["why"]["answer"] = round(answer, 6)
        hit["score"] = round(hit["score"] * factor, 6)
    hits.sort(key=lambda hit: -hit["score"])


def _closes(hit: Hit) -> bool:
    """Whether a hit is how work ended, or a memory."""
    return hit["kind"] == "memory" or hit["eventKind"] in ("turn_end", "subagent_end")
