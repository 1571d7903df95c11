"""Where Codex keeps what is its user's."""

from __future__ import annotations

from collections.abc import Mapping


def codex_home(environ: Mapping[str, str], user_home: str) -> str:
    """Return the folder that holds all that Codex keeps for its user."""
    chosen = environ.get("CODEX_HOME", "")
    return chosen.rstrip("/") if chosen.startswith("/") else f"{user_home}/.codex"
