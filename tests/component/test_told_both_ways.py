"""Recorded sessions of real agents, told by their hooks and by their files in every order: each fact is kept once, a
failed call is told as failed, and nothing that a hook put before the agent is taken for its words."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from both_ways import TS, WAYS, facts_by
from opened_store import OpenedStore
from recordings import Recording, recording_of

from siftd.clients.kimi_code import files as kimi_files
from siftd.clients.registry import CLIENTS
from siftd.model import Event

RECORDED = ("gemini-cli", "qwen-code", "kimi-code", "droid")
CALLS = {"gemini-cli": 15, "qwen-code": 14, "kimi-code": 13, "droid": 13}
FAILED = {"gemini-cli": 5, "qwen-code": 5, "kimi-code": 5, "droid": 5}
"""A command that exits with 1, an edit that does not apply, a server's tool, a file that is not there, and a tool that
does not exist."""
PROMPTS = {"gemini-cli": 4, "qwen-code": 4, "kimi-code": 3, "droid": 3}
ENDS = {"gemini-cli": 4, "qwen-code": 4, "kimi-code": 2, "droid": 2}
FILES_ONLY = {
    "gemini-cli": {("tool", "no_such_tool"), ("subagent_end", "SubagentStop")},
    "qwen-code": {("tool", "no_such_tool"), ("assistant_text", "AssistantText")},
    "kimi-code": {
        ("tool", "Read"),
        ("tool", "Agent"),
        ("turn_end", "Stop"),
        ("subagent_end", "SubagentStop"),
        ("assistant_text", "AssistantText"),
    },
    "droid": {
        ("tool", "Execute"),
        ("tool", "Edit"),
        ("tool", "Read"),
        ("tool", "mcp__mem__broken"),
        ("tool", "no_such_tool"),
        ("prompt", "UserPromptSubmit"),
        ("turn_end", "Stop"),
        ("assistant_text", "AssistantText"),
    },
}
"""What no hook told, by kind and tool. Two of Kimi Code's calls fired none that told of their end; droid has
none for a call that failed, for the prompt of `droid exec`, and for a turn's words."""


FILE_LOST = ("kimi-code", "droid")
"""Of these the file of one session, in a terminal, was not recorded."""


async def block_of(home: Path) -> str:
    """Return a block as a new workspace in `home` gives it."""
    async with OpenedStore(home) as store:
        return f'<siftd-memory id="{store.intake.block_id}">\nINJECTED\n</siftd-memory>'


def recorded(client: str, folder: Path, block: str, monkeypatch: pytest.MonkeyPatch) -> Recording:
    """Return a recording in which all that hooks printed was our block."""
    # Gemini CLI writes angle brackets of what a hook gives as entities.
    shown = block.replace("<", "&lt;").replace(">", "&gt;") if client == "gemini-cli" else block
    names = ("INJECTED-AT-PROMPT-PLAIN", "INJECTED-AT-START", "INJECTED-AT-PROMPT", "INJECTED-AFTER-TOOL")
    recording = recording_of(client, folder, dict.fromkeys([*names, "INJECTED-AFTER-FAILURE"], shown))
    monkeypatch.setenv("KIMI_CODE_HOME", str(recording.home))
    monkeypatch.setattr(kimi_files, "_found", {})
    return recording


@pytest.mark.slow
@pytest.mark.parametrize("client", RECORDED)
async def test_each_fact_is_kept_once_whoever_tells_it_first(
    client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {}
    for number, way in enumerate(WAYS):
        place = tmp_path / str(number)
        place.mkdir()
        recording = recorded(client, place, await block_of(place / "store"), monkeypatch)
        by_file = recording.inputs, recording.home, recording.root, recording.times
        facts = await facts_by(way, place / "store", CLIENTS[client], *by_file)
        told[way] = Counter(row[:3] for row in facts)
        calls = [row for row in facts if row[1] == "tool"]
        if "file" in way:
            assert (len(calls), sum(row[3] == "failed" for row in calls)) == (CALLS[client], FAILED[client]), way
        assert not [row for row in facts if "INJECTED" in row[6] or "siftd-memory" in row[6]], way
    live, file, *others = told.values()
    assert all(other == others[0] for other in others)
    assert live | file == others[0]
    assert not {kind for _, kind, _ in others[0] - file} - ({"prompt"} if client in FILE_LOST else set())
    assert {(kind, tool) for _, kind, tool in others[0] - live} == FILES_ONLY[client]
    kinds = Counter(kind for _, kind, _ in others[0].elements())
    assert (kinds["prompt"], kinds["turn_end"]) == (PROMPTS[client], ENDS[client])


def call(ts: int, **told: object) -> Event:
    given = {"tool_input": {"command": "git status"}, "tool_response": "clean"}
    return Event(
        client="gemini-cli",
        session_id="s1",
        kind="tool",
        tool="run_shell_command",
        payload=given,
        ts=ts,
        identity=("tool", "run_shell_command", "git status"),
        **told,  # type: ignore[arg-type]
    )


async def test_a_hook_that_comes_after_the_file_is_known_by_its_time(tmp_path: Path) -> None:
    async with OpenedStore(tmp_path) as store:
        for ts, number in ((TS, 1), (TS + 5_000, 2)):
            await store.keep(call(ts, from_transcript=True, occurrence=number))
        for frame, ts in (("a", TS - 40), ("b", TS + 4_960), ("b", TS + 4_960), ("c", TS + 30_000), ("c", TS + 30_000)):
            await store.keep(call(ts), frame_uid=frame)
        assert [ts for (ts,) in store.rows("SELECT ts FROM events ORDER BY ts")] == [TS, TS + 5_000, TS + 30_000]


async def test_calls_that_are_told_together_are_known_before_the_store_has_them(tmp_path: Path) -> None:
    async with OpenedStore(tmp_path) as store:
        read, heard = call(TS, from_transcript=True, occurrence=1), call(TS - 40)
        admitted = [store.intake.admit(read), store.intake.admit(heard, frame_uid="a")]
        receipts = await asyncio.gather(*map(store.committer.keep, admitted))
        assert [receipt.is_duplicate for receipt in receipts] == [False, True]
