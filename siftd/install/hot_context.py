"""The hot context: a file of ours that a client loads by itself, linked by one line in the person's own.

    ~/.claude/CLAUDE.md            the person's; at its end, between two comments of ours, one line
                                   @~/.siftd/default/CLAUDE.md
    ~/.siftd/default/CLAUDE.md     ours, mode 0600: between the same comments what daemons write
                                   (`siftd.daemon.hot_context`); what the person writes around them stays

Its being there, with the two comments in it, says that the person asked for it: daemons make none.
"""

from __future__ import annotations

from collections.abc import Sequence

from siftd.errors import SiftdError
from siftd.install.change import Change
from siftd.install.edits import MarkedBlock, text_of_block
from siftd.install.files import read_file
from siftd.install.wiring import unwire, wire
from siftd.workspace.paths import Home

OWNER = "hot-context"
"""What the manifest calls whose files these are."""
NOTHING_YET = "Nothing is noted here: siftd fills this in at a session's end."
MODE = 0o600


def link(home: Home, rules: str, user_home: str) -> Sequence[Change]:
    """Make the file, and link it at the end of `rules`, the person's own; a second time changes nothing.

    Raises SiftdError, every file untouched, when one of them cannot be edited.
    """
    path = home.hot_context
    held = text_of_block(read_file(path, follow=False))
    edits = [
        MarkedBlock(path, NOTHING_YET if held is None else held, mode=MODE),
        MarkedBlock(rules, f"@{_as_imported(path, user_home)}"),
    ]
    return wire(OWNER, edits, home.manifest)


def unlink(home: Home) -> Sequence[Change]:
    """Take both out again: the person's file gets its bytes back, and ours goes, but for their own words in it."""
    return unwire(OWNER, home.manifest)


def _as_imported(path: str, user_home: str) -> str:
    """Return a path as the client reads it behind an @, where a blank needs a backslash. Raises SiftdError."""
    below = path.removeprefix(f"{user_home.rstrip('/')}/")
    named = path if below == path else f"~/{below}"
    if not named.isprintable() or "\\" in named:
        raise SiftdError("the home of siftd has a name that no import takes", hint="set SIFTD_HOME to another folder")
    return named.replace(" ", "\\ ")
