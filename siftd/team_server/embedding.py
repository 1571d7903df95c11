"""The vectors of a team's items: made by the server, behind the push, by the model that the project names.

A push never waits for a model and is never refused for one: its items are there at once, found by their words, and get
a vector when the model answers. A model that is away is left alone for a while, longer with each failure in a row
(`consolidate/circuit_breaker.py`), and searches say that they went without.

Work is done with the digest of somebody's own token, as everything is: the server has no right of its own to read a
project. So a person's private items are embedded when one of their own devices pushes or looks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from siftd.clock import Clock
from siftd.consolidate.circuit_breaker import Circuit
from siftd.embed.embedder import Blend384, Embedder, Hash384, make_embedder
from siftd.embed.errors import EmbedderUnavailable
from siftd.errors import ConfigInvalid
from siftd.team_server.settings import Serving

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = structlog.get_logger()

BUILT_IN = (Blend384.name, Hash384.name)
"""Every server has these."""


@dataclass(slots=True)
class Model:
    """A model that can be asked, and whether it answers."""

    embedder: Embedder
    circuit: Circuit
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


class Models:
    """The models of one server."""

    def __init__(self, serving: Serving, clock: Clock) -> None:
        self._serving = serving
        self._clock = clock
        self._models: dict[str, Model] = {}

    def get(self, name: str) -> Model:
        """Return a model. Raises ConfigInvalid for one that this server was not given."""
        if name not in self._models:
            if name not in BUILT_IN and name not in self._serving.embedders:
                raise ConfigInvalid("this server has no such embedder", hint="its operator names it by --embedder")
            embedder = make_embedder(
                name, self._serving.embedder_url, may_be_remote=True, key=self._serving.embedder_key
            )
            self._models[name] = Model(embedder, Circuit(self._clock))
        return self._models[name]

    def is_away(self, name: str) -> bool:
        """Whether a model is left alone for now."""
        return name in self._models and not self._models[name].circuit.is_closed

    async def embed(self, name: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row of a text each. Raises EmbedderUnavailable at once while the model is left alone."""
        model = self.get(name)
        async with model.asking:
            return await self._asked(model, lambda: model.embedder.embed(texts))

    async def dimensions(self, name: str) -> int:
        """Return the length of a model's vectors; asks it where that is not known yet. Raises as `embed`."""
        model = self.get(name)
        if model.embedder.known_dim is None:
            await self.embed(name, ["dimension"])
        return model.embedder.dim

    async def embed_question(self, name: str, text: str) -> NDArray[np.float32]:
        """Return a question's vector; as `embed`."""
        model = self.get(name)
        return await self._asked(model, lambda: model.embedder.embed_question(text, None))

    async def _asked(self, model: Model, ask: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
        if not model.circuit.is_closed:
            raise EmbedderUnavailable(f"{model.embedder.name} is away", hint="it is asked again by itself")
        try:
            answer = await asyncio.to_thread(ask)
        except EmbedderUnavailable as error:
            if model.circuit.away_since_ms is None:
                log.warning("embedder_away", model=model.embedder.name, error=error.message)
            model.circuit.open(error.message, None)
            raise
        if model.circuit.away_since_ms is not None:
            log.info("embedder_back", model=model.embedder.name)
        model.circuit.close()
        return answer
