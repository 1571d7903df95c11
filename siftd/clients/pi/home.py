"""Where pi keeps what is the user's."""

from __future__ import annotations

from collections.abc import Mapping


def folder_of(environ: Mapping[str, str], user_home: str) -> str:
    """Return the folder of its settings, extensions and sessions."""
    chosen = environ.get("PI_CODING_AGENT_DIR", "")
    return chosen if chosen.startswith("/") else f"{user_home}/.pi/agent"
