"""Vectors from a model in this process, by the optional library fastembed (`pip install 'siftd-memory[fastembed]'`).

    fastembed:BAAI/bge-small-en-v1.5    a model that fastembed knows by this name
    fastembed:~/models/minilm           a folder as models are exported into: model.onnx (or onnx/model.onnx),
                                        tokenizer.json, tokenizer_config.json; the way its token vectors become one
                                        is read from 1_Pooling/config.json, else it is their mean

Nothing is downloaded from here: a model that is not on this machine is missing, and its remedy is the command with
which a person fetches it. Library and model are loaded when the first vector is wanted (80 MB and the model's size),
and a question does not wait for that. No process is started; threads and batches are few, no memory is kept for more.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siftd.embed.errors import EmbedderUnavailable
from siftd.foreign_file import read

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KIND = "fastembed"
CACHE = "~/.cache/huggingface/hub"
"""Where Hugging Face's own tools keep what was fetched; fastembed's default is the folder for temporary files."""
_BATCH = 8
"""Texts at once: what a model needs for them is memory for their longest, each."""
_THREADS_MAX = 4
_MODEL_FILES = ("model.onnx", "onnx/model.onnx", "model_optimized.onnx", "onnx/model_quantized.onnx")


class InProcessEmbedder:
    """One model's space. Its dimension is known once it is loaded."""

    def __init__(self, model: str) -> None:
        """Load nothing yet. `model` is a name, or a folder if it begins with `/` or `~/`."""
        self.name = f"{KIND}:{model}"
        self._named = model
        self._dim: int | None = None
        self._model: Any = None
        self._loading = threading.Lock()
        self._failure: EmbedderUnavailable | None = None

    @property
    def dim(self) -> int:
        """The length of a vector; loads the model when it is not known yet."""
        if self._dim is None:
            self.embed(["dimension"])
        assert self._dim is not None
        return self._dim

    @property
    def known_dim(self) -> int | None:
        return self._dim

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, normalised. Raises EmbedderUnavailable with the remedy."""
        import numpy as np

        from siftd.embed.rows import checked

        model = self._loaded()
        order = sorted(
            range(len(texts)), key=lambda at: len(texts[at])
        )  # texts of a batch are filled up to its longest
        made = self._run(lambda: list(model.embed([texts[at] for at in order], batch_size=_BATCH)))
        rows = checked(self.name, made, len(texts), self._dim)
        self._dim = int(rows.shape[1])
        back: NDArray[np.float32] = np.empty_like(rows)
        back[order] = rows
        return back

    def embed_question(self, text: str, weights: Mapping[str, float] | None) -> NDArray[np.float32]:  # noqa: ARG002
        """Return a question's vector. While the model is not loaded this begins to load it, and raises."""
        from siftd.embed.rows import checked

        if self._model is None:
            if not self._loading.locked():
                threading.Thread(target=self._load_quietly, name="embedder", daemon=True).start()
            raise self._failure or EmbedderUnavailable(f"{self.name} is being loaded", hint="ask again in some seconds")
        rows = checked(self.name, self._run(lambda: list(self._model.query_embed(text))), 1, self._dim)
        self._dim = int(rows.shape[1])
        row: NDArray[np.float32] = rows[0]
        return row

    def _run(self, work: Any) -> Any:
        """Whatever a library that is given a strange model raises is one thing here: no vectors."""
        try:
            return work()
        except Exception as error:
            raise EmbedderUnavailable(
                f"{self.name} failed ({type(error).__name__})", hint="try another model, or export it anew"
            ) from error

    def _load_quietly(self) -> None:
        with suppress(EmbedderUnavailable):  # the next question tells
            self._loaded()

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                try:
                    self._model = self._load()
                except EmbedderUnavailable as error:
                    self._failure = error
                    raise
        return self._model

    def _load(self) -> Any:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read once, when the library is imported
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise EmbedderUnavailable(
                "the library fastembed is missing", hint=f"{sys.executable} -m pip install 'siftd-memory[fastembed]'"
            ) from error
        how = {
            "threads": max(1, min(_THREADS_MAX, (os.cpu_count() or 1) // 2)),
            "providers": ["CPUExecutionProvider"],
            "enable_cpu_mem_arena": False,
            "local_files_only": True,
        }
        if self._named.startswith(("/", "~/")):
            return self._load_folder(TextEmbedding, Path(self._named).expanduser(), how)
        return self._load_named(TextEmbedding, how)

    def _load_folder(self, library: Any, folder: Path, how: dict[str, Any]) -> Any:
        from fastembed.common.model_description import ModelSource

        file = next((each for each in _MODEL_FILES if (folder / each).is_file()), None)
        if file is None or not (folder / "tokenizer.json").is_file():
            raise EmbedderUnavailable(
                f"there is no model in {folder}", hint="it takes model.onnx, tokenizer.json and tokenizer_config.json"
            )
        with suppress(ValueError):  # an earlier embedder of this process has named the same folder
            library.add_custom_model(
                model=self.name,
                pooling=_pooling(folder),
                normalization=True,
                sources=ModelSource(hf=self.name),  # never asked: the folder is given below
                dim=0,
                model_file=file,
            )
        return self._run(lambda: library(self.name, specific_model_path=str(folder), **how))

    def _load_named(self, library: Any, how: dict[str, Any]) -> Any:
        if self._named.lower() not in {each["model"].lower() for each in library.list_supported_models()}:
            raise EmbedderUnavailable(
                f"fastembed knows no model {self._named}", hint="name one that it lists, or a folder with a model"
            )
        cache = str(Path(CACHE).expanduser())
        try:
            return library(self._named, cache_dir=cache, **how)
        except Exception as error:
            fetch = f"from fastembed import TextEmbedding as T; T('{self._named}', cache_dir='{cache}')"
            raise EmbedderUnavailable(
                f"the model {self._named} is not on this machine", hint=f'fetch it once: {sys.executable} -c "{fetch}"'
            ) from error


def _pooling(folder: Path) -> Any:
    """How a sentence's vector is made of its tokens', as sentence-transformers writes it beside a model."""
    from fastembed.common.model_description import PoolingType

    with suppress(OSError, ValueError, AttributeError):
        described = json.loads(read(str(folder / "1_Pooling" / "config.json"), 64 * 1024, follow=True))
        if described.get("pooling_mode_cls_token"):
            return PoolingType.CLS
        if described.get("pooling_mode_lasttoken"):
            return PoolingType.LAST_TOKEN
    return PoolingType.MEAN
