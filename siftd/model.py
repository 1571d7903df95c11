"""The nouns that every room shares.

An `Event` is unredacted and lives only in memory: nothing that writes to a disk, a model or a log accepts
one. What they accept is `siftd.capture.redacted.RedactedEvent`, which only `Admission` can make.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Outcome = Literal["ok", "failed", "interrupted"]
"""How a tool call ended; None for what cannot fail (a prompt, a turn's end)."""


Kind = Literal["prompt", "tool", "turn_end", "subagent_end", "assistant_text", "compaction"]
"""What an event is: a person's prompt; a finished tool call; what the agent said at a turn's end, a subagent at its
end, the agent between its calls; what the client keeps of a conversation that it compacted. Its decoder says so."""

Action = Literal["edit", "run", "read", "search", "web", "agent", "ask", "plan", "todo", "other"]
"""What a tool call does: changes a file; runs a command; reads a file; looks something up in the work tree; on the web;
has a subagent work; asks the person; puts a plan to them; keeps the agent's list of what is to do. Of the terms of the
Agent Client Protocol's tool kinds, with `ask`, `plan`, `todo` and `agent` told apart, which say different things of a
session."""

SaidBy = Literal["person", "agent", "output", "outside"]
"""Whose words they are: a person's prompt; an agent's own words; what commands and files said; what came from the web,
from other servers, or from whoever nobody vouches for. In this order: each is believed less than the one before."""

Scope = Literal["event", "turn", "session"]
"""What a summary tells: its event alone, the turn that it ends, or the whole session up to it."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One captured fact as its client told it.

    `payload` keeps the client's own field names: `tool_input` with `tool_response` or `error`; `prompt`;
    `last_assistant_message`. It holds nothing that differs between two equal facts (ids, durations), so that
    equal facts have equal hashes.
    """

    client: str
    """The agent that did the work, as stored in `_source`: "claude-code", "codex", ..."""
    session_id: str
    kind: Kind
    tool: str
    """The client's name for it: of the tool, or of what tells of a prompt or an end. For people and `--tool` alone."""
    action: Action | None = None
    """What a tool call does; None for every other kind."""
    payload: dict[str, Any]
    ts: int
    """When it happened, in milliseconds since the epoch, UTC."""
    identity: tuple[str, ...]
    """What hook and transcript agree on, the session left out: ("tool", tool_use_id), ("prompt", prompt_id),
    ("stop", agent_id or "", prompt_id, closing text). Where the client gives no id: (kind, text), and
    `occurrence` counts. Empty: the client offers no identity at all, every delivery is a fact of its own."""
    native_id: str | None = None
    """The client's own id (tool_use_id, prompt_id) when it has one; a fork's copy is known by it."""
    occurrence: int | None = None
    """For an identity without a native id: the n-th such fact of its session, n from 1, where the reader
    knows (a transcript does). None: the store counts."""
    delivery: tuple[str, ...] = ()
    """What tells a second delivery by hook from another such fact, where identity does not: an id that the hook alone
    is given, and no file. A client that is wired twice delivers twice."""
    from_transcript: bool = False
    said_by: SaidBy = "outside"
    """Whose words it brings, by the way it came and by its tool, never by what it claims. What a turn then tells is as
    bad as the worst that was read in it (`siftd.store.turn_summaries`). A decoder that does not say is not believed."""
    outcome: Outcome | None = None
    cwd: str | None = None
    branch: str | None = None
    """The branch that was checked out where it happened, as stored in `_branch`; None where none was, or none knows."""
    prompt_id: str | None = None
    agent_id: str | None = None
    """The subagent in which it happened; None in the main conversation."""
    spawned_agent_id: str | None = None
    """For a call that started a subagent: that subagent's id."""
    transcript: str | None = None
    """The file that a hook names, in which the client writes more of this session. Not kept."""


class SessionChange(msgspec.Struct, frozen=True, kw_only=True):
    """A session started, ended or was compacted: changes `sessions` and is no event."""

    client: str
    session_id: str
    change: Literal["start", "end", "compact"]
    ts: int
    cwd: str | None = None
    detail: str | None = None
    """How it started ("startup", "resume", "clear", "compact", "fork") or why it ended."""
    transcript: str | None = None
