"""Changing what makes vectors, with a real daemon: in the background, search at work throughout, across a kill."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from daemons import Place, processes_with, wait_until

from siftd.search.relevance import answered

pytestmark = pytest.mark.slow

BATCH = 128
EVENTS = BATCH + 40
MEM = str(Path(sys.executable).with_name("mem"))


class ModelServer:
    """Speaks /v1/embeddings: each model spreads a text's words over 16 dimensions in its own way.

    After `lets_pass` batches the next ones wait for `goes_on`; single texts, as questions are, never do.
    """

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.lets_pass = 10**6
        self.goes_on = threading.Event()
        here = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None: ...

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                texts = body["input"]
                if len(texts) > 1:
                    here.batches.append(texts)
                    if len(here.batches) > here.lets_pass:
                        here.goes_on.wait(60)
                rows = [vector_of(text, body["model"]) for text in texts]
                data = json.dumps({"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: Any) -> None:
                """A killed daemon does not read its answer."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self.goes_on.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def vector_of(text: str, model: str) -> list[float]:
    row = [0.0] * 16
    for word in text.split():
        row[crc32(f"{model} {word}".encode()) % 16] += 1.0
    return row


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer()
    yield made
    made.close()


def start(place: Place, name: str, url: str = "") -> None:
    """Start a daemon: one tick at the start, as long as it takes, and no other."""
    place.configure(memory__embedder=name, memory__embedderUrl=url, memory__consolidator__tickMs=86_400_000)
    place.start()


def by_embedder(place: Place) -> dict[str, list[int]]:
    """Return the ids of the summaries that have a vector, by what made it."""
    made: dict[str, list[int]] = {}
    for name, summary_id in place.rows("SELECT embedder, summary_id FROM summary_embeddings ORDER BY summary_id"):
        made.setdefault(name, []).append(summary_id)
    return made


def search(place: Place, query: str) -> dict[str, Any]:
    return place.ask("search", query=query, k=5)


def fill(place: Place) -> list[int]:
    """Keep events, each told and embedded by the built-in embedder; return the ids of their summaries."""
    start(place, "hash-384")
    for number in range(EVENTS):
        place.capture(number)
    place.ask("drain")
    ids = by_embedder(place)["hash-384"]
    assert len(ids) >= EVENTS
    place.stop()
    return ids


def test_a_changed_embedder_embeds_anew_newest_first_and_goes_on_after_a_kill(
    place: Place, server: ModelServer
) -> None:
    ids = fill(place)
    server.lets_pass = 1
    start(place, "openai:one", server.url)
    wait_until("the model works on its second batch", lambda: len(server.batches) == 2)
    made = by_embedder(place)
    assert made["openai:one"] == ids[-BATCH:], "the newest first"
    assert made["hash-384"] == ids[:-BATCH], "the others as they were"

    found = search(place, "target-7")
    assert found["hits"][0]["eventId"] == 8, "by its words, while the model works"
    near = [hit["why"]["vector"] for hit in found["hits"] if "vector" in hit["why"]]
    assert near, "and by vectors of the same space"

    place.kill()
    server.goes_on.set()
    start(place, "openai:one", server.url)
    wait_until("all are made anew", lambda: by_embedder(place) == {"openai:one": ids})
    first = set(server.batches[0])
    assert not any(first & set(batch) for batch in server.batches[1:]), "what was made before the kill is made once"
    shown = mem(place, "show", "e8")["summaries"][0]
    assert (shown["embedder"], shown["dim"]) == ("openai:one", 16)


def test_reembed_makes_what_is_asked_for_and_tells_how_many(place: Place, server: ModelServer) -> None:
    start(place, "openai:one", server.url)
    place.ask("drain")  # waits for the tick with which a daemon begins
    place.capture(1, ts=1_700_000_000_000)
    place.capture(2, ts=1_760_000_000_000)
    place.ask("drain")
    told = [mem(place, "reembed", "--since", "2025-01-01"), mem(place, "reembed")]
    summaries = place.rows("SELECT count(*) FROM summaries WHERE id NOT IN (SELECT older_id FROM summary_supersedes)")
    assert told[0]["cleared"] < told[1]["cleared"] == summaries[0][0]
    assert [each["embedded"] for each in told] == [each["cleared"] for each in told]
    assert set(by_embedder(place)) == {"openai:one"}


def test_a_fact_and_a_summary_that_say_the_same_are_as_near_with_a_models_embedder(
    place: Place, server: ModelServer
) -> None:
    start(place, "openai:one", server.url)
    event_id = place.capture(7)["eventId"]
    place.ask("drain")
    ((said,),) = place.rows("SELECT text FROM summaries WHERE event_id = ?", event_id)
    place.ask("remember", text=f"{said} noted")
    place.ask("drain")
    found = search(place, f"{said} twice")["hits"]
    near = {hit["id"][0]: hit["why"]["vector"]["score"] for hit in found}
    asked = vector_of(f"{said} twice", "one")
    wanted = {"s": answered(cosine(vector_of(said, "one"), asked))}
    wanted["m"] = answered(cosine(vector_of(f"{said} noted", "one"), asked))
    assert near == {kind: pytest.approx(score, abs=0.02) for kind, score in wanted.items()}


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


def test_a_model_that_is_away_from_the_start_fails_neither_drain_nor_search(place: Place) -> None:
    start(place, "openai:one", "http://127.0.0.1:9")
    place.ask("drain")
    place.capture(3)
    drained = place.ask("drain")
    assert (drained["processed"], drained["errors"], drained["embedded"]) == (1, 0, 0)
    found = search(place, "target-3")
    assert [hit["eventId"] for hit in found["hits"]] == [1]
    assert found["degraded"].startswith("without vectors: openai:one does not answer")
    assert "memory.embedderUrl" in place.ask("info")["embedder"]["state"]


def test_a_model_in_a_folder_embeds_in_the_daemon_itself(place: Place) -> None:
    pytest.importorskip("fastembed", reason="no onnxruntime for this platform")
    from tiny_model import write_model

    name = f"fastembed:{write_model(place.root / 'models' / 'tiny')}"
    start(place, name)
    place.ask("drain")
    place.capture(4, payload={"tool_input": {"command": "compare the clock"}, "tool_response": {"stdout": ""}})
    assert place.ask("drain")["embedded"] >= 1
    assert place.ask("info")["embedder"] == {"name": name, "dim": 8, "state": "ready"}
    found = search(place, "clock")
    assert (found["degraded"], "vector" in found["hits"][0]["why"]) == (None, True)
    assert list(processes_with(f"SIFTD_HOME={place.home}")) == [place.pid()], "nothing but the daemon"


def mem(place: Place, *arguments: str) -> Any:
    environment = place.env | {"SIFTD_WORKSPACE": str(place.folder)}
    done = subprocess.run([MEM, *arguments, "--json"], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
