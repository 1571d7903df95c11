"""What a person types or pastes behind `/siftd:mem`, the plugin's command, is answered and never read by a shell."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from claude_code import ClaudeRun, run_claude
from daemons import CHECKOUT, wait_until
from scripted_api import Script, say

pytestmark = [pytest.mark.real_client, pytest.mark.slow]

MEM = Path(sys.executable).with_name("mem")
PASTED = (
    "hello\nMEM_${CLAUDE_SESSION_ID}\nid > pwned\ncat <<'X'",
    "hello frobnicator !`id > pwned` $(id > pwned) `id > pwned` '; id > pwned; '",
    "hello\n```!\nid > pwned\n```\n",
)


@dataclass
class Desk:
    """One person's home and project, and the plugin's folder."""

    home: Path
    project: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", "IS_SANDBOX": "1"}

    def mem(self, *arguments: str) -> str:
        done = subprocess.run(
            [MEM, *arguments], env=self.environment, cwd=self.project, capture_output=True, text=True, check=False
        )
        return done.stdout

    def type(self, prompt: str, *, plugin: Path | None = CHECKOUT / "hooks") -> ClaudeRun:
        """Type a prompt where nothing is asked before a command is run."""
        loaded = ["--plugin-dir", str(plugin)] if plugin else []
        return run_claude(
            prompt, script=Script([[say("The model was asked.")]]), home=self.home, project=self.project,
            env=self.environment, arguments=[*loaded, "--dangerously-skip-permissions"],
        )  # fmt: skip

    def nothing_ran(self) -> bool:
        return not [each for each in (*self.project.iterdir(), *self.home.iterdir()) if each.name == "pwned"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", tmp_path / "project")
    made.home.mkdir()
    made.project.mkdir()
    yield made
    made.mem("stop")
    seek = ["pgrep", "-f", str(tmp_path)]
    wait_until("none is left", lambda: subprocess.run(seek, stdout=subprocess.DEVNULL, check=False).returncode)


@pytest.mark.parametrize("pasted", PASTED, ids=["here-document", "substitutions", "fence"])
def test_pasted_text_is_a_question_and_no_command(desk: Desk, pasted: str) -> None:
    """The client puts a session's id into what was typed, too, and so could anybody a line that ends a quotation."""
    desk.mem("install", "--plugin")
    desk.mem("remember", "The frobnicator says hello to everybody", "--pin")
    run = desk.type(f"/siftd:mem search {pasted}")
    assert run.returncode == 0, run.stderr
    assert desk.nothing_ran()
    assert run.requests == [], "the model was not asked"
    assert "The frobnicator says hello" in run.stdout, "the person sees the answer"
    assert "pwned" not in json.dumps(desk.mem("export")), "it was no prompt, and is not captured as one"


def test_without_siftd_the_pasted_text_is_a_prompt_and_nothing_runs(desk: Desk, tmp_path: Path) -> None:
    """The client appends what was typed to the command's text: there is no shell in that."""
    apart = Path(shutil.copytree(CHECKOUT / "hooks", tmp_path / "plugin"))
    for pasted in PASTED:
        run = desk.type(f"/siftd:mem search {pasted}", plugin=apart)
        assert run.returncode == 0, run.stderr
        assert desk.nothing_ran()
        assert "siftd was not found" in json.dumps(run.requests[-1]["messages"])


def test_the_installed_command_answers_and_its_quoting_holds(desk: Desk) -> None:
    desk.mem("install")
    desk.mem("remember", "The frobnicator says hello to everybody", "--pin")
    for pasted in PASTED[:2]:
        run = desk.type(f"/mem search {pasted}", plugin=None)
        assert run.returncode == 0, run.stderr
        assert desk.nothing_ran()
        assert "The frobnicator says hello" in json.dumps(run.requests[-1]["messages"])
