"""What a hook may cost: C modules only, a short script, and nothing said or left behind whatever it meets."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from siftd.workspace.identity import find_workspace

HOOK = Path(__file__).resolve().parents[2] / "hooks" / "hook.py"
LINES_MAX = 193
"""The script is compiled at each run; whatever needs more belongs into courier.py or recall.py."""
ENVELOPE = b'{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"}}'
PROMPT = b'{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"hello"}'
AS_NOBODY = """
import fcntl, posix, sys, _signal, _socket
try:
    import _sha2
except ImportError:
    import _sha256
script = sys.argv.pop()
source = open(script, encoding="utf-8").read()
if posix.getuid() == 0:
    posix.setuid(65534)  # permissions do not bind root
exec(compile(source, script, "exec"), {"__name__": "__main__", "__file__": script})
"""


class Stand:
    """A home, a project folder, and hooks that find no daemon and are not to start one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.folder = root / "project"
        self.folder.mkdir()
        self.key = find_workspace(str(self.folder)).key
        run = self.home / "default" / "run"
        run.mkdir(parents=True)
        (run / f"{self.key}.hold").touch()
        (self.home / "default" / "config.json").write_text('{"memory.backend": "none"}')  # no daemon can start with it
        self.env = {
            "HOME": str(root),
            "SIFTD_HOME": str(self.home),
            "CLAUDE_PROJECT_DIR": str(self.folder),
        }

    def run(
        self,
        raw: bytes = ENVELOPE,
        env: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (),
        **how: Any,
    ) -> subprocess.CompletedProcess[bytes]:
        given: dict[str, Any] = {} if "stdin" in how else {"input": raw}
        return subprocess.run(
            [sys.executable, "-I", "-S", str(HOOK), *arguments],
            env=self.env if env is None else dict(env),
            cwd=self.folder,
            capture_output=True,
            timeout=10,
            check=False,
            **(given | how),
        )


@pytest.fixture
def stand() -> Iterator[Stand]:
    with tempfile.TemporaryDirectory(prefix="siftd-", dir="/tmp") as root:
        os.chmod(root, 0o755)
        made = Stand(Path(root).resolve())
        yield made
        wait_for_couriers(made.home)


def wait_for_couriers(home: Path) -> None:
    """Wait until no process of this home lives: its folder is about to go. Daemons that couriers started are ended."""
    deadline = time.monotonic() + 10
    folder = f"CLAUDE_PROJECT_DIR={home.parent}/".encode()
    while of_home := [
        (pid, line) for pid, found, line in processes() if f"SIFTD_HOME={home}\0".encode() in found or folder in found
    ]:
        assert time.monotonic() < deadline, "a courier lives too long"
        for pid, line in of_home:
            if b"\0run\0--detached\0" in line:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
        time.sleep(0.01)


def environments() -> Iterator[bytes]:
    return (environment for _, environment, _ in processes())


def processes() -> Iterator[tuple[int, bytes, bytes]]:
    """Every process that can be looked at: its number, environment and command line."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            yield int(folder.name), (folder / "environ").read_bytes(), (folder / "cmdline").read_bytes()
        except OSError:
            continue


def is_silent(done: subprocess.CompletedProcess[bytes]) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def imported(stand: Stand, program: list[str], raw: bytes = ENVELOPE) -> set[str]:
    command = [sys.executable, "-I", "-S", "-X", "importtime", *program]
    done = subprocess.run(command, env=stand.env, input=raw, capture_output=True, timeout=10, check=True)
    lines = done.stderr.decode().splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")} - {"imported package"}


def test_a_delivering_hook_imports_c_modules_only(stand: Stand) -> None:
    with answering_daemon(stand, b'{"ok":true,"id":"e1","eventId":1,"tokensEst":1}') as taken:
        extra = imported(stand, [str(HOOK)]) - imported(stand, ["-c", "pass"])
    assert taken
    assert extra <= {"_socket", "_sha2", "_sha256", "_signal"}


def test_a_hook_that_asks_for_the_agent_imports_c_modules_only(stand: Stand) -> None:
    with answering_daemon(stand, b'{"ok":true,"id":"e1","eventId":1,"tokensEst":1}') as taken:
        extra = imported(stand, [str(HOOK)], PROMPT) - imported(stand, ["-c", "pass"])
    assert taken
    assert extra <= {"_socket", "_sha2", "_sha256", "_signal", "recall"}


def test_the_courier_imports_c_modules_only(stand: Stand) -> None:
    extra = imported(stand, [str(HOOK)]) - imported(stand, ["-c", "pass"])
    assert extra <= {"_socket", "_sha2", "_sha256", "_signal", "fcntl", "courier"}


def test_the_script_that_every_tool_call_compiles_is_short() -> None:
    assert len(HOOK.read_bytes().splitlines()) <= LINES_MAX


def answering_daemon(stand: Stand, answer: bytes, *, pieces: int = 1) -> Any:
    """Stand in for a daemon that answers one frame, in so many pieces; entering gives the list of what it was sent."""
    return _AnsweringDaemon(stand, answer, pieces)


class _AnsweringDaemon:
    def __init__(self, stand: Stand, answer: bytes, pieces: int) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(stand.home / "default" / "run" / f"{stand.key}.sock"))
        self._listener.listen(1)
        self._listener.settimeout(10)
        frame = len(answer).to_bytes(4, "big") + answer
        size = -(-len(frame) // pieces)
        self._pieces = [frame[start : start + size] for start in range(0, len(frame), size)]
        self._taken: list[bytes] = []
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> list[bytes]:
        self._thread.start()
        return self._taken

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        conn, _ = self._listener.accept()
        with conn:
            self._taken.append(conn.recv(65_536))
            # How an answer begins is enough for a hook.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                for piece in self._pieces:
                    conn.sendall(piece)
                conn.recv(1)


@pytest.mark.parametrize("pieces", [1, 2, 60])
def test_an_answer_in_pieces_is_an_answer(stand: Stand, pieces: int) -> None:
    answer = b'{"ok":false,"retry":false,"error":{"code":"x","message":"y","hint":""}}'
    with answering_daemon(stand, answer, pieces=pieces) as taken:
        assert is_silent(stand.run())
    assert taken[0].endswith(ENVELOPE)
    assert not list((stand.home / "default" / "run").glob("*.courier*")), "nothing was left for a courier"


@pytest.mark.slow
def test_any_input_is_taken_in_silence(stand: Stand) -> None:
    half_a_character = "ü".encode()[:1]
    deep, huge = b"{" * 100_000, b"x" * 20_000_000
    for raw in (b"", b"\x00", b"garbage", b"\xff\xfe\xfa", half_a_character, deep, huge):
        assert is_silent(stand.run(raw)), raw[:16]


@pytest.mark.parametrize(
    "change",
    [
        {"SIFTD_HOME": "/proc/no/such/home"},
        {"SIFTD_HOME": "/dev/null"},
        {"SIFTD_HOME": "{root}/new/deep/home"},
        {"SIFTD_HOME": None, "HOME": None, "SIFTD_NS": "unwritten-test", "SIFTD_OFF": "1"},
        {"CLAUDE_PROJECT_DIR": "/no/such/folder", "SIFTD_HOME": "/dev/null"},
        {"SIFTD_NS": "../../../dev"},
    ],
    ids=["home that cannot be", "home is a file", "no home yet", "no HOME, off", "no project", "odd namespace"],
)
def test_any_environment_is_taken_in_silence(stand: Stand, change: dict[str, str | None]) -> None:
    env = {name: value for name, value in {**stand.env, **change}.items() if value is not None}
    env = {name: value.format(root=stand.root) for name, value in env.items()}
    assert is_silent(stand.run(env=env))
    wait_for_couriers(Path(env.get("SIFTD_HOME", "/nowhere")))


def test_without_home_the_users_home_comes_from_the_password_file(stand: Stand) -> None:
    program = "import pwd, sys; pwd.getpwuid = lambda _: type('Entry', (), {'pw_dir': sys.argv[2]})\n"
    program += "exec(compile(open(sys.argv[1]).read(), sys.argv[1], 'exec'), {'__file__': sys.argv[1]})"
    env = {name: value for name, value in stand.env.items() if name not in ("HOME", "SIFTD_HOME")}
    command = [sys.executable, "-I", "-S", "-c", program, str(HOOK), str(stand.root)]
    done = subprocess.run(command, env=env, cwd=stand.folder, input=ENVELOPE, capture_output=True, check=False)
    assert is_silent(done)
    assert (stand.root / ".siftd" / "default" / "run").is_dir()
    wait_for_couriers(stand.root / ".siftd")


@pytest.mark.parametrize("mode", [0o000, 0o555], ids=["unreadable home", "read-only home"])
def test_a_home_without_permission_is_no_failure(stand: Stand, mode: int) -> None:
    for folder in (stand.home / "default" / "run", stand.home / "default"):
        folder.chmod(0o555)
    before = sorted(stand.home.rglob("*"))
    stand.home.chmod(mode)
    try:
        command = [sys.executable, "-I", "-S", "-c", AS_NOBODY, str(HOOK)]
        done = subprocess.run(
            command, env=stand.env, cwd=stand.folder, input=ENVELOPE, capture_output=True, timeout=10, check=False
        )
        assert is_silent(done)
    finally:
        stand.home.chmod(0o755)
    assert sorted(stand.home.rglob("*")) == before
    assert not list((stand.home / "default" / "run").glob("*.courier*"))


@pytest.mark.parametrize("closed", [(0,), (1, 2), (0, 1, 2)], ids=["input", "outputs", "all"])
def test_closed_streams_are_no_failure(stand: Stand, closed: tuple[int, ...]) -> None:
    closing = " ".join(f"{fd}{'<' if fd == 0 else '>'}&-" for fd in closed)
    command = f"'{sys.executable}' -I -S '{HOOK}' {closing}"
    done = subprocess.run(
        ["/bin/sh", "-c", command], env=stand.env, cwd=stand.folder, input=ENVELOPE, capture_output=True, check=False
    )
    assert is_silent(done)


@pytest.mark.slow
def test_an_input_that_never_ends_is_given_up_after_two_seconds(stand: Stand) -> None:
    reader, writer = os.pipe()
    started = time.monotonic()
    try:
        os.write(writer, ENVELOPE)
        assert is_silent(stand.run(stdin=reader))
    finally:
        os.close(reader)
        os.close(writer)
    assert 1.9 < time.monotonic() - started < 4
    assert b'"error":"TooLate"' in (stand.home / "default" / "logs" / "hooks.ndjson").read_bytes()


def test_a_git_loop_of_links_is_no_failure(stand: Stand) -> None:
    (stand.folder / ".git").symlink_to(".git")
    (stand.folder / "sub").mkdir()
    with answering_daemon(stand, b'{"ok":true,"id":null,"eventId":null}') as taken:
        assert is_silent(stand.run(env=stand.env | {"CLAUDE_PROJECT_DIR": str(stand.folder)}))
    assert taken


@pytest.mark.parametrize(
    "change", [{"SIFTD_HOME": "bait"}, {"SIFTD_HOME": None, "HOME": "bait"}], ids=["own", "user's"]
)
def test_a_relative_home_is_passed_over(stand: Stand, change: dict[str, str | None]) -> None:
    """It is what a cloned project's settings would name: a home in the clone, with a configuration of its author's."""
    bait, program = (
        stand.folder / "bait",
        "import pwd, sys; pwd.getpwuid = lambda _: type('E', (), {'pw_dir': sys.argv[2]})\n",
    )
    bait.mkdir()
    program += "exec(compile(open(sys.argv[1]).read(), sys.argv[1], 'exec'), {'__file__': sys.argv[1]})"
    env = {name: value for name, value in {**stand.env, **change}.items() if value is not None}
    command = [sys.executable, "-I", "-S", "-c", program, str(HOOK), str(stand.root)]
    done = subprocess.run(command, env=env, cwd=stand.folder, input=ENVELOPE, capture_output=True, check=False)
    assert is_silent(done)
    wait_for_couriers(stand.root / ".siftd")
    assert (stand.root / ".siftd" / "default" / "run").is_dir()
    assert list(bait.iterdir()) == []


@pytest.mark.parametrize("namespace", ["../project/bait", "..", ".", "a/b"])
def test_a_namespace_that_leads_elsewhere_is_passed_over(stand: Stand, namespace: str) -> None:
    """A cloned project's settings may name one; what it would lead to is the project's."""
    bait = stand.folder / "bait"
    (bait / "run").mkdir(parents=True)
    assert is_silent(stand.run(env=stand.env | {"SIFTD_NS": namespace}))
    wait_for_couriers(stand.home)
    assert [each.name for each in bait.rglob("*")] == ["run"]
    assert [each.name for each in stand.home.iterdir()] == ["default"]
    assert len(list((stand.home / "default" / "workspaces" / stand.key / "spool").glob("[0-9]*.json"))) == 1


def test_off_writes_nothing_and_starts_nothing(stand: Stand) -> None:
    before = {path: path.stat().st_mtime_ns for path in stand.root.rglob("*")}
    assert is_silent(stand.run(env=stand.env | {"SIFTD_OFF": "1"}))
    assert {path: path.stat().st_mtime_ns for path in stand.root.rglob("*")} == before
    assert not any(f"SIFTD_HOME={stand.home}".encode() in environment for environment in environments())


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_what_a_hook_makes_is_private_whatever_the_umask(stand: Stand, umask: int) -> None:
    home = stand.root / "fresh"
    (stand.home / "default" / "run" / f"{stand.key}.hold").unlink()
    assert is_silent(stand.run(env=stand.env | {"SIFTD_HOME": str(home)}, umask=umask))
    wait_for_couriers(home)
    modes = {path.stat().st_mode & 0o777 for path in [home, *home.rglob("*")] if path.is_dir()}
    files = {path.stat().st_mode & 0o777 for path in home.rglob("*") if path.is_file()}
    assert (modes, files) == ({0o700}, {0o600})


def test_a_signal_ends_a_hook_like_any_program(stand: Stand) -> None:
    """The hook ignores none: a host that gives up on it must be able to end it."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(HOOK)], env=stand.env, stdin=subprocess.PIPE, cwd=stand.folder
    )
    process.send_signal(signal.SIGTERM)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=5) == -signal.SIGTERM


@pytest.mark.slow
def test_a_folder_that_never_answers_is_given_up_after_two_seconds(stand: Stand) -> None:
    """As some network file systems do: the alarm stays armed until the frame is sent."""
    waiting = "def workspace_identity(folder): time.sleep(60)\ndef _("
    program = "import sys; source = open(sys.argv[1]).read().replace('def workspace_identity(', sys.argv[2], 1)\n"
    program += "exec(compile(source, sys.argv[1], 'exec'), {'__file__': sys.argv[1]})"
    command = [sys.executable, "-I", "-S", "-c", program, str(HOOK), waiting]
    done = subprocess.run(
        command, env=stand.env, cwd=stand.folder, input=ENVELOPE, capture_output=True, timeout=10, check=False
    )
    assert is_silent(done)
    assert b'"error":"TooLate"' in (stand.home / "default" / "logs" / "hooks.ndjson").read_bytes()
