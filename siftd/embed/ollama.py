"""Vectors from Ollama: `POST /api/embed {model, input}` -> `{embeddings: [[...]]}`.

Source: Ollama's API documentation. Plain httpx: one request needs no client library.
"""

from __future__ import annotations

from siftd.embed.served import Dialect

DEFAULT_URL = "http://127.0.0.1:11434"
OLLAMA = Dialect(
    path="/api/embed",
    rows_of=lambda answer: list(answer["embeddings"]),
    when_silent="is `ollama serve` running?",
    when_missing="ollama pull {model}",
)
