"""goose, by the payloads that its documentation shows: its program does not run here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from siftd.clients.client import Where
from siftd.clients.goose.client import Goose
from siftd.errors import EnvelopeRejected
from siftd.install.launcher import is_entry
from siftd.model import Event, SessionChange

GOOSE = Goose()


def told(**payload: Any) -> Event | SessionChange:
    return GOOSE.decode(json.dumps({"session_id": "abc-123", **payload}).encode(), ts=7)


def call(event: str, tool: str, **given: Any) -> Event:
    fact = told(event=event, tool_name=tool, tool_input=given, tool_call_id="c1", working_dir="/src/demo")
    assert isinstance(fact, Event)
    return fact


def test_a_command_is_a_run_that_is_known_again_by_its_id() -> None:
    run = call("PostToolUse", "developer__shell", command="rg TODO")
    assert (run.kind, run.action, run.outcome, run.cwd) == ("tool", "run", "ok", "/src/demo")
    assert (run.native_id, run.identity) == ("c1", ("tool", "c1"))
    assert run.payload["tool_input"] == {"command": "rg TODO"}


def test_a_call_that_failed_is_told_as_failed() -> None:
    assert call("PostToolUseFailure", "developer__shell", command="false").outcome == "failed"


def test_a_change_of_a_file_is_kept_by_the_names_that_all_changes_have() -> None:
    edit = call("PostToolUse", "developer__edit", path="/src/a.py", before="x = 1", after="x = 2")
    assert edit.action == "edit"
    assert edit.payload["tool_input"] == {"file_path": "/src/a.py", "old_string": "x = 1", "new_string": "x = 2"}


def test_the_input_of_a_servers_tool_is_kept_as_it_is() -> None:
    assert call("PostToolUse", "tracker__move", path="a", before="b").payload["tool_input"] == {
        "path": "a",
        "before": "b",
    }


def test_what_a_person_asked_and_how_the_turn_ended() -> None:
    asked, ended = (
        told(event="UserPromptSubmit", message="summarise"),
        told(event="Stop", last_assistant_message="Done."),
    )
    assert isinstance(asked, Event)
    assert isinstance(ended, Event)
    assert (asked.kind, asked.payload, asked.said_by) == ("prompt", {"prompt": "summarise"}, "person")
    assert (ended.kind, ended.payload) == ("turn_end", {"last_assistant_message": "Done."})


@pytest.mark.parametrize(("event", "change"), [("SessionStart", "start"), ("SessionEnd", "end")])
def test_sessions_start_and_end(event: str, change: str) -> None:
    fact = told(event=event)
    assert isinstance(fact, SessionChange)
    assert fact.change == change


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"event": "PreToolUse", "tool_name": "x"}, "unhandled_event"),
        ({"event": "UserPromptSubmit"}, "unhandled_event"),
        ({"event": "PostToolUse"}, "no_tool"),
        ({"event": "Stop", "session_id": ""}, "no_session"),
    ],
)
def test_what_tells_nothing_is_refused_by_name(payload: dict[str, Any], reason: str) -> None:
    with pytest.raises(EnvelopeRejected) as refused:
        told(**payload)
    assert refused.value.reason == reason


def test_its_plugin_is_written_and_goes_without_a_trace(tmp_path: Path) -> None:
    where = Where(str(tmp_path), {}, str(tmp_path), str(tmp_path / "install.json"), "/home/a/.siftd/default/hook.sh")
    before = sorted(tmp_path.rglob("*"))
    GOOSE.installer.install(where, is_project=False, server=None)
    hooks = json.loads((tmp_path / ".agents/plugins/siftd/hooks/hooks.json").read_text())["hooks"]
    assert all(is_entry(group["hooks"][0]["command"]) for groups in hooks.values() for group in groups)
    assert all("siftd_how=quiet" in group["hooks"][0]["command"] for groups in hooks.values() for group in groups)
    assert not {"PreToolUse", "PreToolUseResult"} & hooks.keys(), "what it answers there is taken for a decision"
    assert all(change.what == "unchanged" for change in GOOSE.installer.install(where, is_project=False, server=None))
    GOOSE.installer.uninstall(where, is_project=False)
    assert sorted(tmp_path.rglob("*")) == before
