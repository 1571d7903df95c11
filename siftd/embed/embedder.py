"""Which embedder a configuration names. Its library is imported when the first vector is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from siftd.config import is_loopback
from siftd.errors import ConfigInvalid

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors of one space, named by `name`."""

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int:
        """The length of a vector."""
        ...

    @property
    def known_dim(self) -> int | None:
        """The length of a vector where it is known without asking a server."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of `dim` float32 per text, normalised to length 1."""
        ...

    def embed_question(self, text: str, weights: Mapping[str, float] | None) -> NDArray[np.float32]:
        """Return a question's vector; `weights` tell how rare its words are, where that is known (else None)."""
        ...


class Blend384:
    """The default: hashed words beside what a table knows of their meaning; no model, no network."""

    name = "blend-384"
    dim = 384
    known_dim: int | None = 384

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        from siftd.embed.blend384 import embed

        return embed(texts)

    def embed_question(self, text: str, weights: Mapping[str, float] | None) -> NDArray[np.float32]:
        from siftd.embed.blend384 import embed_question

        return embed_question(text, weights)


class Hash384:
    """Hashed words alone: no model, no table, no network."""

    name = "hash-384"
    dim = 384
    known_dim: int | None = 384

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        from siftd.embed.hash384 import embed

        return embed(texts)

    def embed_question(self, text: str, weights: Mapping[str, float] | None) -> NDArray[np.float32]:
        from siftd.embed.hash384 import embed_question

        return embed_question(text, weights)


def make_embedder(spec: str, base_url: str = "", *, may_be_remote: bool = False, key: str = "") -> Embedder:
    """Return the embedder that `memory.embedder` names. Raises ConfigInvalid for an unknown or a remote one.

    A team's server alone may have a remote one, which its operator named, and show it a key.
    """
    for built_in in (Blend384, Hash384):
        if spec == built_in.name:
            return built_in()
    kind, _, model = spec.partition(":")
    if kind not in ("ollama", "openai", "fastembed") or not model:
        raise ConfigInvalid(
            "memory.embedder names no embedder of this siftd",
            hint=f"use {Blend384.name!r}, {Hash384.name!r}, 'ollama:<model>', 'openai:<model>' or"
            " 'fastembed:<model or folder>'",
        )
    if kind == "fastembed":
        return _in_process(model)
    if base_url and not may_be_remote and not is_loopback(base_url):
        raise ConfigInvalid("memory.embedderUrl is not on this machine", hint="vectors are made locally only")
    from siftd.embed.served import ServedEmbedder

    if kind == "ollama":
        from siftd.embed.ollama import DEFAULT_URL, OLLAMA

        return ServedEmbedder(kind, model, base_url or DEFAULT_URL, OLLAMA, key)
    from siftd.embed.openai import DEFAULT_URL as OPENAI_URL
    from siftd.embed.openai import OPENAI

    return ServedEmbedder(kind, model, base_url or OPENAI_URL, OPENAI, key)


def _in_process(model: str) -> Embedder:
    if model.startswith("."):
        raise ConfigInvalid("memory.embedder names a folder by a relative path", hint="begin it with / or ~/")
    from siftd.embed.fastembed import InProcessEmbedder

    return InProcessEmbedder(model)
