"""Query-independent boosts of a row's score: recency, confidence, prompt, conclusion.

A score is multiplied by 1 + boost for each. Ages are counted from the newest event: a project that rested for a year is
asked about what was last done there, as it was the day after.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from siftd.search.weights import Weights

_MS_PER_DAY = 86_400_000


def boosts_of(
    age_ms: ArrayLike, confidence: ArrayLike, is_prompt: ArrayLike, concludes: ArrayLike, weights: Weights
) -> dict[str, Any]:
    """Return the boosts by the name of their weight: of one row, or of many at once."""
    ages = np.maximum(0, age_ms) / _MS_PER_DAY
    return {
        "recency": weights.recency * 0.5 ** (ages / weights.half_life),
        "confidence": weights.confidence * (np.asarray(confidence) - 0.5),
        "prompt": weights.prompt * np.asarray(is_prompt),
        "conclusion": weights.conclusion * np.asarray(concludes),
    }


def boosted(score: ArrayLike, boosts: Mapping[str, Any]) -> Any:
    """Return the score, or scores, with all boosts."""
    for boost in boosts.values():
        score = score * (1 + boost)
    return score
