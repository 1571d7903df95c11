"""Whether a person is at the terminal and says yes.

What stands in every session is a person's to say. A tool call of an agent, an MCP server, a test and a cron job have no
terminal to be asked at; a script that a person runs has theirs, and so the question is put where only keys answer it.
Whoever makes a terminal of their own and types into it passes for a person, as does any process of this user that
speaks to the socket or opens the database: against those nothing on this side of the account helps, and nothing here
claims to.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

_AGENTS = ("CLAUDECODE", "GEMINI_CLI", "CODEX_SANDBOX", "CURSOR_AGENT")
"""What agents set for the commands that they run, some of them in a terminal of their making."""


def is_at_terminal(environ: Mapping[str, str]) -> bool:
    """Whether somebody can be asked, who is no agent that says so."""
    return os.isatty(0) and os.isatty(2) and not is_an_agents(environ)


def is_an_agents(environ: Mapping[str, str]) -> bool:
    """Whether an agent runs this command, and says so as agents do; a script or a timer of a person's does not."""
    return any(name in environ for name in _AGENTS)


def says_yes(question: str) -> bool:
    """Put a question to whoever is at the terminal; anything but yes is no."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
