"""Drives a real OpenCode, offline, against a scripted model."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from couriers import wait_for_couriers
from npm_programs import require_program
from scripted_llm import ScriptedLlm, Turn

RUN_SECONDS = 180
CLOSED_PORT = "http://127.0.0.1:9"


def configuration(url: str) -> str:
    """Return `opencode.json` for a model at this address, with a comment of a person's."""
    options = {"baseURL": f"{url}/v1", "apiKey": "x"}
    model = {"name": "scripted", "limit": {"context": 200_000, "output": 8_000}, "tool_call": True}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "mock", "options": options, "models": {"scripted": model}}
    settings = {
        "$schema": "https://opencode.ai/config.json",
        "model": "mock/scripted",
        "small_model": "mock/scripted",
        "autoupdate": False,
        "share": "disabled",
        "permission": {"*": "allow"},
        "provider": {"mock": provider},
    }
    return "// mine\n" + json.dumps(settings, indent=1) + "\n"


def environment(home: Path, path: str) -> dict[str, str]:
    """Return what OpenCode runs with: a home of its own, and no way out."""
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), CLOSED_PORT)
    return {
        "PATH": path,
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "npm_config_fetch_retries": "0",
        **proxies,
    }


def run_opencode(
    *arguments: str, turns: Sequence[Turn], config: Path, project: Path, env: Mapping[str, str]
) -> ScriptedLlm:
    """Run `opencode run …` to its end and return the model that it spoke to."""
    command = require_program("opencode")
    with ScriptedLlm(turns) as llm:
        text = config.read_text(encoding="utf-8")
        before = text.partition('"baseURL": "')
        config.write_text(before[0] + before[1] + f"{llm.url}/v1" + before[2][before[2].index('"') :], encoding="utf-8")
        done = subprocess.run(
            [*command, "run", *arguments],
            cwd=project,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        wait_for_couriers(Path(env["HOME"]))
    assert done.returncode == 0, done.stderr
    return llm
