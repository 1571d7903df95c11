"""The default embedder: how words look beside what they mean, from a table that travels with the package."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from siftd.embed import blend384, hash384, word_table
from siftd.embed.blend384 import LOOKS_DIM

EDITED = "Edited src/auth.py: validate_token() now rejects expired tokens"
CENTS = "The billing service keeps its money amounts as integer cents, never as floats."
GOLDEN = {
    EDITED: "0cd0e20a6398044958f8b773cb96eefeef3eb4ca221cd5b4c3124ed872f261f5",
    CENTS: "c9d1ccc7891db9f92d4b95a23c582762d30a3424e1ebbaa568ff1a62a9a6bd7b",
    "验证令牌是否过期": "328d2182b77da2168eddbb44dfbba5d4574e4f23596f776c12beb4dbc79e6c47",
    "": "80422bc3d307b4a25bdafcc84ac7fb01cb55a09810e8b0f37bb12e0edb5c48ca",
}
"""SHA-256 of the packed little-endian float32. A change here is a new embedder and needs a new name."""


def nearest(question: str, texts: list[str]) -> int:
    return int(np.argmax(blend384.embed(texts) @ blend384.embed([question])[0]))


@pytest.mark.parametrize("text", GOLDEN)
def test_the_space_never_changes_under_its_name(text: str) -> None:
    packed = blend384.embed([text])[0].astype("<f4").tobytes()
    assert hashlib.sha256(packed).hexdigest() == GOLDEN[text]


def test_another_process_with_another_hash_seed_gives_the_same_bytes() -> None:
    program = f"from siftd.embed.blend384 import embed; print(embed([{EDITED!r}]).tobytes().hex())"
    told = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONHASHSEED": "7"}, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == blend384.embed([EDITED]).tobytes().hex()


def test_a_question_in_other_words_is_nearer_to_its_answer() -> None:
    """No word of a question is in its answer: how they look says nothing."""
    texts = [
        "Staging logs go to Grafana Cloud; production logs stay in our own Loki.",
        "The nightly build takes the dependencies from the internal mirror artifacts.lan.",
        "The crash on startup under Windows was a path with a trailing dot.",
        CENTS,
        EDITED,
    ]
    for answer, question in enumerate(
        [
            "which service shows test environment output",
            "where does the automatic compile fetch libraries",
            "why did it not launch on Microsoft systems",
        ]
    ):
        assert nearest(question, texts) == answer
        assert (hash384.embed(texts) @ hash384.embed([question])[0])[answer] < 0.1, "by its looks it is far"


def test_identifiers_and_typos_are_still_near_by_their_looks() -> None:
    texts = [EDITED, CENTS, "Renamed the invoice parser"]
    assert nearest("validateToken", texts) == 0
    assert nearest("integar cents amonts", texts) == 1


def test_a_part_that_is_nothing_leaves_all_to_the_other() -> None:
    question = blend384.embed_question("validate tokens", {})
    assert not question[:LOOKS_DIM].any(), "no word of it is rare anywhere"
    assert float(np.linalg.norm(question)) == pytest.approx(1.0, abs=1e-6)


def test_a_word_is_cut_into_the_pieces_that_come_first_in_the_table() -> None:
    numbers = word_table.load().numbers
    names = {number: piece for piece, number in numbers.items()}

    def pieces(word: str) -> list[str]:
        return [names[number] for number in np.frombuffer(word_table.pieces_of(word), np.intc)[::2].tolist()]

    assert pieces("token") == ["▁token"]
    assert pieces("postgres") == ["▁post", "gres"]
    assert "".join(pieces("kubernetes")) == "▁kubernetes"
    assert pieces("🦉") == ["▁", *(f"<0x{byte:02X}>" for byte in "🦉".encode())]


def test_the_table_is_whole_and_of_its_version() -> None:
    table = word_table.load()
    assert table.values.shape == (len(table.numbers), blend384.MEANING_DIM)
    assert len(table.scales) == len(table.numbers)
    assert all(f"<0x{byte:02X}>" in table.numbers for byte in range(256)), "no word is without a piece"


def test_importing_the_embedder_registry_loads_neither_numpy_nor_the_table() -> None:
    program = (
        "import sys, siftd.embed.embedder; sys.exit('numpy' in sys.modules or 'siftd.embed.word_table' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
