"""One line for the person at a session's start, while captures are lost or wait for a daemon that does not start.

The client shows what is printed as `systemMessage` to the person only, and the agent is not given it. What is wrong is
seen from two files in the folder of the sockets, so that it needs no daemon: `<key>.start` holds a line while the last
starts failed, `<key>.dropped` grows with each capture that nobody could keep. Why is for `mem doctor` to tell.
"""

import posix
import time

DROPPED_SECONDS = 86400  # what was lost earlier is history, as it is for `mem doctor`
NOT_STARTED = b"siftd does not start: what is captured waits in the spool. `mem doctor` says why."
DROPPED = b"siftd could not keep captures of the last day. `mem doctor` says why."


def with_alarm(output: bytes, key: str, *, is_served: bool) -> bytes:
    """Return what is to be printed (JSON, or nothing) with the line in it, when there is one."""
    if is_recent(key + ".dropped"):
        line = DROPPED
    elif not is_served and size_of(key + ".start"):
        line = NOT_STARTED
    else:
        return output
    message = b'"systemMessage":"' + line + b'"}'
    return output[:-1] + b"," + message if output else b"{" + message


def is_recent(path: str) -> bool:
    return size_of(path) > 0 and time.time() - posix.stat(path).st_mtime < DROPPED_SECONDS


def size_of(path: str) -> int:
    try:
        return posix.stat(path).st_size
    except OSError:
        return 0
