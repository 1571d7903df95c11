"""A throw-away home and workspace with real processes: the daemon, hooks, couriers, the spool.

`Place` starts `python -m siftd run` and hook processes, asks over the socket, looks into the store and the log.
`Place.end` ends what it started and asserts that nothing of ours is left.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from siftd.errors import DaemonTimedOut, DaemonUnreachable
from siftd.wire.client import Client, connect
from siftd.wire.frames import FrameBuffer
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home, WorkspacePaths

T = TypeVar("T")

CHECKOUT = Path(__file__).resolve().parents[2]
HOOK = CHECKOUT / "hooks" / "hook.py"
HOOK_NAME = f"/{HOOK.name}"
"""What every courier's command line holds: a plugin's copy of the hook runs from a folder of its own."""
ENVELOPES = CHECKOUT / "tests" / "data" / "claude-code" / "envelopes.jsonl"
PATCHED_DAEMON = """
import importlib, json, sys
for name, value in json.loads(sys.argv[1]).items():
    module, _, constant = name.rpartition(".")
    assert hasattr(importlib.import_module(module), constant), name
    setattr(importlib.import_module(module), constant, value)
from siftd.__main__ import main
sys.exit(main(sys.argv[2:]))
"""
"""Runs the daemon with other values of named constants, so that no test waits for 30 s."""


def wait_until(what: str, condition: Callable[[], T], seconds: float = 60.0) -> T:
    """Return the first true value of `condition`; `what` says what never came true.

    The deadline is for what never comes: a busy machine is not what a test is about.
    """
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(0.005)
    return value


def tool_call(number: int = 0, **fields: Any) -> dict[str, Any]:
    """Return the envelope of a small tool call; each number is another call."""
    return {
        "session_id": "5e551011-0000-4000-8000-000000000001",
        "cwd": "/src/demo",
        "prompt_id": "9a000000-0000-4000-8000-000000000001",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": f"make target-{number}"},
        "tool_response": {"stdout": f"built {number}", "stderr": "", "interrupted": False},
        "tool_use_id": f"toolu_{number:05}",
    } | fields


def session_start() -> dict[str, Any]:
    """Return the envelope of a session's start."""
    columns = ("session_id", "cwd")
    fields = {name: value for name, value in tool_call().items() if name in columns}
    return fields | {"hook_event_name": "SessionStart", "source": "startup"}


def recorded_envelopes() -> list[bytes]:
    """Return the envelopes recorded from a real client."""
    return ENVELOPES.read_bytes().splitlines()


@dataclass(frozen=True)
class HookRun:
    """One finished hook process."""

    status: int
    out: bytes
    err: bytes
    seconds: float

    @property
    def is_silent(self) -> bool:
        return (self.status, self.out, self.err) == (0, b"", b"")


class Place:
    """One home and one workspace, both on a short path, because a socket's address is short."""

    def __init__(self, home: str = "home") -> None:
        self.root = Path(tempfile.mkdtemp(prefix="siftd-", dir="/tmp")).resolve()
        self.home = self.root / home
        self.folder = self.root / "work"
        self.folder.mkdir()
        self.paths: WorkspacePaths = Home(str(self.home)).for_workspace(find_workspace(str(self.folder)).key)
        self.daemons: list[subprocess.Popen[bytes]] = []

    @property
    def env(self) -> dict[str, str]:
        columns = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
        return columns | {"HOME": str(self.root), "SIFTD_HOME": str(self.home)}

    def configure(self, **settings: Any) -> None:
        """Write the configuration file, with two underscores for each dot."""
        file = Path(self.paths.home.config)
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.home.chmod(0o700)
        file.write_text(json.dumps({name.replace("__", "."): value for name, value in settings.items()}))

    # The daemon

    def spawn(
        self,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        patches: Mapping[str, Any] | None = None,
        umask: int = -1,
    ) -> subprocess.Popen[bytes]:
        """Start a daemon without waiting for it; its standard error can be read once it has ended."""
        program = ["-m", "siftd"] if patches is None else ["-c", PATCHED_DAEMON, json.dumps(patches)]
        daemon = subprocess.Popen(
            [sys.executable, "-I", *program, "run", "--folder", str(self.folder), *arguments],
            env=self.env | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            umask=umask,
        )
        self.daemons.append(daemon)
        return daemon

    def start(self, *arguments: str, **how: Any) -> subprocess.Popen[bytes]:
        """Start a daemon and wait until all of it is there."""
        daemon = self.spawn(*arguments, **how)

        def is_up() -> bool:
            assert daemon.poll() is None, (daemon.stderr and daemon.stderr.read(), daemon.returncode)
            return any(line["pid"] == daemon.pid for line in self.log_lines("daemon_started"))

        wait_until("the daemon answers", is_up)
        return daemon

    def pid(self) -> int | None:
        """Return the pid of the daemon that answers."""
        with contextlib.suppress(DaemonUnreachable, DaemonTimedOut), connect(self.paths) as client:
            return int(client.request({"kind": "hello"}, timeout=10)["pid"])
        return None

    def client(self) -> Client:
        return connect(self.paths)

    def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Return the daemon's answer. Raises RequestRefused."""
        with self.client() as client:
            return client.request({"kind": kind, **fields}, timeout=30)

    def capture(self, number: int = 0, **fields: Any) -> dict[str, Any]:
        """Have a small tool call kept through the socket."""
        payload = {"tool_input": {"command": f"make target-{number}"}, "tool_response": {"stdout": "built"}}
        request = {"sessionId": "by-socket", "tool": "Bash", "payload": payload, "ts": 1_760_000_000_000 + number}
        return self.ask("capture", **request | fields)

    def stop(self, *, hold: bool = False) -> None:
        """Have the daemon end, and wait until it has."""
        pid = self.pid()
        assert pid is not None, "no daemon runs"
        self.ask("stop", hold=hold)
        wait_until("the daemon has ended", lambda: not is_alive(pid))

    def kill(self) -> None:
        """Kill the daemon as `kill -9` does."""
        pid = self.pid()
        assert pid is not None, "no daemon runs"
        os.kill(pid, signal.SIGKILL)
        wait_until("the daemon is dead", lambda: not is_alive(pid))

    # Hooks

    def hook(self, envelope: Mapping[str, Any] | bytes, env: Mapping[str, str] | None = None) -> HookRun:
        """Run a hook to its end."""
        return self.hooks([envelope], env)[0]

    def hooks(
        self, envelopes: Iterable[Mapping[str, Any] | bytes], env: Mapping[str, str] | None = None
    ) -> list[HookRun]:
        """Run hooks at the same time, each to its end."""
        started = time.monotonic()
        running = []
        for envelope in envelopes:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(HOOK)],
                env=self.env | {"CLAUDE_PROJECT_DIR": str(self.folder)} | dict(env or {}),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.folder,
            )
            raw = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
            assert process.stdin is not None
            process.stdin.write(raw)
            process.stdin.close()
            process.stdin = None
            running.append(process)
        done = []
        for process in running:
            out, err = process.communicate(timeout=20)
            done.append(HookRun(process.returncode, out, err, time.monotonic() - started))
        return done

    def wait_again(self) -> None:
        """Have hooks wait for the daemon: one that waited in vain leaves a mark, and none does for half a minute."""
        Path(self.paths.slow).unlink(missing_ok=True)

    # What became of it

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds in the store, read-only; nothing while there is none."""
        if not Path(self.paths.database).exists():
            return []
        with contextlib.closing(sqlite3.connect(f"file:{self.paths.database}?mode=ro", uri=True)) as connection:
            return connection.execute(query, values).fetchall()

    def count_events(self) -> int:
        with contextlib.suppress(sqlite3.OperationalError):  # it is being made
            return int(self.rows("SELECT count(*) FROM events")[0][0]) if self.rows("SELECT 1") else 0
        return 0

    def rejections(self) -> dict[str, int]:
        return {each["reason"]: each["count"] for each in self.ask("info")["rejections"]}

    def spool_files(self) -> list[Path]:
        return sorted(Path(self.paths.spool).glob("[0-9]*.json"))

    def dropped(self) -> int:
        file = Path(self.paths.dropped)
        return file.stat().st_size // 14 if file.exists() else 0

    def log_lines(self, event: str | None = None) -> list[dict[str, Any]]:
        """Return the lines of the daemon's log, or those of one event."""
        file = Path(self.paths.daemon_log)
        lines = [json.loads(line) for line in file.read_bytes().splitlines()] if file.exists() else []
        return [line for line in lines if event in (None, line["event"])]

    def bytes_at_rest(self) -> bytes:
        """Return every byte of every file under the home."""
        return b"\n".join(file.read_bytes() for file in self.home.rglob("*") if file.is_file())

    def processes(self) -> dict[int, str]:
        """Return the living processes of this home, hooks and couriers included, with their command lines."""
        return {pid: line for pid, line in processes_with(f"SIFTD_HOME={self.home}").items() if pid != os.getpid()}

    def couriers(self) -> list[int]:
        """Return the processes that a hook has left behind to deliver its frame."""
        return [pid for pid, line in self.processes().items() if HOOK_NAME in line and is_session_leader(pid)]

    def wait_for_couriers(self) -> None:
        """Wait until every courier, and the spool it feeds, has ended."""

        def are_gone() -> bool:
            return not any(HOOK_NAME in line or " spool --folder" in line for line in self.processes().values())

        wait_until("the couriers have ended", are_gone)

    def settle(self) -> int:
        """Have stored whatever hooks handed over, by whichever way it went; return how many events there are."""
        self.wait_for_couriers()
        wait_until("the daemon answers", self.pid)
        self.ask("drain")
        return self.count_events()

    def end(self) -> None:
        """End every process of this home and assert that nothing of ours is left."""
        print(f"the daemon's log of {self.folder}:")
        if Path(self.paths.daemon_log).exists():
            print(Path(self.paths.daemon_log).read_text())
        for daemon in self.daemons:
            with contextlib.suppress(ProcessLookupError):
                daemon.send_signal(signal.SIGCONT)
        self.wait_for_couriers()
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        try:
            wait_until("every process of the home has ended", lambda: not self.processes())
            killed = -signal.SIGKILL in [daemon.wait() for daemon in self.daemons]
            sockets = (".sock", ".sock.new", ".relay")
            left = [] if killed else [file.name for file in self.home.rglob("*") if file.name.endswith(sockets)]
            assert left == [], "a socket is left"
            assert [file.name for file in self.folder.iterdir()] == [], "something is left in the work tree"
        finally:
            for daemon in self.daemons:
                if daemon.stderr is not None:
                    daemon.stderr.close()
            shutil.rmtree(self.root, ignore_errors=True)


class RawClient:
    """A client that may send whatever it likes."""

    def __init__(self, paths: WorkspacePaths, timeout: float = 30.0) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        try:
            wait_until("the backlog has room", lambda: self._is_connected(paths.socket))
        except BaseException:  # nobody else has the socket yet
            self.socket.close()
            raise
        self._buffer = FrameBuffer()
        self._messages: list[bytes] = []

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def _is_connected(self, path: str) -> bool:
        try:
            self.socket.connect(path)
        except BlockingIOError:
            return False
        return True

    def send(self, data: bytes) -> None:
        """Send bytes; a daemon that has closed meanwhile is no error."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(data)

    def answer(self) -> dict[str, Any] | None:
        """Return the next answer; None when the daemon has ended the connection."""
        while not self._messages:
            try:
                data = self.socket.recv(1 << 18)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self._messages += self._buffer.feed(data)
        found: dict[str, Any] = json.loads(self._messages.pop(0))
        return found


def is_alive(pid: int) -> bool:
    """Whether a process runs. A zombie does not, once its last thread has let go of its sockets and locks."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z" or len(os.listdir(f"/proc/{pid}/task")) > 1
    except (FileNotFoundError, ProcessLookupError):
        return False


def is_session_leader(pid: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        return os.getsid(pid) == pid
    return False


def processes_with(variable: str) -> dict[int, str]:
    """Return the living processes that have `NAME=VALUE` in their environment, with their command lines."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if variable.encode() in (folder / "environ").read_bytes().split(b"\0") and is_alive(int(folder.name)):
                found[int(folder.name)] = (
                    (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                )
        except OSError:
            continue
    return found
