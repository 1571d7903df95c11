"""Whether what looks like an address or a number reaches somebody."""

from __future__ import annotations

import re

Match = re.Match[str]

_NOBODY = re.compile(
    r"(?i)(?:no-?reply|do-?not-?reply|git)@|[^@]*@[^@]*\.(?:png|jpe?g|gif|svg|webp|css|js|ts|py|go|md|git)$"
)


def is_personal_email(match: Match) -> bool:
    """Leave alone what reaches nobody: `noreply@…`, `git@host`, a retina image `logo@2x.png`."""
    return _NOBODY.match(match[0]) is None


_NANP = re.compile(r"1?[2-9][0-8][0-9][2-9][0-9]{6}")


def is_phone(match: Match) -> bool:
    """Accept a number of the North American plan, or an international one of 9 to 15 digits.

    Bare digits after a plus at the beginning of a line are a diff's unless they fit the American plan.
    """
    number = match[1]
    digits = re.sub(r"[^0-9]", "", number)
    if not number.startswith("+") or digits.startswith("1"):
        return _NANP.fullmatch(digits) is not None
    if not 9 <= len(digits) <= 15:
        return False
    return number != "+" + digits or match.string[: match.start(1)][-1:] not in {"\n", "\r"}
