"""By what share each thing that is known of a row itself lifts its score, whatever the row holds of the question.

A score is multiplied by 1 + lift for each. Ages are counted from the newest event: a project that rested for a year is
asked about what was last done there, as it was the day after.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from siftd.search.weights import Weights

_MS_PER_DAY = 86_400_000


def lifts(
    age_ms: ArrayLike, confidence: ArrayLike, is_prompt: ArrayLike, concludes: ArrayLike, weights: Weights
) -> dict[str, Any]:
    """Return the lifts by the name of their weight: of one row, or of many at once."""
    ages = np.maximum(0, age_ms) / _MS_PER_DAY
    return {
        "recency": weights.recency * 0.5 ** (ages / weights.half_life),
        "confidence": weights.confidence * (np.asarray(confidence) - 0.5),
        "prompt": weights.prompt * np.asarray(is_prompt),
        "conclusion": weights.conclusion * np.asarray(concludes),
    }


def lifted(score: ArrayLike, lifts: Mapping[str, Any]) -> Any:
    """Return the score, or scores, with all lifts."""
    for lift in lifts.values():
        score = score * (1 + lift)
    return score
