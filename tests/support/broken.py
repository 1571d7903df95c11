"""Broken frames and broken files, from a seed: for the suite's fuzz tests and for scripts/fuzz.

Nothing here ends a daemon on purpose or writes outside the folder it is given: `stop` is sent with a wrong type only,
and every path is one of a few that are harmless.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from transcripts import read_transcript

from siftd.capture.admission import as_stored
from siftd.capture.intake import Intake
from siftd.clients.claude_code.transcript import transcript_head
from siftd.config import Settings
from siftd.errors import ProtocolError, SiftdError
from siftd.log.record import encode, record_of
from siftd.log.segments import iter_segment, read_segment
from siftd.log.spool import iter_spool, readmit
from siftd.model import Event
from siftd.wire.frames import HOOK_MARK, FrameBuffer, encode_frame, encode_hook
from siftd.wire.requests import decode_request
from siftd.workspace.home import ensure_workspace
from siftd.workspace.paths import Home

ENVELOPES = (Path(__file__).resolve().parents[1] / "data" / "claude-code" / "envelopes.jsonl").read_bytes().splitlines()
ODD: list[Any] = [None, True, 0, -1, 10**30, 1.5, "", "x", "\x00", "é" * 300, [], {}, [[]], {"a": {"b": [None]}}]
PATHS = ["", "./no/such/place", "\x00", "/dev/null", "/no/such/file", "/proc/self/mem"]
REQUESTS: list[dict[str, Any]] = [
    {"kind": "hello"},
    {"kind": "capture", "sessionId": "s", "tool": "Bash", "payload": {"tool_input": {"command": "ls"}}, "ts": 1},
    {"kind": "search", "query": "why", "k": 3, "filters": {"tool": "Bash", "since": 1, "file": "*.py"}},
    {"kind": "show", "id": "e1"},
    {"kind": "timeline", "around": "e1", "session": "s", "before": 2, "after": 2},
    {"kind": "sessions", "limit": 3},
    {"kind": "retry", "id": "e1"},
    {"kind": "undo", "id": "s1"},
    {"kind": "remember", "text": "fuzzed", "type": "fact", "tags": ["a"], "importance": 3, "from": 1, "until": 2},
    {"kind": "recall", "prompt": "why does it fail?", "sessionId": "s", "maxTokens": 10},
    {"kind": "brief", "sessionId": "s"},
    {"kind": "injections", "sessionId": "s"},
    {"kind": "forget", "ids": ["e999999"], "session": None, "dryRun": True},
    {"kind": "export", "path": "./no/such/place"},
    {"kind": "import", "path": "/no/such/file"},
    {"kind": "backup", "path": "./no/such/place"},
    {"kind": "backfill", "paths": ["/no/such/file"]},
    {"kind": "stop", "hold": "never"},
]
SLOW = ("forget", "backfill", "import", "info", "drain")
"""Kinds that read a whole store, or wait for the consolidator: rarer than the others, or a million takes a day."""


class Breaker:
    """Makes frames that are random, broken or odd."""

    def __init__(self, chance: random.Random, folder: str) -> None:
        self._chance = chance
        self._folder = folder

    def frame(self) -> bytes:
        """Return one frame, or what looks like one."""
        chance = self._chance
        kind = chance.random()
        if kind < 0.02:
            return self._bad_framing()
        if kind < 0.10:
            return encode_frame(chance.randbytes(chance.randint(1, 200)))
        if kind < 0.55:
            return encode_frame(self._damaged(self._hook_message()) or b"\x01")
        request = self._odd_request()
        message = json.dumps(request, ensure_ascii=chance.random() < 0.5).encode("utf-8", "replace")
        if request.get("kind") == "stop":
            return encode_frame(message)  # damaged, it might be one that is obeyed
        return encode_frame(self._damaged(message, often=0.2) or b"{")

    def _bad_framing(self) -> bytes:
        return self._chance.choice([bytes(4), b"\xff" * 4, b"\x01\x00\x00\x01", b"\x00\x00", b"\x00\x00\x01\x00{"])

    def _hook_message(self) -> bytes:
        chance = self._chance
        header: dict[str, Any] = {
            "client": "claude-code",
            "frameUid": f"{chance.getrandbits(128):032x}",
            "root": self._folder,
            "ts": 1_760_000_000_000,
        }
        if chance.random() < 0.1:
            header[chance.choice([*header, "bytes"])] = chance.choice(ODD)
        raw = chance.choice(ENVELOPES)
        if chance.random() < 0.5:
            raw = json.dumps(self._odd(json.loads(raw))).encode()
        return encode_hook(json.dumps(header).encode(), raw)[4:]

    def _odd_request(self) -> dict[str, Any]:
        chance = self._chance
        request = dict(chance.choice(REQUESTS))
        while request["kind"] in SLOW and chance.random() < 0.95:
            request = dict(chance.choice(REQUESTS))
        for _ in range(chance.randint(0, 3)):
            name = chance.choice([*request, "extra"])
            if name in ("path", "paths", "folder"):
                request[name] = chance.choice([*PATHS, [chance.choice(PATHS)], *ODD[:6]])
            elif name == "kind":
                request[name] = chance.choice([*ODD, "dance"])
            elif chance.random() < 0.2:
                request.pop(name, None)
            else:
                request[name] = chance.choice(ODD)
        if request.get("kind") == "forget":
            request["dryRun"] = True
        if request.get("kind") == "stop":
            request["hold"] = "never"
        return request

    def _odd(self, value: Any) -> Any:
        """Return a document with something else in one of its places."""
        chance = self._chance
        if isinstance(value, dict) and value and chance.random() < 0.8:
            name = chance.choice(list(value))
            return value | {name: self._odd(value[name])}
        if isinstance(value, list) and value and chance.random() < 0.8:
            at = chance.randrange(len(value))
            return [*value[:at], self._odd(value[at]), *value[at + 1 :]]
        return chance.choice([*ODD, "<private>" * chance.randint(1, 9), '{"' * chance.randint(1, 300)])

    def _damaged(self, data: bytes, often: float = 0.5) -> bytes:
        """Return data with bytes flipped, cut out, doubled or put in, or as it is."""
        return damaged(data, self._chance) if self._chance.random() < often else data


class Decoders:
    """Takes frames as the daemon does, up to where they would be kept."""

    def __init__(self, folder: Path) -> None:
        paths = Home(str(folder / "home")).for_workspace("0123456789abcdef")
        ensure_workspace(paths)
        self._intake = Intake(paths, Settings())

    def take(self, frame: bytes) -> list[str]:
        """Return what became of each message of a frame. Raises whatever is no error of ours."""
        taken: list[str] = []
        try:
            taken.extend(map(self._decode, FrameBuffer().feed(frame)))
        except ProtocolError as error:
            taken.append(error.code)
        return taken

    def _decode(self, message: bytes) -> str:
        try:
            if message[0] == HOOK_MARK:
                self._intake.from_hook(message)
                return "captured"
            return type(decode_request(message)).__name__
        except SiftdError as error:
            return error.code


class Readers:
    """Gives each reader of files something that is broken."""

    def __init__(self, chance: random.Random, folder: Path) -> None:
        self._chance = chance
        self._folder = folder
        self.read: Counter[str] = Counter()
        self.last = ""
        paths = Home(str(folder / "home")).for_workspace("0123456789abcdef")
        ensure_workspace(paths)
        self._spool = Path(paths.spool)
        self._intake = Intake(paths, Settings())
        admitted = self._intake.admit(
            Event(
                client="claude-code",
                session_id="s",
                kind="tool",
                tool="Bash",
                action="run",
                payload={"tool_input": {"command": "ls"}},
                ts=1,
                identity=("tool", "t1"),
            )
        )
        self._spooled = msgspec.json.encode({"version": 1, **as_stored(admitted)})
        self._segment = b"".join(encode(record_of(admitted, seq, f"u{seq}")) for seq in range(1, 6))
        self._transcript = b"".join(_transcript_lines())

    def read_something_broken(self) -> None:
        """Break one file and read it. Raises whatever a reader does not expect."""
        readers: list[Callable[[], None]] = [self._frames, self._log, self._sealed, self._transcripts, self._spools]
        reader = self._chance.choice(readers)
        self.last = reader.__name__.removeprefix("_")
        self.read[self.last] += 1
        reader()

    def _frames(self) -> None:
        buffer = FrameBuffer()
        stream = damaged(encode_frame(b'{"kind":"hello"}') * 3, self._chance)
        cut = self._chance.randrange(len(stream) + 1)
        try:
            for piece in (stream[:cut], stream[cut:]):
                for message in buffer.feed(piece):
                    assert message
        except SiftdError:
            pass

    def _log(self) -> None:
        good = [line for _, line, _ in iter_segment(self._segment)]
        for _, line, record in iter_segment(damaged(self._segment, self._chance)):
            assert record is None or line in good, "a wrong line was taken for a record"

    def _sealed(self) -> None:
        file = self._folder / "wal-1.ndjson.gz"
        file.write_bytes(damaged(gzip.compress(self._segment), self._chance))
        good = [line for _, line, _ in iter_segment(self._segment)]
        for _, line, record in iter_segment(read_segment(file)):
            assert record is None or line in good, "a wrong line was taken for a record"

    def _transcripts(self) -> None:
        lines = damaged(self._transcript, self._chance).splitlines(keepends=True)
        transcript_head(iter(lines))
        for decoded in read_transcript(iter(lines), session_id="s", complete=True):
            if isinstance(decoded, Event):
                with contextlib.suppress(SiftdError):
                    self._intake.admit(decoded)

    def _spools(self) -> None:
        file = self._spool / "1-a.json"
        file.write_bytes(damaged(self._spooled, self._chance))
        for found in iter_spool(str(self._spool)):
            with contextlib.suppress(SiftdError, KeyError, TypeError, ValueError):  # the daemon sets these aside
                readmit(found, self._intake)


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return data with bytes flipped, cut out, doubled or put in."""
    broken = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        if not broken:
            break
        at = chance.randrange(len(broken))
        match chance.randrange(5):
            case 0:
                broken[at] ^= 1 << chance.randrange(8)
            case 1:
                del broken[at : at + chance.randint(1, 40)]
            case 2:
                broken[at:at] = broken[at : at + chance.randint(1, 40)]
            case 3:
                broken[at:at] = chance.randbytes(chance.randint(1, 8))
            case _:
                broken[at:at] = chance.choice(
                    [b"[", b'{"a":', b"\xed\xa0\x80", b"\\ud800", b"\n", b"\x00"]
                ) * chance.choice([1, 3, 3000])
    return bytes(broken)


def _transcript_lines() -> Iterator[bytes]:
    common = {"sessionId": "s", "cwd": "/src", "timestamp": "2026-01-01T00:00:00.000Z", "version": "2.0.0"}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}
    for number, (kind, content) in enumerate(
        [
            ("user", "list it"),
            ("assistant", [call]),
            ("user", [result]),
            ("assistant", [{"type": "text", "text": "done"}]),
        ]
    ):
        message = {"role": kind, "content": content}
        record = {
            "type": kind,
            "uuid": f"u{number}",
            "message": message,
            "toolUseResult": {"stdout": "a.py"},
            **common,
        }
        yield json.dumps(record).encode() + b"\n"
