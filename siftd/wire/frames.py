"""Frames: what travels over the socket, and the two forms of message in them.

A frame is a 4-byte big-endian length and that many bytes of message, 1 to 16 MiB:

    00 00 00 10  7b 22 6b 69 6e 64 22 3a 22 68 65 6c 6c 6f 22 7d      {"kind":"hello"}

A message that begins with `{` is UTF-8 JSON with a `kind`. One that begins with byte 01 is a hook frame: a
2-byte big-endian header length, the header (JSON: `client`, `frameUid`, `root`, `ts`, `bytes`), then the client's raw
bytes, unparsed. `bytes` is how many there were: when they do not fit a frame, none of them follow.

    01  00 3f  {"client":"claude-code","frameUid":"…","root":"/src/a","ts":…}  {"session_id":…}

With `"tell":1` in its header it is answered twice, once it is kept: `{"ok":true,"more":true,…}`, and then with what
there is to tell the agent at this event (hooks/recall.py), `{"ok":true,"output":{…}}`, the output as the client wants
it printed, or `{"ok":true}`. The same message with 02 for 01 asks for that alone.

Answers come in the order of their requests and begin literally with `{"ok":true`, `{"ok":false,"retry":true`
or `{"ok":false,"retry":false`, so that a hook reads them without a JSON parser; then `error{code,message,hint}`.
Long work sends `{"progress":{…}}` frames before its answer. The end of the stream is no answer.

Compatibility: PROTOCOL grows when a message changes meaning; a daemon accepts this protocol and the one before.
Unknown fields are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from siftd.errors import FrameTooLarge, ProtocolError

PROTOCOL = 1
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
LENGTH_BYTES = 4
HOOK_MARK = 0x01
CONTEXT_MARK = 0x02
_MAX_HEADER_BYTES = 0xFFFF
_HANDED_OVER_BYTES = 1024 * 1024
"""A message as large as this is given as the bytearray in which it was gathered: a copy of 16 MiB takes 15 ms."""


def encode_frame(message: bytes) -> bytes:
    """Return the frame that carries `message`."""
    if len(message) > MAX_MESSAGE_BYTES:
        raise FrameTooLarge(f"a message of {len(message)} bytes is larger than 16 MiB")
    return len(message).to_bytes(LENGTH_BYTES, "big") + message


def encode_json(message: object) -> bytes:
    """Return the frame that carries `message` as JSON. For clients; the daemon has a faster encoder."""
    return encode_frame(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def encode_hook(header: bytes, raw: bytes) -> bytes:
    """Return the hook frame with JSON `header` around a client's `raw` bytes."""
    if len(header) > _MAX_HEADER_BYTES:
        raise FrameTooLarge("a hook frame's header is longer than 65,535 bytes")
    return encode_frame(b"\x01" + len(header).to_bytes(2, "big") + header + raw)


def split_hook(message: bytes) -> tuple[bytes, bytes]:
    """Return (header, raw) of a hook message."""
    end = 3 + int.from_bytes(message[1:3], "big")
    if len(message) < 3 or len(message) < end:
        raise ProtocolError("a hook frame is shorter than its header")
    return message[3:end], message[end:]


class FrameBuffer:
    """Cuts a stream of bytes into messages, whatever the pieces they arrive in."""

    __slots__ = ("_buffer", "_position")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._position = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Add `data` and yield every message that is now whole.

        Raises FrameTooLarge or ProtocolError as soon as a length says so; the stream is of no use afterwards.
        """
        if not self._buffer and len(data) >= LENGTH_BYTES and _length(data) + LENGTH_BYTES == len(data):
            yield data[LENGTH_BYTES:]  # the usual case: one frame in one piece
            return
        self._buffer += data
        while (message := self._take()) is not None:
            yield message
        if self._position:
            del self._buffer[: self._position]
            self._position = 0

    @property
    def is_midway(self) -> bool:
        """Whether a frame has begun and not ended."""
        return len(self._buffer) > self._position

    def _take(self) -> bytes | None:
        start = self._position + LENGTH_BYTES
        if len(self._buffer) < start:
            return None
        length = _length(self._buffer[self._position : start])
        if len(self._buffer) < start + length:
            return None
        if length >= _HANDED_OVER_BYTES and len(self._buffer) == start + length:
            whole, self._buffer, self._position = self._buffer, bytearray(), 0
            del whole[:start]  # which moves its beginning and copies nothing
            return whole  # type: ignore[return-value]  # read as bytes are, and never changed; `typing` would cost `mem` 5 ms
        self._position = start + length
        return bytes(memoryview(self._buffer)[start : start + length])


def _length(data: bytes | bytearray) -> int:
    """Return the length that a frame's first bytes announce."""
    length = int.from_bytes(data[:LENGTH_BYTES], "big")
    if length > MAX_MESSAGE_BYTES:
        raise FrameTooLarge(f"a frame announces {length} bytes, more than 16 MiB")
    if length == 0:
        raise ProtocolError("a frame announces no bytes at all")
    return length
