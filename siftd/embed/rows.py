"""What a model answers with, checked before it is used: as many rows as texts, one dimension, finite numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from siftd.embed.errors import EmbedderUnavailable


def checked(name: str, answered: Any, count: int, dim: int | None) -> NDArray[np.float32]:
    """Return `count` rows, normalised to length 1, of `dim` numbers each where that is known already.

    Raises EmbedderUnavailable for everything else.
    """
    try:
        rows = np.array(answered, dtype=np.float32)
    except (ValueError, TypeError) as error:
        raise EmbedderUnavailable(f"{name} answered with no vectors", hint="try another model") from error
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1] or not np.isfinite(rows).all():
        raise EmbedderUnavailable(f"{name} answered with no usable vectors", hint="try another model")
    if dim not in (None, rows.shape[1]):
        raise EmbedderUnavailable(
            f"{name} changed its dimension", hint="`mem stop`, then `mem start`: everything is embedded anew"
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    np.divide(rows, lengths, out=rows, where=lengths > 0)
    return rows
