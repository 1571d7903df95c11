"""A little of scripts/fuzz in the suite: whatever arrives, each decoder and reader answers with an error of ours."""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from pathlib import Path

import pytest
from broken import ODD, REQUESTS, Breaker, Decoders, Readers
from hypothesis import given
from hypothesis import strategies as st

from siftd.capture.intake import Intake
from siftd.config import Settings
from siftd.errors import SiftdError
from siftd.wire.requests import decode_request, encode
from siftd.workspace.home import ensure_workspace
from siftd.workspace.paths import Home

odd_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(ODD),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
requests = st.sampled_from(REQUESTS).flatmap(
    lambda request: st.tuples(st.just(request), st.sampled_from([*request, "extra"]), odd_values)
)


@pytest.fixture(scope="module")
def intake(tmp_path_factory: pytest.TempPathFactory) -> Intake:
    paths = Home(str(tmp_path_factory.mktemp("home") / "home")).for_workspace("0123456789abcdef")
    ensure_workspace(paths)
    return Intake(paths, Settings())


@given(requests)
def test_any_field_of_any_request_may_be_anything(request_: tuple[dict[str, object], str, object]) -> None:
    request, name, value = request_
    with contextlib.suppress(SiftdError, ValueError, OverflowError):
        message = encode(request | {name: value})
        assert decode_request(message) is not None


@given(st.binary(max_size=300))
def test_any_bytes_are_a_request_or_an_error_of_ours(message: bytes) -> None:
    with contextlib.suppress(SiftdError):
        decode_request(message)


@given(st.binary(max_size=200), st.binary(max_size=60))
def test_any_bytes_behind_the_hooks_mark_are_an_event_or_an_error_of_ours(
    intake: Intake, raw: bytes, header: bytes
) -> None:
    for message in (b"\x01" + raw, b"\x01" + len(header).to_bytes(2, "big") + header + raw):
        with contextlib.suppress(SiftdError):
            intake.from_hook(message)


@pytest.mark.parametrize("seed", range(4))
def test_broken_frames_end_in_an_answer_or_an_error_of_ours(tmp_path: Path, seed: int) -> None:
    print(f"seed {seed}")
    breaker, decoders = Breaker(random.Random(seed), "/src/demo"), Decoders(tmp_path)
    taken = Counter(each for _ in range(300) for each in decoders.take(breaker.frame()))
    assert {"captured", "bad_request", "protocol_error", "Search"} <= set(taken), "good and bad ones are among them"


@pytest.mark.parametrize("seed", range(4))
def test_broken_files_are_read_as_far_as_they_are_whole(tmp_path: Path, seed: int) -> None:
    """Frames, log segments, compressed ones, transcripts, the spool: no wrong record is ever taken for a good one."""
    print(f"seed {seed}")
    readers = Readers(random.Random(seed), tmp_path)
    for _ in range(150):
        readers.read_something_broken()
    assert len(readers.read) == 5
