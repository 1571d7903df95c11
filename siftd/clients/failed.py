"""How a command that failed is told: what it printed behind its exit code, as `Exit code 1` and a new line."""

from __future__ import annotations

import re

_EXIT = re.compile(r"Exit code (-?\d{1,10})(?:\n|\Z)")


def as_error(output: str, exit_code: int | None) -> str:
    """Return the `error` of a command that failed."""
    return output if exit_code is None else f"Exit code {exit_code}\n{output}"


def exit_code_of(error: object) -> int | None:
    """Return the exit code that an `error` tells."""
    exit_line = _EXIT.match(error) if isinstance(error, str) else None
    return int(exit_line[1]) if exit_line else None
