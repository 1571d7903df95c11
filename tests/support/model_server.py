"""A loopback server that speaks the protocols of model servers and has their moods, and the backends that ask it."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from siftd.summarise.anthropic import AnthropicServer
from siftd.summarise.model import ModelBackend
from siftd.summarise.ollama import OllamaServer
from siftd.summarise.openai import OpenAIServer

Reply = tuple[int, dict[str, str], Any]


class ScriptedServer:
    """Answers requests in the script's order, or as `choose` says; the last entry is repeated.

    Moods instead of a reply: "stall" says no more after a beginning, "drop" hangs up, "half" hangs up in the middle.
    """

    def __init__(self) -> None:
        self.script: list[Reply | str] = []
        self.choose: Callable[[dict[str, Any]], Reply | str] = lambda _: self._next()
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        request = json.loads(body or b"null")
        self.requests.append((head[0].split()[1], headers, request))
        entry = self.choose(request)
        if entry == "drop":
            return False
        if entry in ("stall", "half"):
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{")
            await writer.drain()
            if entry == "stall":
                await reader.read()
            return False
        status, extra, content = entry
        payload = content if isinstance(content, bytes) else json.dumps(content).encode()
        lines = [f"HTTP/1.1 {status} Scripted", "content-type: application/json", f"content-length: {len(payload)}"]
        writer.write("\r\n".join([*lines, *(f"{k}: {v}" for k, v in extra.items()), "", ""]).encode() + payload)
        await writer.drain()
        return True

    def _next(self) -> Reply | str:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@asynccontextmanager
async def running() -> AsyncIterator[ScriptedServer]:
    scripted = ScriptedServer()
    server = await asyncio.start_server(scripted.serve, "127.0.0.1", 0)
    scripted.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield scripted
    finally:
        server.close()


def ollama_reply(content: str, done_reason: str = "stop") -> Reply:
    message = {"role": "assistant", "content": content}
    counts = {"prompt_eval_count": 321, "eval_count": 21, "total_duration": 5, "load_duration": 1}
    return (
        200,
        {},
        {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": True}
        | {
            "done_reason": done_reason,
            **counts,
        },
    )


def anthropic_reply(content: str, stop_reason: str = "end_turn") -> Reply:
    usage = {"input_tokens": 300, "output_tokens": 21, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 21}
    body = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None, "usage": usage}
    return 200, {}, {**body, "content": [{"type": "text", "text": content}], "stop_reason": stop_reason}


def openai_reply(content: str, finish_reason: str = "stop") -> Reply:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish_reason}
    usage = {"prompt_tokens": 321, "completion_tokens": 21, "total_tokens": 342}
    return 200, {}, {"id": "c1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}


class Kind:
    """One protocol: how its backend is made, what it answers, how it says that a model stopped too early."""

    def __init__(self, name: str, make: Callable[[str], Any], reply: Callable[..., Reply], cut: str) -> None:
        self.name = name
        self.make = make
        self.reply = reply
        self.cut = cut

    def __str__(self) -> str:
        return self.name

    def backend(self, url: str, seconds: float = 20.0) -> ModelBackend:
        return ModelBackend(self.make(url), answer_seconds=seconds)


KINDS = [
    Kind("ollama", lambda url: OllamaServer("llama3.2:3b", base_url=url), ollama_reply, "length"),
    Kind("anthropic", lambda url: AnthropicServer("", api_key="k", base_url=url), anthropic_reply, "max_tokens"),
    Kind("openai", lambda url: OpenAIServer("m", api_key="k", base_url=f"{url}/v1"), openai_reply, "length"),
]


def needs_library(kind: Kind) -> None:
    """Skip the test where the client library of a protocol is not installed."""
    if kind.name != "openai" and importlib.util.find_spec(kind.name) is None:
        pytest.skip(f"the library {kind.name} is not installed")


def said(text: str) -> str:
    return json.dumps({"summary": text})
