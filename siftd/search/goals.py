"""A session in a few lines: each a goal that was asked for and what came of it, from the stories of its turns.

A session of many prompts is no one thing: its story says how it began and ended. Here the turns that changed, committed
or found out most are told, in their order, and what was left open. The words are those of the turns' stories.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypedDict

from siftd.store import turn_summaries
from siftd.store.access import Database
from siftd.wire.requests import finding

TURNS_MIN = 5
"""A shorter session is told by its story."""
LINES_MAX = 5
_GOAL_CHARS = 90
_OUTCOME_CHARS = 200
_CLOSING_CHARS = 4_000
"""Of the end of the last words, that is looked through for what is open."""
_GOAL_CHARS_MIN = 15
"""Shorter ones ("yes", "go on") are no goal: what came of them is told without."""
_COMMITTED = re.compile(r"\bcommitted: ")
_CHANGED = re.compile(r"\bchanged ")
_OPEN = re.compile(
    r"\b(?:not yet|deferred|still (?:open|to do|failing|missing)|remains? (?:open|to)|left to do|follow-?up)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[^.:]{1,40}:")
"""What names a case ("Not yet configured: …") says nothing of what is left."""
_SENTENCE = re.compile(r"(?<=[.!?])\s|\n")
_MARKS = " \t-*#>`_"


@dataclass(frozen=True, slots=True)
class Goal:
    """What was asked for (empty where only a word was said) and what came of it; the event that ends the turn."""

    event_id: int
    asked: str
    outcome: str


class InShort(TypedDict):
    """What answers say of a session of several goals."""

    goals: list[finding.Goal]
    open: str


def in_short(connection: Database, session_id: str) -> InShort:
    """Return a session's goals and what is open, as answers carry them; nothing of a session of few turns."""
    turns = turn_summaries.list_turns(connection, session_id)
    if len(turns) < TURNS_MIN:
        return {"goals": [], "open": ""}
    goals: list[finding.Goal] = [
        {"id": f"e{each.event_id}", "asked": each.asked, "outcome": each.outcome}
        for each in choose_goals([_goal(event_id, text) for event_id, text in turns])
    ]
    return {"goals": goals, "open": _find_open(turn_summaries.closing_of(connection, turns[-1][0]))}


def choose_goals(goals: list[Goal]) -> list[Goal]:
    """Return the five that tell most, in their order; how the last turn ended is always one of them."""
    *earlier, last = goals
    best = sorted(earlier, key=lambda goal: (-_worth(goal), goal.event_id))[: LINES_MAX - 1]
    return [*sorted(best, key=lambda goal: goal.event_id), last]


def _find_open(closing: str) -> str:
    """Return the last sentence that says what is left open; empty where none does."""
    said = (each.strip(_MARKS) for each in _SENTENCE.split(closing[-_CLOSING_CHARS:]) if "|" not in each)
    found = [each for each in said if _OPEN.search(each) and not each.endswith("?") and not _LABEL.match(each)]
    return _clipped(" ".join(found[-1].split()), _OUTCOME_CHARS) if found else ""


def _goal(event_id: int, text: str) -> Goal:
    asked, arrow, outcome = text.partition(" → ")
    asked = asked.removeprefix("Asked: ") if arrow else ""
    is_goal = len(asked) >= _GOAL_CHARS_MIN and not asked.startswith("/")
    return Goal(event_id, _clipped(asked, _GOAL_CHARS) if is_goal else "", _clipped(outcome or text, _OUTCOME_CHARS))


def _worth(goal: Goal) -> float:
    """Return how much a turn tells of its session: work that is proved, then work, then words."""
    proved = 3.0 * bool(_COMMITTED.search(goal.outcome)) + 1.5 * bool(_CHANGED.search(goal.outcome))
    return proved + bool(goal.asked) + min(len(goal.outcome), 120) / 120


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rsplit(' ', 1)[0]}…"
