"""The frame codec: whole, in every prefix, in any pieces, with anything behind it; no bytes can hurt it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.errors import FrameTooLarge, ProtocolError
from siftd.wire.frames import (
    HOOK_MARK,
    MAX_MESSAGE_BYTES,
    FrameBuffer,
    encode_frame,
    encode_hook,
    encode_json,
    split_hook,
)

messages = st.lists(st.binary(min_size=1, max_size=40), max_size=6)


def pieces_of(stream: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    return [stream[start:end] for start, end in pairwise(places)]


@settings(max_examples=200)
@given(messages, st.lists(st.integers(0, 500), max_size=12))
def test_any_cut_of_a_stream_gives_the_same_messages(sent: list[bytes], cuts: list[int]) -> None:
    buffer = FrameBuffer()
    stream = b"".join(map(encode_frame, sent))
    assert [message for piece in pieces_of(stream, cuts) for message in buffer.feed(piece)] == sent
    assert not buffer.is_midway


@settings(max_examples=50)
@given(st.binary(min_size=1, max_size=60))
def test_no_prefix_of_a_frame_is_a_message_and_the_rest_completes_it(message: bytes) -> None:
    frame = encode_frame(message)
    for end in range(len(frame)):
        buffer = FrameBuffer()
        assert list(buffer.feed(frame[:end])) == []
        assert buffer.is_midway == (end > 0)
        assert list(buffer.feed(frame[end:])) == [message]


@settings(max_examples=100)
@given(st.binary(min_size=1, max_size=60), st.binary(max_size=3))
def test_bytes_behind_a_frame_are_kept_for_the_next(message: bytes, behind: bytes) -> None:
    buffer = FrameBuffer()
    assert list(buffer.feed(encode_frame(message) + behind)) == [message]
    assert buffer.is_midway == bool(behind)


@settings(max_examples=300)
@given(st.lists(st.binary(max_size=30), max_size=6))
def test_random_bytes_are_messages_or_a_protocol_error(chunks: list[bytes]) -> None:
    buffer = FrameBuffer()
    stream = b"".join(chunks)
    taken = 0
    try:
        for chunk in chunks:
            for message in buffer.feed(chunk):
                assert stream[taken + 4 :].startswith(message)
                taken += 4 + len(message)
    except ProtocolError:
        length = int.from_bytes(stream[taken : taken + 4], "big")
        assert length == 0 or length > MAX_MESSAGE_BYTES


@pytest.mark.parametrize("length", [MAX_MESSAGE_BYTES + 1, 0xFFFFFFFF])
def test_a_length_beyond_16_mib_is_refused_before_anything_of_it_arrives(length: int) -> None:
    with pytest.raises(FrameTooLarge):
        list(FrameBuffer().feed(length.to_bytes(4, "big")))
    with pytest.raises(FrameTooLarge):
        encode_frame(bytes(MAX_MESSAGE_BYTES + 1))


def test_a_frame_of_16_mib_is_taken() -> None:
    frame = encode_frame(bytes(MAX_MESSAGE_BYTES))
    assert [len(message) for message in FrameBuffer().feed(frame)] == [MAX_MESSAGE_BYTES]


def test_an_empty_frame_is_refused() -> None:
    with pytest.raises(ProtocolError):
        list(FrameBuffer().feed(bytes(4)))


@settings(max_examples=100)
@given(st.binary(max_size=300), st.binary(max_size=300))
def test_a_hook_frame_splits_into_what_it_was_made_of(header: bytes, raw: bytes) -> None:
    (message,) = FrameBuffer().feed(encode_hook(header, raw))
    assert message[0] == HOOK_MARK
    assert split_hook(message) == (header, raw)


@settings(max_examples=100)
@given(st.binary(max_size=40))
def test_a_hook_frame_shorter_than_its_header_is_a_protocol_error(message: bytes) -> None:
    announced = int.from_bytes(message[1:3], "big")
    if len(message) >= 3 + announced and len(message) >= 3:
        header, raw = split_hook(message)
        assert message[3:] == header + raw
    else:
        with pytest.raises(ProtocolError):
            split_hook(message)


def test_a_header_has_its_bound() -> None:
    with pytest.raises(FrameTooLarge):
        encode_hook(bytes(65_536), b"")


def test_json_that_no_utf8_can_carry_is_still_a_frame() -> None:
    (message,) = FrameBuffer().feed(encode_json({"kind": "search", "query": "\ud800"}))
    assert message == b'{"kind":"search","query":"?"}'
