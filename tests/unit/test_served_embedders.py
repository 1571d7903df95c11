"""Embedders behind a server on this machine: what comes back is checked, and what is wrong is told with its remedy."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from siftd.embed import served
from siftd.embed.embedder import Embedder, make_embedder
from siftd.embed.errors import EmbedderUnavailable
from siftd.errors import ConfigInvalid


class Server:
    """Answers with whatever the test puts into `rows`: one of Ollama's answers, or of OpenAI's."""

    def __init__(self) -> None:
        self.rows: Any = lambda texts: [[3.0, 4.0]] * len(texts)
        self.status = 200
        self.asked: list[dict[str, Any]] = []
        self.hangs = threading.Event()
        self.hangs.set()
        here = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None: ...

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                here.asked.append({"path": self.path} | body)
                here.hangs.wait(10)
                rows = here.rows(body["input"])
                answer: Any = {"embeddings": rows}
                if self.path == "/v1/embeddings" and isinstance(rows, list):
                    answer = {"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)][::-1]}
                data = json.dumps(answer).encode()
                self.send_response(here.status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self.hangs.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture(params=["ollama", "openai"])
def embedder(request: pytest.FixtureRequest, server: Server) -> Iterator[Embedder]:
    made = make_embedder(f"{request.param}:tiny", server.url)
    yield made
    client = made._client  # type: ignore[attr-defined]
    if client is not None:
        client.close()


def test_rows_come_back_in_order_and_normalised(embedder: Embedder, server: Server) -> None:
    server.rows = lambda texts: [[3.0, 4.0], [0.0, 2.0]][: len(texts)]
    rows = embedder.embed(["one", "two"])
    assert np.allclose(rows, [[0.6, 0.8], [0.0, 1.0]])
    assert (embedder.dim, embedder.known_dim) == (2, 2)
    assert server.asked[0]["path"] == ("/api/embed" if embedder.name == "ollama:tiny" else "/v1/embeddings")
    assert server.asked[0]["model"] == "tiny"


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0, 0.0]],
        [[1.0, 0.0], [1.0]],
        [[1.0, 0.0], [float("nan"), 0.0]],
        [[1.0, 0.0], [float("inf"), 0.0]],
        [[], []],
        [1.0, 2.0],
        [["a"], ["b"]],
        [],
        None,
    ],
    ids=["too few", "ragged", "nan", "infinite", "no numbers", "flat", "words", "nothing", "null"],
)
def test_rows_that_are_no_vectors_are_refused(embedder: Embedder, server: Server, rows: Any) -> None:
    server.rows = lambda _: rows
    with pytest.raises(EmbedderUnavailable):
        embedder.embed(["one", "two"])


def test_a_dimension_that_changes_is_told_with_its_remedy(embedder: Embedder, server: Server) -> None:
    embedder.embed(["one"])
    server.rows = lambda texts: [[1.0, 2.0, 3.0]] * len(texts)
    with pytest.raises(EmbedderUnavailable) as refused:
        embedder.embed(["two"])
    assert "dimension" in str(refused.value)
    assert "mem start" in refused.value.hint


def test_a_missing_model_is_named_with_its_remedy(embedder: Embedder, server: Server) -> None:
    server.status = 404
    with pytest.raises(EmbedderUnavailable) as refused:
        embedder.embed(["one"])
    assert "tiny" in str(refused.value)
    assert "tiny" in refused.value.hint


def test_a_server_that_fails_or_hangs_is_told(
    embedder: Embedder, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.status = 500
    with pytest.raises(EmbedderUnavailable, match="status 500"):
        embedder.embed(["one"])
    monkeypatch.setattr(served, "FIRST_SECONDS", 0.05)
    monkeypatch.setattr(served, "SECONDS_A_TEXT", 0.0)
    server.hangs.clear()
    with pytest.raises(EmbedderUnavailable, match="did not answer within"):
        embedder.embed(["one"])


def test_after_a_silence_no_question_waits_until_the_server_has_answered_again(
    embedder: Embedder, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One search would hold up all others, each for seconds."""
    with monkeypatch.context() as impatient:
        impatient.setattr(served, "FIRST_SECONDS", 0.05)
        impatient.setattr(served, "SECONDS_A_TEXT", 0.0)
        server.hangs.clear()
        with pytest.raises(EmbedderUnavailable, match="did not answer within"):
            embedder.embed_question("one", {})
    with pytest.raises(EmbedderUnavailable, match="is silent"):
        embedder.embed_question("one", {})
    server.hangs.set()
    embedder.embed(["a batch of the next tick"])
    assert np.allclose(embedder.embed_question("one", {}), [0.6, 0.8])


@pytest.mark.parametrize("spec", ["", "openai:", "ollama", "nothing:at-all"])
def test_an_unknown_embedder_is_refused(spec: str) -> None:
    with pytest.raises(ConfigInvalid):
        make_embedder(spec)


@pytest.mark.parametrize("kind", ["ollama", "openai"])
def test_no_embedder_is_asked_beyond_this_machine(kind: str) -> None:
    with pytest.raises(ConfigInvalid, match="not on this machine"):
        make_embedder(f"{kind}:tiny", "http://192.0.2.1:8080")
