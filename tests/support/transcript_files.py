"""Transcript files as Claude Code lays them out, written by the tests."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from claude_home import encode_project_dir

LONG_AGO = 1_700_000_000


class SessionFile:
    """One session's file under a Claude home; every method appends lines to it."""

    def __init__(self, claude_home: Path, cwd: Path | str, session: str, *, agent_id: str | None = None) -> None:
        folder = claude_home / "projects" / encode_project_dir(str(cwd))
        self.path = folder / f"{session}.jsonl"
        if agent_id:
            self.path = folder / session / "subagents" / f"agent-{agent_id}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.cwd, self.session, self.agent_id = str(cwd), session, agent_id
        self.added = 0

    def add(self, kind: str, **fields: Any) -> SessionFile:
        self.added += 1
        record = {
            "type": kind,
            "sessionId": self.session,
            "cwd": self.cwd,
            "timestamp": f"2026-01-01T00:{self.added // 60 % 60:02}:{self.added % 60:02}.000Z",
            "isSidechain": bool(self.agent_id),
            **({"agentId": self.agent_id} if self.agent_id else {}),
            **fields,
        }
        return self.raw(json.dumps(record).encode() + b"\n")

    def raw(self, data: bytes) -> SessionFile:
        with self.path.open("ab") as file:
            file.write(data)
        return self.age(0)

    def age(self, seconds: int) -> SessionFile:
        """Let the file look as if it was last written so long after LONG_AGO."""
        os.utime(self.path, (LONG_AGO + seconds, LONG_AGO + seconds))
        return self

    def prompt(self, text: str, prompt_id: str = "p1") -> SessionFile:
        return self.add("user", message={"role": "user", "content": text}, promptId=prompt_id)

    def say(self, text: str) -> SessionFile:
        block = {"type": "text", "text": text}
        return self.add("assistant", message={"id": f"m{self.added}", "content": [block], "stop_reason": "end_turn"})

    def call(self, tool_use_id: str, tool: str = "Read", structured: Any = None, **tool_input: Any) -> SessionFile:
        """A call and its answer."""
        self.begin(tool_use_id, tool, **(tool_input or {"file_path": f"{self.cwd}/a.py"}))
        return self.answer(tool_use_id, "x = 1", structured=structured)

    def begin(self, tool_use_id: str, tool: str, **tool_input: Any) -> SessionFile:
        block = {"type": "tool_use", "id": tool_use_id, "name": tool, "input": tool_input}
        return self.add("assistant", message={"id": f"m{self.added}", "content": [block], "stop_reason": "tool_use"})

    def answer(self, tool_use_id: str, text: str, *, structured: Any = None, is_error: bool = False) -> SessionFile:
        block = {"type": "tool_result", "tool_use_id": tool_use_id, "content": text, "is_error": is_error}
        more = {} if structured is None else {"toolUseResult": structured}
        return self.add("user", message={"role": "user", "content": [block]}, promptId="p1", **more)

    def started_by(self, tool_use_id: str) -> SessionFile:
        """The side file that names the call which started this agent."""
        side = self.path.with_name(self.path.stem + ".meta.json")
        side.write_text(json.dumps({"agentType": "Explore", "toolUseId": tool_use_id}))
        return self
