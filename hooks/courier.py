"""The courier: takes a frame that the daemon did not, so that the hook can exit at once.

A detached child (own session, every descriptor closed) tries for 2 s to deliver, starting the daemon at most once
under a start lock with a kept back-off; then it hands what is left by pipe to `siftd spool`, which
redacts it before it touches a disk. On a machine that has time for it this takes 5 s at most; where a process is
starved it may last, but never lives beyond 30 s. At most 8 deliver per workspace: the first one
listens on a relay socket and takes the frames of hooks that come meanwhile, whatever it waits for itself, so that a
burst of tool calls costs one courier. A hook waits at most 0.2 s for it; a ninth child only brings its frame there,
for at most 2 s. What could not be kept is counted in `<key>.dropped`, 14 bytes each: ms since the epoch and a newline.

`<key>.start` is the start lock and the back-off: empty, or one line `<failures> <ms since the epoch> <reason>`.
"""

import fcntl
import posix
import sys
import time
from _signal import ITIMER_REAL, SIG_DFL, SIGALRM, setitimer, signal
from _socket import AF_UNIX, SOCK_STREAM, socket

NAME = "courier"
MARK = b"# siftd-memory c1898e8df9a0f4c43493b3bd11c94a14\n"
"""What the first line of both files that are run has to be; else they are somebody else's, and given nothing."""
LIFE_SECONDS = (
    30.0  # where builds leave a process a tenth of a processor, to start one and to redact takes many seconds
)
TRY_SECONDS = 2.0
WATCH_SECONDS = 4.5  # a daemon that has not failed until then
RELAY_SECONDS = 20.0  # then what was taken over still finds its way into the spool
SPOOL_SECONDS = 28.0  # then there is still time to count what the spool did not keep
ANSWER_SECONDS = 29.0  # until then a daemon that is busy with a large message may still say that it kept it
RELAY_ANSWER_SECONDS = 0.2
RELAY_ANSWER_HUNG_SECONDS = 0.03  # a hook that has waited 0.25 s for the daemon; else it forks, which costs no more
STARTS = b'"hook_event_name":"SessionStart"', b'"hook_event_name":"sessionStart"', b'"hookName":"TaskStart"'
COURIERS_MAX = 8
RELAY_BYTES_MAX = 64 * 1024 * 1024
FRAME_BYTES_MAX = 16 * 1024 * 1024 + 4
ANSWER_BYTES = 29
BACKOFF_SECONDS_MAX = 300
POLL_SECONDS = 0.02
ALREADY_RUNNING_STATUS = 5
EXCLUDED_STATUS = 6
OPENED = posix.O_CREAT | posix.O_NOFOLLOW  # a link planted at a name of ours leads nowhere
PASSED_ON = ("HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SIFTD_HOME", "SIFTD_NS")
PATH = (
    "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/opt/local/bin:/home/linuxbrew/.linuxbrew/bin"
    ":/run/current-system/sw/bin:/nix/var/nix/profiles/default/bin"
)
ALLOCATOR = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "1048576", "MALLOC_TRIM_THRESHOLD_": "33554432"}


def hand_over(frame: bytes, raw: bytes, run: str, key: str, folder: str, env: dict[str, str], *, is_hung: bool) -> None:
    """Give the frame to the listening courier, else become one in a detached child.

    Returns at once where no courier lives. Slot 0 is taken before the fork and its holder listens, so that of a burst
    of hooks one becomes a courier and the others bring it their frames, however slow the machine is.
    """
    posix.umask(0o077)
    make_folders(run)
    enter(run)
    if is_hung:
        mark_slow(key)
    is_off = env.get("SIFTD_OFF") == "1"
    head = b"" if is_off else raw[:65536].replace(b": ", b":")
    if any(name in head for name in STARTS):
        remove(key + ".hold")
    first = lock_slot(key, 0)
    if first is None and is_relayed(frame, key, RELAY_ANSWER_HUNG_SECONDS if is_hung else RELAY_ANSWER_SECONDS):
        return
    if posix.fork() == 0:
        try:
            detach(first)
            slot = take_slot(key) if first is None else 0
            package = sys.argv[2] if sys.argv[2:] and sys.argv[2][0] == "/" else ""  # plugin.sh has found it
            Courier(frame, run, key, folder, env, package).deliver_or_spool(slot)
        except BaseException as error:
            note(run, type(error).__name__)
        finally:
            posix._exit(0)


def enter(run: str) -> None:
    """Enter the folder of the sockets. Raises PermissionError unless it is ours and nobody else may write to it."""
    posix.chdir(run)
    here = posix.stat(".")
    if here.st_uid != posix.getuid() or here.st_mode & 0o022:
        raise PermissionError


def note(run: str, what: str) -> None:
    """Leave a line for `mem doctor`."""
    from failure import note_failure

    note_failure(run.rpartition("/")[0], NAME, what)


def mark_slow(key: str) -> None:
    """Let no hook wait for the daemon for a while. On a full disk each of them waits, and nothing else changes."""
    try:
        fd = posix.open(key + ".slow", posix.O_WRONLY | posix.O_TRUNC | OPENED, 0o600)
        posix.close(fd)
    except OSError:
        pass


def user_home() -> str:
    """Return the user's home where the environment has none."""
    from pwd import getpwuid

    return getpwuid(posix.getuid()).pw_dir


def make_folders(path: str) -> None:
    """Make a folder and its parents; another hook may be making the same ones at this moment."""
    try:
        posix.mkdir(path, 0o700)
    except FileNotFoundError:
        make_folders(path.rpartition("/")[0])
        make_folders(path)
    except FileExistsError:
        pass


def remove(name: str) -> None:
    try:
        posix.unlink(name)
    except OSError:
        pass


def own_package() -> str:
    """Return the folder of the package that these hooks travel in, or lie beside in a checkout."""
    above = __file__.rpartition("/")[0].rpartition("/")[0]
    return above[: -len("/_data")] if above.endswith("/_data") else above + "/siftd"


def is_ours(package: str) -> bool:
    """Whether both files that would be run carry our mark. It is read, nothing is run."""
    try:
        return all(first_line(package + name) == MARK for name in ("/__init__.py", "/__main__.py"))
    except OSError:
        return False


def first_line(path: str) -> bytes:
    fd = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
    try:
        return posix.read(fd, len(MARK))
    finally:
        posix.close(fd)


def lock_slot(key: str, slot: int) -> int | None:
    """Return the descriptor that holds a slot, high enough to outlive `detach`; None while another courier has it."""
    fd = posix.open(f"{key}.courier{slot}", posix.O_RDWR | OPENED, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    except OSError:
        return None
    finally:
        posix.close(fd)


def take_slot(key: str) -> int | None:
    for slot in range(COURIERS_MAX):
        if lock_slot(key, slot) is not None:
            return slot
    return None


def is_relayed(frame: bytes, key: str, seconds: float) -> bool:
    """Whether the courier that listens took the frame; it is given time to begin to listen."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            conn = socket(AF_UNIX, SOCK_STREAM)
            conn.settimeout(max(deadline - time.monotonic(), 0.001))
            conn.connect(key + ".relay")
            conn.sendall(frame)
            return conn.recv(1) == b"\x01"
        except (FileNotFoundError, ConnectionError):
            time.sleep(POLL_SECONDS / 2)
        except OSError:
            return False
    return False


def detach(passed: int | None) -> None:
    posix.setsid()
    signal(SIGALRM, SIG_DFL)
    setitimer(ITIMER_REAL, LIFE_SECONDS)
    for name in posix.listdir("/dev/fd"):
        try:
            if int(name) != passed:
                posix.close(int(name))
        except OSError:
            pass
    null = posix.open("/dev/null", posix.O_RDWR)
    for fd in (0, 1, 2):
        posix.dup2(null, fd)
    from resource import RLIMIT_CORE, setrlimit

    setrlimit(RLIMIT_CORE, (0, 0))  # for the daemon and the spool too: all of them hold raw frames


def is_final(answer: bytes) -> bool:
    """Whether the daemon kept the frame or refused it for good."""
    return answer[4:].startswith((b'{"ok":true', b'{"ok":false,"retry":false'))


class Courier:
    """The frames that wait for a daemon: its own hook's, and those that other hooks bring to the relay."""

    def __init__(self, frame: bytes, run: str, key: str, folder: str, env: dict[str, str], package: str = "") -> None:
        self.frames = [frame]
        self.key = key
        self.folder = folder
        self.is_off = env.get("SIFTD_OFF") == "1"
        self.env = {name: env[name] for name in PASSED_ON if name in env} | {"PATH": PATH} | ALLOCATOR
        self.run = run
        self.env["SIFTD_HOME"] = run.rpartition("/")[0].rpartition("/")[0]
        self.env["SIFTD_NS"] = run.rpartition("/")[0].rpartition("/")[2]
        self.package = package or own_package()
        self.born = time.monotonic()
        self.relay: socket | None = None
        self.unanswered: tuple[socket, bytes] | None = None
        self.unkept: list[bytes] = []
        self.daemon: tuple[int, int, int] | None = None
        self.has_started = False

    def deliver_or_spool(self, slot: int | None) -> None:
        if slot == 0:
            self.open_relay()
        elif is_relayed(self.frames[0], self.key, TRY_SECONDS if slot is None else RELAY_ANSWER_SECONDS):
            return  # the first courier was just busy
        try:
            if slot is not None:
                self.deliver()
                if self.frames:
                    self.spool()
                    self.watch_start()
        finally:
            self.close_relay()
            self.unkept += self.frames
            self.take_late_answer()
            if self.unkept:
                self.count_dropped(len(self.unkept))

    def is_past(self, seconds: float) -> bool:
        return time.monotonic() - self.born > seconds

    def deliver(self) -> None:
        """Try to deliver until the time is over; what a daemon took is no longer among the frames."""
        while not self.is_past(TRY_SECONDS):
            is_listening = self.send()
            if not self.frames:
                self.close_relay()
                if not self.frames:
                    return
            if not is_listening and not self.has_started:
                if not self.may_start():
                    return
                self.start_daemon()
            if self.has_failed():
                return
            self.wait()

    def send(self) -> bool:
        """Hand over the frames in their order as far as a daemon takes them; return whether one listens."""
        try:
            conn = socket(AF_UNIX, SOCK_STREAM)
            conn.settimeout(POLL_SECONDS)
            conn.connect(self.key + ".sock")
        except BlockingIOError:
            return True
        except OSError:
            return False
        try:
            while self.frames and self.is_taken(conn, self.frames[0]):
                self.frames.pop(0)
        except OSError:
            pass
        return True

    def is_taken(self, conn: socket, frame: bytes) -> bool:
        """Whether the daemon kept the frame or refused it for good. Raises OSError when the time is over."""
        rest = memoryview(frame)
        answer = b""
        while len(answer) < ANSWER_BYTES:
            try:
                if rest:
                    rest = rest[conn.send(rest) :]
                    continue
                piece = conn.recv(4096)
            except TimeoutError:
                if self.is_past(TRY_SECONDS):
                    self.unanswered = None if rest else (conn, frame)
                    raise
                self.take_relayed()
                continue
            if not piece:
                return False
            answer += piece
        return is_final(answer)

    def take_late_answer(self) -> None:
        """Ask once more about a frame that the daemon has whole and the spool did not keep."""
        if self.unanswered is None or self.unanswered[1] not in self.unkept:
            return
        conn, frame = self.unanswered
        answer = b""
        try:
            while len(answer) < ANSWER_BYTES:
                conn.settimeout(max(self.born + ANSWER_SECONDS - time.monotonic(), 0.001))
                if not (piece := conn.recv(4096)):
                    return
                answer += piece
        except OSError:
            return
        if is_final(answer):
            self.unkept.remove(frame)

    # The relay

    def open_relay(self) -> None:
        remove(self.key + ".relay")  # ours: the holder of slot 0 owns the name
        try:
            self.relay = socket(AF_UNIX, SOCK_STREAM)
            self.relay.bind(self.key + ".relay")
            self.relay.listen(64)
            self.relay.settimeout(0.0)
        except OSError:
            self.relay = None

    def wait(self) -> None:
        """Let a moment pass; take the frames that other hooks bring, as long as there is time for them."""
        time.sleep(POLL_SECONDS)
        self.take_relayed()
        if self.is_past(RELAY_SECONDS):
            self.close_relay()

    def take_relayed(self) -> None:
        while self.relay is not None and sum(map(len, self.frames)) < RELAY_BYTES_MAX:
            try:
                fd, _ = self.relay._accept()  # type: ignore[attr-defined]
            except OSError:
                return
            conn = socket(AF_UNIX, SOCK_STREAM, 0, fd)
            frame = self.read_frame(conn)
            if frame:
                self.frames.append(frame)
            conn.close()

    def read_frame(self, conn: socket) -> bytes:
        frame = b""
        try:
            conn.settimeout(RELAY_ANSWER_SECONDS)
            while len(frame) < 4 or len(frame) < 4 + int.from_bytes(frame[:4], "big"):
                piece = conn.recv(1 << 20)
                if not piece or len(frame) > FRAME_BYTES_MAX:
                    return b""
                frame += piece
            conn.sendall(b"\x01")
            return frame
        except OSError:
            return b""

    def close_relay(self) -> None:
        if self.relay is not None:
            self.take_relayed()
            self.relay.close()
            self.relay = None
            remove(self.key + ".relay")

    # Starting the daemon

    def may_start(self) -> bool:
        """Whether the daemon may be started now: not off, not held by `mem stop`, and no back-off running."""
        if self.is_off or not self.may_run():
            return False
        try:
            posix.stat(self.key + ".hold")
            return False
        except OSError:
            pass
        failures, at = self.backoff()
        since = time.time() - at / 1000  # below 0 when the clock was set back
        return not failures or not 0 <= since < min(2 ** (failures - 1), BACKOFF_SECONDS_MAX)

    def may_run(self) -> bool:
        if not is_ours(self.package):
            note(self.run, "PackageNotOurs")
            return False
        return True

    def backoff(self) -> tuple[int, int]:
        try:
            fd = posix.open(self.key + ".start", posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK)
            words = posix.read(fd, 4096).split(b" ", 2)
            posix.close(fd)
            return min(int(words[0]), 64), int(words[1])
        except (OSError, ValueError, IndexError):
            return 0, 0

    def start_daemon(self) -> None:
        """Start the daemon, once, under the start lock; while another one holds it there is nothing to do."""
        lock = posix.open(self.key + ".start", posix.O_RDWR | OPENED, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            posix.close(lock)
            return
        stderr, child_stderr = posix.pipe()
        pid = posix.fork()
        if pid == 0:
            try:
                posix.setsid()
                posix.dup2(child_stderr, 2)
                posix.chdir("/")
                arguments = [sys.executable, "-I", self.package + "/__main__.py", "run", "--detached", "--folder"]
                posix.execve(sys.executable, [*arguments, self.folder], self.env)
            finally:
                posix._exit(127)
        posix.close(child_stderr)
        self.has_started = True
        self.daemon = pid, stderr, lock

    def has_failed(self) -> bool:
        """Whether the daemon that we started has ended; its reason is kept with the back-off."""
        if self.daemon is None:
            return False
        pid, stderr, lock = self.daemon
        ended, status = posix.waitpid(pid, posix.WNOHANG)
        if not ended:
            return False
        self.daemon = None
        if status >> 8 == ALREADY_RUNNING_STATUS:
            return False
        said = posix.read(stderr, 65536).decode("utf-8", "replace").strip().rpartition("\n")[2][:300]
        failures, _ = self.backoff()
        line = f"{failures + 1} {int(time.time() * 1000)} ended with status {status >> 8 or status}: {said}\n"
        posix.ftruncate(lock, 0)
        posix.pwrite(lock, line.encode("utf-8", "replace"), 0)
        if status >> 8 != EXCLUDED_STATUS:
            note(self.run, "DaemonNotStarted")
        return True

    def watch_start(self) -> None:
        """Stay with a daemon that has not answered yet, while there is time: if it fails, its reason is to be kept."""
        while self.daemon is not None and not self.has_failed() and not self.is_past(WATCH_SECONDS):
            time.sleep(POLL_SECONDS)

    # What is left

    def spool(self) -> None:
        """Keep what is left in the spool, and what other hooks bring meanwhile; set aside what cannot be kept."""
        while self.frames and not self.is_past(SPOOL_SECONDS):
            frames, self.frames = self.frames, []
            self.spool_all(frames)
            if not self.frames:
                self.close_relay()

    def spool_all(self, frames: list[bytes]) -> None:
        """Keep frames in the spool. One that kills whoever takes it in costs no other: the halves are tried apart."""
        status = self.run_spool(frames)
        is_killed = status & 0x7F not in (0, SIGALRM)  # by its own alarm it has run out of time
        if is_killed and len(frames) > 1 and not self.is_past(SPOOL_SECONDS):
            middle = len(frames) // 2
            self.spool_all(frames[:middle])
            self.spool_all(frames[middle:])
        elif status:
            self.unkept += frames

    def run_spool(self, frames: list[bytes]) -> int:
        """Hand the frames to `siftd spool`; return its wait status: 0 when it has kept them all."""
        if not self.may_run():
            return 1 << 8
        reader, writer = posix.pipe()
        pid = posix.fork()
        if pid == 0:
            try:
                setitimer(ITIMER_REAL, max(self.born + SPOOL_SECONDS - time.monotonic(), 0.001))
                posix.dup2(reader, 0)
                posix.chdir("/")
                arguments = [sys.executable, "-I", self.package + "/__main__.py", "spool", "--folder", self.folder]
                posix.execve(sys.executable, arguments, self.env)
            finally:
                posix._exit(127)
        posix.close(reader)
        posix.set_blocking(writer, False)
        for frame in frames:
            self.write(writer, frame)
        posix.close(writer)
        while True:
            ended, status = posix.waitpid(pid, posix.WNOHANG)
            if ended:
                return status
            self.wait()

    def write(self, writer: int, frame: bytes) -> None:
        rest = memoryview(frame)
        try:
            while rest:
                try:
                    rest = rest[posix.write(writer, rest) :]
                except BlockingIOError:
                    self.wait()
        except BrokenPipeError:
            pass  # it has ended: its status tells

    def count_dropped(self, count: int) -> None:
        note(self.run, "NotKept")
        fd = posix.open(self.key + ".dropped", posix.O_WRONLY | posix.O_APPEND | OPENED, 0o600)
        line = b"%d\n" % int(time.time() * 1000)
        try:
            posix.write(fd, line * count)
        except OSError:  # a full disk: a hole takes no room, and is counted by its length
            posix.ftruncate(fd, posix.fstat(fd).st_size + len(line) * count)
        posix.close(fd)
