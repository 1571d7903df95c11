"""Make siftd/embed/word_table.bin from the weights that the package wordllama carries (MIT):

    pip download --no-deps wordllama==0.4.0.post1 && python scripts/make_word_table.py wordllama-*.whl

Kept are the first 128 dimensions (its vectors are trained to be cut) and the pieces that a casefolded word can be made
of. The format is told where it is read: siftd/embed/word_table.py.
"""

from __future__ import annotations

import json
import re
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np

DIM = 128
TARGET = Path(__file__).resolve().parent.parent / "siftd" / "embed" / "word_table.bin"
WEIGHTS = "wordllama/weights/l2_supercat_256.safetensors"
TOKENIZER = "wordllama/tokenizers/l2_supercat_tokenizer_config.json"
_WORD = re.compile(r"\u2581?[\w\u0300-\u036f\u0900-\u0dff]*")
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


def main() -> None:
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        raw, tokenizer = wheel.read(WEIGHTS), json.loads(wheel.read(TOKENIZER))
    (head_bytes,) = struct.unpack("<Q", raw[:8])
    [about] = [each for name, each in json.loads(raw[8 : 8 + head_bytes]).items() if name != "__metadata__"]
    vectors = np.frombuffer(raw[8 + head_bytes :], "<f2").reshape(about["shape"])[:, :DIM].astype(np.float32)
    # The order of the ids is the order of merging: the lower of two pairs comes first.
    pieces = sorted(tokenizer["model"]["vocab"].items(), key=lambda item: item[1])
    kept = [(piece, number) for piece, number in pieces if is_reachable(piece)]
    rows = vectors[[number for _, number in kept]]
    largest = np.abs(rows).max(axis=1)
    unit = largest.max() / (127 * 255)
    scales = np.clip(np.ceil(largest / (127 * unit)), 1, 255).astype(np.uint8)
    values = np.rint(rows / (scales[:, None] * unit)).clip(-127, 127).astype(np.int8)
    text = "\n".join(piece for piece, _ in kept).encode()
    header = struct.pack("<8sHHI", b"siftdwrd", 1, DIM, len(kept)) + struct.pack("<I", len(text))
    TARGET.write_bytes(header + text + scales.tobytes() + values.tobytes())
    print(f"{TARGET}: {len(kept):,} pieces, {TARGET.stat().st_size:,} bytes")


def is_reachable(piece: str) -> bool:
    """Whether a casefolded word can hold a piece, or it stands for a byte of what no piece is."""
    return _BYTE.fullmatch(piece) is not None or (
        _WORD.fullmatch(piece) is not None and piece == piece.casefold() != ""
    )


if __name__ == "__main__":
    main()
