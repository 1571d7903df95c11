"""A loopback server that makes vectors as Ollama and OpenAI-compatible proxies do, and may be away."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class EmbeddingServer:
    """Answers with vectors of `dimensions`, of a text's words, unless it is away."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.is_away = False
        self.asked: list[str] = []
        self.authorizations: set[str | None] = set()
        self.url = ""

    def vector(self, text: str) -> list[float]:
        row = [0.01] * self.dimensions
        for word in text.lower().split():
            row[hashlib.sha256(word.encode()).digest()[0] % self.dimensions] += 1.0
        return row

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if self.is_away:
            return 503, {}
        self.asked += body["input"]
        rows = [self.vector(each) for each in body["input"]]
        if path == "/api/embed":
            return 200, {"embeddings": rows}
        return 200, {"data": [{"index": number, "embedding": row} for number, row in enumerate(rows)]}


@contextmanager
def embedding_server(dimensions: int = 64) -> Iterator[EmbeddingServer]:
    """Serve, and end it again."""
    embedding = EmbeddingServer(dimensions)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            embedding.authorizations.add(self.headers.get("authorization"))
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, answer = embedding.answer(self.path, body)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    embedding.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield embedding
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
