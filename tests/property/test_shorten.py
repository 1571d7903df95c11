"""No cut, wherever it falls, lets a secret or a private word through."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.capture import truncate
from siftd.capture.admission import Admission, encode_canonical
from siftd.model import Event
from siftd.redact import Redactor

TOKEN = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2fG4hJ6"
PIECES = [TOKEN[at : at + 12] for at in range(4, len(TOKEN) - 12)]
WORDS = "the private words of a person "
REDACTOR = Redactor(b"secret")


def admitted(payload: Any, *, limit: int, raw_bytes: int = 0, path: str = "/src/a.txt") -> str:
    event = Event(
        client="c",
        session_id="s",
        kind="tool",
        tool="Bash",
        action="run",
        payload={"tool_input": {"file_path": path}, "tool_response": payload},
        ts=1,
        identity=(),
    )
    door = Admission(b"secret", REDACTOR, max_payload_bytes=limit)
    return door.admit(event, raw_bytes=raw_bytes).payload_json.decode()


def leaks(text: str) -> bool:
    return any(piece in text for piece in PIECES) or "private words" in text


@pytest.mark.slow
@given(st.integers(0, 9_000), st.sampled_from([4_096, 5_000, 8_000]), st.sampled_from(["x", "é", " ", "\n", '"']))
@settings(max_examples=40)
def test_shortening_uncovers_no_secret_at_any_position(position: int, limit: int, filler: str) -> None:
    text = filler * position + f" {TOKEN} " + filler * (9_000 - position)
    assert not leaks(admitted({"stdout": text}, limit=limit))
    lines = [filler * (position % 150) + f" {TOKEN} "] * (limit // 100)
    assert not leaks(admitted(lines, limit=limit))


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=30) | st.just("y" * 700),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=4) | st.just("k" * 300), values, max_size=8), st.sampled_from([200, 512]))
@settings(max_examples=60)
def test_any_payload_is_made_to_fit(value: dict[str, Any], limit: int) -> None:
    size = len(encode_canonical(value))
    if size > limit:
        assert len(encode_canonical(truncate.shorten(value, encode_canonical, limit))) <= limit


def test_of_the_longest_text_no_more_is_redacted_than_a_courier_has_time_for() -> None:
    """Of nothing but secrets half a megabyte takes some three seconds; after 4.5 the courier counts it as lost."""
    read: list[str] = []
    truncate.cut_raw({"stdout": "--password hunter2x " * 800_000}, lambda text: read.append(text) or text)
    assert 0 < sum(map(len, read)) <= 512 * 1024


@pytest.fixture
def small_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same cuts a thousand times smaller, so that every position can be tried."""
    monkeypatch.setattr(truncate, "RAW_TEXT_MAX", 4_096)
    monkeypatch.setattr(truncate, "DROPPED_AT_CUT", 64)


def cut(value: Any, *, jsx: bool = False) -> str:
    raw = truncate.cut_raw(value, lambda text: REDACTOR.text(text, jsx=jsx), jsx=jsx)
    return json.dumps(REDACTOR.value(raw, jsx=jsx), ensure_ascii=False)


@pytest.mark.slow
def test_a_secret_that_straddles_the_cut_of_a_raw_text_does_not_leak(small_cuts: None) -> None:
    for position in [*range(1_900, 2_100), *range(3_900, 4_100)]:
        text = "x " * (position // 2) + TOKEN + " x" * ((6_100 - position) // 2)
        assert not leaks(cut(text)), position


@pytest.mark.parametrize("closed", [True, False])
def test_private_words_across_the_cut_do_not_leak(small_cuts: None, closed: bool) -> None:
    """The opening tag falls in the head, the words in the tail: each half alone would not know."""
    for begin in range(0, 6_000, 97):
        end = "</private>" if closed else ""
        text = "x" * begin + "<private>" + WORDS * 150 + end + ("x" * 3_000 if closed else "")
        assert not leaks(cut(text)), begin
        assert not leaks(cut({"a": [text], "b": 1})), begin
        assert not leaks(cut({text: "a key"})), begin


def test_private_words_across_the_lines_of_a_list_do_not_leak(small_cuts: None) -> None:
    lines = ["x" * 5_000, "<private>", WORDS * 200, WORDS, "</private>", "y" * 100]
    kept = cut(lines)
    assert not leaks(kept)
    assert "y" * 100 in kept


def test_what_follows_a_closed_private_part_is_kept(small_cuts: None) -> None:
    kept = cut("<private>" + WORDS * 300 + "</private> the end")
    assert not leaks(kept)
    assert kept.endswith(' the end"')


def test_in_jsx_a_component_called_private_is_code(small_cuts: None) -> None:
    text = "<Private>" + "x" * 9_000 + "</Private> the end"
    assert cut(text, jsx=True).endswith('the end"')
    assert "bytes left out" in cut(text, jsx=True)
    assert "bytes left out" not in cut(text)


def test_what_is_dropped_is_counted_and_the_ends_stay(small_cuts: None) -> None:
    text = "".join(f"{number:05} " for number in range(2_000))
    kept = json.loads(cut(text))
    head, _, rest = kept.partition("\n[… ")
    number, _, tail = rest.partition(" bytes left out …]\n")
    assert (text.startswith(head), text.endswith(tail)) == (True, True)
    assert (len(head), len(tail)) == (2_048 - 64, 2_048 - 64)
    assert int(number) == len(text) - len(head) - len(tail)


@pytest.mark.slow
def test_the_real_cut_is_made_where_the_raw_bytes_are_many() -> None:
    text = "x " * 1_000_000 + "<private>" + WORDS * 100_000 + f" {TOKEN} " + "</private>" + " y" * 1_500_000
    kept = admitted({"stdout": text}, limit=262_144, raw_bytes=len(text))
    assert len(kept) <= 262_144
    assert not leaks(kept)
