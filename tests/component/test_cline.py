"""What Cline tells, by its hooks and by its sessions' documents: recorded from Cline's program 3.0."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from both_ways import WAYS, facts_by
from opened_store import OpenedStore

from siftd.clients.facts import milliseconds
from siftd.clients.registry import CLIENTS
from siftd.clock import SystemClock
from siftd.daemon.ingest.transcripts import Transcripts
from siftd.errors import EnvelopeRejected
from siftd.model import Event
from siftd.workspace.secret import ensure_secret

CLIENT = CLIENTS["cline"]
DATA = Path(__file__).resolve().parents[1] / "data" / "cline"
SESSION, AGENT = "1795375023941_4g4kb", "agent_1795375027126_j8dk0e"
ENVELOPES = (DATA / "envelopes.jsonl").read_bytes().splitlines()
TIMES = [milliseconds(json.loads(line)["timestamp"]) or 0 for line in ENVELOPES]


def lay(folder: Path, root: Path | str) -> Path:
    """Lay the recorded session into a folder of sessions; return its document."""
    session = folder / SESSION
    session.mkdir(parents=True, exist_ok=True)
    for file in DATA.glob("*.json"):
        text = file.read_text(encoding="utf-8").replace("/home/dev/project", str(root))
        (session / file.name).write_text(text, encoding="utf-8")
    return session / f"{SESSION}.messages.json"


@pytest.mark.parametrize("way", WAYS)
async def test_live_and_documents_tell_the_same_in_any_order(tmp_path: Path, way: str) -> None:
    folder, root = tmp_path / "sessions", tmp_path / "work"
    root.mkdir()
    lay(folder, root)
    inputs = [line.replace(b"/home/dev/project", str(root).encode()) for line in ENVELOPES]
    facts = await facts_by(way, tmp_path / "home", CLIENT, inputs, folder, str(root), TIMES)
    kinds = Counter(kind for _, kind, *_ in facts)
    documents_alone = {"prompt": 1, "assistant_text": 1} if way != "live" else {}
    calls = 11 if way == "live" else 12  # a tool that is none is in the document alone
    assert kinds == {"tool": calls, "turn_end": 1, "subagent_end": 1, **documents_alone}
    outcomes = Counter(outcome for _, _, _, outcome, *_ in facts if outcome)
    assert outcomes == {"ok": 7, "failed": calls - 7}, "a command, an edit, a server's error, a file, no such tool"
    assert len(set(facts)) == len(facts)
    assert "INJECTED" not in str(facts)


class Followed:
    """A session's document that is followed as a daemon follows it."""

    def __init__(self, folder: Path, store: OpenedStore) -> None:
        self.path = lay(folder, "/home/dev/project")
        self.store = store
        self.whole = json.loads(self.path.read_text())["messages"]
        self.begin()

    def begin(self) -> None:
        """Follow as a daemon does that has just started."""
        secret = ensure_secret(self.store.paths)
        self._transcripts = Transcripts(self.store.intake, self.store.committer.keep, self.store, SystemClock(), secret)

    async def read(self, messages: Sequence[Any]) -> int:
        """Write the document anew with these messages and read what is new."""
        document = json.loads(self.path.read_text()) | {"messages": list(messages)}
        self.path.write_text(json.dumps(document))
        return await self.read_again()

    async def read_again(self) -> int:
        """Read what is new of the document as it is."""
        self.store.intake.named[str(self.path)] = CLIENT, SESSION
        return await self._transcripts.read()


async def test_a_document_that_is_written_anew_is_told_once_as_it_grows(tmp_path: Path) -> None:
    async with OpenedStore(tmp_path / "home") as store:
        followed = Followed(tmp_path / "sessions", store)
        whole = followed.whole
        assert await followed.read(whole[:1]) == 1
        assert await followed.read(whole[:1]) == 0
        assert await followed.read(whole[:4]) == 3, "what was said, and two calls"
        followed.begin()
        rest = await followed.read(whole)
        assert await followed.read(whole) == 0
        assert 4 + rest == len(store.rows())


async def test_a_document_that_was_compacted_is_told_from_its_beginning_and_adds_what_is_new(tmp_path: Path) -> None:
    async with OpenedStore(tmp_path / "home") as store:
        followed = Followed(tmp_path / "sessions", store)
        await followed.read(followed.whole)
        kept = store.rows()
        shorter = followed.whole[-6:]
        new = {
            "id": "msg_new",
            "role": "user",
            "content": [{"type": "text", "text": "And now?"}],
            "ts": 1_795_375_099_000,
        }
        assert await followed.read([*shorter, new]) == 1
        assert store.rows()[: len(kept)] == kept


@pytest.mark.parametrize("document", ["", "{", "[]", '{"messages": {}}', "\x00", "[" * 100_000])
async def test_a_document_that_is_none_is_passed_by(tmp_path: Path, document: str) -> None:
    async with OpenedStore(tmp_path / "home") as store:
        followed = Followed(tmp_path / "sessions", store)
        followed.path.write_text(document)
        assert await followed.read_again() == 0


def told(name: str, **fields: Any) -> Event:
    about = {
        "hookName": name,
        "sessionContext": {"rootSessionId": "s1"},
        "workspaceRoots": ["/w"],
        "agent_id": "agent_1",
    }
    event = CLIENT.decode(json.dumps(about | fields).encode(), ts=1)
    assert isinstance(event, Event)
    return event


def call(tool: str, given: Any, output: Any) -> Event:
    return told("tool_result", tool_result={"id": "call_1", "name": tool, "input": given, "output": output})


def test_a_prompt_is_told_without_its_tag() -> None:
    prompt = {"prompt": '<user_input mode="act">Fix it</user_input>'}
    assert told("prompt_submit", userPromptSubmit=prompt).payload == {"prompt": "Fix it"}


def test_a_command_that_failed_is_told_with_its_exit_code() -> None:
    entry = {"query": "make", "result": "[Command exited with code 2]\n\n[stderr]\nno rule\n", "success": False}
    event = call("run_commands", {"commands": ["make"]}, [entry | {"error": "Command exited with code 2"}])
    assert (event.outcome, event.payload["error"]) == ("failed", "Exit code 2\n[stderr]\nno rule\n")
    assert event.payload["tool_input"] == {"command": "make"}


def test_one_of_several_commands_that_fails_is_a_failure() -> None:
    entries = [{"result": "a", "success": True}, {"result": "", "error": "no such file", "success": False}]
    event = call("run_commands", {"commands": ["a", "b"]}, entries)
    assert (event.outcome, event.payload["error"]) == ("failed", "no such file")


def test_a_result_of_our_own_tools_is_kept_as_ids_alone() -> None:
    output = {"content": [{"type": "text", "text": "s12 said something secret"}], "isError": False}
    event = call("siftd__search", {"query": "x"}, output)
    assert (event.tool, event.payload["tool_response"]) == ("mcp__siftd__search", {"ids": ["s12"]})


def test_a_name_that_leads_out_of_the_sessions_folder_names_no_document() -> None:
    assert told("agent_end", turn={"outputText": "x"}).transcript is not None
    for session in ("../../x", "a/b", ".", "x" * 200):
        assert told("agent_end", sessionContext={"rootSessionId": session}).transcript is None


@pytest.mark.parametrize(
    ("envelope", "reason"),
    [
        (b"{", "not_json"),
        (b"[]", "bad_type"),
        (b"{}", "no_session"),
        (b'{"sessionContext":{"rootSessionId":"s"}}', "unhandled_event"),
        (b'{"sessionContext":{"rootSessionId":"s"},"hookName":"tool_result"}', "no_tool"),
        (b'{"sessionContext":{"rootSessionId":"s"},"hookName":"prompt_submit"}', "not_a_prompt"),
        (b'{"sessionContext":{"rootSessionId":"s"},"hookName":"tool_call"}', "unhandled_event"),
    ],
)
def test_what_is_no_envelope_of_ours_is_refused_with_a_name_for_it(envelope: bytes, reason: str) -> None:
    with pytest.raises(EnvelopeRejected) as rejected:
        CLIENT.decode(envelope, ts=1)
    assert rejected.value.reason == reason
