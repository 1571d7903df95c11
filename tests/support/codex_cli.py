"""Drives a real Codex CLI, offline, against a scripted model."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_project import AgentProject
from npm_programs import require_program
from scripted_llm import ScriptedLlm, Turn

DIRECT_TOOLS = "gpt-5.5"
CODE_MODE = "gpt-6.1-sol"
"""A model that Codex lets run its tools from a script."""
CONFIGURATION = """# mine
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:9/v1"   # where a test's model is, the command line says
wire_api = "responses"
env_key = "MOCK_KEY"
"""


@dataclass(frozen=True)
class CodexRun:
    """One finished run, and what the model was asked."""

    stdout: str
    requests: list[dict[str, Any]]

    @property
    def asked(self) -> str:
        """Return all that the model was given."""
        return json.dumps(self.requests, ensure_ascii=False)


def run_codex(where: AgentProject, turns: Sequence[Turn], *arguments: str, model: str = DIRECT_TOOLS) -> CodexRun:
    """Run `codex exec` with these arguments, hooks trusted for this once."""
    with ScriptedLlm(turns) as llm:
        command = [*require_program("codex"), "exec", "--dangerously-bypass-hook-trust", "--json", *arguments]
        done = where.run(
            [*command, "-m", model, "-c", f'model_providers.mock.base_url="{llm.url}/v1"'], {"MOCK_KEY": "x"}
        )
        assert done.returncode == 0, done.stderr + done.stdout
        assert llm.left == 0, f"{llm.left} turns were not asked for: {done.stdout}"
        return CodexRun(done.stdout, llm.requests)


def list_hooks(where: AgentProject) -> list[dict[str, Any]]:
    """Return what Codex itself says of the hooks that it finds, their trust with them."""
    command = [*require_program("codex"), "app-server"]
    asked = (
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(where.project)]}},
    )
    with subprocess.Popen(
        command,
        cwd=where.project,
        env=where.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(json.dumps(each) + "\n" for each in asked))
        server.stdin.flush()
        answer = next(said for line in server.stdout if (said := json.loads(line)).get("id") == 2)
        server.terminate()
    return [hook for each in answer["result"]["data"] for hook in each["hooks"]]
