"""A scripted stand-in for models' APIs on the loopback address, so that any real agent can be driven offline.

It speaks OpenAI Responses (`/responses`), OpenAI Chat Completions (`/chat/completions`), Gemini (`:generateContent`,
`:streamGenerateContent`) and Anthropic Messages (`/messages`), streamed or not. A request takes the first turn that is
still there and fits; with none left it is answered "done".
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import llm_replies

FOUND = "@FOUND@"


@dataclass(frozen=True)
class Say:
    """Words; a turn without a call ends the agent's turn."""

    text: str


@dataclass(frozen=True)
class Call:
    """A tool call."""

    tool: str
    args: Any
    """An object; of a custom tool of the Responses API a text."""
    namespace: str | None = None
    """Of the Responses API alone."""
    find: str | None = None
    """A pattern: its last match in the request takes the place of an argument that is FOUND."""


@dataclass(frozen=True)
class Turn:
    """What the model answers once."""

    blocks: Sequence[Say | Call]
    match: str = ""
    """Occurs in the request that is answered with it."""
    without: str | None = None
    """Does not occur in it."""
    has_tools: bool = True
    """Whether it answers requests that offer tools, or those that offer none (a title, a summary)."""

    def fits(self, request: str, *, has_tools: bool) -> bool:
        is_of_its_kind = self.has_tools == has_tools
        return is_of_its_kind and self.match in request and (self.without is None or self.without not in request)


class ScriptedLlm:
    """Serves one script while its `with` block runs; `requests` holds every request for an answer that it has seen."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = list(turns)
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """Without a path: most clients want `/v1` behind it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def left(self) -> int:
        """How many turns nobody has taken."""
        return len(self._turns)

    def take(self, request: str, body: dict[str, Any], *, has_tools: bool) -> Sequence[Say | Call]:
        """Return what answers a request."""
        with self._lock:
            self.requests.append(body)
            for turn in self._turns:
                if turn.fits(request, has_tools=has_tools):
                    self._turns.remove(turn)
                    return [_filled(block, request) for block in turn.blocks]
        return [Say("done" if has_tools else "A short title")]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _filled(block: Say | Call, request: str) -> Say | Call:
    if isinstance(block, Say) or block.find is None:
        return block
    hits = re.findall(block.find, request)
    hit = hits[-1] if hits else ""
    value = int(hit) if hit.isdigit() else hit
    return replace(block, args={key: value if each == FOUND else each for key, each in block.args.items()})


def _handler_of(llm: ScriptedLlm) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

        def do_GET(self) -> None:
            model = {"id": "scripted", "object": "model", "created": 0, "owned_by": "me"}
            self._send({"object": "list", "data": [model] if "/models" in self.path else []})

        def do_HEAD(self) -> None:
            self._send({})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            try:
                body = json.loads(raw or b"{}")
            except ValueError:  # compressed telemetry
                body = {}
            path = self.path.partition("?")[0]
            reply = llm_replies.protocol_of(path)
            if reply is None:
                self._send({"totalTokens": 10, "input_tokens": 10} if "ount" in path else {})
                return
            request = raw.decode("utf-8", "replace")
            # Codex offers newer models its tools as an item of the input.
            has_tools = bool(body.get("tools")) or '"additional_tools"' in request
            blocks = [_plain(block) for block in llm.take(request, body, has_tools=has_tools)]
            stream, whole = reply(str(body.get("model")), blocks)
            if body.get("stream") or "streamGenerateContent" in path:
                self._send(stream, "text/event-stream")
            else:
                self._send(whole)

        def _send(self, body: Any, kind: str = "application/json") -> None:
            sent = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

    return Handler


def _plain(block: Say | Call) -> llm_replies.Said | llm_replies.Called:
    if isinstance(block, Say):
        return llm_replies.Said(block.text)
    return llm_replies.Called(block.tool, block.args, block.namespace, uuid4().hex[:12])
