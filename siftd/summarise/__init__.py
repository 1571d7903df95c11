"""Backends that write summaries, by the string that the configuration names them with.

auto                  the smallest model of an Ollama on this machine, else extractive; never a remote one
extractive            the default: no model, nothing to install, nothing leaves
ollama:<model>        a local model
anthropic[:<model>]   remote
openai:<model>        any server with /v1/chat/completions; remote unless its address is on loopback
command[:<model>]     a program of yours
sampling[:<name>]     the model of an attached MCP client that offers one; remote
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

import msgspec

from siftd.errors import ConfigInvalid
from siftd.summarise.contract import Backend
from siftd.summarise.optional_imports import missing_library

if TYPE_CHECKING:
    from siftd.summarise.sampling import Sampler


class KnownBackend(msgspec.Struct, frozen=True):
    """A backend that can be named, and what is missing to use it (None: nothing)."""

    name: str
    remedy: str | None


KNOWN = ("extractive", "auto", "ollama", "anthropic", "openai", "command", "sampling")
FindSampler: TypeAlias = "Callable[[], Sampler | None]"
"""Returns what asks the model of an attached client, while one offers it."""
_NEARLY = 0.75
"""How alike a name must be to be taken for a slip of the keys: of `nope`, openai is none. A guess sends words away."""
_NEEDS_MODEL = ("ollama", "openai")


def known_backends() -> list[KnownBackend]:
    """Return every backend with the remedy for a missing library; imports none of them."""
    return [KnownBackend(name, missing_library(name)) for name in KNOWN]


def check_backend(spec: str, *, base_url: str | None = None, command: Sequence[str] = ()) -> None:
    """Raise ConfigInvalid when a configuration names no backend that can be. Imports and connects to nothing."""
    kind, _, model = spec.partition(":")
    if base_url is not None and not _is_web_address(base_url):
        raise ConfigInvalid("the model server's address is none", hint="write it as http://127.0.0.1:11434")
    if kind in _NEEDS_MODEL and not model:
        raise ConfigInvalid(f"memory.backend: {kind} needs a model", hint=f"write {kind}:<model>")
    if kind == "command" and not command:
        raise ConfigInvalid("memory.backend: command needs the program to run", hint="set memory.command")
    if kind not in KNOWN:
        near = difflib.get_close_matches(kind, KNOWN, 1, _NEARLY)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(KNOWN)}"
        raise ConfigInvalid(f"memory.backend: no backend is called {kind!r}", hint=hint)


def make_backend(
    spec: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    command: Sequence[str] = (),
    find_sampler: FindSampler = lambda: None,
) -> Backend:
    """Return the backend that a configuration names; ConfigInvalid when there is no such one.

    Nothing is read from the environment here, and only `auto` connects, to this machine. A library or model that is
    missing shows when the backend is first asked, as a reason to try later with its remedy.
    """
    check_backend(spec, base_url=base_url, command=command)
    if spec == "auto":
        from siftd.summarise.auto import choose  # http.client: 20 ms of a daemon's start

        spec = choose(base_url)
    kind, _, model = spec.partition(":")
    if kind == "extractive":
        from siftd.summarise.extractive import Extractive  # its renderers: a daemon takes captures before it needs one

        return Extractive()
    if kind == "sampling":
        from siftd.summarise.model import ModelBackend
        from siftd.summarise.sampling import SamplingServer

        return ModelBackend(SamplingServer(model, find_sampler))
    return _with_model(kind, model, api_key, base_url, command)


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _with_model(kind: str, model: str, api_key: str | None, base_url: str | None, command: Sequence[str]) -> Backend:
    # Late: these modules bring in httpx and anyio, which a daemon on the default backend does without.
    from siftd.summarise.anthropic import AnthropicServer
    from siftd.summarise.command import CommandServer
    from siftd.summarise.model import ModelBackend
    from siftd.summarise.ollama import OllamaServer
    from siftd.summarise.openai import OpenAIServer

    match kind:
        case "ollama":
            return ModelBackend(OllamaServer(model, base_url=base_url))
        case "anthropic":
            return ModelBackend(AnthropicServer(model, api_key=api_key, base_url=base_url))
        case "openai":
            return ModelBackend(OpenAIServer(model, api_key=api_key, base_url=base_url))
        case _:
            return ModelBackend(CommandServer(command, model=model))
