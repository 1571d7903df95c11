"""Claude Code's transcripts: what their lines tell, and that hook and transcript tell one fact alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcripts import read_transcript

from siftd.clients.claude_code.facts import input_identity
from siftd.clients.claude_code.hooks import decode_envelope
from siftd.clients.claude_code.transcript import transcript_head
from siftd.clients.client import Skipped
from siftd.model import Event, SessionChange

FOLDER = "/home/dev/demo"


class Transcript:
    """Writes records as the client does, a second apart."""

    def __init__(self, *, agent_id: str | None = None, modern: bool = True) -> None:
        self.lines: list[bytes] = []
        self.agent_id = agent_id
        self.modern = modern
        self.prompt_id: str | None = None

    def add(self, kind: str, **fields: Any) -> Transcript:
        time = f"2026-01-01T00:00:{len(self.lines):02}.250Z"
        record = {"type": kind, "sessionId": "s1", "cwd": FOLDER, "timestamp": time, "isSidechain": bool(self.agent_id)}
        if self.agent_id:
            record["agentId"] = self.agent_id
        self.lines.append(json.dumps(record | fields).encode() + b"\n")
        return self

    def user(self, content: Any, **fields: Any) -> Transcript:
        turn = {"promptId": self.prompt_id} if self.modern and self.prompt_id else {}
        return self.add("user", message={"role": "user", "content": content}, **turn, **fields)

    def prompt(self, text: Any, prompt_id: str = "p1", **fields: Any) -> Transcript:
        self.prompt_id = prompt_id
        return self.user(text, **fields)

    def call(self, tool: str, tool_use_id: str = "t1", **tool_input: Any) -> Transcript:
        block = {"type": "tool_use", "id": tool_use_id, "name": tool, "input": tool_input}
        return self.assistant(block, "tool_use")

    def say(self, text: str, *, ended: bool = True, **fields: Any) -> Transcript:
        return self.assistant({"type": "text", "text": text}, "end_turn" if ended else "tool_use", **fields)

    def assistant(self, block: Any, stop_reason: str, **fields: Any) -> Transcript:
        message = {"id": f"m{len(self.lines)}", "content": [block], "stop_reason": stop_reason if self.modern else None}
        return self.add("assistant", message=message, **fields)

    def queue(self, operation: str, content: str | None = None) -> Transcript:
        return self.add("queue-operation", operation=operation, **({} if content is None else {"content": content}))

    def result(self, content: Any, structured: Any = None, tool_use_id: str = "t1") -> Transcript:
        block = {"type": "tool_result", "tool_use_id": tool_use_id, "content": content}
        return self.user([block], **({} if structured is None else {"toolUseResult": structured}))

    def failure(self, text: str, tool_use_id: str = "t1") -> Transcript:
        block = {"type": "tool_result", "tool_use_id": tool_use_id, "content": text, "is_error": True}
        return self.user([block], toolUseResult=f"Error: {text}")

    def told(self, **options: Any) -> list[Event | SessionChange | Skipped]:
        return list(read_transcript(self.lines, **options))

    def events(self, **options: Any) -> list[Event]:
        return [told for told in self.told(**options) if isinstance(told, Event)]

    def brief(self, **options: Any) -> list[tuple[str, Any]]:
        """Each event's tool and the one payload value that tells it."""
        return [(event.tool, list(event.payload.values())[-1]) for event in self.events(**options)]


def envelope(event: str, **fields: Any) -> Event:
    common = {"session_id": "s1", "cwd": FOLDER, "prompt_id": "p1", "hook_event_name": event}
    decoded = decode_envelope(json.dumps(common | fields).encode(), ts=7)
    assert isinstance(decoded, Event)
    return decoded


def assert_told_alike(hook: Event, transcript: Event) -> None:
    for field in ("session_id", "tool", "identity", "native_id", "payload", "outcome", "cwd", "prompt_id", "agent_id"):
        assert getattr(hook, field) == getattr(transcript, field), field
    tool_input = hook.payload.get("tool_input")
    assert input_identity(hook.tool, tool_input) == input_identity(hook.tool, transcript.payload.get("tool_input"))


def test_a_session_tells_its_start_its_prompt_its_calls_and_its_end_in_order() -> None:
    session = Transcript().prompt("fix it").say("I look.", ended=False).call("Bash", command="ls")
    session.result("a.py", {"stdout": "a.py"}).say("Fixed.")
    start, *events = session.told()
    assert isinstance(start, SessionChange)
    assert (start.change, start.cwd) == ("start", FOLDER)
    assert session.brief() == [
        ("UserPromptSubmit", "fix it"),
        ("AssistantText", "I look."),
        ("Bash", {"stdout": "a.py"}),
        ("Stop", "Fixed."),
    ]
    assert [event.ts % 60_000 for event in events if isinstance(event, Event)] == [250, 1_250, 3_250, 4_250]
    assert all(event.from_transcript for event in session.events())


@pytest.mark.parametrize(
    ("tool", "written", "hooked", "response"),
    [
        ("Bash", {"command": "ls"}, {"command": "ls"}, {"stdout": "a", "interrupted": False}),
        ("Bash", {"command": "ls"}, {"command": "ls"}, {"stdout": "a", "interrupted": True}),
        ("Read", {"file_path": "a.py", "limit": "9"}, {"file_path": f"{FOLDER}/a.py", "limit": 9}, {"type": "text"}),
        ("Edit", {"file_path": "a.py"}, {"file_path": f"{FOLDER}/a.py", "replace_all": False}, {"filePath": "a.py"}),
        ("ToolSearch", {"query": "x"}, {"query": "x", "max_results": 5}, {"matches": []}),
        ("mcp__mem__search", {"query": "x"}, {"query": "x"}, '{"hits":[1]}'),
        ("Agent", {"prompt": "look"}, {"prompt": "look"}, {"agentId": "a1", "status": "completed"}),
        ("Read", {"file_path": "/a.png"}, {"file_path": "/a.png"}, {"type": "image", "file": {"base64": "aGk="}}),
    ],
)
def test_a_tool_call_is_told_alike_by_hook_and_transcript(tool: str, written: Any, hooked: Any, response: Any) -> None:
    session = Transcript().prompt("go").call(tool, **written).result("text for the model", response)
    hook = envelope("PostToolUse", tool_name=tool, tool_input=hooked, tool_response=response, tool_use_id="t1")
    told = session.events()[1]
    assert_told_alike(hook, told)
    assert hook.spawned_agent_id == told.spawned_agent_id


def test_a_failure_is_told_alike_by_hook_and_transcript() -> None:
    session = Transcript().prompt("go").call("Bash", command="false").failure("Exit code 1\nboom")
    hook = envelope(
        "PostToolUseFailure",
        tool_name="Bash",
        tool_input={"command": "false"},
        tool_use_id="t1",
        error="Exit code 1\nboom",
    )
    assert_told_alike(hook, session.events()[1])


def test_a_prompt_and_a_turns_end_are_told_alike_by_hook_and_transcript() -> None:
    session = Transcript().prompt("  fix <siftd-memory>old</siftd-memory>it\n").say("First.").say(" Fixed. \n\n")
    prompt, *_, stop = session.events()
    assert_told_alike(envelope("UserPromptSubmit", prompt="  fix <siftd-memory>old</siftd-memory>it\n"), prompt)
    assert_told_alike(envelope("Stop", last_assistant_message="Fixed."), stop)


def test_a_slash_command_that_becomes_a_prompt_is_told_alike_and_a_local_one_is_none() -> None:
    session = Transcript().prompt(
        "<command-name>/compact</command-name>\n<command-message>compact</command-message>", "p0"
    )
    session.prompt(
        "<command-message>greet</command-message>\n<command-name>/greet</command-name>\n<command-args>Ada</command-args>"
    )
    session.user([{"type": "text", "text": "Greet Ada politely."}], isMeta=True)
    (prompt,) = session.events()
    assert_told_alike(envelope("UserPromptSubmit", prompt="/greet Ada"), prompt)


def test_what_is_typed_while_the_agent_works_is_a_prompt_of_the_running_turn() -> None:
    """Clients of 2.1.50 and later attach it; older ones put it beside the next tool result."""
    attached = {"type": "queued_command", "prompt": "and test it", "commandMode": "prompt"}
    session = (
        Transcript().prompt("fix it").call("Bash", command="x").result("", {}).add("attachment", attachment=attached)
    )
    assert_told_alike(envelope("UserPromptSubmit", prompt="and test it"), session.events()[2])

    beside = [{"type": "tool_result", "tool_use_id": "t1", "content": ""}, {"type": "text", "text": "and test it"}]
    old = Transcript(modern=False).prompt("fix it").call("Bash", command="x").user(beside, toolUseResult={})
    assert old.brief()[1:] == [("Bash", {}), ("UserPromptSubmit", "and test it")]


def test_what_the_client_says_in_a_persons_place_is_no_prompt() -> None:
    session = (
        Transcript()
        .user("Caveat", isMeta=True)
        .user("<local-command-stdout>x</local-command-stdout>")
        .user("<bash-input>ls</bash-input>")
    )
    session.user("<task-notification>agent finished</task-notification>").user([{"type": "image", "source": {}}])
    assert session.brief() == []


def test_a_prompt_of_blocks_is_its_text() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    session = Transcript().prompt([{"type": "text", "text": "like this"}, picture, {"type": "text", "text": "in blue"}])
    assert_told_alike(envelope("UserPromptSubmit", prompt="like this\nin blue"), session.events()[0])


def test_a_data_uri_that_a_person_typed_is_text_on_both_sides() -> None:
    session = Transcript().prompt("data:text/plain;base64,aGk=")
    assert_told_alike(envelope("UserPromptSubmit", prompt="data:text/plain;base64,aGk="), session.events()[0])


def test_a_subagents_file_tells_its_calls_and_its_end_but_no_prompt() -> None:
    session = (
        Transcript(agent_id="a1").prompt("look for it").call("Bash", command="ls").result("a.py").say("Found it. ")
    )
    call, stop = session.events()
    fields = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1", "agent_id": "a1"}
    hook = envelope("PostToolUse", **fields, tool_response={"stdout": "a.py"})
    assert (call.identity, call.agent_id, call.session_id) == (hook.identity, "a1", "s1")
    assert call.payload["tool_response"] == "a.py", "such a file holds only what the model saw"
    assert_told_alike(envelope("SubagentStop", agent_id="a1", last_assistant_message="Found it."), stop)
    assert not any(isinstance(told, SessionChange) for told in session.told())


@pytest.mark.parametrize(
    ("text", "reason", "outcome"),
    [
        ("<tool_use_error>InputValidationError: Read failed</tool_use_error>", "validation", "failed"),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", "validation", "failed"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "cancelled", "interrupted"),
        ("Claude requested permissions to use WebFetch, but you haven't granted it yet.", "denied", "failed"),
        ("PreToolUse:Bash hook error: not today", "denied", "failed"),
        ("The user doesn't want to proceed with this tool use. The tool use was rejected", "rejected", "interrupted"),
        ("File does not exist. Note: your current working directory is /home/dev/demo.", None, "failed"),
        ("Exit code 1\n<tool_use_error>", None, "failed"),
    ],
)
def test_a_failure_that_no_hook_reports_is_marked_with_its_cause(text: str, reason: str | None, outcome: str) -> None:
    event = Transcript().prompt("go").call("Read", file_path="/a").failure(text).events()[1]
    assert (event.payload.get("_unhooked"), event.outcome) == (reason, outcome)
    assert not event.payload["error"].startswith("<tool_use_error>")


def test_a_turn_that_a_person_stops_has_no_end() -> None:
    session = Transcript().prompt("go").say("I begin", ended=False)
    session.user([{"type": "text", "text": "[Request interrupted by user]"}]).prompt("no, this", "p2").say("Done.")
    assert [tool for tool, _ in session.brief()] == ["UserPromptSubmit", "AssistantText", "UserPromptSubmit", "Stop"]


def test_a_turn_that_is_not_over_has_no_end_yet() -> None:
    session = Transcript().prompt("go").say("Let me look.", ended=False)
    assert session.brief() == [("UserPromptSubmit", "go")], "what was said last may be its closing"
    said = [("UserPromptSubmit", "go"), ("AssistantText", "Let me look.")]
    assert session.brief(complete=True) == said, "once nothing can follow it was none"
    session.call("Bash", command="ls")
    assert session.brief() == said, "nor is an unanswered call an event"


def test_the_last_of_several_texts_of_one_message_is_the_closing_one() -> None:
    session = Transcript().prompt("go")
    for text in ("block one", "block two"):
        session.add(
            "assistant", message={"id": "m", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
        )
    assert session.brief()[1:] == [("AssistantText", "block one"), ("Stop", "block two")]


def test_what_a_subagent_says_is_marked_and_no_word_of_the_agents_own() -> None:
    session = Transcript(agent_id="a1").say("I look.", ended=False).call("Bash", command="ls")
    session.result("a.py")
    said, _ = session.events()
    assert (said.tool, said.agent_id, said.said_by) == ("AssistantText", "a1", "output")


def test_a_text_is_known_by_its_record_and_not_by_its_words() -> None:
    session = Transcript().prompt("go")
    for number in range(3):
        session.say("Let me look.", ended=False, uuid=f"u{number % 2}").call("Bash", f"t{number}", command="ls")
    assert [event.identity for event in session.events()[1:]] == [("text", "u0"), ("text", "u1"), ("text", "u0")]


def test_nothing_is_said_in_an_empty_text() -> None:
    session = Transcript().prompt("go").say("(no content)", ended=False).call("Bash", command="ls").result("a", {})
    assert [tool for tool, _ in session.brief()] == ["UserPromptSubmit", "Bash"]


def test_what_the_client_writes_in_the_models_place_nobody_said() -> None:
    session = Transcript().prompt("go").say("Fixed.")
    content = [{"type": "text", "text": "No response requested."}]
    session.add("assistant", message={"id": "x", "model": "<synthetic>", "content": content, "stop_reason": "end_turn"})
    assert session.brief(complete=True)[1:] == [("Stop", "Fixed.")]


def test_the_account_that_a_compaction_leaves_is_told() -> None:
    session = Transcript().prompt("This session is being continued from…", isCompactSummary=True, uuid="u1")
    (account,) = session.events()
    assert account.tool == "CompactSummary"
    assert account.payload == {"summary": "This session is being continued from…"}
    assert account.identity == ("account", "u1")


def test_what_waits_in_the_clients_queue_is_told_once_the_agent_is_given_it() -> None:
    """`dequeue` makes it the next prompt; what is taken back was never said."""
    session = Transcript().prompt("fix it").queue("enqueue", "no, not the tests").queue("enqueue", "and then push")
    session.queue("remove").queue("dequeue").queue("enqueue", "oops").queue("popAll").say("Fixed.")
    assert session.brief() == [
        ("UserPromptSubmit", "fix it"),
        ("UserPromptSubmit", "no, not the tests"),
        ("Stop", "Fixed."),
    ]
    assert_told_alike(envelope("UserPromptSubmit", prompt="no, not the tests"), session.events()[1])


def test_what_the_client_notes_of_a_task_in_the_background_nobody_typed() -> None:
    noted = {
        "task_id": "b145832",
        "tool_use_id": "toolu_1",
        "description": "Push the branch",
        "task_type": "local_bash",
    }
    pasted = {**noted, "status": "why is it still running?"}
    session = Transcript().prompt("push it")
    for text in (json.dumps(noted), json.dumps(pasted), '{"task_id": "b1'):
        session.queue("enqueue", text).queue("remove")
    session.say("Pushed.")
    prompts = [
        told.payload["prompt"] for told in session.told() if isinstance(told, Event) and "prompt" in told.payload
    ]
    assert prompts == ["push it", json.dumps(pasted), '{"task_id": "b1'], (
        "what differs from it a person may have pasted"
    )


def test_a_queued_prompt_that_is_attached_as_well_is_told_once() -> None:
    attached = {"type": "queued_command", "prompt": "and test it", "commandMode": "prompt"}
    for modern in (True, False):
        session = Transcript(modern=modern).prompt("fix it").queue("enqueue", "and test it").queue("remove")
        session.add("attachment", attachment=attached).say("Done.").prompt("and test it", "p2")
        assert [text for _, text in session.brief(complete=True)] == ["fix it", "and test it", "Done.", "and test it"]


def test_what_a_subagent_in_the_background_answers_is_its_end() -> None:
    answer = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n<result>It leaks.</result>\n"
    command = "<task-notification><task-id>b1</task-id><summary>Command done</summary></task-notification>"
    started = {"agentId": "a1", "status": "async_launched"}

    def begun() -> Transcript:
        return Transcript().prompt("go").call("Agent", prompt="look").result("", started).prompt("meanwhile", "p2")

    for session in (
        begun().user(answer + "</task-notification>").user(command),
        begun().queue("enqueue", answer).queue("remove").queue("enqueue", command).queue("remove"),
    ):
        *_, told = session.events()
        assert_told_alike(envelope("SubagentStop", agent_id="a1", last_assistant_message="It leaks."), told)


def test_what_is_no_agents_id_ends_no_subagent() -> None:
    for task in ("x" * 65, "a b", "", "</result>"):
        text = f"<task-notification><task-id>{task}</task-id><result>It leaks.</result></task-notification>"
        assert [event.tool for event in Transcript().prompt("go").user(text).events()] == ["UserPromptSubmit"]


def test_an_error_of_the_api_is_no_closing_text() -> None:
    session = Transcript().prompt("go")
    content = [{"type": "text", "text": "API Error: 500"}]
    session.add("assistant", isApiErrorMessage=True, message={"id": "m", "content": content, "stop_reason": "end_turn"})
    assert session.brief() == [("UserPromptSubmit", "go")]


def test_a_compaction_changes_the_session() -> None:
    changes = Transcript().prompt("go").add("system", subtype="compact_boundary").told()
    assert [told.change for told in changes if isinstance(told, SessionChange)] == ["start", "compact"]


def test_in_an_older_clients_file_texts_are_counted_and_turns_end_with_the_next_or_a_system_record() -> None:
    session = Transcript(modern=False)
    session.prompt("continue").say("One.").prompt("continue").say("Two.").add("system", subtype="turn_duration")
    session.prompt("again").say("One.")
    events = session.events(complete=True)
    assert [(event.identity, event.occurrence) for event in events] == [
        (("prompt", "continue"), 1),
        (("stop", "", "", "One."), 1),
        (("prompt", "continue"), 2),
        (("stop", "", "", "Two."), 1),
        (("prompt", "again"), 1),
        (("stop", "", "", "One."), 2),
    ]
    assert len(session.events()) == 5, "its last words may still be followed by a call while the file can grow"


def test_broken_lines_are_counted_and_cost_nothing_else() -> None:
    session = Transcript().prompt("go").call("Bash", command="ls")
    session.lines += [
        b'{"type":"user","mess',
        b"[1]\n",
        b"\n",
        b"\x00\x00\n",
        b'{"type":"user","sessionId":7}\n',
        b"[" * 9_000 + b"]" * 9_000,
    ]
    session.result("a", {"stdout": "a"}).result("again", {}, tool_use_id="t1")
    assert session.brief()[1:] == [("Bash", {"stdout": "a"})]
    skipped = [told.reason for told in session.told() if isinstance(told, Skipped)]
    assert sorted(skipped) == ["bad_type", "bad_type", "malformed_line", "malformed_line", "orphan_result", "too_deep"]


def test_records_without_a_session_or_time_borrow_them_or_are_counted() -> None:
    line = b'{"type":"user","message":{"content":"go"},"timestamp":"2026-01-01T00:00:00Z"}'
    assert list(read_transcript([line])) == [Skipped("no_session_or_time")]
    assert [told.session_id for told in read_transcript([line], session_id="s9") if isinstance(told, Event)] == ["s9"]


def test_what_was_injected_or_logged_around_a_conversation_tells_nothing() -> None:
    session = Transcript().prompt("go")
    session.add("attachment", attachment={"type": "hook_additional_context", "content": ["old news"]})
    session.add(
        "attachment", attachment={"type": "queued_command", "prompt": "<task-notification>", "commandMode": "prompt"}
    )
    session.add("progress", message={"content": "x"}).add("summary", summary="x").add("queue-operation", content="x")
    assert session.brief() == [("UserPromptSubmit", "go")]


def test_the_head_names_session_folder_and_agent_from_the_first_lines_that_do() -> None:
    session = Transcript(agent_id="a1").prompt("go")

    def lines() -> Iterator[bytes]:
        yield b"not json\n"
        yield b'{"type":"summary","summary":"x"}\n'
        yield session.lines[0]
        raise AssertionError("read further than needed")

    assert transcript_head(lines()) == ("s1", FOLDER, "a1")


FIELDS: st.SearchStrategy[Any] = st.sampled_from(
    [None, 5, "x", [], {}, [None], ["x"], [{"type": "tool_result"}], [{"type": "tool_use"}], True]
)


@pytest.mark.slow
@settings(max_examples=150)
@given(
    st.lists(st.dictionaries(st.sampled_from(["message", "attachment", "subtype", "timestamp", "isMeta"]), FIELDS)),
    st.sampled_from(["user", "assistant", "system", "attachment"]),
    FIELDS,
)
def test_no_shape_of_a_record_raises(records: list[dict[str, Any]], kind: str, content: Any) -> None:
    session = Transcript().prompt("go")
    for record in records:
        session.add(kind, **record).add(kind, message={"content": content}, attachment={"type": "queued_command"})
    assert session.brief()[0] == ("UserPromptSubmit", "go")
