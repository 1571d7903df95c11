"""Claude Code as siftd asks it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from siftd.clients.claude_code.facts import CLIENT, PROMPT, input_identity
from siftd.clients.claude_code.hooks import decode_envelope
from siftd.clients.client import Head, Moment, Reader, Where
from siftd.clients.nested_output import NestedOutput
from siftd.clients.support import Support
from siftd.finding import Finding
from siftd.install.change import Change
from siftd.model import Event, SessionChange

_NAMES: dict[Moment, str] = {"start": "SessionStart", "prompt": PROMPT, "failure": "PostToolUseFailure"}


class Transcripts:
    """`projects/<encoded folder>/<session>.jsonl` under the client's home, and beside it what its subagents did."""

    suffix = ".jsonl"
    reports_outcomes = False
    reports_everything = False

    def folder(self, environ: Mapping[str, str], user_home: str) -> str:
        from siftd.clients.claude_code.settings import claude_folder

        return f"{claude_folder(environ, user_home)}/projects"

    def head(self, path: str, lines: Iterable[bytes]) -> Head:  # noqa: ARG002 - lines say it themselves
        from siftd.clients.claude_code.transcript import transcript_head

        return transcript_head(lines)

    def joined_lines(self, path: str, lines: Iterable[bytes]) -> Iterable[bytes]:  # noqa: ARG002 - its own alone
        return lines

    def reader(self, session_id: str | None) -> Reader:
        from siftd.clients.claude_code.transcript import TranscriptReader

        return TranscriptReader(session_id)

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:
        from siftd.clients.claude_code.agent_files import spawned_agents

        return spawned_agents(path, is_subagent=head.agent_id is not None)


class Wirer:
    """Hooks in the settings, `/mem`, and the tools' server in the client's own file."""

    takes_project = True
    next_step = ""

    def install(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Change]:
        from siftd.clients.claude_code.settings import Wiring, target_of
        from siftd.clients.claude_code.wiring import install

        wiring = Wiring.of_this_installation(None if server is None else dict(server))
        return install(target_of(where, is_project=is_project), wiring, where.manifest)

    def install_guard(self, where: Where, *, is_project: bool) -> Sequence[Change]:
        """Keep the agent from writing into the client's own memory (`mem install --guard-auto-memory`)."""
        from siftd.clients.claude_code.settings import Wiring, target_of
        from siftd.clients.claude_code.wiring import install_guard

        target = target_of(where, is_project=is_project)
        return install_guard(target, Wiring.of_this_installation(), where.manifest)

    def uninstall(self, where: Where, *, is_project: bool) -> Sequence[Change]:
        from siftd.clients.claude_code.settings import target_of
        from siftd.clients.claude_code.wiring import uninstall

        return uninstall([target_of(where, is_project=True)] if is_project else None, where.manifest)

    def is_present(self, where: Where) -> bool:
        from siftd.clients.claude_code.settings import claude_folder
        from siftd.install.presence import is_present

        return is_present(where.environ, folders=[claude_folder(where.environ, where.user_home)], programs=["claude"])

    def check(self, where: Where) -> Iterator[Finding]:
        from siftd.clients.claude_code.agent_side import check_agent
        from siftd.clients.claude_code.doctor import check_hooks

        yield from check_hooks(where)
        yield from check_agent(where)


class ClaudeCode(NestedOutput):
    """Anthropic's Claude Code, from version 2.0 on."""

    name = CLIENT
    names = _NAMES
    title = "Claude Code"
    files = Transcripts()
    installer = Wirer()
    support = Support(
        starts="yes",
        prompts="yes",
        tools="yes",
        failures="yes",
        ends="yes",
        backfill=True,
        mcp="yes",
        evidence="real program",
    )
    moments: frozenset[Moment] = frozenset(_NAMES)

    def decode(self, raw: bytes, *, ts: int) -> Event | SessionChange:
        return decode_envelope(raw, ts=ts)

    def identify_input(self, tool: str, tool_input: Any) -> str:
        return input_identity(tool, tool_input)
