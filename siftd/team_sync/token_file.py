"""The token of a joined team: a file of mode 0600 that holds it alone, read when it is needed."""

from __future__ import annotations

import os
import re
from pathlib import Path

from siftd.foreign_file import open_regular
from siftd.team_sync.errors import TeamDenied
from siftd.workspace.home import write_private

_BYTES_MAX = 1024
_TOKEN = re.compile(r"[\x21-\x7e]{16,512}")
REJOIN = "`mem team leave`, then `mem team join` with a new invitation"


def is_token(text: str) -> bool:
    """Whether a text can be sent as a token: printable, without blanks."""
    return _TOKEN.fullmatch(text) is not None


def write_token(path: str, token: str) -> None:
    """Keep a token, in the place of an earlier one."""
    write_private(Path(path), token.encode())


def read_token(path: str) -> str:
    """Return the token. Raises TeamDenied where there is none, or one that others can read."""
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise TeamDenied(f"{path} can be read by others", hint=f"chmod 600 {path}")
            token = file.read(_BYTES_MAX).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise TeamDenied("the team's token is missing", hint=REJOIN) from error
    if not is_token(token):
        raise TeamDenied("the team's token is damaged", hint=REJOIN)
    return token


def remove_token(path: str) -> None:
    """Remove the token."""
    Path(path).unlink(missing_ok=True)
