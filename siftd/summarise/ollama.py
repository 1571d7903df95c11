"""A local model through the client library of Ollama."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from siftd.config import is_loopback
from siftd.summarise.errors import ModelUnavailable, for_status
from siftd.summarise.model import Answer, Conversation
from siftd.summarise.optional_imports import library
from siftd.summarise.prompt import Prompt

DEFAULT_URL = "http://127.0.0.1:11434"
CONTEXTS = (2_048, 4_096, 8_192, 16_384)
"""Sizes of context that are asked for: few, because another size makes the server load the model again."""
KEEP_ALIVE = "5m"


class OllamaServer:
    """`/api/chat` with the answer's schema in `format`."""

    deciding = ""

    def __init__(self, model: str, *, base_url: str | None = None) -> None:
        self.name = f"ollama:{model}"
        self._model = model
        self._url = base_url or DEFAULT_URL
        self.is_remote = not is_loopback(self._url)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Conversation]:
        module = await library("ollama")
        how = {"trust_env": self.is_remote, "follow_redirects": False, "verify": self._url.lower().startswith("https:")}
        async with module.AsyncClient(host=self._url, **how) as client:
            yield _Chat(client, self._model, module.ResponseError)


class _Chat:
    def __init__(self, client: Any, model: str, response_error: type[Exception]) -> None:
        self._client = client
        self._model = model
        self._response_error = response_error

    async def ask(self, prompt: Prompt) -> Answer:
        try:
            reply = await self._client.chat(
                model=self._model,
                messages=[{"role": "system", "content": prompt.rules}, {"role": "user", "content": prompt.message}],
                format=prompt.schema,
                options={"temperature": 0, "num_ctx": context_for(prompt), "num_predict": prompt.answer_tokens},
                keep_alive=KEEP_ALIVE,
                think=False,
            )
        except self._response_error as error:
            missing = f"model {self._model} is missing: ollama pull {self._model}"
            status = getattr(error, "status_code", 500)
            raise for_status(status, {}, missing=missing, key="check the server in front of Ollama") from None
        except (ConnectionError, httpx.HTTPError) as error:
            raise ModelUnavailable(f"Ollama does not answer ({type(error).__name__}): ollama serve") from None
        return Answer(
            reply.message.content or "",
            tokens_in=reply.prompt_eval_count or 0,
            tokens_out=reply.eval_count or 0,
            is_cut=reply.done_reason == "length",
        )


def context_for(prompt: Prompt) -> int:
    """Return the smallest context that holds the prompt and its answer: a longer prompt would be cut silently."""
    needed = prompt.tokens_estimate + prompt.answer_tokens
    return next((size for size in CONTEXTS if size >= needed), CONTEXTS[-1])
