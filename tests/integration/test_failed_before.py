"""A command that fails in a real session as it failed in an earlier one brings what got through then, to the agent."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from claude_code import require_claude
from daemons import wait_until
from scripted_api import Script, call, say
from test_claude_code_end_to_end import Desk

pytestmark = [pytest.mark.real_client, pytest.mark.slow]

TOOL = """#!/bin/sh
case "$*" in *--stat*) echo "unknown flag: --stat" >&2; exit 1;; esac
echo listed
"""


@pytest.fixture
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    require_claude()
    base = tmp_path_factory.mktemp("failed")
    made = Desk(base / "home", base / "project")
    made.home.mkdir()
    made.project.mkdir()
    (made.project / "parts").write_text(TOOL)
    (made.project / "parts").chmod(0o755)
    subprocess.run(["git", "init", "--quiet"], cwd=made.project, check=True)
    made.mem("install")
    yield made
    with contextlib.suppress(AssertionError):
        made.mem("stop")


def test_the_next_session_is_told_what_got_through(desk: Desk) -> None:
    desk.work(
        "Which parts are there?",
        Script(
            [
                [call("Bash", command="./parts list 7 --stat")],
                [call("Bash", command="./parts list 7 --names")],
                [say("Seven.")],
            ]
        ),
    )
    told = wait_until("a session is told", lambda: _told(desk))
    assert "PostToolUseFailure:Bash hook additional context" in told
    assert "`./parts list 7 --names` succeeded then" in told
    given = [each for each in desk.mem("injections")["injections"] if each["hook"] == "PostToolUseFailure"]
    assert {each["why"]["section"] for each in given} == {"failed before"}


def _told(desk: Desk) -> str:
    """Return what a further session is told when its command fails; nothing where its hook had no answer in time."""
    for mark in desk.home.rglob("*.slow"):  # left by a hook that waited in vain: the next ones do not wait
        mark.unlink()
    further = desk.work("And of eight?", Script([[call("Bash", command="./parts list 8 --stat")], [say("Hm.")]]))
    last = [each for each in further.requests if each.get("tools")][-1]
    texts = [text for message in last["messages"] for text in _texts(message["content"])]
    return next((text for text in texts if "failed with the same error before" in text), "")


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [text for block in content for text in (block.get("text"), block.get("content")) if isinstance(text, str)]
