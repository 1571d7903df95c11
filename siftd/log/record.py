"""Records of the log: one line of JSON each, so that grep and a text editor can read them.

    {"seq":12,"kind":"capture","uid":"…","frameUid":"…","ts":1795219305436,"sessionId":"…","eventKind":"tool",
     "tool":"Bash","action":"run","inputHash":"…","tokensEst":41,"client":"claude-code",…,"payload":{…},"crc":"9a3f01bc"}\\n

(on one line). The crc is CRC-32 over the bytes before `,"crc":`, in eight lower hex digits. `payload` is the
canonical JSON that `inputHash` is the SHA-256 of, byte for byte. A line without its newline, or whose crc does not
hold, is not a record: zero-filled and half-written tails both fail it.

Such a line at the end of the newest segment is a torn tail, the normal trace of a crash: replay sets the bytes
aside and goes on. Anywhere else it is corrupt: quarantined, counted, told.

Kinds: `segment` begins every segment and names the format's version, the store and its secret; `capture` is an event;
`session` is a session's start, end or compaction; the others are intents (`siftd.store.intents`: what was asked
for by a person or an agent), their `payload` says what. Readers skip kinds and fields that they do not know.

Version 1. Of a capture were added later: `saidBy` (whose words it brings), `eventKind` and `action` (`siftd.model`).
Of a record without them, its tool and the way it came decide (`siftd.clients.older`).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import msgspec

from siftd.capture.admission import Redacted, RedactedEvent, RedactedIntent, RedactedSessionChange

VERSION = 1
_CRC_MARK = b',"crc":"'
_TAIL_BYTES = len(_CRC_MARK) + 8 + len(b'"}\n')


class Record(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True, frozen=True):
    """One record as it is read back. `payload` is the raw canonical JSON."""

    seq: int = 0
    kind: str
    uid: str | None = None
    frame_uid: str | None = None
    ts: int = 0
    session_id: str = ""
    event_kind: str | None = None
    tool: str = ""
    action: str | None = None
    input_hash: str = ""
    tokens_est: int = 0
    client: str = ""
    outcome: str | None = None
    cwd: str | None = None
    native_key: str | None = None
    input_key: str | None = None
    prompt_id: str | None = None
    agent_id: str | None = None
    spawned_agent_id: str | None = None
    said_by: str | None = None
    change: str | None = None
    detail: str | None = None
    version: int | None = None
    store: str | None = None
    secret: str | None = None
    payload: msgspec.Raw = msgspec.Raw(b"")


OF_AN_EVENT = tuple(
    name for name in RedactedEvent.__struct_fields__ if name in Record.__struct_fields__ and name != "uid"
)
"""What a record keeps of a `RedactedEvent` as it is, besides its payload and its final uid."""
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Record)


def encode_segment(store: str, ts: int, secret: str | None = None) -> bytes:
    """Return the line that begins a segment; `secret` is the fingerprint of what its identities are keyed by."""
    return _seal(_encoder.encode(Record(kind="segment", version=VERSION, store=store, secret=secret, ts=ts)))


def record_of(event: Redacted, seq: int, uid: str | None) -> Record:
    """Return the record that keeps `event` under `seq` and its final `uid`."""
    if isinstance(event, RedactedSessionChange):
        return Record(
            seq=seq,
            kind="session",
            frame_uid=event.frame_uid,
            ts=event.ts,
            session_id=event.session_id,
            client=event.client,
            change=event.change,
            cwd=event.cwd,
            detail=event.detail,
        )
    if isinstance(event, RedactedIntent):
        return Record(
            seq=seq,
            kind=event.kind,
            ts=event.ts,
            session_id=event.session_id,
            payload=msgspec.Raw(event.payload_json),
        )
    fields = {name: getattr(event, name) for name in OF_AN_EVENT}
    return Record(seq=seq, kind="capture", uid=uid, payload=msgspec.Raw(event.payload_json), **fields)


def encode(record: Record) -> bytes:
    """Return the line of a record."""
    return _seal(_encoder.encode(record))


def _seal(document: bytes) -> bytes:
    body = document[:-1]
    return b'%b%b%08x"}\n' % (body, _CRC_MARK, zlib.crc32(body))


def is_whole(line: bytes) -> bool:
    """Whether `line`, its newline included, is a record whose crc holds."""
    body, seal = line[:-_TAIL_BYTES], line[-_TAIL_BYTES:]
    return seal == b'%b%08x"}\n' % (_CRC_MARK, zlib.crc32(body))


def decode(line: bytes) -> Record:
    """Return the record of a whole line. Raises msgspec.MsgspecError for a line no siftd has written."""
    return _decoder.decode(line)


def iter_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, line with its newline) of a segment's bytes; the last may lack its newline."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield start, data[start:end]
        start = end
