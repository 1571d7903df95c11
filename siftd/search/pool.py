"""The pool of one search: every event that a leg found, what each leg says of it, and what its session says.

Who remembers a piece of work remembers several sides of it: what was asked, what was run, what was changed, how it was
told at the end. A session is therefore as good as its best event of each such kind, added up, and its best summary;
and as work goes on from one session into the next, a session gets a share of what one shortly before or after has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from siftd.search.weights import Weights
from siftd.store.candidates import Candidate

_KINDS_OF_WORK = {
    "UserPromptSubmit": "prompt",
    "Stop": "reply",
    "SubagentStop": "reply",
    "Edit": "edit",
    "MultiEdit": "edit",
    "Write": "edit",
    "NotebookEdit": "edit",
    "apply_patch": "edit",
    "Bash": "command",
    "shell": "command",
    "Read": "look",
    "Grep": "look",
    "Glob": "look",
    "LS": "look",
    "WebFetch": "look",
    "WebSearch": "look",
}
_OTHER = "other"
"""Plans, tasks, questions, tools of servers."""
_MS_PER_HOUR = 3_600_000
_NEIGHBOURS_MAX = 8
"""Sessions after one that are looked at: in a crowd nobody tells who goes on with whose work."""
_NEAR_HOURS = 6
"""A session further away in time is no neighbour. One that ends or begins an hour away counts half."""


@dataclass(slots=True)
class Pooled:
    """An event that was found: its place in each leg, and how well it answers by itself."""

    candidate: Candidate
    own: float = 0.0
    """Its legs' answers, each with its weight, added up."""
    legs: dict[str, tuple[int, float]] = field(default_factory=dict)
    """By leg: (its rank, from 1; how much of the question it answers, from 0 to about 1)."""


class Pool:
    """What the legs found, by event and by session."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._events: dict[int, Pooled] = {}
        self._sides: dict[str, dict[str, float]] = {}
        self.sessions: dict[str, list[Pooled]] = {}

    def add(self, leg: str, found: Iterable[tuple[Candidate, float]]) -> None:
        """Take in what one leg found, best first. An event's first row of a leg counts, and its summary is shown."""
        weight = self._weights.of(leg)
        rank = 0
        for candidate, score in found:
            session = candidate.session_id
            pooled = self._events.get(candidate.event_id)
            if pooled is None:
                pooled = self._events[candidate.event_id] = Pooled(candidate)
                self.sessions.setdefault(session, []).append(pooled)
            elif pooled.candidate.summary_id is None and candidate.summary_id is not None:
                pooled.candidate = candidate
            if leg not in pooled.legs:
                rank += 1
                pooled.legs[leg] = (rank, score)
                answer = weight * score
                pooled.own += answer
                side = _KINDS_OF_WORK.get(candidate.tool, _OTHER) if leg == "raw" else leg
                sides = self._sides.setdefault(session, {})
                if answer > sides.get(side, 0.0):
                    sides[side] = answer

    def session_scores(self) -> dict[str, float]:
        """Return what each session answers: the best of each kind of its events, and its best summary."""
        return {session: sum(sides.values()) for session, sides in self._sides.items()}


def with_neighbours(
    scores: Mapping[str, float], times: Mapping[str, tuple[int, int]], weights: Weights
) -> dict[str, float]:
    """Return the sessions' scores, each with a share of the best one near it in time."""
    if not weights.neighbour:
        return dict(scores)
    spans = sorted((*times[each], each) for each in scores if each in times)
    shares: dict[str, float] = defaultdict(float)
    for at, (_, ended, session) in enumerate(spans):
        for started, _, later in spans[at + 1 : at + 1 + _NEIGHBOURS_MAX]:
            hours = max(0, started - ended) / _MS_PER_HOUR
            if hours > _NEAR_HOURS:
                break
            near = weights.neighbour * 0.5**hours
            shares[later] = max(shares[later], near * scores[session])
            shares[session] = max(shares[session], near * scores[later])
    return {session: score + shares[session] for session, score in scores.items()}
