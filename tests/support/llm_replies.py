"""How four models' APIs write an answer: streamed, and whole."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4


@dataclass(frozen=True)
class Said:
    """Words."""

    text: str


@dataclass(frozen=True)
class Called:
    """A tool call."""

    tool: str
    args: Any
    namespace: str | None
    id: str


Blocks = Sequence[Said | Called]
Reply = Callable[[str, Blocks], tuple[bytes, dict[str, Any]]]
"""Of a model's name and what it says: the answer as server-sent events, and as one document."""


def protocol_of(path: str) -> Reply | None:
    """Return who answers requests to a path; None for what is no request for an answer."""
    if path.endswith("/responses"):
        return responses
    if path.endswith("/chat/completions"):
        return chat
    if path.endswith("/messages"):
        return anthropic
    return gemini if "enerateContent" in path else None


def responses(model: str, blocks: Blocks) -> tuple[bytes, dict[str, Any]]:
    """OpenAI Responses."""
    response: dict[str, Any] = {"id": f"resp_{_id()}", "object": "response", "model": model}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}}
    ]
    items = []
    for index, block in enumerate(blocks):
        item, begun, steps = _item(block)
        events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        events += [{**step, "item_id": item["id"], "output_index": index} for step in steps]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
        items.append(item)
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 120,
    }
    whole = {**response, "created_at": int(time.time()), "status": "completed", "output": items, "usage": usage}
    events.append({"type": "response.completed", "response": whole})
    return b"".join(_event(each, each["type"]) for each in events), whole


def _item(block: Said | Called) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
    """Return an item of the output, the item as it begins, and how it grows."""
    if isinstance(block, Said):
        content = {"type": "output_text", "text": block.text, "annotations": []}
        item = {"type": "message", "role": "assistant", "id": f"msg_{_id()}", "content": [content]}
        item["status"] = "completed"
        steps: list[dict[str, Any]] = [
            {"type": "response.content_part.added", "content_index": 0, "part": {**content, "text": ""}},
            {"type": "response.output_text.delta", "content_index": 0, "delta": block.text},
            {"type": "response.output_text.done", "content_index": 0, "text": block.text},
        ]
        return item, {**item, "content": []}, steps
    call = {"call_id": f"call_{block.id}", "name": block.tool, "status": "completed"}
    if isinstance(block.args, str):
        item = {"type": "custom_tool_call", "id": f"ctc_{_id()}", **call, "input": block.args}
        return item, {**item, "input": ""}, []
    arguments = json.dumps(block.args)
    item = {"type": "function_call", "id": f"fc_{_id()}", **call, "arguments": arguments}
    if block.namespace:
        item["namespace"] = block.namespace
    steps = [
        {"type": "response.function_call_arguments.delta", "delta": arguments},
        {"type": "response.function_call_arguments.done", "arguments": arguments},
    ]
    return item, {**item, "arguments": ""}, steps


def chat(model: str, blocks: Blocks) -> tuple[bytes, dict[str, Any]]:
    """OpenAI Chat Completions."""
    text = "".join(block.text for block in blocks if isinstance(block, Said)) or None
    called = [block for block in blocks if isinstance(block, Called)]
    calls = [
        {
            "id": f"call_{each.id}",
            "type": "function",
            "function": {"name": each.tool, "arguments": json.dumps(each.args)},
        }
        for each in called
    ]
    reason = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    base = {"id": f"chatcmpl-{_id()}", "created": int(time.time()), "model": model}
    deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": text}, None)]
    if calls:
        deltas.append(({"tool_calls": [{"index": index, **each} for index, each in enumerate(calls)]}, None))
    deltas.append(({}, reason))
    chunk = {**base, "object": "chat.completion.chunk"}
    stream = b"".join(
        _event({**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}) for delta, end in deltas
    )
    stream += _event({**chunk, "choices": [], "usage": usage}) + b"data: [DONE]\n\n"
    message = {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return stream, {**base, "object": "chat.completion", "choices": [choice], "usage": usage}


def gemini(model: str, blocks: Blocks) -> tuple[bytes, dict[str, Any]]:
    """Gemini; the stream is one chunk."""
    parts = [
        {"text": each.text} if isinstance(each, Said) else {"functionCall": {"name": each.tool, "args": each.args}}
        for each in blocks
    ]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": f"r{_id()}"}
    return _event(whole), whole


def anthropic(model: str, blocks: Blocks) -> tuple[bytes, dict[str, Any]]:
    """Anthropic Messages."""
    content = [
        {"type": "text", "text": each.text}
        if isinstance(each, Said)
        else {"type": "tool_use", "id": f"toolu_{each.id}", "name": each.tool, "input": each.args}
        for each in blocks
    ]
    stop = "tool_use" if any(each["type"] == "tool_use" for each in content) else "end_turn"
    usage = {"input_tokens": 100, "output_tokens": 20}
    opening = {"id": f"msg_{_id()}", "type": "message", "role": "assistant", "model": model, "usage": usage}
    opening |= {"content": [], "stop_reason": None, "stop_sequence": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": opening}]
    for index, block in enumerate(content):
        if block["type"] == "text":
            begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            begun = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events.append({"type": "content_block_start", "index": index, "content_block": begun})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": stop, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 20}})
    events.append({"type": "message_stop"})
    stream = b"".join(_event(each, each["type"]) for each in events)
    return stream, {**opening, "content": content, "stop_reason": stop}


def _event(body: dict[str, Any], name: str | None = None) -> bytes:
    return ((f"event: {name}\n" if name else "") + f"data: {json.dumps(body)}\n\n").encode()


def _id() -> str:
    return uuid4().hex[:12]
