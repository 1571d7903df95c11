"""The real agents' programs, as npm has them: each pinned, installed once into `.node/<name>/` of the checkout.

A line of `PROGRAMS` is all that one needs. A test asks `require_program`; where the registry does not answer it is
skipped, and says so. Run as a program, it installs them all beforehand.
"""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

NODE_PREFIX = Path(__file__).resolve().parents[2] / ".node"
INSTALL_SECONDS = 600
"""The largest is some 400 MB."""
NODE_22 = "node@22.23.3"
"""The binary of a newer node than the machine's, for programs that need it."""


@dataclass(frozen=True)
class Program:
    """One agent's program."""

    package: str
    """With its version."""
    entry: str
    """What is run, as a pattern under `node_modules`."""
    interpreter: str | None = None
    """What runs the entry, likewise; None where it runs by itself."""
    with_packages: tuple[str, ...] = ()
    """Packages that it needs beside its own."""


PROGRAMS = {
    "axe-core": Program("axe-core@4.14.1", "axe-core/axe.min.js"),
    "codex": Program("@openai/codex@0.169.0", "@openai/codex-*/vendor/*/bin/codex"),
    "copilot-cli": Program("@github/copilot@1.0.102", "@github/copilot-*/copilot"),
    "droid": Program("droid@0.215.0", "@factory/cli-*/bin/droid"),
    "gemini-cli": Program("@google/gemini-cli@0.61.0", ".bin/gemini"),
    "kimi-code": Program(
        "@moonshot-ai/kimi-code@2.1.0", "@moonshot-ai/kimi-code/dist/main.mjs", "node/bin/node", (NODE_22,)
    ),
    "opencode": Program("opencode-ai@1.18.33", "opencode-ai/bin/opencode.exe"),
    "pi": Program("@earendil-works/pi-coding-agent@0.74.2", ".bin/pi"),
    "qwen-code": Program("@qwen-code/qwen-code@0.24.4", ".bin/qwen", "node/bin/node", (NODE_22,)),
}
"""By the client's name."""


def require_program(name: str) -> list[str]:
    """Return what begins the program's command line; skips the test, saying why, where it cannot be had."""
    program = PROGRAMS[name]
    if command := _find(name):
        return command
    if not shutil.which("npm"):
        pytest.skip(f"node is missing: no real {name} to drive")
    status = _install(name)
    command = _find(name)
    if command is None:
        pytest.skip(f"NO REAL {name.upper()} WAS TRIED: npm did not install {program.package} (exit status {status})")
    return command


def install_all() -> None:
    """Install what is missing, one after the other, as long as the registry answers."""
    for name in PROGRAMS:
        if not shutil.which("npm") or (not _find(name) and _install(name) != 0):
            return


@functools.cache
def _install(name: str) -> int:
    """Install a program, once a process: without a registry npm tries for a minute. Workers wait for each other."""
    folder = NODE_PREFIX / name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _find(name):
            return 0
        program = PROGRAMS[name]
        command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--save-exact"]
        done = subprocess.run(
            [*command, program.package, *program.with_packages],
            capture_output=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
        if done.returncode == 0:
            _done_mark(name).touch()
        return done.returncode


def _find(name: str) -> list[str] | None:
    """Return the command of a program that was installed to its end in the version that is asked for."""
    program = PROGRAMS[name]
    if not _done_mark(name).exists():
        return None
    patterns = [program.entry] if program.interpreter is None else [program.interpreter, program.entry]
    modules = NODE_PREFIX / name / "node_modules"
    found = [next(iter(sorted(map(str, modules.glob(each)))), None) for each in patterns]
    return [path for path in found if path and os.access(path, os.R_OK)] if all(found) else None


def _done_mark(name: str) -> Path:
    """Return the file that says that npm came to its end with this version: a folder may be half written."""
    return NODE_PREFIX / name / f".installed-{PROGRAMS[name].package.rpartition('@')[2]}"


if __name__ == "__main__":
    install_all()
