"""Vectors from any server that speaks `POST /v1/embeddings {model, input}` -> `{data: [{index, embedding}]}`.

Source: OpenAI's API reference; llama.cpp's server, vLLM, LM Studio and others speak it. On this machine only.
"""

from __future__ import annotations

from siftd.embed.served import Dialect

DEFAULT_URL = "http://127.0.0.1:8080"
OPENAI = Dialect(
    path="/v1/embeddings",
    rows_of=lambda answer: [each["embedding"] for each in sorted(answer["data"], key=lambda each: each["index"])],
    when_silent="does the server at memory.embedderUrl run, with a model that embeds?",
    when_missing="load {model} in the server at memory.embedderUrl",
)
