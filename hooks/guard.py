"""The guard: refuses Claude Code's agent to write into its own auto memory, with a reason that names `remember`.

    python3 -I -S guard.py

A hook before the tools that edit files, wired by `mem install --guard-auto-memory` and by nothing else. What it prints
is the refusal; nothing means that the client goes on as if it were not there, and so does whatever fails in here: it
always exits 0, and gives up after two seconds. A failure is not noted: what it should have refused is captured like
any other edit. It runs at every edit, so it imports C modules only and is short; what it looks at is in auto_memory.py,
loaded as cached bytecode.
"""

import posix
import sys
from _signal import ITIMER_REAL, SIGALRM, setitimer, signal

SECONDS = 2.0
INPUT_BYTES_MAX = 16 * 1024 * 1024  # as much as a capture may have


class TooLate(BaseException):
    """Raised by the alarm; no OSError, so that no answer about a file is mistaken for it."""


def give_up(*_: object) -> None:
    raise TooLate


try:
    if posix.environ.get(b"SIFTD_OFF") != b"1":
        signal(SIGALRM, give_up)
        setitimer(ITIMER_REAL, SECONDS)
        pieces, size = [], 0
        while piece := posix.read(0, 1 << 20):
            size += len(piece)
            if size <= INPUT_BYTES_MAX:
                pieces.append(piece)
        sys.path.insert(0, __file__.rpartition("/")[0])
        sys.dont_write_bytecode = posix.statvfs(sys.path[0]).f_bavail < 4096  # half a file would be for good
        if size <= INPUT_BYTES_MAX:
            from auto_memory import answer

            output = answer(b"".join(pieces))
            while output:
                output = output[posix.write(1, output) :]
except BaseException:
    pass
finally:
    posix._exit(0)
