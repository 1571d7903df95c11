"""Two agents' programs in one folder: what one did, the other is told, and whose it was."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from daemons import HOOK, Place, tool_call, wait_until

from siftd.clients.registry import CLIENTS

EDIT = {
    "tool_name": "Edit",
    "tool_input": {"file_path": "/src/demo/kiln.py", "old_string": "a = 1", "new_string": "a = 2"},
    "tool_response": {"filePath": "/src/demo/kiln.py"},
}


def hook(place: Place, client: str, envelope: dict[str, Any]) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK), client],
        env=place.env | {"CLAUDE_PROJECT_DIR": str(place.folder)},
        input=json.dumps(envelope).encode(),
        cwd=place.folder,
        capture_output=True,
        check=True,
        timeout=20,
    )
    return done.stdout.decode()


def worked(place: Place, client: str, session: str) -> None:
    """Let a session of a client change a file and end."""
    common = {"session_id": session, "cwd": str(place.folder)}
    tool = EDIT | {"tool_use_id": f"id-{session}", "tool_call_id": f"id-{session}"}
    prompt = {"prompt": "Mend it", "submitted_prompt": "Mend it"}
    hook(place, client, common | {"hook_event_name": "UserPromptSubmit"} | prompt)
    hook(place, client, tool_call() | common | tool)
    hook(place, client, common | {"hook_event_name": "Stop", "last_assistant_message": "It is mended."})


def started(place: Place, client: str) -> str:
    """Return what a session's start is given: of the first session whose hook the daemon answered in time."""
    common = {"cwd": str(place.folder), "hook_event_name": "SessionStart", "source": "startup"}
    sessions = (common | {"session_id": f"new-{client}-{number}"} for number in itertools.count())
    return wait_until("a start is given the brief", lambda: hook(place, client, next(sessions)))


@pytest.mark.parametrize(("first", "second"), [("claude-code", "qwen-code"), ("qwen-code", "claude-code")])
def test_a_session_of_one_agent_is_given_the_brief_of_the_last_one_of_another(
    place: Place, first: str, second: str
) -> None:
    place.start()
    worked(place, first, "one")
    place.ask("drain")
    given = json.loads(started(place, second))["hookSpecificOutput"]["additionalContext"]
    assert "kiln.py" in given
    assert first not in given, "one client alone has written"

    worked(place, second, "two")
    place.ask("drain")
    given = place.ask("brief")["text"]
    assert f"{first}, 1 prompt" in given
    assert f"{second}, 1 prompt" in given

    listed = subprocess.run(
        [str(Path(sys.executable).with_name("mem")), "timeline"],
        env=place.env | {"PATH": os.environ["PATH"]},
        cwd=place.folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"e1     · {first}" in listed
    assert f" · {second} " in listed
    assert {first, second} <= CLIENTS.keys()
