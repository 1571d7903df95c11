"""Any server that speaks `/v1/chat/completions`: LM Studio, llama.cpp, vLLM, OpenRouter, OpenAI."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec

from siftd.config import is_loopback
from siftd.summarise.errors import ModelRefused, ModelUnavailable, for_status
from siftd.summarise.model import Answer, Conversation
from siftd.summarise.prompt import Prompt

DEFAULT_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 5.0
MAX_REPLY_BYTES = 4 * 1024 * 1024


class OpenAIServer:
    """Chat completions with the answer's schema in `response_format`, where the server knows it."""

    deciding = ""

    def __init__(self, model: str, *, api_key: str | None = None, base_url: str | None = None) -> None:
        self.name = f"openai:{model}"
        self._model = model
        self._key = api_key
        self._url = (base_url or DEFAULT_URL).rstrip("/").removesuffix("/chat/completions")
        self.is_remote = not is_loopback(self._url)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Conversation]:
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        # The deadline of a whole answer is the caller's; here only a connection has one. A proxy of the
        # environment must not carry to another machine what is meant for this one.
        timeout = httpx.Timeout(None, connect=CONNECT_SECONDS)
        # To read the certificates of all authorities takes 45 ms a batch, and plain http, which is never redirected,
        # needs none of them.
        how: dict[str, Any] = {"trust_env": self.is_remote, "verify": not self._url.lower().startswith("http:")}
        async with httpx.AsyncClient(headers=headers, timeout=timeout, **how) as client:
            yield _Completions(client, self._url, self._model)


class _Completions:
    def __init__(self, client: httpx.AsyncClient, url: str, model: str) -> None:
        self._client = client
        self._url = f"{url}/chat/completions"
        self._model = model
        self._knows_schemas = True

    async def ask(self, prompt: Prompt) -> Answer:
        status, headers, body = await self._post(prompt)
        if status in (400, 422) and self._knows_schemas:
            # Some servers refuse `response_format`; the rules ask for the same object in words.
            self._knows_schemas = False
            status, headers, body = await self._post(prompt)
        if status != 200:
            missing = f"model {self._model} is missing on the server: load it there, or name another in memory.backend"
            raise for_status(status, headers, missing=missing, key="check the API key")
        return _answer(body)

    async def _post(self, prompt: Prompt) -> tuple[int, httpx.Headers, bytes]:
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": "system", "content": prompt.rules}, {"role": "user", "content": prompt.message}],
            "max_tokens": prompt.answer_tokens,
            "temperature": 0,
        }
        if self._knows_schemas:
            schema = {"name": "summary", "strict": True, "schema": prompt.schema}
            request["response_format"] = {"type": "json_schema", "json_schema": schema}
        body = bytearray()
        try:
            async with self._client.stream("POST", self._url, json=request) as reply:
                async for chunk in reply.aiter_bytes():
                    body += chunk
                    if len(body) > MAX_REPLY_BYTES:
                        raise ModelRefused("the reply is too large")
                return reply.status_code, reply.headers, bytes(body)
        except httpx.HTTPError as error:
            raise ModelUnavailable(f"the model server does not answer ({type(error).__name__})") from None


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Reply(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


def _answer(body: bytes) -> Answer:
    try:
        reply = msgspec.json.decode(body, type=_Reply)
        choice = reply.choices[0]
    except (msgspec.MsgspecError, UnicodeDecodeError, IndexError):
        raise ModelRefused("the server's reply is not a chat completion") from None
    usage = reply.usage or _Usage()
    return Answer(
        choice.message.content or "",
        tokens_in=usage.prompt_tokens,
        tokens_out=usage.completion_tokens,
        is_cut=choice.finish_reason == "length",
    )
