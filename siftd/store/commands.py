"""Commands as a session's story tells them: which of them do the same, and which only look."""

from __future__ import annotations

import re

_LOOKING = frozenset(
    "[ awk cat cd cmp command curl diff echo fd find git-grep grep head jq ls pgrep ps rg sed sleep stat tail test"
    " timeout tree wc which".split()
)
"""Programs whose failure is an answer, not something that is broken."""
_QUOTED = re.compile(r"'[^']*(?:'|$)|\"[^\"]*(?:\"|$)")
"""What a command quotes may hold anything that separates commands, and is no command."""
_LOOKED_AT = 4_000


def command_key(command: str) -> str:
    """Return the program and its first word, flags left out: two runs with one key do the same. "" for a mere look."""
    unquoted = _QUOTED.sub("…", command[:_LOOKED_AT])
    last = re.split(r"&&|\|\||;|\n", unquoted.strip())[-1].partition("|")[0]
    words = [word for word in last.split() if not word.startswith("-") and not re.fullmatch(r"\w+=.*", word)]
    if not words or words[0].rpartition("/")[2] in _LOOKING:
        return ""
    return " ".join(words[:2])
