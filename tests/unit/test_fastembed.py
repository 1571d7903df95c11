"""Models in this process, by the real fastembed: one in a folder, and what is told when it cannot be."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from siftd.embed.embedder import Embedder, make_embedder
from siftd.embed.errors import EmbedderUnavailable
from siftd.errors import ConfigInvalid

pytest.importorskip("fastembed", reason="no onnxruntime for this platform")
from tiny_model import write_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every address that somebody tries to reach; nobody reaches it."""
    tried: list[Any] = []

    def refuse(_: socket.socket, address: Any) -> None:
        tried.append(address)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *address, **_: refuse(None, address))  # type: ignore[arg-type]
    return tried


@pytest.fixture
def embedder(folder: Path) -> Embedder:
    return make_embedder(f"fastembed:{folder}")


def test_a_model_in_a_folder_gives_normalised_rows_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = ["the token", "clock", "parser parser parser parser clock", "queue"]
    rows = embedder.embed(texts)
    assert (rows.dtype, rows.shape, embedder.dim) == (np.float32, (4, 8), 8)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert [int(row.argmax()) for row in rows] == [1, 3, 4, 5]
    assert np.allclose(rows[2], embedder.embed([texts[2]])[0]), "what is in the same batch changes nothing"


def test_a_folder_touches_no_network(embedder: Embedder, connections: list[Any]) -> None:
    embedder.embed(["token"])
    assert connections == []


def test_a_question_does_not_wait_for_the_model_and_has_it_loaded(embedder: Embedder) -> None:
    with pytest.raises(EmbedderUnavailable, match="is being loaded"):
        embedder.embed_question("clock", {})
    for thread in threading.enumerate():
        if thread.name == "embedder":
            thread.join(60)
    assert int(embedder.embed_question("clock", {}).argmax()) == 3
    assert embedder.known_dim == 8


@pytest.mark.slow
def test_loading_and_embedding_start_no_process(folder: Path) -> None:
    """In a process of its own, where nothing else could have started one."""
    program = (
        "import os, sys; from siftd.embed.embedder import make_embedder;"
        "make_embedder('fastembed:' + sys.argv[1]).embed(['token'] * 300);"
        "import multiprocessing; assert not multiprocessing.active_children();"
        "assert 'tensorflow' not in sys.modules and 'torch' not in sys.modules;"
        "\ntry: os.waitpid(-1, os.WNOHANG); print('children')\nexcept ChildProcessError: print('none')"
    )
    done = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip()) == (0, "none"), done.stderr


def test_nothing_is_loaded_until_a_vector_is_wanted(folder: Path) -> None:
    program = (
        "import sys; from siftd.embed.embedder import make_embedder;"
        "made = make_embedder('fastembed:' + sys.argv[1]); assert made.known_dim is None;"
        "assert not {'fastembed', 'onnxruntime', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, timeout=60)


def test_a_folder_without_a_model_is_named_with_what_it_takes(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable) as refused:
        make_embedder(f"fastembed:{tmp_path}").embed(["token"])
    assert str(tmp_path) in str(refused.value)
    assert "tokenizer.json" in refused.value.hint


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_a_broken_model_is_told_and_ends_nothing(tmp_path: Path, file: str) -> None:
    folder = write_model(tmp_path / "broken")
    (folder / file).write_bytes(b"\x00\xff{not a model")
    with pytest.raises(EmbedderUnavailable, match="failed"):
        make_embedder(f"fastembed:{folder}").embed(["token"])


def test_a_model_by_name_that_is_not_here_is_told_with_the_command_that_fetches_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connections: list[Any]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(EmbedderUnavailable) as refused:
        make_embedder("fastembed:BAAI/bge-small-en-v1.5").embed(["token"])
    assert "BAAI/bge-small-en-v1.5" in str(refused.value)
    assert refused.value.hint.startswith(f"fetch it once: {sys.executable} -c ")
    assert connections == [], "nothing is downloaded unasked"


def test_a_model_that_fastembed_does_not_know_is_told(connections: list[Any]) -> None:
    with pytest.raises(EmbedderUnavailable, match="knows no model acme/none"):
        make_embedder("fastembed:acme/none").embed(["token"])
    assert connections == []


def test_a_missing_library_is_told_with_its_remedy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(EmbedderUnavailable) as refused:
        make_embedder(f"fastembed:{folder}").embed(["token"])
    assert "pip install 'siftd-memory[fastembed]'" in refused.value.hint


def test_a_relative_folder_is_refused() -> None:
    """A daemon stands in the root folder."""
    with pytest.raises(ConfigInvalid, match="relative"):
        make_embedder("fastembed:./models/tiny")
