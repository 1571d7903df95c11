"""A memory worth looking at: the recorded sessions through real hooks, memories, what a later session was given."""

from __future__ import annotations

import json
from typing import Any

from daemons import Place, recorded_envelopes, wait_until

QUESTION = "why were outdated tokens let in?"
PROMPT = "c0ffee00-0000-4000-8000-000000000002"
LATER = {"session_id": "c0ffee00-0000-4000-8000-000000000001", "cwd": "/home/dev/demo", "source": "startup"}
"""A session that comes after the recorded ones."""
SOURCE = "/home/dev/demo/src/auth.py"


def fill(place: Place) -> None:
    """Have the recorded sessions captured, keep memories, and let a later session be given some; starts the daemon."""
    place.start()
    for envelope in recorded_envelopes():
        if json.loads(envelope)["hook_event_name"] != "PreToolUse":
            assert place.hook(envelope).status == 0
    place.settle()
    keep(place, "Tokens are name:expiry, not JWT, because the service is internal", type="decision", pin=True)
    older = keep(place, "The queue runs on Redis")
    place.ask("supersede", id=older, text="The queue runs on Postgres", typed=True)
    wait_until("the later session is given something", lambda: started(place))
    place.hook(later("UserPromptSubmit", prompt="Expired tokens: does the boundary second count?", prompt_id=PROMPT))
    place.settle()
    given = injections(place)[0]["piece"]
    call(place, 1, "mcp__siftd__show", {"id": given}, {"text": "Session: Expired session tokens are accepted."})
    call(place, 2, "Read", {"file_path": SOURCE}, {"file": {"filePath": SOURCE, "content": "def validate_token():"}})
    call(place, 3, "Edit", {"file_path": SOURCE, "old_string": "<", "new_string": "<="}, {"filePath": SOURCE})
    call(place, 4, "Bash", {"command": "python3 -m tests.test_auth"}, {"stdout": "1 passed", "stderr": ""})
    said = "A token is now refused from the second on at which it expires: validate_token compares with <=."
    place.hook(later("Stop", last_assistant_message=said, prompt_id=PROMPT))
    place.hook(later("SessionEnd", reason="exit"))
    place.settle()


def started(place: Place) -> list[dict[str, Any]]:
    """Begin the later session; return what it was given: nothing where its hook had no answer in time."""
    place.wait_again()
    place.hook(later("SessionStart"))
    place.settle()
    return injections(place)


def injections(place: Place) -> list[dict[str, Any]]:
    """Return what the later session was given."""
    found: list[dict[str, Any]] = place.ask("injections", session=LATER["session_id"])["injections"]
    return found


def call(place: Place, number: int, tool: str, given: dict[str, Any], answer: dict[str, Any]) -> None:
    """Have a tool call of the later session captured."""
    fields = {"tool_name": tool, "tool_input": given, "tool_response": answer, "tool_use_id": f"toolu_later_{number}"}
    place.hook(later("PostToolUse", prompt_id=PROMPT, **fields))


def keep(place: Place, text: str, **fields: Any) -> str:
    """Keep a memory in a person's name, and return its id."""
    return str(place.ask("remember", text=text, typed=True, **fields)["id"])


def later(event: str, **fields: Any) -> dict[str, Any]:
    """Return an envelope of the later session."""
    return LATER | {"hook_event_name": event} | fields
