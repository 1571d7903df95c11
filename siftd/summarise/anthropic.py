"""A model of Anthropic through its SDK. Remote: used only when the configuration names it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from siftd.config import is_loopback
from siftd.summarise.errors import ModelRefused, ModelUnavailable, for_status
from siftd.summarise.model import Answer, Conversation
from siftd.summarise.optional_imports import library
from siftd.summarise.prompt import Prompt

DEFAULT_MODEL = "claude-haiku-5-5"
DEFAULT_URL = "https://api.anthropic.com"
NO_KEY = "no key for Anthropic: name a file of mode 0600 that holds it in the configuration, as memory.apiKeyFile"


class AnthropicServer:
    """`/v1/messages` with the answer's schema in `output_config`; retries are the consolidator's, not the SDK's."""

    deciding = ""

    def __init__(self, model: str, *, api_key: str | None = None, base_url: str | None = None) -> None:
        self._model = model or DEFAULT_MODEL
        self.name = f"anthropic:{self._model}"
        self._key = api_key
        self._url = base_url or DEFAULT_URL
        self.is_remote = not is_loopback(self._url)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Conversation]:
        if not self._key:
            raise ModelUnavailable(NO_KEY)
        sdk = await library("anthropic")
        async with sdk.AsyncAnthropic(api_key=self._key, base_url=self._url, max_retries=0) as client:
            yield _Messages(client, self._model, sdk)


class _Messages:
    def __init__(self, client: Any, model: str, sdk: Any) -> None:
        self._client = client
        self._model = model
        self._sdk = sdk

    async def ask(self, prompt: Prompt) -> Answer:
        try:
            reply = await self._client.messages.create(
                model=self._model,
                max_tokens=prompt.answer_tokens,
                system=[{"type": "text", "text": prompt.rules, "cache_control": {"type": "ephemeral"}}],
                messages=[{"role": "user", "content": prompt.message}],
                thinking={"type": "disabled"},
                output_config={"effort": "low", "format": {"type": "json_schema", "schema": prompt.schema}},
            )
        except self._sdk.APIStatusError as error:
            missing = f"model {self._model} is not served to this key: name another in memory.backend"
            headers = error.response.headers
            raise for_status(error.status_code, headers, missing=missing, key="check the API key") from None
        except self._sdk.APIError as error:
            raise ModelUnavailable(f"Anthropic does not answer ({type(error).__name__})") from None
        if reply.stop_reason == "refusal":
            raise ModelRefused("the model declined to answer")
        return Answer(
            "".join(block.text for block in reply.content if block.type == "text"),
            tokens_in=_tokens_in(reply.usage),
            tokens_out=reply.usage.output_tokens or 0,
            is_cut=reply.stop_reason == "max_tokens",
        )


def _tokens_in(usage: Any) -> int:
    """Count what the cache took and gave too: the cap is on tokens, whatever they cost."""
    cached = (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
    return int((usage.input_tokens or 0) + cached)
