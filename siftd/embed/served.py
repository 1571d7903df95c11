"""Vectors from a model server on this machine, or of a team: one POST with a batch of texts, one row for each back.

A question waits some seconds, a batch longer, none for ever; search goes on without vectors meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from siftd.embed.errors import EmbedderUnavailable

if TYPE_CHECKING:
    import httpx
    import numpy as np
    from numpy.typing import NDArray

FIRST_SECONDS = 5.0
SECONDS_A_TEXT = 0.5
MOST_SECONDS = 60.0
SILENT_SECONDS = 30.0
"""After a silence no question waits for so long: the thread that asks serves every other search too."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one kind of server is asked, and what is to be done when it does not answer."""

    path: str
    rows_of: Callable[[Any], list[Any]]
    """Takes the rows out of an answer, in the order of the texts; may raise whatever a wrong answer makes it raise."""
    when_silent: str
    when_missing: str
    """`{model}` is put in."""


class ServedEmbedder:
    """One model's space. Its dimension is known once it has answered."""

    def __init__(self, kind: str, model: str, base_url: str, dialect: Dialect, key: str = "") -> None:
        self.name = f"{kind}:{model}"
        self._model = model
        self._dialect = dialect
        self._url = f"{base_url.rstrip('/')}{dialect.path}"
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        self._dim: int | None = None
        self._client: httpx.Client | None = None
        self._silent_since: float | None = None

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
        from siftd.embed.rows import checked

        try:
            answered = self._dialect.rows_of(self._ask(list(texts)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise EmbedderUnavailable(
                f"{self.name} answered with no vectors", hint=self._dialect.when_silent
            ) from error
        rows = checked(self.name, answered, len(texts), self._dim)
        self._dim = int(rows.shape[1])
        return rows

    def embed_question(self, text: str, weights: Mapping[str, float] | None) -> NDArray[np.float32]:  # noqa: ARG002
        """Return a question's vector; a model tells by itself which of its words matter."""
        if self._silent_since is not None and time.monotonic() < self._silent_since + SILENT_SECONDS:
            raise self._unavailable("is silent")
        row: NDArray[np.float32] = self.embed([text])[0]
        return row

    def _ask(self, texts: list[str]) -> Any:
        import httpx

        if self._client is None:
            self._client = httpx.Client(trust_env=False, headers=self._headers)
        seconds = min(MOST_SECONDS, FIRST_SECONDS + SECONDS_A_TEXT * len(texts))
        try:
            answer = self._client.post(self._url, json={"model": self._model, "input": texts}, timeout=seconds)
        except httpx.TimeoutException as error:
            self._silent_since = time.monotonic()
            raise EmbedderUnavailable(
                f"{self.name} did not answer within {seconds:g} s", hint=self._dialect.when_silent
            ) from error
        except httpx.HTTPError as error:
            raise self._unavailable("does not answer") from error
        self._silent_since = None
        if answer.status_code == 404:
            hint = self._dialect.when_missing.format(model=self._model)
            raise EmbedderUnavailable(f"the model {self._model} is missing", hint=hint)
        if answer.status_code != 200:
            raise EmbedderUnavailable(
                f"{self.name} answered with status {answer.status_code}", hint=self._dialect.when_silent
            )
        return answer.json()

    def _unavailable(self, what: str) -> EmbedderUnavailable:
        return EmbedderUnavailable(f"{self.name} {what}", hint=self._dialect.when_silent)
