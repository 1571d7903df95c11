"""What a hook gives the agent where there may be something: a session's start, a prompt, a call that failed.

The hook's frame says so (`"tell":1` in its header), and a daemon that has kept the event answers it with
`{"ok":true,"more":true,…}`, and then with `{"ok":true,"output":…}`, the output as the client wants it printed (JSON; a
string is printed as the text that it is), or `{"ok":true}` for nothing. One that was started before it knew of that is
sent the frame once more, marked 02 instead of 01. Where no daemon answers in time a session's start gets the kept
brief: a line with the ids in it, then the output. It is `workspaces/<key>/brief`, or `brief.<client>` for a client that
wants it printed otherwise. Nothing else gets anything then. What the person is told when something is wrong is in
alarm.py. Nothing here fails a hook, and nothing waits beyond the hook's own deadline.
"""

import posix
import time
from _socket import AF_UNIX, SOCK_STREAM, socket

OUTPUT = b'{"ok":true,"output":'
MORE = b'{"ok":true,"more":true'
REFUSED = b'{"ok":false'
ASKS_CONTEXT = b',"tell":1}'
OUTPUT_BYTES_MAX = 256 * 1024


def give(
    frame: bytes, answer: bytes, conn: socket | None, is_start: bool, run: str, key: str, deadline: float, client: str
) -> tuple[bytes, bool]:
    """Print what there is for the agent; return the frame, and whether a daemon has all that it says.

    `answer` is how a daemon that has the event has answered so far, length first, and `conn` brings the rest; empty
    where none has it. The frame asks for nothing more and says what of the kept brief was printed. A daemon that has it
    and was too busy to say more is sent it again for that: it keeps an event once.
    """
    end = 7 + int.from_bytes(frame[5:7], "big")
    quiet = frame[: end - 2] + b"0" + frame[end - 1 :] if frame[:end].endswith(ASKS_CONTEXT) else frame
    try:
        ids = output = given = b""
        if answer:
            if answer[4:].startswith(MORE):
                given = read(conn, answer, deadline, 2)
            else:
                if conn is not None:
                    conn.close()
                given = ask(quiet, key, deadline)
            output = given[len(OUTPUT) : -1] if given.startswith(OUTPUT) else b""
        if is_start and not given and not answer[4:].startswith(REFUSED):
            brief = run.rpartition("/")[0] + "/workspaces/" + key + "/brief"
            ids, _, output = (read_brief(brief + "." + client) or read_brief(brief)).partition(b"\n")
        if is_start:
            from alarm import with_alarm

            output = with_alarm(output, key, is_served=bool(answer))
        write(as_text(output) if output[:1] == b'"' else output)
        if ids:
            return with_ids(quiet, ids), False
    except OSError:
        pass
    return quiet, bool(answer)


def ask(frame: bytes, key: str, deadline: float) -> bytes:
    """Return the daemon's answer to the frame marked 02; empty when it is not there in time."""
    conn = socket(AF_UNIX, SOCK_STREAM)
    conn.settimeout(max(deadline - time.monotonic(), 0.001))
    try:
        conn.connect(key + ".sock")
        conn.sendall(frame[:4] + b"\x02" + frame[5:])
    except OSError:
        return b""
    return read(conn, b"", deadline, 1)


def read(conn: socket | None, data: bytes, deadline: float, number: int) -> bytes:
    """Return the message of this number, from 1, of those that begin with `data`; empty when it is not here in time."""
    while conn is not None:
        while len(data) >= 4 and len(data) >= (end := 4 + int.from_bytes(data[:4], "big")):
            number -= 1
            if not number:
                return data[4:end]
            data = data[end:]
        conn.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            piece = conn.recv(65536)
        except OSError:
            break
        if not piece or len(data) > OUTPUT_BYTES_MAX:
            break
        data += piece
    if conn is not None:
        conn.close()  # the daemon sees that nobody waits, and does not note as given what was not
    return b""


def as_text(output: bytes) -> bytes:
    """Return the text of a JSON string."""
    from _json import scanstring

    return scanstring(output.decode(), 1)[0].encode()


def read_brief(path: str) -> bytes:
    """Return the kept brief, if it is a file that we wrote and nobody else may see: what it says goes to the agent."""
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_CLOEXEC)
    except OSError:
        return b""
    try:
        found = posix.fstat(fd)
        is_ours = found.st_uid == posix.getuid() and found.st_mode & 0o170077 == 0o100000
        return posix.read(fd, 65536) if is_ours else b""
    finally:
        posix.close(fd)


def write(output: bytes) -> None:
    while output:
        output = output[posix.write(1, output) :]


def with_ids(frame: bytes, ids: bytes) -> bytes:
    """Return the frame with the ids in its header, so that the daemon knows what the session has been given."""
    end = 7 + int.from_bytes(frame[5:7], "big")
    head = frame[7 : end - 1] + b',"told":"' + ids + b'"}'
    message = frame[4:5] + len(head).to_bytes(2, "big") + head + frame[end:]
    return len(message).to_bytes(4, "big") + message
