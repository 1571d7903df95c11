"""Drives a real Claude Code in print mode, offline, against a scripted model.

The binary is `SIFTD_CLAUDE_BIN`, else `claude` of the PATH, else the pinned npm package, installed once into
`.node/` of the checkout. Its home is a directory of the test's; every address but loopback is led to a closed port.
"""

from __future__ import annotations

import fcntl
import functools
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from couriers import wait_for_couriers
from scripted_api import Script, ScriptedApi

PINNED = "@anthropic-ai/claude-code@2.1.329"
NODE_PREFIX = Path(__file__).resolve().parents[2] / ".node"
INSTALL_SECONDS = 600
"""The package is some 380 MB."""
RUN_SECONDS = 120

TOOLS = "Agent,Bash,Edit,Glob,Grep,NotebookEdit,Read,Skill,TaskCreate,TodoWrite,Write"
"""What runs without asking. Bypassing permissions altogether is refused to root, and containers are root."""

CLOSED_PORT = "http://127.0.0.1:9"


@dataclass(frozen=True)
class ClaudeRun:
    """One finished run. `transcripts` are the files it wrote to: the main one first, then its subagents'."""

    returncode: int
    stdout: str
    stderr: str
    transcripts: list[Path]
    requests: list[dict[str, Any]]


def require_claude() -> Path:
    """The client's binary; skips the test, saying why, where it cannot be had."""
    chosen = os.environ.get("SIFTD_CLAUDE_BIN") or shutil.which("claude")
    if chosen:
        return Path(chosen)
    if installed := _find_installed():
        return installed
    if not shutil.which("npm"):
        pytest.skip("node is missing: no real Claude Code to drive")
    status = _install()
    installed = _find_installed()
    if installed is None:
        pytest.skip(f"npm did not install {PINNED} (exit status {status})")
    return installed


@functools.cache
def _install() -> int:
    """Install the package, once a process: without a registry npm tries for a minute. Workers wait for each other."""
    NODE_PREFIX.mkdir(exist_ok=True)
    with (NODE_PREFIX / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _find_installed():
            return 0
        command = ["npm", "install", "--prefix", str(NODE_PREFIX), "--no-audit", "--no-fund", PINNED]
        return subprocess.run(command, capture_output=True, timeout=INSTALL_SECONDS, check=False).returncode


def _find_installed() -> Path | None:
    """The platform's own binary: npm may have been told not to run the script that links it."""
    packages = NODE_PREFIX / "node_modules" / "@anthropic-ai"
    return next(iter(sorted(packages.glob("claude-code-*/claude"))), None)


def run_claude(
    prompt: str,
    *,
    script: Script,
    home: Path,
    project: Path,
    settings: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    tools: str = TOOLS,
) -> ClaudeRun:
    """Run one prompt to its end. `settings` replaces the user's settings file; None leaves what is there."""
    claude = require_claude()
    if settings is not None:
        (home / ".claude").mkdir(parents=True, exist_ok=True)
        (home / ".claude" / "settings.json").write_text(json.dumps(settings))
    before = {path: path.stat().st_size for path in list_transcripts(home)}
    with ScriptedApi(script) as api:
        command = [str(claude), "-p", prompt, "--permission-mode", "acceptEdits", "--allowedTools", tools, *arguments]
        done = subprocess.run(
            command,
            cwd=project,
            env=client_environment(home, api.url) | dict(env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        wait_for_couriers(home)
    written = [path for path in list_transcripts(home) if path.stat().st_size != before.get(path)]
    return ClaudeRun(done.returncode, done.stdout, done.stderr, written, api.requests)


def list_transcripts(home: Path) -> list[Path]:
    """Every transcript under this home, main files before their subagents'."""
    projects = home / ".claude" / "projects"
    return sorted(projects.glob("*/*.jsonl")) + sorted(projects.glob("*/*/subagents/*.jsonl"))


def client_environment(home: Path, api_url: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": api_url,
        "ANTHROPIC_API_KEY": "none-needed-on-loopback",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        # Else its first request goes out while an MCP server is still starting, without that server's tools.
        "MCP_CONNECTION_NONBLOCKING": "false",
        "HTTP_PROXY": CLOSED_PORT,
        "HTTPS_PROXY": CLOSED_PORT,
        "NO_PROXY": "127.0.0.1,localhost",
    }
