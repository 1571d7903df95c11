"""What `scripts/bench` measures on: a throw-away home and workspace, a daemon on it, and what is sent there."""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from siftd.wire.environment import ALLOCATOR
from siftd.workspace.paths import Home

REPOSITORY = Path(__file__).resolve().parent.parent


PYTHON = sys.executable


MEM = str(Path(PYTHON).with_name("mem"))


HOOK = str(REPOSITORY / "hooks" / "hook.py")
GUARD = str(REPOSITORY / "hooks" / "guard.py")


ENVELOPE = json.dumps(
    {
        "session_id": "bench",
        "cwd": "/src/demo",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q tests/test_auth.py", "description": "Run the tests"},
        "tool_response": {
            "stdout": "".join(f"tests/test_auth.py::test_token_{n} PASSED  [{n:3}%]\n" for n in range(38)),
            "stderr": "",
            "interrupted": False,
        },
        "tool_use_id": "toolu_{}",
    }
)


WITHOUT_REDACTION = """
import sys
from siftd.redact import Redactor
Redactor.value = lambda self, value, *args, **kwargs: value
from siftd.__main__ import main
sys.argv = ["siftd", "run"]
sys.exit(main())
"""
"""A daemon that redacts nothing, to see what redaction costs. It exists here only and sees nothing but what we made."""


class Bench:
    """A throw-away home and workspace, and the daemon on it."""

    def __init__(self, folder: Path, program: list[str], **settings: Any) -> None:
        self.program = program
        self.workspace = folder / "workspace"
        self.workspace.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "SIFTD_HOME": str(folder / "home"),
            "CLAUDE_PROJECT_DIR": str(self.workspace),
            **ALLOCATOR,
        }
        config = Path(Home(self.environment["SIFTD_HOME"]).config)
        config.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        config.write_text(json.dumps({name.replace("__", "."): value for name, value in settings.items()}))
        self.daemon: subprocess.Popen[bytes] | None = None

    def start(self, seconds: float = 30) -> None:
        self.daemon = subprocess.Popen([PYTHON, *self.program], env=self.environment, stderr=subprocess.DEVNULL)
        self.wait_for_hello(seconds)

    def stop(self) -> None:
        if self.daemon is not None:
            self.daemon.terminate()
            self.daemon.wait(60)
            self.daemon = None

    @property
    def run_folder(self) -> Path:
        return Path(self.environment["SIFTD_HOME"]) / "default" / "run"

    @property
    def database(self) -> Path:
        return next((Path(self.environment["SIFTD_HOME"]) / "default" / "workspaces").glob("*/db.sqlite"))

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(next(self.run_folder.glob("*.sock"))))
        return connection

    def wait_for_hello(self, seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                with self.connect() as connection:
                    ask(connection, {"kind": "hello"})
            except (OSError, StopIteration):
                time.sleep(0.002)
            else:
                return
        raise SystemExit("the daemon did not start")


@contextmanager
def bench(*, running: bool = True, redacts: bool = True, **settings: Any) -> Iterator[Bench]:
    program = ["-m", "siftd", "run"] if redacts else ["-c", WITHOUT_REDACTION]
    with tempfile.TemporaryDirectory(prefix="siftd-bench-") as folder:
        made = Bench(Path(folder), program, **settings)
        if running:
            made.start()
        try:
            yield made
        finally:
            made.stop()


def framed(message: bytes) -> bytes:
    return len(message).to_bytes(4, "big") + message


def read_frame(connection: socket.socket) -> bytes:
    head = connection.recv(4, socket.MSG_WAITALL)
    return connection.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)


def ask(connection: socket.socket, request: dict[str, Any]) -> dict[str, Any]:
    connection.sendall(framed(json.dumps(request).encode()))
    while True:
        answer: dict[str, Any] = json.loads(read_frame(connection))
        if "progress" not in answer:
            return answer


def hook_frame(number: int) -> bytes:
    header = json.dumps(
        {"client": "claude-code", "frameUid": f"{number:032x}", "root": "/src/demo", "ts": time.time_ns() // 10**6}
    ).encode()
    raw = ENVELOPE.replace("toolu_{}", f"toolu_{number}").encode()
    return framed(b"\x01" + len(header).to_bytes(2, "big") + header + raw)


def seconds_of(command: list[str], environment: dict[str, str], stdin: bytes = b"") -> float:
    started = time.perf_counter()
    subprocess.run(command, env=environment, input=stdin, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def in_turns(
    ours: Callable[[], float], yardstick: Callable[[], float], rounds: int, between: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    ours_seconds, yard_seconds = [], []
    ours(), yardstick()
    for _ in range(rounds):
        between()
        yard_seconds.append(yardstick())
        ours_seconds.append(ours())
    mine, yard = statistics.median(ours_seconds), statistics.median(yard_seconds)
    p99 = sorted(ours_seconds)[int(len(ours_seconds) * 0.99)]
    return {"ratio": mine / yard, "ms": mine * 1000, "yardstick_ms": yard * 1000, "p99": p99 * 1000}


def resident_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


def processor_seconds(pid: int) -> float:
    """Return the time that all threads of a process have worked."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wakeups(pid: int) -> int:
    total = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        line = next(line for line in status.read_text().splitlines() if line.startswith("voluntary_ctxt"))
        total += int(line.split()[1])
    return total


def fill(connection: socket.socket, count: int) -> None:
    """Capture edits, reads and commands of many names over many sessions."""
    nouns = ["auth", "parser", "cache", "socket", "index", "token", "billing", "render", "queue", "schema"]
    verbs = ["validate", "load", "refresh", "encode", "merge", "reject", "retry", "measure", "split", "close"]
    pending = 0
    for number in range(count):
        noun, verb = nouns[number % 10], verbs[number // 10 % 10]
        name = f"{verb}_{noun}_{number}"
        path = f"/src/demo/{noun}/{verb}_{number % 97}.py"
        payloads: list[tuple[str, dict[str, Any]]] = [
            (
                "Edit",
                {
                    "tool_input": {"file_path": path, "old_string": "return None", "new_string": f"return {name}(now)"},
                    "tool_response": {"filePath": path, "originalFile": f"def {name}(now):\n    return None\n" * 4},
                },
            ),
            (
                "Bash",
                {
                    "tool_input": {"command": f"pytest -q tests/{noun}/test_{verb}_{number}.py"},
                    "tool_response": {"stdout": f"{number % 50} passed in 0.{number % 90}s", "stderr": ""},
                },
            ),
            (
                "Read",
                {
                    "tool_input": {"file_path": path},
                    "tool_response": {
                        "type": "text",
                        "file": {
                            "filePath": path,
                            "content": f"def {name}(now):\n    pass\n",
                            "numLines": number % 900,
                        },
                    },
                },
            ),
        ]
        tool, payload = payloads[number % 3]
        request = {"kind": "capture", "sessionId": f"s{number // 200}", "tool": tool, "payload": payload, "ts": number}
        connection.sendall(framed(json.dumps(request).encode()))
        pending += 1
        if pending == 64:
            for _ in range(pending):
                read_frame(connection)
            pending = 0
    for _ in range(pending):
        read_frame(connection)
