"""The model's own calls in a rollout and what it was answered: told where no item tells of a call.

A command that goes on after its call was answered is answered by a later call, which writes to it or waits for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from siftd.clients.codex import facts
from siftd.clients.codex.items import Done, command_of
from siftd.clients.codex.tools import PATCH, SHELL
from siftd.clients.facts import Answer

OPEN_MAX = 1_000
"""Calls that wait for an answer at most. Arbitrary: models make some at a time."""
_COMMANDS = ("exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec")
_WRITES = "write_stdin"
_SCRIPTS = ("exec", "wait")
"""Code mode: a script that makes the calls, each of which is told by an item."""
_RUNNING = re.compile(r"^Process running with session ID (\d{1,12})$", re.MULTILINE)
_REFUSALS = (
    ("unsupported call:", "unknown"),
    ("unsupported custom tool call:", "unknown"),
    ("apply_patch verification failed", "validation"),
    ("failed to parse function arguments", "validation"),
    ("exec_command failed", "failed"),
    ("execution error", "failed"),
    ("tool call error", "failed"),
    ("rejected", "rejected"),
    ("aborted by user", "rejected"),
    ("patch rejected", "rejected"),
    ("command rejected", "rejected"),
)
"""How answers begin, in lower case, of which no hook tells, and why."""
_HEAD_CHARS = 400


class Call(NamedTuple):
    """What the model asked for."""

    tool: str
    name: str
    """As the model calls it."""
    tool_input: Any


def call_of(payload: Mapping[str, Any]) -> Call:
    """Return a call as its hook would tell it."""
    name, namespace = str(payload.get("name") or "tool"), payload.get("namespace")
    given = payload.get("arguments", payload.get("input"))
    arguments = facts.decoded(given)
    if name in _COMMANDS:
        named = arguments if isinstance(arguments, dict) else {}
        return Call(SHELL, name, {"command": command_of(named.get("command", named.get("cmd")))})
    if name == PATCH:
        patch = arguments.get("input") if isinstance(arguments, dict) else arguments
        return Call(PATCH, name, {"command": patch})
    if isinstance(namespace, str) and namespace:
        name = f"{namespace}__{name}" if namespace.startswith("mcp__") else f"{namespace}{name}"
    return Call(name, name, arguments)


class Outputs:
    """The calls that wait for their answer."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}
        self._running: dict[str, str] = {}
        """By the number of a session that goes on, the call that began it."""

    @property
    def is_empty(self) -> bool:
        return not self._calls and not self._running

    def clear(self) -> None:
        """Wait for none any more: the turn was broken off."""
        self._calls.clear()
        self._running.clear()

    def open(self, call_id: str, call: Call) -> None:
        """Wait for a call's answer."""
        self._calls[call_id] = call
        if len(self._calls) > OPEN_MAX:
            del self._calls[next(iter(self._calls))]

    def written(self, call_id: Any) -> Any:
        """Return what the model wrote for a call that waits, or that has just been told by an item."""
        call = self._calls.get(call_id) if isinstance(call_id, str) else None
        return call.tool_input.get("command") if call and isinstance(call.tool_input, dict) else None

    def answer(self, call_id: str, output: Any) -> Iterator[Done]:
        """Yield the call that an answer ends, if it ends one."""
        call = self._calls.pop(call_id, None)
        if call is None or call.name in _SCRIPTS:
            return
        text = _printed(output)
        if (running := _RUNNING.search(text[:_HEAD_CHARS])) is not None:
            if call.tool == SHELL and len(self._running) < OPEN_MAX:
                self._running[running[1]] = call_id
                self._calls[call_id] = call
            return
        if call.name == _WRITES:
            session = str(call.tool_input.get("session_id")) if isinstance(call.tool_input, dict) else ""
            begun = self._running.pop(session, None)
            call_id, call = begun or "", self._calls.pop(begun or "", None)
            if call is None:
                return
        yield Done(call_id, call.tool, call.tool_input, _answer(call, text, output))


def _answer(call: Call, text: str, output: Any) -> Answer:
    head = text[:_HEAD_CHARS].lower()
    reason = next((reason for start, reason in _REFUSALS if head.startswith(start)), None)
    if reason is not None:
        return facts.refused(text, reason)
    printed, code = facts.output_of(text)
    if isinstance(named := facts.decoded(text), dict) and isinstance(named.get("output"), str):  # before 0.4x
        metadata = named.get("metadata")
        printed, code = named["output"], metadata.get("exit_code") if isinstance(metadata, dict) else None
    if isinstance(output, dict) and output.get("success") is False:
        return facts.refused(printed, "failed")
    if call.tool in (SHELL, PATCH):
        return facts.ended(printed, code if isinstance(code, int) else None)
    return facts.answered(text)


def _printed(output: Any) -> str:
    """Return what a call was answered: a text, or the texts of some blocks."""
    return facts.text_of(output) if not isinstance(output, str) else output
