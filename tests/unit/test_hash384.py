"""The built-in embedder's space, and the words it and full text share."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from siftd.embed import hash384
from siftd.embed.words import INDEX_WORDS_MAX_BYTES, index_words, split_words

EDITED = "Edited src/auth.py: validate_token() now rejects expired tokens"
FAILED = "`pytest -q` failed (exit 1): 2 failed: test_login, test_refresh"

GOLDEN = {
    EDITED: "794fe3838729650718f5c6e803cc30315f099b4c5b32454aec6c28a1ae38b6db",
    FAILED: "0c6e568fd2e9069904fbe105beb2148f430ffbd03dd98ce28e36d1eaacf1fb71",
    "验证令牌是否过期": "1c95912538c55489ac694e240a6db0bfb7a3a3bee26c655ce91c384f45947e7d",
    "": "80422bc3d307b4a25bdafcc84ac7fb01cb55a09810e8b0f37bb12e0edb5c48ca",
}
"""SHA-256 of the packed little-endian float32. A change here is a new embedder and needs a new name."""


def cosine(one: str, other: str) -> float:
    first, second = hash384.embed([one, other])
    return float(first @ second)


@pytest.mark.parametrize("text", GOLDEN)
def test_the_space_never_changes_under_its_name(text: str) -> None:
    packed = hash384.embed([text])[0].astype("<f4").tobytes()
    assert hashlib.sha256(packed).hexdigest() == GOLDEN[text]


def test_another_process_with_another_hash_seed_gives_the_same_bytes() -> None:
    program = f"from siftd.embed.hash384 import embed; print(embed([{EDITED!r}]).tobytes().hex())"
    told = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONHASHSEED": "7"}, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == hash384.embed([EDITED]).tobytes().hex()


def test_no_texts_give_no_rows() -> None:
    assert hash384.embed([]).shape == (0, hash384.DIM)


@pytest.mark.parametrize("text", ["", "   ", "!?… --- ___"])
def test_a_text_without_words_is_the_zero_row(text: str) -> None:
    assert not hash384.embed([text]).any()


def test_a_question_is_nearer_to_its_answer_than_to_anything_else() -> None:
    texts = [EDITED, FAILED, "Chose SQLite over a server database", "Renamed the invoice parser", "部署到生产环境失败"]
    for question, answer in [
        ("how do we validate tokens?", 0),
        ("validateToken", 0),
        ("why is refreshing failing", 1),
        ("which database did we choose", 2),
        ("parsing of invoices", 3),
        ("生产环境", 4),
    ]:
        scores = hash384.embed(texts) @ hash384.embed([question])[0]
        assert int(np.argmax(scores)) == answer, question


def test_unrelated_texts_are_nearly_orthogonal() -> None:
    assert abs(cosine("a chocolate cake with strawberries", EDITED)) < 0.15


def test_a_run_repeated_with_another_duration_is_a_near_duplicate() -> None:
    assert cosine("`pytest -q`: 12 passed in 0.42s", "`pytest -q`: 12 passed in 0.40s") >= 0.95


def test_saying_a_word_often_counts_less_than_in_proportion() -> None:
    assert cosine("redis " * 50 + "postgres", "postgres") > 0.1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("validateToken", "validatetoken validate token"),
        ("src/auth_test.py", "src auth_test auth test py"),
        ("HTTPServer.handleRequest", "httpserver http server handlerequest handle request"),
        ("siftd.embed.words", "siftd embed words"),
        ("--max-retries=3", "max retries 3"),
        ("utf8 v10", "utf8 utf v10 10"),
        ("__init__", "init"),
        ("MAX_SIZE", "max_size max size"),
        ("STRASSE straße", "strasse strasse"),
        ("ﬁle", "file"),
        ("über_größe", "über_grösse über grösse"),
        ("验证令牌 foo中文bar", "验证 证令 令牌 foo 中文 bar"),
        ("중", "중"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
        ("", ""),
    ],
)
def test_identifiers_and_paths_are_split_beside_their_whole_form(text: str, words: str) -> None:
    assert split_words(text) == words.split()


def test_index_words_are_distinct_and_in_order() -> None:
    assert index_words("token validateToken Token test") == "token validatetoken validate test"


def test_index_words_keep_their_bound_in_bytes() -> None:
    stored = index_words(" ".join(f"größe{number}" for number in range(5000)))
    assert INDEX_WORDS_MAX_BYTES - 20 < len(stored.encode()) <= INDEX_WORDS_MAX_BYTES


def test_a_very_long_run_of_characters_is_kept_by_its_beginning() -> None:
    assert [len(word) for word in split_words("x" * 1_000_000)] == [64]


def test_importing_the_words_does_not_load_numpy() -> None:
    program = "import sys, siftd.embed.words; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
