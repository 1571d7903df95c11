"""People's own agents and scripts as siftd asks them: no hooks, no files of their own, nothing to wire.

What they tell comes by `mem capture` or, from a file, by `mem backfill --client generic`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from siftd.clients.client import Head, Moment, Reader
from siftd.clients.generic.lines import NAME, LineReader, decode_line, head_of, identify_input
from siftd.clients.support import Support
from siftd.model import Event, SessionChange


class Files:
    """Any file of lines."""

    suffix = ".jsonl"
    reports_outcomes = False
    reports_everything = False

    def folder(self, environ: Mapping[str, str], user_home: str) -> None:  # noqa: ARG002 - there is none
        return None

    def head(self, path: str, lines: Iterable[bytes]) -> Head:  # noqa: ARG002 - lines say it themselves
        return head_of(lines)

    def joined_lines(self, path: str, lines: Iterable[bytes]) -> Iterable[bytes]:  # noqa: ARG002 - its own alone
        return lines

    def reader(self, session_id: str | None) -> Reader:
        return LineReader(session_id)

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:  # noqa: ARG002 - lines say it themselves
        return {}


class Generic:
    """Whatever writes the lines that `siftd.clients.generic.lines` specifies."""

    name = NAME
    title = "Your own agent"
    files = Files()
    installer = None
    support = Support(
        starts="yes",
        prompts="yes",
        tools="yes",
        failures="yes",
        ends="yes",
        backfill=True,
        mcp="by hand",
        evidence="real program",
        note="reports by `mem capture` (docs/capture.md); `siftd mcp --print-config`",
    )
    moments: frozenset[Moment] = frozenset(("start", "prompt", "failure"))

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_line(raw, ts=ts)

    def identify_input(self, tool: str, tool_input: Any) -> str:  # noqa: ARG002 - the input alone
        return identify_input(tool_input)

    def printed(self, moment: Moment, text: str, notice: str) -> dict[str, Any]:
        return {"moment": moment, "text": text} | ({"notice": notice} if notice else {})

    def name_of(self, moment: Moment) -> str:
        return moment
