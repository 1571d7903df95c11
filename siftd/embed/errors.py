"""What goes wrong with an embedder: one class, because there is one reaction."""

from __future__ import annotations

from siftd.errors import SiftdError


class EmbedderUnavailable(SiftdError):
    """The embedder gives no vectors now: search goes on without, summaries wait for theirs."""

    code = "embedder_unavailable"
