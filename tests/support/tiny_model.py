"""A real model in miniature, in the files of any exported one: each of its words points along an axis of its own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WORDS = ("[PAD]", "[UNK]", "token", "clock", "parser", "queue")


def write_model(folder: Path, words: Sequence[str] = WORDS, dim: int = 8) -> Path:
    """Write the model, and the tokenizer for `words`, into a new folder and return that."""
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    table = np.eye(len(words), dim, dtype=np.float32)
    inputs = [
        helper.make_tensor_value_info(each, TensorProto.INT64, ["b", "s"]) for each in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["b", "s", dim])
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    graph = helper.make_graph(nodes, "tiny", inputs, [output], [numpy_helper.from_array(table, "table")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, str(folder / "model.onnx"))
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {
            "type": "WordLevel", "vocab": {word: at for at, word in enumerate(words)}, "unk_token": "[UNK]"
        },
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 64, "pad_token": "[PAD]"}')
    return folder
