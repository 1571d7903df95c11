"""Vectors from an Ollama server on this machine: `POST /api/embed {model, input}` -> `{embeddings: [[...]]}`.

Source: Ollama's API documentation. Plain httpx: one request needs no client library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from siftd.errors import SiftdError

if TYPE_CHECKING:
    import httpx
    import numpy as np
    from numpy.typing import NDArray

DEFAULT_URL = "http://127.0.0.1:11434"
TIMEOUT_SECONDS = 60.0


class EmbedderUnavailable(SiftdError):
    """The embedder gives no vectors now: search goes on without, summaries wait for theirs."""

    code = "embedder_unavailable"


class OllamaEmbedder:
    """One model's space. Its dimension is known once it has answered."""

    def __init__(self, model: str, base_url: str) -> None:
        self.name = f"ollama:{model}"
        self._model = model
        self._url = f"{(base_url or DEFAULT_URL).rstrip('/')}/api/embed"
        self._dim: int | None = None
        self._client: httpx.Client | None = None

    @property
    def dim(self) -> int:
        """The length of a vector; asks the server when it is not known yet."""
        if self._dim is None:
            self.embed(["dimension"])
        assert self._dim is not None
        return self._dim

    @property
    def known_dim(self) -> int | None:
        return self._dim

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, normalised. Raises EmbedderUnavailable with the remedy."""
        import numpy as np

        rows = np.asarray(self._ask(list(texts)), dtype=np.float32)
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise EmbedderUnavailable(f"{self.name} answered with no usable vectors")
        if self._dim not in (None, rows.shape[1]):
            raise EmbedderUnavailable(f"{self.name} changed its dimension", hint="restart the daemon")
        self._dim = int(rows.shape[1])
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        np.divide(rows, lengths, out=rows, where=lengths > 0)
        return rows

    def _ask(self, texts: list[str]) -> object:
        import httpx

        if self._client is None:
            self._client = httpx.Client(timeout=TIMEOUT_SECONDS, trust_env=False)
        try:
            answer = self._client.post(self._url, json={"model": self._model, "input": texts})
        except httpx.HTTPError as error:
            raise EmbedderUnavailable(f"{self.name} does not answer", hint="is `ollama serve` running?") from error
        if answer.status_code == 404:
            raise EmbedderUnavailable(f"the model {self._model} is missing", hint=f"ollama pull {self._model}")
        if answer.status_code != 200:
            raise EmbedderUnavailable(f"{self.name} answered with status {answer.status_code}")
        try:
            return answer.json()["embeddings"]
        except (ValueError, KeyError, TypeError) as error:
            raise EmbedderUnavailable(f"{self.name} answered with no vectors") from error
