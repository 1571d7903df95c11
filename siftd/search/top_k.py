"""Rows by score, best first, sorted no further than somebody looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_WINDOW = 192
_GROWTH = 4
_Score = TypeVar("_Score", np.float32, np.float64)


def iter_best(ids: NDArray[np.int64], scores: NDArray[_Score]) -> Iterator[tuple[NDArray[np.int64], NDArray[_Score]]]:
    """Yield ids with their scores, window after window, each several times larger; of equals the highest id first.

    A window ends between two scores, never among equals: else a larger one would put others in its place.
    """
    done, window = 0, _WINDOW
    while done < len(scores):
        best = np.arange(len(scores))
        if window < len(scores):
            best = np.flatnonzero(scores >= np.partition(scores, -window)[-window])
        order = best[np.lexsort((-ids[best], -scores[best]))][done:]
        yield ids[order], scores[order]
        done += len(order)
        window *= _GROWTH
