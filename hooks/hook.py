"""The hook of every client: hands the event on standard input to siftd's daemon, unparsed.

    python3 -I -S hook.py [CLIENT [quiet | PACKAGE]]

CLIENT is the agent's program, as the entry in its settings says. `quiet` stands where its program would show the agent
whatever is printed; PACKAGE is where the plugin has found siftd. It runs at every tool call, so it imports C modules
only and is short: a script given by path is compiled at each run. Whatever needs more is in courier.py and recall.py,
loaded as cached bytecode. It always exits 0, prints nothing but what recall.py has for the agent, and waits at most
250 ms for answers.
"""

import posix
import sys
import time
from _signal import ITIMER_REAL, SIGALRM, setitimer, signal
from _socket import AF_UNIX, SOCK_STREAM, socket

try:
    from _sha2 import sha256
except ImportError:
    try:
        from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

CLIENT = sys.argv[1] if len(sys.argv) > 1 else "claude-code"
IS_QUIET = sys.argv[2:] == ["quiet"]
STDIN_SECONDS = 2.0
ANSWER_SECONDS = 0.25
SLOW_SECONDS = 30.0
ANSWER_BYTES = 29  # the length, and as much of an answer as tells a refusal for good from one to be repeated
LARGE_BYTES = 256 * 1024
STARTS = b'"SessionStart"', b'"sessionStart"', b'"TaskStart"'
ASKING = (*STARTS, b'"UserPromptSubmit"', b'UseFailure"', b'"BeforeAgent"', b'"PreInvocation"', b'"prompt_submit"')
HEAD_BYTES = 16 * 1024  # the event's name stands behind two paths
RAW_BYTES_MAX = 16 * 1024 * 1024 - 0x10003  # beside the longest header this just fits a frame


def mode(path: str, *, follow: bool = True) -> int:
    try:
        return posix.stat(path, follow_symlinks=follow).st_mode & 0o170000
    except OSError:
        return 0


def is_git_dir(path: str) -> bool:
    return mode(path + "/HEAD") == 0o100000 and mode(path + "/objects") == mode(path + "/refs") == 0o040000


def enter(folder: str) -> str:
    """Enter `folder`, or the nearest one above it that exists; return the canonical path of `folder` all the same."""
    missing = ""
    while True:
        try:
            posix.chdir(folder or "/")
            return posix.getcwd().rstrip("/") + missing or "/"
        except (FileNotFoundError, NotADirectoryError):
            folder, _, name = folder.rstrip("/").rpartition("/")
            missing = "/" + name + missing


def workspace_identity(folder: str) -> str:
    """The canonical path of git's common directory, else of `folder`; the rule is in siftd/workspace/identity.py."""
    start = here = enter(folder)
    while True:
        git = here.rstrip("/") + "/.git"
        kind = mode(git, follow=False)
        if kind == 0o040000 and is_git_dir(git):
            return git
        if kind in (0o100000, 0o120000):
            from folders import follow

            if common := follow(here, git, kind):
                return common
        if is_git_dir(here) and not mode(here + "/commondir"):
            return here
        if here == "/":
            return start
        here = here.rpartition("/")[0] or "/"


class TooLate(BaseException):
    """Raised by the alarm; no OSError, so that no answer about a file is mistaken for it."""


def give_up(*_: object) -> None:
    raise TooLate


def main(env: dict[str, str], run: str) -> None:
    signal(SIGALRM, give_up)
    setitimer(ITIMER_REAL, STDIN_SECONDS)
    pieces, size = [], 0
    while piece := posix.read(0, 1 << 20):
        size += len(piece)
        if size <= RAW_BYTES_MAX:
            pieces.append(piece)
    setitimer(ITIMER_REAL, STDIN_SECONDS)  # for the folders, too: some file systems answer late, or never
    raw = b"".join(pieces) if size <= RAW_BYTES_MAX else b""
    off = ',"off":true' if env.get("SIFTD_OFF") == "1" else ""
    head = raw[:HEAD_BYTES]
    is_start = any(name in head for name in STARTS)
    is_asking = not off and not IS_QUIET and any(name in head for name in ASKING)
    if b'"prompt":"/siftd:mem' in head:
        from asked import reply

        reply(raw, env, run)
    if off and not is_start:
        return  # a start is handed over, so that no backfill brings the session in later

    folder = env.get("CLAUDE_PROJECT_DIR") or posix.getcwd()
    folder = folder if folder[0] == "/" else posix.getcwd() + "/" + folder
    key = sha256(workspace_identity(folder).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    root = folder
    if not folder.isascii():
        from folders import as_text

        root = as_text(folder)
    root = "".join(c if c >= " " and c not in '"\\' else f"\\u{ord(c):04x}" for c in root)
    header = '{"client":"%s","frameUid":"%s","root":"%s","ts":%d,"bytes":%d%s,"tell":%d}'
    header %= CLIENT, posix.urandom(16).hex(), root, time.time_ns() // 1000000, size, off, is_asking
    message = b"\x01" + len(header).to_bytes(2, "big") + header.encode() + raw  # ASCII
    frame = len(message).to_bytes(4, "big") + message

    deadline = time.monotonic() + ANSWER_SECONDS
    answer, conn = ask(frame, key, deadline) if may_ask(run, key) and len(raw) <= LARGE_BYTES else (b"", None)
    setitimer(ITIMER_REAL, 0)
    is_stored = answer is not None and answer[4:].startswith((b'{"ok":true', b'{"ok":false,"retry":false'))
    if is_asking:
        from recall import give

        frame, is_stored = give(frame, answer or b"" if is_stored else b"", conn, is_start, run, key, deadline, CLIENT)
    if not is_stored:
        from courier import hand_over

        hand_over(frame, raw, run, key, folder, env, is_hung=answer is None)


def may_ask(run: str, key: str) -> bool:
    """Enter the folder of the sockets, which must be ours alone; false while a daemon there is known to be slow."""
    try:
        posix.chdir("/")  # nobody listens here, where that folder is not made yet
        posix.chdir(run)
        here = posix.stat(".")
        if here.st_uid != posix.getuid() or here.st_mode & 0o022:
            raise PermissionError
        return not 0 <= time.time() - posix.stat(key + ".slow").st_mtime < SLOW_SECONDS
    except FileNotFoundError:
        return True


def ask(frame: bytes, key: str, deadline: float) -> tuple[bytes | None, socket | None]:
    """Return how the daemon's answer begins, and its rest's way: empty where nobody listens, None if it is too late."""
    answer, conn = b"", None
    try:
        conn = socket(AF_UNIX, SOCK_STREAM)
        conn.settimeout(ANSWER_SECONDS)
        conn.connect(key + ".sock")
        conn.sendall(frame)
        while len(answer) < ANSWER_BYTES:
            conn.settimeout(max(deadline - time.monotonic(), 0.001))
            if not (piece := conn.recv(4096)):
                break
            answer += piece
    except (TimeoutError, TooLate):
        return None, None
    except OSError:
        pass
    return answer, conn


try:
    environ = {
        name.decode("utf-8", "surrogateescape"): v.decode("utf-8", "surrogateescape")
        for name, v in posix.environ.items()
    }
    if environ.get("SIFTD_OFF") != "1" or "SIFTD_BACKEND" not in environ:
        sys.path.insert(0, __file__.rpartition("/")[0])
        sys.dont_write_bytecode = posix.statvfs(sys.path[0]).f_bavail < 4096  # half a file would be for good
        home = environ.get("SIFTD_HOME", "")
        if home[:1] != "/":  # a relative one is a cloned project's, which does not know where it lies
            home = environ.get("HOME", "")
            home = (home if home[:1] == "/" else __import__("courier").user_home()) + "/.siftd"
        ns = environ.get("SIFTD_NS", "")
        namespace = home + "/" + (ns if ns[:1].isalnum() and "/" not in ns else "default")
        main(environ, namespace + "/run")
except BaseException as error:
    from failure import note_failure

    note_failure(namespace, CLIENT, type(error).__name__)
finally:
    posix._exit(0)
