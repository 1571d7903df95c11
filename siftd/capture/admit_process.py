"""Admitting one large message in a process of its own: `siftd admit`, started by the daemon.

Reading 16 MiB of JSON keeps the interpreter's lock for up to 1.6 s, in one call that nothing can interrupt: in a thread
of the daemon nobody else would be answered meanwhile. What a message does to its reader, by its size or by killing it,
it does to this process alone.

Standard input is one line of JSON (`Order`), then the message; standard output is one JSON object:

    {"kept":{"kind":"capture",…,"payload":{…}},     `as_stored`: redacted, and redacted again when taken
     "learnt":["…"]}                                 values to be hidden in the session; they stay in memory
    {"off":{"session_id":…,"ts":…}}                  the session is opted out
    {"ignored":true}                                 the configuration says that it is not captured
    {"elsewhere":true}                               the folder belongs to another workspace
    {"other":true}                                   a request that is no capture
    {"refused":{"code":…,"reason":…,"message":…,"hint":…}}
"""

from __future__ import annotations

import resource
from collections.abc import Iterable
from typing import Any, BinaryIO

import msgspec

from siftd.capture.admission import as_stored
from siftd.capture.intake import Ignored, Intake, OptedOut
from siftd.config import Settings
from siftd.errors import SiftdError, WrongWorkspace
from siftd.redact.session_values import EVENT_MAX, SessionValues
from siftd.wire.frames import HOOK_MARK
from siftd.wire.requests import Capture, decode_request
from siftd.workspace.identity import path_from_text
from siftd.workspace.paths import Home

MEMORY_BYTES_MAX = 2 * 1024**3
"""Of address space. Arbitrary: the worst of 16 MiB, five million empty lists, takes a quarter."""
CPU_SECONDS_MAX = 120
"""Arbitrary: the same five million lists take forty."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Whose message it is, and by which rules it is read."""

    home: str
    namespace: str
    key: str
    root: str
    settings: dict[str, Any]


class Learnt(SessionValues):
    """What one message teaches of its session: the daemon hides it there from now on."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[str] = []

    def learn(self, session_id: str, values: Iterable[str]) -> None:
        values = list(values)
        self.values += values[: EVENT_MAX - len(self.values)]
        super().learn(session_id, values)


def admit(order: Order, message: bytes) -> dict[str, Any]:
    """Return what becomes of a message, ready to be encoded."""
    paths = Home(order.home, order.namespace).for_workspace(order.key)
    intake = Intake(paths, Settings.of(order.settings), root=path_from_text(order.root))
    learnt = Learnt()
    intake.admission = intake.admission.seeking(learnt)
    try:
        if message[0] == HOOK_MARK:
            return {"kept": as_stored(intake.from_hook(message)), "learnt": learnt.values}
        request = decode_request(message)
        if not isinstance(request, Capture):
            return {"other": True}
        return {"kept": as_stored(intake.from_capture(request, len(message))), "learnt": learnt.values}
    except OptedOut as off:
        return {"off": {"session_id": off.session_id, "ts": off.ts}}
    except Ignored:
        return {"ignored": True}
    except WrongWorkspace:
        return {"elsewhere": True}
    except SiftdError as error:
        reason = getattr(error, "reason", error.code)
        return {"refused": {"code": error.code, "reason": reason, "message": error.message, "hint": error.hint}}


def _limit(kind: int, most: int) -> None:
    """Bound what this process may use, where nobody has bounded it further."""
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))


def run(stream: BinaryIO, out: BinaryIO) -> int:
    """`siftd admit`: read an order and its message, write what becomes of it; return the exit status."""
    _limit(resource.RLIMIT_CORE, 0)  # it holds a raw frame
    _limit(resource.RLIMIT_CPU, CPU_SECONDS_MAX)
    _limit(resource.RLIMIT_AS, MEMORY_BYTES_MAX)
    order = msgspec.json.decode(stream.readline(), type=Order)
    out.write(msgspec.json.encode(admit(order, stream.read())))
    return 0
