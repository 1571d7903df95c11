"""Claude Code's envelopes: what each becomes, what is refused and why, and that nothing harms the reader."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import msgspec
import pytest
from claude_home import encode_project_dir
from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.clients.claude_code.facts import input_identity, typed_prompt
from siftd.clients.claude_code.hooks import decode_envelope
from siftd.clients.registry import CLIENTS
from siftd.clients.tolerant_json import MAX_DEPTH
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange

COMMON = {"session_id": "s1", "cwd": "/home/dev/demo", "prompt_id": "p1", "transcript_path": "/t.jsonl"}


def envelope(event: str, **fields: Any) -> bytes:
    return json.dumps({**COMMON, "hook_event_name": event, **fields}).encode()


def decode(event: str, **fields: Any) -> Event:
    decoded = decode_envelope(envelope(event, **fields), ts=7)
    assert isinstance(decoded, Event)
    return decoded


def rejection(raw: bytes) -> str:
    with pytest.raises(EnvelopeRejected) as caught:
        decode_envelope(raw, ts=7)
    return caught.value.reason


def bash(**fields: Any) -> Event:
    return decode("PostToolUse", tool_name="Bash", tool_input={"command": "true"}, tool_use_id="toolu_1", **fields)


def test_a_finished_tool_call_is_an_event_with_the_clients_own_field_names() -> None:
    event = bash(tool_response={"stdout": "ok", "interrupted": False}, duration_ms=12)
    assert event == Event(
        client="claude-code",
        session_id="s1",
        kind="tool",
        tool="Bash",
        action="run",
        payload={"tool_input": {"command": "true"}, "tool_response": {"stdout": "ok", "interrupted": False}},
        ts=7,
        identity=("tool", "toolu_1"),
        native_id="toolu_1",
        said_by="output",
        outcome="ok",
        cwd="/home/dev/demo",
        prompt_id="p1",
        transcript="/t.jsonl",
    )


def test_the_end_of_a_subagent_names_its_own_transcript() -> None:
    told = {"agent_id": "a1", "agent_type": "Explore", "last_assistant_message": "x"}
    assert decode("SubagentStop", **told, agent_transcript_path="/a.jsonl").transcript == "/a.jsonl"
    assert decode("SubagentStop", **told, agent_transcript_path={"not": "a path"}).transcript is None


def test_a_failed_tool_call_keeps_its_error() -> None:
    failure = {"tool_name": "Bash", "tool_input": {"command": "false"}, "tool_use_id": "t", "error": "Exit code 1"}
    event = decode("PostToolUseFailure", **failure, is_interrupt=False)
    assert (event.outcome, event.payload["error"]) == ("failed", "Exit code 1")
    assert decode("PostToolUseFailure", **failure, is_interrupt=True).outcome == "interrupted"


def test_a_command_that_was_stopped_half_way_is_interrupted() -> None:
    assert bash(tool_response={"stdout": "half", "interrupted": True}).outcome == "interrupted"


def test_a_call_inside_a_subagent_names_it_and_the_call_that_started_it_too() -> None:
    assert bash(agent_id="a1", tool_response="x").agent_id == "a1"
    response = {"status": "completed", "agentId": "a1", "content": []}
    started = decode("PostToolUse", tool_name="Agent", tool_input={}, tool_response=response, tool_use_id="t")
    assert (started.agent_id, started.spawned_agent_id) == (None, "a1")


def test_a_prompt_is_known_by_its_turn_and_its_text() -> None:
    """What is typed while the agent works arrives under the running turn's id: it must not be taken for a copy."""
    first, second = (decode("UserPromptSubmit", prompt=text) for text in ("fix it", "and add a test"))
    assert first.identity == ("prompt", "p1", "fix it")
    assert first.identity != second.identity
    assert first.native_id == second.native_id == "p1"
    assert first.payload == {"prompt": "fix it"}


def test_a_prompt_of_an_older_client_is_known_by_its_text_alone() -> None:
    event = decode("UserPromptSubmit", prompt="fix it", prompt_id=None)
    assert (event.identity, event.native_id, event.occurrence) == (("prompt", "fix it"), None, None)


def test_a_turns_end_keeps_the_closing_text() -> None:
    event = decode("Stop", last_assistant_message=" Done. \n")
    assert event.tool == "Stop"
    assert event.payload == {"last_assistant_message": "Done."}
    assert event.identity == ("stop", "", "p1", "Done.")


def test_a_subagents_end_is_known_by_the_agent_whatever_turn_is_running() -> None:
    ends = [decode("SubagentStop", agent_id="a1", last_assistant_message="x", prompt_id=id_) for id_ in ("p1", "p2")]
    assert ends[0].tool == "SubagentStop"
    assert ends[0].identity == ends[1].identity == ("stop", "a1", "", "x")


@pytest.mark.parametrize(
    ("event", "fields", "change", "detail"),
    [
        ("SessionStart", {"source": "resume"}, "start", "resume"),
        ("SessionEnd", {"reason": "other"}, "end", "other"),
        ("PreCompact", {"trigger": "auto"}, "compact", "auto"),
    ],
)
def test_what_happens_to_a_session_is_no_event(event: str, fields: dict[str, str], change: str, detail: str) -> None:
    decoded = decode_envelope(envelope(event, **fields), ts=7)
    assert isinstance(decoded, SessionChange)
    assert (decoded.change, decoded.detail, decoded.cwd) == (change, detail, "/home/dev/demo")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "not_json"),
        (b"{", "not_json"),
        (b"hello", "not_json"),
        (b"[1]", "bad_type"),
        (b'"text"', "bad_type"),
        (b'{"session_id": 5}', "bad_type"),
        (b"{}", "no_session"),
        (b'{"session_id": "s"}', "unhandled_event"),
        (envelope("PreToolUse", tool_name="Bash"), "unhandled_event"),
        (envelope("PostToolUse", tool_response=1), "no_tool"),
        (envelope("UserPromptSubmit", prompt=5), "bad_type"),
        (envelope("UserPromptSubmit", prompt="<task-notification>\n<task-id>a</task-id>"), "not_a_prompt"),
        (envelope("UserPromptSubmit", prompt=" <system-reminder>x</system-reminder> "), "not_a_prompt"),
        (envelope("SubagentStop", agent_id="a", agent_type="", last_assistant_message="summary"), "internal_agent"),
        (b'{"session_id":"s","tool_input":' + b"[" * 100_000, "too_deep"),
    ],
)
def test_what_is_no_event_is_rejected_with_a_countable_reason(raw: bytes, reason: str) -> None:
    assert rejection(raw) == reason


@pytest.mark.parametrize("odd", [b"", b"\xff", b"\\ud800"])
@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 5_000, 200_000])
def test_deep_nesting_is_rejected_whichever_reader_sees_it(levels: int, odd: bytes) -> None:
    deep = b'{"a":' * levels + b"1" + b"}" * levels
    raw = envelope("PostToolUse", tool_name="X", tool_input="INPUT", error="ODD")
    assert rejection(raw.replace(b'"INPUT"', deep).replace(b"ODD", odd)) == "too_deep"


def test_many_brackets_are_not_depth() -> None:
    event = decode("PostToolUse", tool_name="X", tool_input={"rows": [[i] for i in range(5_000)]}, tool_response=[])
    assert len(event.payload["tool_input"]["rows"]) == 5_000


def test_a_lone_surrogate_and_broken_bytes_are_replaced_and_the_fact_is_kept() -> None:
    raw = envelope("PostToolUse", tool_name="Bash", tool_input={"KEY": "VALUE"}, tool_response="caf\u00e9 \U0001f600")
    event = decode_envelope(raw.replace(b"KEY", b"k\\udc00").replace(b"VALUE", b"\xffv\\ud83d!"), ts=7)
    assert isinstance(event, Event)
    assert event.payload["tool_input"] == {"k\ufffd": "\ufffdv\ufffd!"}
    assert event.payload["tool_response"] == "caf\u00e9 \U0001f600"


def test_numbers_that_json_cannot_carry_become_text() -> None:
    numbers = b"[NaN, Infinity, -Infinity, 1e999, " + b"9" * 5_000 + b", 1.5, 12]"
    raw = envelope("PostToolUse", tool_name="X", tool_input="N").replace(b'"N"', numbers)
    event = decode_envelope(raw, ts=7)
    assert isinstance(event, Event)
    assert event.payload["tool_input"] == ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5_000, 1.5, 12]


def test_a_nul_stays_in_the_payload_and_out_of_the_columns() -> None:
    event = decode("PostToolUse", session_id="s\0", tool_name="B\0", tool_input={"command": "a\0b"}, tool_response="")
    assert (event.session_id, event.tool) == ("s\ufffd", "B\ufffd")
    assert event.payload["tool_input"] == {"command": "a\0b"}


def test_raw_control_characters_and_repeated_keys_are_read() -> None:
    raw = b'\xef\xbb\xbf{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"a","prompt":"b\tc\x00"}'
    event = decode_envelope(raw, ts=7)
    assert isinstance(event, Event)
    assert event.payload == {"prompt": "b\tc\x00"}


DATA = "aGVsbG8gd29ybGQ="  # 11 bytes


@pytest.mark.parametrize(
    ("response", "kept"),
    [
        (
            {"type": "image", "file": {"base64": DATA, "type": "image/png", "originalSize": 11}},
            {"type": "image", "file": {"type": "image/png", "originalSize": 11, "bytes": 11}},
        ),
        (
            {"type": "pdf", "file": {"filePath": "/a.pdf", "base64": DATA}},
            {"type": "pdf", "file": {"filePath": "/a.pdf", "bytes": 11}},
        ),
        (
            {"deep": [[{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}]]},
            {"deep": [[{"type": "image", "media_type": "image/png", "bytes": 11}]]},
        ),
        (
            [{"type": "image", "data": DATA, "mimeType": "image/webp"}, {"type": "text", "text": "x"}],
            [{"type": "image", "media_type": "image/webp", "bytes": 11}, {"type": "text", "text": "x"}],
        ),
        (
            {"stdout": f"data:image/png;base64,{DATA}", "isImage": True},
            {"stdout": "[image/png, 11 bytes]", "isImage": True},
        ),
        ({"stdout": f"see data:image/png;base64,{DATA}"}, {"stdout": f"see data:image/png;base64,{DATA}"}),
        ({"data": DATA, "encoding": "base64"}, {"data": DATA, "encoding": "base64"}),
    ],
)
def test_base64_blocks_are_replaced_by_type_and_size_and_text_is_left_alone(response: Any, kept: Any) -> None:
    assert bash(tool_response=response).payload["tool_response"] == kept


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("  fix it\n", "fix it"),
        ("<siftd-memory ids='m1'>old\nnews</siftd-memory>\nfix it", "fix it"),
        ("a <system-reminder>x</system-reminder><system-reminder>y</system-reminder> b", "a  b"),
        ("<system-reminder> never closed, fix it", "<system-reminder> never closed, fix it"),
        ("<ide_opened_file>The user opened a.py</ide_opened_file>\nfix it", "fix it"),
        ("/greet  Ada   B", "/greet Ada   B"),
        (
            "<command-message>greet</command-message>\n<command-name>/greet</command-name>\n"
            "<command-args>Ada   B</command-args>",
            "/greet Ada   B",
        ),
        ("<command-message>init is running</command-message><command-name>/init</command-name>", "/init"),
        ("<command-name>/compact</command-name>\n<command-message>compact</command-message>", None),
        ("<local-command-stdout>bye</local-command-stdout>", None),
        ("<bash-input>ls</bash-input>", None),
        ("[Request interrupted by user for tool use]", None),
        ("", None),
    ],
)
def test_only_what_a_person_typed_is_a_prompt(written: str, typed: str | None) -> None:
    assert typed_prompt(written) == typed


def test_a_flood_of_unclosed_tags_costs_no_more_than_its_length() -> None:
    flood = "<system-reminder>" * 20_000 + "x"
    assert typed_prompt(flood) == flood


@pytest.mark.parametrize(
    ("tool", "one", "other"),
    [
        ("Read", {"file_path": "/p/a.py", "limit": 10}, {"file_path": "a.py", "limit": "10"}),
        ("Edit", {"file_path": "/p/a", "old_string": "x", "replace_all": False}, {"file_path": "a", "old_string": "x"}),
        ("Bash", {"command": "ls", "timeout": 5000}, {"command": "ls", "timeout": "5000"}),
        ("ToolSearch", {"query": "x", "max_results": 5}, {"query": "x"}),
        ("ExitPlanMode", {"plan": "…", "planFilePath": "/p"}, {}),
        ("mcp__a__b", {"n": 1.0, "none": None, "off": False, "b": True}, {"b": "true", "n": 1}),
    ],
)
def test_one_call_has_one_input_identity_however_each_side_writes_it(tool: str, one: Any, other: Any) -> None:
    assert input_identity(tool, one) == input_identity(tool, other)


@pytest.mark.parametrize(
    ("tool", "one", "other"),
    [
        ("Read", {"file_path": "/p/a.py"}, {"file_path": "/p/b.py"}),
        ("Read", {"file_path": "/p/a.py", "offset": 1}, {"file_path": "/p/a.py", "offset": 9}),
        ("Bash", {"command": "ls"}, {"command": "ls -l"}),
        ("Unheard", {"n": 1}, {"n": 2}),
        ("mcp__a__b", {"x": ["1", "2"]}, {"x": ["1 2"]}),
    ],
)
def test_another_input_has_another_identity(tool: str, one: Any, other: Any) -> None:
    assert input_identity(tool, one) != input_identity(tool, other)


def test_paths_are_told_as_hooks_tell_them() -> None:
    event = decode("PostToolUse", tool_name="Read", tool_input={"file_path": "src/../a.py"}, tool_response="")
    assert event.payload["tool_input"] == {"file_path": "/home/dev/demo/a.py"}
    home = decode("PostToolUse", tool_name="Read", tool_input={"file_path": "~/a.py"}, tool_response="")
    assert home.payload["tool_input"] == {"file_path": "~/a.py"}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/tmp/a.b_c", "-tmp-a-b-c"),
        ("/home/é/😀", "-home-----"),
        ("/" + "a" * 199, "-" + "a" * 199),
        ("/" + "a" * 250, "-" + "a" * 199 + "-feo44x"),
    ],
)
def test_a_folders_transcripts_are_where_the_client_puts_them(path: str, name: str) -> None:
    assert encode_project_dir(path) == name


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@settings(max_examples=150)
@given(
    st.sampled_from(["PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop"]), JSON, JSON, st.integers(0, 80)
)
def test_any_envelope_becomes_an_event_that_json_can_carry_or_a_rejection(
    event: str, first: Any, second: Any, cut: int
) -> None:
    raw = envelope(event, tool_name="X", tool_input=first, tool_response=second, error=second, prompt=first)
    for body in (raw, raw[:-cut] if cut else raw, raw.replace(b"a", b"\xf0\x28")):
        with contextlib.suppress(EnvelopeRejected):
            decoded = decode_envelope(body, ts=7)
            assert isinstance(decoded, Event)
            assert msgspec.json.decode(msgspec.json.encode(decoded.payload)) == decoded.payload


def test_the_table_of_decoders_knows_the_client() -> None:
    assert CLIENTS["claude-code"].decode(envelope("Stop"), ts=7) == decode("Stop")
