"""Routes about the process itself: codes for pages, its end."""

from __future__ import annotations

import os
import signal

from siftd.web.credentials import CODE_SECONDS
from siftd.web.routing import Call
from siftd.web.types import CodeAnswer, EndAnswer


def code(call: Call) -> CodeAnswer:
    return CodeAnswer(code=call.state.credentials.make_code(), expires_in_seconds=int(CODE_SECONDS))


def end(_: Call) -> EndAnswer:
    """End as a signal would: what is being answered is answered."""
    os.kill(os.getpid(), signal.SIGTERM)
    return EndAnswer(ended=True)
