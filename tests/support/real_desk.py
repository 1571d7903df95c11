"""A person's home and project, with siftd installed into one agent's real program: nothing is played but the model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MEM = Path(sys.executable).with_name("mem")
RUN_SECONDS = 180
SOURCE = '''import time


def validate_token(claims, now=None):
    """True while the token has not expired."""
    return claims["exp"] is not None
'''
TEST = """from auth import validate_token

assert not validate_token({"exp": 1}), "expired token accepted"
print("1 passed")
"""
OLD, NEW = '    return claims["exp"] is not None', '    return claims["exp"] > (time.time() if now is None else now)'


@dataclass
class Desk:
    """One person's; `variables` are what their shell sets for the agent."""

    base: Path
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home.mkdir()
        self.project.mkdir()
        (self.project / "auth.py").write_text(SOURCE)
        (self.project / "check_auth.py").write_text(TEST)
        (self.project / "README.md").write_text("# demo\n")
        subprocess.run(["git", "init", "--quiet"], cwd=self.project, check=True)

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def project(self) -> Path:
        return self.base / "project"

    def environment(self) -> dict[str, str]:
        own = {"PATH": f"{MEM.parent}:{os.environ['PATH']}", "HOME": str(self.home), "LANG": "C.UTF-8"}
        return own | self.variables

    def mem(self, *arguments: str) -> Any:
        """Run `mem ... --json` in the project and return what it prints."""
        done = subprocess.run(
            [str(MEM), *arguments, "--json"],
            cwd=self.project,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def work(self, command: Sequence[str], variables: Mapping[str, str]) -> str:
        """Run the agent's program in the project and return what it printed."""
        done = subprocess.run(
            command,
            cwd=self.project,
            env=self.environment() | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask the database with the stock sqlite3 program."""
        database = self.mem("info")["database"]
        done = subprocess.run(["sqlite3", "-json", database, sql], capture_output=True, text=True, check=True)
        return [tuple(row.values()) for row in json.loads(done.stdout or "[]")]

    def end(self) -> None:
        """Stop the daemon, and see that no process of ours is left."""
        self.mem("stop")
        deadline = time.monotonic() + 20
        while left := self._processes():
            assert time.monotonic() < deadline, f"processes of ours are left: {left}"
            time.sleep(0.05)

    def _processes(self) -> str:
        return subprocess.run(["pgrep", "-af", str(self.base)], capture_output=True, text=True, check=False).stdout
