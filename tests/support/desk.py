"""A person's home and project, for tests that drive a real agent with siftd installed into it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEM = Path(sys.executable).with_name("mem")
CLOSED_PORT = "http://127.0.0.1:9"
RUN_SECONDS = 120
_END_SECONDS = 10
_FILES = {
    "src/auth.py": """import time


def validate_token(claims, now=None):
    return claims["exp"] is not None
""",
    "src/__init__.py": "",
    "tests/__init__.py": "",
    "tests/test_auth.py": """from src.auth import validate_token

assert not validate_token({"exp": 1}), "expired token accepted"
print("1 passed")
""",
    "README.md": "# demo\n",
}


@dataclass
class Desk:
    """Where one person works."""

    home: Path
    project: Path

    def environment(self) -> dict[str, str]:
        """Return an environment in which nothing but loopback can be reached."""
        return {
            "PATH": f"{MEM.parent}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "HTTP_PROXY": CLOSED_PORT,
            "HTTPS_PROXY": CLOSED_PORT,
            "NO_PROXY": "127.0.0.1,localhost",
        }

    def run(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run an agent's program in the project, to its end."""
        return subprocess.run(
            command,
            cwd=self.project,
            env=self.environment() | dict(env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )

    def mem(self, *arguments: str) -> Any:
        """Run `mem ... --json` in the project and return what it prints."""
        done = self.run([str(MEM), *arguments, "--json"])
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask the database with the stock sqlite3 program."""
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


@contextmanager
def desk(base: Path) -> Iterator[Desk]:
    """Make a home and a small repository with a bug and a test that fails; at the end no process of it is left."""
    made = Desk(base / "home", base / "project")
    made.home.mkdir()
    for name, text in _FILES.items():
        path = made.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for arguments in (
        ["init", "-q", "-b", "main"],
        ["config", "user.email", "dev@example.com"],
        ["config", "user.name", "dev"],
        ["add", "-A"],
        ["commit", "-q", "-m", "Start"],
    ):
        subprocess.run(["git", *arguments], cwd=made.project, check=True, capture_output=True)
    yield made
    with contextlib.suppress(AssertionError):
        made.mem("stop")
    deadline = time.monotonic() + _END_SECONDS
    while left := _processes_of(base):
        assert time.monotonic() < deadline, f"processes of ours are left: {left}"


def _processes_of(base: Path) -> str:
    return subprocess.run(["pgrep", "-af", str(base)], capture_output=True, text=True, check=False).stdout
