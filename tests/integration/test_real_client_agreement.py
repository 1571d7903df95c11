"""A real Claude Code tells its hooks and its transcripts the same facts, and our two decoders agree on them.

This is what makes backfill after live capture exact. When a new version of the client fails here, the
differences it prints are what `siftd.clients.claude_code.facts` has to settle.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from claude_code import list_transcripts, require_claude, run_claude
from claude_home import encode_project_dir
from scripted_api import Script, call, say
from transcripts import read_transcript

from siftd.clients.claude_code.facts import input_identity
from siftd.clients.claude_code.hooks import decode_envelope
from siftd.clients.client import Skipped
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange

pytestmark = [pytest.mark.real_client, pytest.mark.slow]

HOOK_EVENTS = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
]


def work_script(project: Path) -> Script:
    """Reads, an edit, failing and passing commands, both kinds of subagent, and calls that no hook reports."""
    source = str(project / "src.py")
    main = [
        [say("I look first."), call("Read", file_path=source), call("Read", file_path="src.py", limit="1")],
        [call("Read", file_path=f"{project}/absent.py"), call("Read", file_path=f"{project}/dot.png")],
        [call("Bash", command="python3 src.py", description="Run it"), call("Bash", command="echo on; exit 3")],
        [call("Edit", file_path=source, old_string="return 1", new_string="return 2")],
        [call("Edit", file_path=source, old_string="not in there", new_string="x")],
        [call("Write", file_path="./notes.md", content="# Notes\n"), call("Glob", pattern="*.py")],
        [call("NoSuchTool", a=1), call("Read", wrong=1), call("WebFetch", url="http://127.0.0.1:9/", prompt="x")],
        [call("Agent", description="ask", prompt="FOREGROUND look", subagent_type="Explore", run_in_background=False)],
        [call("Agent", description="ask", prompt="BACKGROUND look", subagent_type="Explore", run_in_background=True)],
        [say("All done: it returns 2. "), say(" The test passes.\n")],
        [say("The background agent has finished too.")],
    ]
    subagent = [
        [call("Bash", command="cat src.py"), call("Read", file_path=f"{project}/gone.py"), call("NoSuchTool", b=2)],
        [say("It is in src.py. ")],
    ]
    slow_subagent = [[call("Bash", command="sleep 2; echo slept")], [say("I slept.")]]
    return Script(main, {"FOREGROUND look": subagent, "BACKGROUND look": slow_subagent})


@dataclass(frozen=True)
class Recording:
    hooks: list[Event]
    changes: list[SessionChange]
    rejected: set[str]
    transcripts: list[Event]
    skipped: list[Skipped]
    home: Path
    project: Path


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Four prompts in one session: work, a slash command, a compaction, one with injected memory."""
    require_claude()
    base = tmp_path_factory.mktemp("agreement")
    home, project, envelopes = base / "home", base / "a project.d", base / "envelopes"
    for folder in (home, project / ".claude" / "commands", envelopes):
        folder.mkdir(parents=True)
    (project / "src.py").write_text("def f():\n    return 1\n")
    (project / "dot.png").write_bytes(bytes.fromhex(DOT_PNG))
    (project / ".claude" / "commands" / "greet.md").write_text("---\ndescription: greet\n---\nGreet $ARGUMENTS.\n")
    record = f"f=$(mktemp {shlex.quote(str(envelopes))}/XXXXXXXX) && cat > $f"
    settings = {"hooks": {name: [{"hooks": [{"type": "command", "command": record}]}] for name in HOOK_EVENTS}}

    def prompt(text: str, script: Script, *arguments: str) -> None:
        run = run_claude(text, script=script, home=home, project=project, settings=settings, arguments=arguments)
        assert run.returncode == 0, run.stderr

    prompt("Please make it  return 2.\n", work_script(project))
    for text in ("/greet  Ada   Lovelace", "/compact keep names", " <siftd-memory>old</siftd-memory> and now? "):
        prompt(text, Script([[say("Hello.")]] * 30), "--continue")
    return _read(home, project, envelopes)


def _read(home: Path, project: Path, envelopes: Path) -> Recording:
    decoded: list[Event | SessionChange] = []
    rejected: set[str] = set()
    for path in sorted(envelopes.iterdir(), key=lambda path: path.stat().st_mtime_ns):
        try:
            decoded.append(decode_envelope(path.read_bytes(), ts=1))
        except EnvelopeRejected as rejection:
            rejected.add(rejection.reason)
    told: list[Event | SessionChange | Skipped] = []
    for path in list_transcripts(home):
        with path.open("rb") as lines:
            told += read_transcript(lines)
    return Recording(
        hooks=[fact for fact in decoded if isinstance(fact, Event)],
        changes=[fact for fact in decoded if isinstance(fact, SessionChange)],
        rejected=rejected,
        transcripts=[fact for fact in told if isinstance(fact, Event)],
        skipped=[fact for fact in told if isinstance(fact, Skipped)],
        home=home,
        project=project,
    )


def by_identity(events: list[Event]) -> dict[tuple[str, ...], Event]:
    """By identity, which no two facts share; the answer of a subagent in the background stands in two files."""
    found: dict[tuple[str, ...], Event] = {}
    for event in events:
        known = found.setdefault(event.identity, event)
        assert known is event or (event.tool == "SubagentStop" and known.payload == event.payload)
    return found


def is_answer_to_subagent(event: Event) -> bool:
    """A result that a subagent got: its file keeps what the model saw, not the structured form."""
    return event.agent_id is not None and "tool_response" in event.payload


def facts(event: Event) -> dict[str, Any]:
    """All that must agree."""
    payload = dict(event.payload)
    if is_answer_to_subagent(event):
        del payload["tool_response"]
    kept = (
        "session_id",
        "tool",
        "identity",
        "native_id",
        "outcome",
        "cwd",
        "prompt_id",
        "agent_id",
        "spawned_agent_id",
    )
    essence = input_identity(event.tool, payload.get("tool_input"))
    return {"payload": payload, "input_identity": essence} | {name: getattr(event, name) for name in kept}


def test_every_fact_that_hooks_tell_is_told_alike_by_the_transcripts(recording: Recording) -> None:
    transcripts = by_identity(recording.transcripts)
    for event in by_identity(recording.hooks).values():
        assert event.identity in transcripts, event
        assert facts(event) == facts(transcripts[event.identity])


def test_transcripts_add_only_texts_and_calls_that_no_hook_reports(recording: Recording) -> None:
    hooked = by_identity(recording.hooks)
    texts = ("AssistantText", "CompactSummary")
    added = [event for event in recording.transcripts if event.identity not in hooked and event.tool not in texts]
    assert sorted((event.tool, event.payload.get("_unhooked"), event.agent_id is not None) for event in added) == [
        ("Edit", "validation", False),
        ("NoSuchTool", "validation", False),
        ("NoSuchTool", "validation", True),
        ("Read", "validation", False),
        ("WebFetch", "denied", False),
    ]
    assert not any("_unhooked" in event.payload for event in recording.transcripts if event.identity in hooked)
    assert recording.skipped == []


def test_the_session_holds_the_work_that_was_done(recording: Recording) -> None:
    """Guards the agreement against being one of two empty lists."""
    told = [(event.tool, event.outcome) for event in recording.hooks if event.agent_id is None]
    assert sorted(set(told), key=str) == [
        ("Agent", "ok"),
        ("Bash", "failed"),
        ("Bash", "ok"),
        ("Edit", "ok"),
        ("Glob", "ok"),
        ("Read", "failed"),
        ("Read", "ok"),
        ("Stop", None),
        ("UserPromptSubmit", None),
        ("Write", "ok"),
    ]
    prompts = [event.payload["prompt"] for event in recording.hooks if event.tool == "UserPromptSubmit"]
    assert prompts == ["Please make it  return 2.", "/greet Ada   Lovelace", "and now?"]
    closing = [event.payload["last_assistant_message"] for event in recording.hooks if event.tool == "Stop"]
    assert closing == ["The test passes.", "The background agent has finished too.", "Hello.", "Hello."]


def test_subagents_are_told_apart_and_linked_to_the_calls_that_started_them(recording: Recording) -> None:
    spawned = {event.spawned_agent_id for event in recording.hooks if event.tool == "Agent"}
    ended = {event.agent_id for event in recording.hooks if event.tool == "SubagentStop"}
    crash_guard = {event.agent_id for event in recording.hooks if event.agent_id}
    assert spawned == ended == crash_guard
    assert len(spawned) == 2


def test_the_clients_own_messages_and_agents_are_no_events(recording: Recording) -> None:
    assert recording.rejected == {"unhandled_event", "not_a_prompt", "internal_agent"}
    assert ("compact", "manual") in {(change.change, change.detail) for change in recording.changes}


def test_transcripts_lie_where_the_folders_name_says(recording: Recording) -> None:
    name = encode_project_dir(str(recording.project.resolve()))
    assert {path.parent.name for path in list_transcripts(recording.home) if path.parent.name != "subagents"} == {name}


DOT_PNG = (
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6364f8cf500f000386018099a8d15c0000000049454e44ae426082"
)
"""One pixel."""
