"""Where Copilot keeps what is the user's."""

from __future__ import annotations

from collections.abc import Mapping


def copilot_home(environ: Mapping[str, str], user_home: str) -> str:
    """Return the folder that holds all of Copilot's files."""
    return environ.get("COPILOT_HOME") or f"{user_home}/.copilot"
