"""A person's home and project, with siftd installed into a real agent's program: nothing is played but the model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from couriers import wait_for_couriers

MEM = Path(sys.executable).with_name("mem")
CLOSED_PORT = "http://127.0.0.1:9"
LOOPBACK_ONLY = {"HTTP_PROXY": CLOSED_PORT, "HTTPS_PROXY": CLOSED_PORT, "NO_PROXY": "127.0.0.1,localhost"}
"""Variables with which nothing but loopback can be reached."""
RUN_SECONDS = 180
_MEM_SECONDS = 60
_END_SECONDS = 20
_DOCSTRING = '    """True while the token has not expired."""\n'
_SOURCE = f"""import time


def validate_token(claims, now=None):
{_DOCSTRING}    return claims["exp"] is not None
"""
OLD, NEW = '    return claims["exp"] is not None', '    return claims["exp"] > (time.time() if now is None else now)'
_TEST = """from {module} import validate_token

assert not validate_token({{"exp": 1}}), "expired token accepted"
print("1 passed")
"""
_README = "# demo\n"
FILES = {"auth.py": _SOURCE, "check_auth.py": _TEST.format(module="auth"), "README.md": _README}
PACKAGE = {
    "src/auth.py": _SOURCE.replace(_DOCSTRING, ""),
    "src/__init__.py": "",
    "tests/__init__.py": "",
    "tests/test_auth.py": _TEST.format(module="src.auth"),
    "README.md": _README,
}


class AgentProject:
    """A home and a small repository, with a bug in it and a test that fails.

    `variables` are what the person's shell sets for the agent; `is_committed`: the files are the first commit.
    """

    def __init__(
        self,
        base: Path,
        variables: Mapping[str, str] | None = None,
        *,
        files: Mapping[str, str] = FILES,
        is_committed: bool = False,
    ) -> None:
        self.base, self.home, self.project = base, base / "home", base / "project"
        self.variables = dict(variables or {})
        self.home.mkdir()
        for name, text in files.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self._git("init", "--quiet", "--initial-branch", "main")
        if is_committed:
            self._git("config", "user.email", "dev@example.com")
            self._git("config", "user.name", "dev")
            self._git("add", "-A")
            self._git("commit", "--quiet", "-m", "Start")

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.project, check=True, capture_output=True)

    def environment(self) -> dict[str, str]:
        own = {"PATH": f"{MEM.parent}:{os.environ['PATH']}", "HOME": str(self.home), "LANG": "C.UTF-8"}
        return own | self.variables

    def run(
        self, command: Sequence[str], variables: Mapping[str, str] | None = None, *, seconds: float = RUN_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """Run a program in the project, to its end, and that of the couriers that its hooks left."""
        done = subprocess.run(
            command,
            cwd=self.project,
            env=self.environment() | dict(variables or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        wait_for_couriers(self.home)
        return done

    def work(self, command: Sequence[str], variables: Mapping[str, str]) -> str:
        """Run the agent's program, which has to end well, and return what it printed."""
        done = self.run(command, variables)
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout

    def mem(self, *arguments: str) -> Any:
        """Run `mem ... --json` in the project and return what it prints."""
        done = self.run([str(MEM), *arguments, "--json"], seconds=_MEM_SECONDS)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask the database with the usual sqlite3 program."""
        database = self.mem("info")["database"]
        done = subprocess.run(["sqlite3", "-json", database, sql], capture_output=True, text=True, check=True)
        return [tuple(row.values()) for row in json.loads(done.stdout or "[]")]

    def tree(self, *folders: str) -> dict[str, tuple[int, bytes]]:
        """Return the files below folders of the home, with mode and content."""
        return {
            str(path.relative_to(self.home)): (path.stat().st_mode, path.read_bytes())
            for folder in folders
            for path in sorted((self.home / folder).rglob("*"))
            if path.is_file()
        }

    def end(self) -> None:
        """Stop the daemon, and see that no process of ours is left."""
        self.run([str(MEM), "stop"], seconds=_MEM_SECONDS)
        deadline = time.monotonic() + _END_SECONDS
        while left := self._processes():
            assert time.monotonic() < deadline, f"processes of ours are left: {left}"
            time.sleep(0.05)

    def _processes(self) -> str:
        return subprocess.run(["pgrep", "-af", str(self.base)], capture_output=True, text=True, check=False).stdout
