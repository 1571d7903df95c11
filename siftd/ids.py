"""The ids by which things are cited: `e12` an event, `s7` a summary, `m3` a memory of this project, `g3` one for every
project. They are read with or without `#`, in any case, and written without.

Whatever prints or takes an id asks here: the command line, `/mem`, the agent's tools, the socket, the ledger.
"""

from __future__ import annotations

import re

from siftd.errors import RequestInvalid

EVENT, SUMMARY, MEMORY, GLOBAL_MEMORY = KINDS = ("e", "s", "m", "g")
HINT = "ids look like e12 (an event), s7 (a summary), m3 or g3 (a memory)"
_ID = re.compile(r"#?([esmg]?)([0-9]{1,18})", re.IGNORECASE)
_IN_TEXT = re.compile(r"(?<![\w#/-])#?([esmg][0-9]{1,18})(?![\w-])")


def parse(text: str, kind: str = EVENT) -> tuple[str, int]:
    """Return (kind, number) of an id; a bare number is one of `kind`. Raises RequestInvalid."""
    match = _ID.fullmatch(text.strip())
    if match is None:
        raise RequestInvalid("invalid id", hint=HINT)
    return match[1].lower() or kind, int(match[2])


def parse_number(text: str, kind: str) -> int:
    """Return the number of an id that must be of this kind, or a bare one. Raises RequestInvalid."""
    found, number = parse(text, kind)
    if found != kind:
        raise RequestInvalid("this is an id of another kind", hint=f"give one like {kind}12")
    return number


def is_id(text: str) -> bool:
    """Whether a text is an id, a bare number included."""
    return _ID.fullmatch(text.strip()) is not None


def normal(text: str, kind: str = EVENT) -> str:
    """Return an id as it is written: `e12` for `#E12`. Raises RequestInvalid."""
    found, number = parse(text, kind)
    return cite(found, number)


def cite(kind: str, number: int) -> str:
    """Return how a thing is cited."""
    return f"{kind}{number}"


def find(text: str) -> list[str]:
    """Return the ids that a text names, as they are written."""
    return _IN_TEXT.findall(text)
