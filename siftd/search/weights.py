"""How much each signal counts: the configuration's `search.weights.*`, each of which a search may set by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from siftd.config import Settings, find_key
from siftd.errors import RequestInvalid
from siftd.ranking_config import HALF_LIFE_DAYS, Scoring

PREFIX = "search.weights."
_MOST = 10.0


@dataclass(frozen=True, slots=True)
class Weights:
    """One number a signal; 0 leaves it out. The defaults are the ones that the evaluation's table bears out."""

    words: float = 1.0
    """What a summary, or a memory, holds of the question."""
    raw: float = 0.75
    """What the event itself holds of it."""
    vector: float = 1.0
    """How near the summary's vector is."""
    trigram: float = 0.4
    """A word of the question that occurs only as a part of others."""
    session: float = 0.15
    """What the rest of its session holds of the question."""
    neighbour: float = 0.25
    """What a session shortly before or after holds of it."""
    recency: float = 0.4
    confidence: float = 0.1
    prompt: float = 0.5
    """What a person typed, where the question is about what they did or said."""
    conclusion: float = 0.6
    """What says how something came out, or what was found and chosen on the way: that answers, what was read or run is
    what it was read for."""
    diversity: float = 0.15
    """What a hit loses for each better one of its session."""
    graph: float = 0.0
    """What names an entity that the question names, by whichever name, or one that hangs together with it."""
    half_life: float = HALF_LIFE_DAYS
    """After how many days `recency` is half of what it was."""

    def of(self, signal: str) -> float:
        weight: float = getattr(self, signal)
        return weight

    def changed(self, asked: Mapping[str, float]) -> Weights:
        """Return these with what one search asks for otherwise. Raises RequestInvalid for an unknown one."""
        if unknown := sorted(set(asked) - set(NAMES)):
            raise RequestInvalid(f"no signal has the weight {unknown[0]!r}", hint=f"one of {', '.join(NAMES)}")
        if not all(0 <= value <= _MOST for value in asked.values()):
            raise RequestInvalid(f"a weight is a number from 0 to {_MOST:g}")
        return replace(self, **asked)

    def scaled(self, scoring: Scoring) -> Weights:
        """Return these as a project's scoring scales them."""
        return replace(
            self,
            words=self.words * scoring.w_fts,
            raw=self.raw * scoring.w_fts,
            trigram=self.trigram * scoring.w_fts,
            vector=self.vector * scoring.w_vec,
            recency=self.recency * scoring.w_recency,
            half_life=scoring.half_life,
        )


NAMES = tuple(each.name for each in fields(Weights) if each.name != "half_life")


def of_settings(settings: Settings) -> Weights:
    """Return the weights that the configuration sets."""
    return Weights(**{name: float(getattr(settings, find_key(PREFIX + name).field)) for name in NAMES})
