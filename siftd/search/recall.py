"""Recall: what the store knows that bears on a prompt, in a marked block (`siftd.search.context_block`), or nothing at
all.

Only conclusions are given: how turns and sessions ended, what an agent said on its way, what subagents answered, what a
person chose or had kept. What was read, searched and run is as it was then, and one look shows how it is now.

An item is relevant when it answers enough of the prompt: by the rarity of the words that both share, or by fewer
such words and a near vector. Words alone that every prompt has, and vectors alone, bring nothing. What is relevant is
found by all its words; what is said of it is what may be said unasked (`siftd.search.quoting`).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from typing import Any

from siftd.filters import Filters
from siftd.search.context_block import NOTHING, Block, Given, Piece
from siftd.search.engine import SearchEngine
from siftd.search.passages import Wanted, shortened
from siftd.search.query import Question
from siftd.search.quoting import Words, on_branch, words_of
from siftd.search.relevance import Relevance, answered
from siftd.search.row_cache import concludes
from siftd.store.access import Database
from siftd.store.injection_ledger import SessionState
from siftd.store.muted import is_muted
from siftd.summarise.extractive.words import is_filler
from siftd.wire.requests.finding import Hit

CANDIDATES = 48
PIECES_MAX = 3
TEAM_PIECES_MAX = 2
"""Of what others of a team told, behind one's own; with them a block has at most one piece more than without."""
PROMPT_CHARS_MAX = 8_000
_LINK = re.compile(r"\bhttps?://\S{1,2000}")
"""An address is made of words that its whole site shares."""
INFORMATIVE_MIN, CONCLUDED_MIN, MIN_SHARE_SAID = 3, 2, 0.3
"""Words of the prompt, not of those that every project is about, that what is said holds, and its conclusion alone; and
how much of the prompt. Rare ones may be fewer; of a name of code one is enough. Chosen on two of three replayed chains
(docs/evaluation.md)."""
GIVEN_CHARS_MAX = 140
"""Of a conclusion: the sentences that answer. With what was asked and done then, and all that was said, a block took
half as much again and was of no more use."""
WEIGHTS = {"prompt": 0.0}
"""Who says "I want" to an agent does not ask what they typed before."""
MIN_SHARE = 0.5
"""What an item answers of the prompt's weight at least, when its vector says nothing."""
MIN_SHARE_WHEN_NEAR = 0.3
NEAR_COSINE = 0.35
ALL = 0.8
MIN_WEIGHT_OF_ALL = 1.0
MIN_WEIGHT = 1.5
"""One rare word where that is nearly the whole prompt, else two that are rare in the store, or several that are less
so: a share of a prompt that is about nothing ("run the tests again") is no evidence.

Chosen on 109 real sessions of two repositories: of 100 prompts typed in the other one 3 brought something back, of the
questions about the sessions 85 %. A lower floor (0.45, 0.25, 0.3, 1.0) gave 95 % and 9."""
MIN_SHARE_OF_RULE, MIN_WEIGHT_OF_RULE = 0.3, 1.0
"""How much a prompt says of what a person stated, where the two are near, and how rare the words are at least: "the
migration did not run on the server, run it there" is about "never run migrations by hand", and about more. Chosen on
the development half of `tests/data/facts/later.jsonl`."""


def recall(
    engine: SearchEngine,
    connection: Database,
    prompt: str,
    *,
    max_tokens: int,
    session_id: str | None = None,
    state: SessionState | None = None,
    branch: str | None = None,
    mine: Sequence[tuple[float, Piece]] = (),
    theirs: Sequence[tuple[float, Piece]] = (),
) -> Given:
    """Return what is relevant to `prompt` in at most `max_tokens`.

    What `session_id` itself did is left out, unless it was before its context was compacted (`state`), and so is what
    it has been given since. What was on another branch than `branch` says so.

    Of a team (`siftd.search.team_recall`) what is `mine`, told on another device, stands where its score has it; of
    `theirs` comes what has room behind that. Each is a score and a piece, best first.
    """
    prompt = topic_of(prompt)
    if not prompt or max_tokens <= 0:
        return NOTHING
    relevance = Relevance.of(connection, Question.of(prompt))
    if relevance.is_empty:
        return NOTHING
    block = Block(max_tokens)
    already = state.given if state else frozenset()
    fresh_since = state.compacted_ts if state else 0
    left = deque(mine)
    has_conclusion = False  # one is enough: of 4 second ones in two chains one was of use
    for hit in engine.search(prompt, CANDIDATES, Filters(), weights=WEIGHTS).hits:
        is_fresh = session_id is not None and hit["sessionId"] == session_id and hit["ts"] >= fresh_since
        is_given = bool(already & {hit["id"], f"e{hit['eventId']}"})
        if is_fresh or is_given or not _concludes(hit):
            continue
        if not is_relevant(relevance, hit) and not _is_wished_for(connection, relevance, hit, prompt):
            continue
        if hit["kind"] != "memory" and is_muted(connection, hit["eventId"]):
            continue
        said = words_of(connection, hit)
        if hit["kind"] != "memory" and (has_conclusion or not says_it(relevance, said)):
            continue
        while left and left[0][0] >= hit["score"] and len(block) < PIECES_MAX:
            block.add(left.popleft()[1])
        if len(block) >= PIECES_MAX:
            break
        has_conclusion = has_conclusion or hit["kind"] != "memory"
        why = {"score": hit["score"], "share": round(relevance.share(hit["text"]), 3), **found_by(hit)}
        label = hit["type"] if hit["kind"] == "memory" else ""
        given = said.text if hit["kind"] == "memory" else _given(relevance, said)
        text = f"{given}{on_branch(hit['branch'], branch)}"
        block.add(Piece(hit["id"], hit["ts"], text, hit["eventId"], label, why))
        if len(block) >= PIECES_MAX:
            break
    for _, piece in list(left)[: PIECES_MAX - len(block)]:
        block.add(piece)
    for _, piece in theirs[: min(TEAM_PIECES_MAX, PIECES_MAX + 1 - len(block))]:
        block.add(piece)
    return block.close()


def topic_of(prompt: str) -> str:
    """Return of a prompt what it is about: nothing of a command, which says what to do."""
    return "" if prompt.lstrip().startswith("/") else _LINK.sub(" ", prompt[:PROMPT_CHARS_MAX])


def says_it(relevance: Relevance, said: Words) -> bool:
    """Whether what may be said of a hit concludes something that bears on the prompt: an id and a fact send an agent to
    look for what it may not need."""
    concluded = relevance.informative(said.conclusion)
    if any(not term.isalpha() for term in concluded):  # a name of code
        return relevance.share(said.text) >= MIN_SHARE_SAID
    informative = relevance.informative(said.text)
    says_enough = len(informative) >= INFORMATIVE_MIN or relevance.weight_of(informative) >= MIN_WEIGHT
    return says_enough and len(concluded) >= CONCLUDED_MIN and relevance.share(said.text) >= MIN_SHARE_SAID


def _given(relevance: Relevance, said: Words) -> str:
    """Return of what may be said what answers the prompt; the rest an agent reads where it needs that."""
    return f"{said.speaker}: «{shortened(said.conclusion, Wanted(relevance.weights), GIVEN_CHARS_MAX)}»"


def _concludes(hit: Hit) -> bool:
    """Whether a hit says what came of something, and is told by now: what happened a moment ago its session knows."""
    if hit["kind"] != "summary":
        return bool(hit["kind"] == "memory")
    if hit["eventKind"] == "assistant_text":
        return not is_filler(hit["text"])
    return concludes(hit["eventKind"] or "", hit["action"]) or hit["scope"] == "session"


def is_relevant(relevance: Relevance, hit: Hit) -> bool:
    """Whether a hit answers enough of the prompt."""
    return any(_answers(relevance, hit, text) for text in (hit["text"], hit["passage"]) if text)


def _is_wished_for(connection: Database, relevance: Relevance, hit: Hit, prompt: str) -> bool:
    """Whether a prompt is about what a person stated for all time: it need not be about that alone."""
    if hit["kind"] != "memory" or hit["saidBy"] != "person" or _by_vector(hit) < answered(NEAR_COSINE):
        return False
    if relevance.weight_of(relevance.informative(hit["text"])) < MIN_WEIGHT_OF_RULE:
        return False
    return Relevance.of(connection, Question.of(hit["text"])).share(prompt) >= MIN_SHARE_OF_RULE


def _answers(relevance: Relevance, hit: Hit, text: str) -> bool:
    share = relevance.share(text)
    if relevance.weight(text) < (MIN_WEIGHT_OF_ALL if share >= ALL else MIN_WEIGHT):
        return False
    return share >= MIN_SHARE or (share >= MIN_SHARE_WHEN_NEAR and _by_vector(hit) >= answered(NEAR_COSINE))


def _by_vector(hit: Hit) -> float:
    score: float = hit["why"].get("vector", {}).get("score", 0.0)
    return score


def found_by(hit: Hit) -> dict[str, Any]:
    """Return by which retrievers, and how high, the hit was found."""
    return {
        retriever: found["rank"]
        for retriever, found in hit["why"].items()
        if isinstance(found, dict) and "rank" in found
    }
