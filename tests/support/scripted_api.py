"""A stand-in for the Messages API on the loopback address, so that a real client can be driven offline.

A script says what the model answers: for each conversation a list of turns, each turn a list of content
blocks. Which turn is due is read from the request itself (how many assistant messages it already holds) and
which conversation it is from the first user message, so that a subagent's requests may interleave with the
main conversation's, and a retried request gets the same turn again.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

Block = dict[str, Any]
Turn = Sequence[Block]


def say(text: str) -> Block:
    """A text block; a turn without a tool call ends the conversation."""
    return {"type": "text", "text": text}


def call(tool: str, **tool_input: Any) -> Block:
    """A tool call; its id is made when it is sent, so that a script can serve several sessions."""
    return {"type": "tool_use", "name": tool, "input": tool_input}


@dataclass(frozen=True)
class Script:
    """What the model says: in the main conversation, and in the subagent whose prompt holds the given text."""

    main: Sequence[Turn]
    subagents: Mapping[str, Sequence[Turn]] = field(default_factory=dict)

    def turn_for(self, request: dict[str, Any]) -> Turn:
        """The turn that answers this request; past the script's end, a closing word."""
        if not request.get("tools"):
            return [say("ok")]
        messages = request.get("messages", [])
        opening = json.dumps(messages[0], ensure_ascii=False) if messages else ""
        turns = next((turns for marker, turns in self.subagents.items() if marker in opening), self.main)
        spoken = sum(message.get("role") == "assistant" for message in messages)
        return turns[spoken] if spoken < len(turns) else [say("Nothing more to say.")]


class ScriptedApi:
    """Serves one script while its `with` block runs; `requests` holds every message request it has seen."""

    def __init__(self, script: Script) -> None:
        self.requests: list[dict[str, Any]] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Keep the test's output clean."""

            def do_GET(self) -> None:
                self.answer("application/json", b'{"data":[]}')

            def do_HEAD(self) -> None:
                self.answer("application/json", b"")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                if self.path.partition("?")[0] != "/v1/messages":
                    return self.answer("application/json", b'{"input_tokens":10}')
                request = json.loads(body)
                api.requests.append(request)
                message = reply_message(request, script.turn_for(request))
                if not request.get("stream"):
                    return self.answer("application/json", json.dumps(message).encode())
                return self.answer("text/event-stream", event_stream(message))

            def answer(self, content_type: str, body: bytes) -> None:
                self.send_response(200)
                self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def reply_message(request: dict[str, Any], turn: Turn) -> dict[str, Any]:
    """The whole answer as the API gives it without streaming."""
    content = [{**block, "id": f"toolu_{uuid4().hex}"} if block["type"] == "tool_use" else block for block in turn]
    return {
        "id": f"msg_{uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": request.get("model", "claude"),
        "content": content,
        "stop_reason": "tool_use" if any(block["type"] == "tool_use" for block in turn) else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def event_stream(message: dict[str, Any]) -> bytes:
    """The same answer as server-sent events, each block in one delta."""
    opening = {**message, "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": opening}]
    for index, block in enumerate(message["content"]):
        events += block_events(index, block)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": message["usage"]})
    events.append({"type": "message_stop"})
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def block_events(index: int, block: Block) -> list[dict[str, Any]]:
    if block["type"] == "text":
        start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        start, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        {"type": "content_block_delta", "index": index, "delta": delta},
        {"type": "content_block_stop", "index": index},
    ]
