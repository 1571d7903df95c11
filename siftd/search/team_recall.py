"""What a team's replica has that bears on a prompt, or on a session's start: pieces behind one's own.

Somebody else's device told it, and the person here chose none of it: so each piece names its author, is cited as t12,
and stands in the marked block as what was said, of no more weight than any other reference. Given unasked is only what
a person or an agent of the team said of their work; what a program printed, an issue, a page is found by who searches.
What the person here told on another device is theirs, and stands among their own.
"""

from __future__ import annotations

from typing import NamedTuple

from siftd.filters import Filters
from siftd.harmless import harmless
from siftd.search.context_block import Piece
from siftd.search.passages import Wanted, answer_of, shortened
from siftd.search.query import Question
from siftd.search.quoting import Words
from siftd.search.recall import CANDIDATES, GIVEN_CHARS_MAX, WEIGHTS, found_by, is_relevant, says_it, topic_of
from siftd.search.relevance import Relevance
from siftd.search.team import TeamSearch
from siftd.store import team_reading
from siftd.store.access import Database, DatabaseError
from siftd.store.fact_scope import OWNER
from siftd.store.muted import find_item_muted_since, list_muted_items
from siftd.wire.requests.finding import Hit, TeamMark

FACT_CHARS_MAX = 300
VITAL_MAX = 3
"""Of what members of the team hold vital, in a brief."""
_SAYABLE = ("person", "agent")


class Scored(NamedTuple):
    """A piece, and how well it answers."""

    score: float
    piece: Piece


class OfTeam(NamedTuple):
    """What bears on a prompt: of the person's own from another device, and of others, each best first."""

    mine: list[Scored]
    theirs: list[Scored]


NOTHING_OF_TEAM = OfTeam([], [])


def recall_team(team: TeamSearch, own: Database, prompt: str, given: frozenset[str]) -> OfTeam:
    """Return what of the team's bears on a prompt, less what was `given` and what the person muted in their `own`
    store. A replica that cannot be read has nothing."""
    prompt = topic_of(prompt)
    if not prompt:
        return NOTHING_OF_TEAM
    try:
        relevance = Relevance.of(team.replica, Question.of(prompt))
        hits = [] if relevance.is_empty else team.search(prompt, CANDIDATES, Filters(), weights=WEIGHTS).hits
    except DatabaseError as error:
        team.on_error(error)
        return NOTHING_OF_TEAM
    found = OfTeam([], [])
    has_story = False
    for hit in hits:
        mark, is_story = hit["team"], hit["kind"] != OWNER
        if hit["saidBy"] not in _SAYABLE or mark["item"] in given or (is_story and has_story):
            continue
        if not is_relevant(relevance, hit) or find_item_muted_since(own, mark["item"]) is not None:
            continue
        said = _said(hit, relevance)
        if is_story and not says_it(relevance, Words(said, said)):
            continue
        has_story = has_story or is_story
        why = {
            "score": hit["score"],
            "share": round(relevance.share(hit["text"]), 3),
            **found_by(hit),
            "item": mark["item"],
        }
        piece = Piece(hit["id"], hit["ts"], f"{speaker(mark, is_story=is_story)}: «{said}»", None, _label(hit), why)
        (found.mine if mark["isMine"] else found.theirs).append(Scored(hit["score"], piece))
    return found


def vital_of_team(replica: Database, own: Database, now_ms: int) -> list[Piece]:
    """Return what others of the team hold vital, what came last first, for a session's start. Raises DatabaseError."""
    items = team_reading.list_vital(
        replica,
        now_ms,
        team_reading.find_person(own),
        muted=list_muted_items(own),
        limit=VITAL_MAX,
    )
    return [
        Piece(
            each["id"],
            each["ts"],
            f"{speaker(each['team'], is_story=False)}: «{harmless(each['text'], FACT_CHARS_MAX)}»",
            None,
            each["type"] or "",
            {"section": "team", "item": each["team"]["item"]},
        )
        for each in items
    ]


def speaker(mark: TeamMark, *, is_story: bool) -> str:
    """Return who says it, and that it is nobody here: a name is as its owner gave it to the team, and may be
    a sentence, or "the person"."""
    is_person = mark["saidBy"] == "person"
    if mark["isMine"]:
        if is_story:
            return "a session on another device of the person's ended with"
        return f"{'the person' if is_person else 'an agent'} noted on another device"
    name = f'"{mark["author"]}" (of the team)'
    if is_story:
        return f"a session of {name} ended with"
    return f"{name} noted" if is_person else f"an agent of {name} noted"


def _said(hit: Hit, relevance: Relevance) -> str:
    if hit["kind"] == OWNER:
        return harmless(hit["text"], FACT_CHARS_MAX)
    return harmless(shortened(answer_of(hit["text"]), Wanted(relevance.weights), GIVEN_CHARS_MAX), GIVEN_CHARS_MAX)


def _label(hit: Hit) -> str:
    return str(hit["type"]) if hit["kind"] == OWNER else ""
