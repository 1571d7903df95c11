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
_NEAR_HOURS = 6
"""A session further away in time is no neighbour. One that ends or begins an hour away counts half."""


@dataclass(slots=True)
class Pooled:
    """An event that was found: its place in each leg, and how well it answers."""

    candidate: Candidate
    legs: dict[str, tuple[int, float]] = field(default_factory=dict)
    """By leg: (its rank, from 1; how much of the question it answers, from 0 to about 1)."""


class Pool:
    """What the legs found, by event."""

    def __init__(self) -> None:
        self.events: dict[int, Pooled] = {}

    def add(self, leg: str, found: Iterable[tuple[Candidate, float]]) -> None:
        """Take in what one leg found, best first. An event's first row of a leg counts, and its summary is shown."""
        rank = 0
        for candidate, score in found:
            pooled = self.events.get(candidate.event_id)
            if pooled is None:
                pooled = self.events[candidate.event_id] = Pooled(candidate)
            elif pooled.candidate.summary_id is None and candidate.summary_id is not None:
                pooled.candidate = candidate
            if leg not in pooled.legs:
                rank += 1
                pooled.legs[leg] = (rank, score)

    def by_session(self) -> dict[str, list[Pooled]]:
        """Return the events of each session."""
        sessions: dict[str, list[Pooled]] = defaultdict(list)
        for pooled in self.events.values():
            sessions[pooled.candidate.session_id].append(pooled)
        return sessions


def own_score(pooled: Pooled, weights: Weights) -> float:
    """Return what an event answers by itself: its legs' answers, each with its weight, added up."""
    return sum((weights.of(leg) * score for leg, (_, score) in pooled.legs.items()), 0.0)


def session_score(events: Iterable[Pooled], weights: Weights) -> float:
    """Return what a session answers: the best of each kind of its events by their words, and its best summary."""
    best: dict[str, float] = defaultdict(float)
    for pooled in events:
        for leg, (_, score) in pooled.legs.items():
            side = _KINDS_OF_WORK.get(pooled.candidate.tool, _OTHER) if leg == "raw" else leg
            best[side] = max(best[side], weights.of(leg) * score)
    return sum(best.values())


def with_neighbours(
    scores: Mapping[str, float], times: Mapping[str, tuple[int, int]], weights: Weights
) -> dict[str, float]:
    """Return the sessions' scores, each with a share of the best one near it in time."""
    if not weights.neighbour:
        return dict(scores)
    spans = sorted((*times[each], each) for each in scores if each in times)
    shares: dict[str, float] = defaultdict(float)
    for at, (_, ended, session) in enumerate(spans):
        for started, _, later in spans[at + 1 :]:
            hours = max(0, started - ended) / _MS_PER_HOUR
            if hours > _NEAR_HOURS:
                break
            near = weights.neighbour * 0.5**hours
            shares[later] = max(shares[later], near * scores[session])
            shares[session] = max(shares[session], near * scores[later])
    return {session: score + shares[session] for session, score in scores.items()}
