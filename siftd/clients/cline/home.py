"""Where Cline keeps what is the user's."""

from __future__ import annotations


def sessions_folder(user_home: str) -> str:
    """Return the folder of sessions, each a folder."""
    return f"{user_home}/.cline/data/sessions"
