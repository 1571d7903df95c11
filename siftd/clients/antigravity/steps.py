"""Antigravity's databases of conversations: `steps(idx, step_type, step_payload)`, a payload without a published form.

Of a payload its printable runs are taken, as published: 14 a person's words, 33 the agent's, 15 a call, 17 the error of
the call before. No column names a folder, and none a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from siftd.foreign_database import open_database

TABLES = ("steps",)
_STEPS = "SELECT idx, step_type, step_payload FROM steps ORDER BY idx LIMIT ?"
_STEPS_MAX = 100_000
USER, AGENT, CALL, ERROR = 14, 33, 15, 17
_RUN = re.compile(r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]{4,}")
_NAME = re.compile(r"[a-z][a-z0-9_]{2,63}")
_ID = re.compile(r"[0-9a-f-]{32,}")


def printable_runs(payload: Any) -> list[str]:
    """Return the runs of printable characters in a payload, of four and more."""
    text = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else payload
    return [run for run in map(str.strip, _RUN.findall(text)) if len(run) > 3] if isinstance(text, str) else []


def step_lines(path: str, at_ms: int) -> Iterator[bytes]:
    """Yield a database's steps as lines of a mirror, all at one time. Raises OSError."""
    call: dict[str, Any] | None = None
    for index, kind, payload in iter_rows(path):
        runs = printable_runs(payload)
        line: dict[str, Any] = {"step_index": index, "created_at": at_ms + index}
        if call is not None:
            if kind == ERROR:
                call["error"] = max(runs, key=len, default="failed")
            yield msgspec.json.encode(call)
            call = None
        if kind == CALL and (made := _call(runs)) is not None:
            call = line | {"type": "CALL"} | made
        elif kind in (USER, AGENT) and (text := _text(runs)):
            yield msgspec.json.encode(
                line | {"type": "USER_INPUT" if kind == USER else "PLANNER_RESPONSE", "content": text}
            )
    if call is not None:
        yield msgspec.json.encode(call)


def iter_rows(path: str) -> Iterator[tuple[int, int, Any]]:
    """Yield (index, kind, payload) of each step. Raises OSError."""
    with open_database(path, TABLES) as database:
        for index, kind, payload in database.execute(_STEPS, (_STEPS_MAX,)):
            if isinstance(index, int) and isinstance(kind, int):
                yield index, kind, payload


def _text(runs: list[str]) -> str:
    """Return what was said: the longest run that is no id."""
    return max((run for run in runs if not _ID.fullmatch(run)), key=len, default="")


def _call(runs: list[str]) -> dict[str, Any] | None:
    """Return name, arguments and output of a call, as far as runs tell them."""
    name = next((run for run in runs if _NAME.fullmatch(run)), None)
    if name is None:
        return None
    rest = runs[runs.index(name) + 1 :]
    for position, run in enumerate(rest):
        begin = run.find("{")
        if begin >= 0:
            try:
                args = msgspec.json.decode(run[begin : run.rfind("}") + 1].encode())
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                continue
            return {"name": name, "args": args, "content": "\n".join(rest[position + 1 :])}
    return {"name": name, "args": {}, "content": "\n".join(rest)}
