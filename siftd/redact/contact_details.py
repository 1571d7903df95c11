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


def is_card_number(match: Match) -> bool:
    """Accept a number whose last digit is right by Luhn, and that does not repeat or count."""
    digits = [int(sign) for sign in match[0] if sign.isdigit()]
    doubled = [_DOUBLED[digit] if at % 2 else digit for at, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0 and len(set(digits)) > 1


_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def is_iban(match: Match) -> bool:
    """Accept an account number whose two check digits are right."""
    text = match[0].replace(" ", "")
    if not 15 <= len(text) <= 34 or text[:2] not in _COUNTRIES:
        return False
    return int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97 == 1


_COUNTRIES = frozenset(
    """
    AD AE AL AT AZ BA BE BG BH BI BR BY CH CR CY CZ DE DJ DK DO EE EG ES FI FK FO FR GB GE GI GL GR GT HR HU IE IL IQ IS
    IT JO KW KZ LB LC LI LT LU LV LY MC MD ME MK MN MR MT MU NI NL NO OM PK PL PS PT QA RO RS RU SA SC SD SE SI SK SM SO
    ST SV TL TN TR UA VA VG XK
    """.split()
)
