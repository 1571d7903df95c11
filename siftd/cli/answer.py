"""`siftd answer`: what a person typed behind `/siftd:mem`, answered as the client's hook answers a prompt.

The hook's envelope stands on standard input, the answer is one JSON object: the prompt is not sent on, and its reason,
which the client shows to the person, is what `mem` printed.

    {"decision":"block","reason":"…","hookSpecificOutput":{"hookEventName":"UserPromptSubmit",…}}
"""

from __future__ import annotations

import contextlib
import io
import json
import signal
from typing import Any, BinaryIO, NoReturn

from siftd.cli import run as run_mem
from siftd.errors import RequestInvalid
from siftd.install.slash import parse_slash

COMMAND = "/siftd:mem"
ENVELOPE_BYTES_MAX = 16 * 1024 * 1024
ANSWER_SECONDS = 50
"""The plugin's hook of a prompt has 60 s: a drain or a backfill goes on in the daemon."""


class TooLate(BaseException):
    """Raised by the alarm; no OSError, which `mem` would take for one of its own."""


def run(stream: BinaryIO) -> int:
    """Print the answer to the envelope in `stream`; return the exit status, always 0 as for every hook."""
    print(json.dumps(as_output(answer(stream.read(ENVELOPE_BYTES_MAX)))))
    return 0


def as_output(said: str) -> dict[str, Any]:
    """Return what the client shows to the person instead of sending the prompt on."""
    hidden = {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": True}
    return {"decision": "block", "reason": said, "hookSpecificOutput": hidden}


def answer(envelope: bytes) -> str:
    """Return what `mem` prints for what was typed."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            typed = str(json.loads(envelope)["prompt"]).removeprefix(COMMAND).strip()
            with _at_most(ANSWER_SECONDS):
                run_mem(parse_slash(typed))
        except RequestInvalid as error:
            said.write(f"mem: {error.message}; {error.hint}")
        except Exception as error:  # noqa: BLE001 - a hook's boundary: its class tells, and nothing of what was typed
            said.write(f"mem: it failed ({type(error).__name__}); `mem doctor` in a terminal says more")
        except TooLate:
            said.write(f"mem: not done within {ANSWER_SECONDS} s; the daemon goes on with it: {COMMAND} info")
    return f"It was for siftd, which answers:\n\n{said.getvalue().rstrip()}"


@contextlib.contextmanager
def _at_most(seconds: int) -> Any:
    def end(*_: object) -> NoReturn:
        raise TooLate

    signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
