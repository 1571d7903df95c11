"""What a row of the table of rules holds, and what its rows are written with.

A match begins at a *head*: one of the row's keywords (plain text), or its `head` expression where no literal begins
it. The gate finds the heads of all rows in linear passes; only there is the row's pattern tried, anchored, with the
standard library's `re`. Patterns keep that linear: repetitions are possessive or bounded, and a row's left boundary
keeps it from starting anew inside a run of its own alphabet.

To add a form: add a row to the file of its family, with a synthetic example that is caught, a near miss that is not,
and the page on which the form is documented. Examples are written in two pieces, so that other scanners do not find
them here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from siftd.redact import validators
from siftd.redact.validators import Match

_ESCAPED = r"(?<=\\[nrtu])|(?<=\\u00[0-9a-f]{2})|(?<=%[0-9A-Fa-f]{2})|(?<=\x1b\[[0-9]m)|(?<=\x1b\[[0-9]{2}m)"
LEFT = rf"(?:(?<![A-Za-z0-9])|{_ESCAPED})"
"""No token begins inside a word; an escape sequence before it is not a word."""
RUN = rf"(?:(?<![A-Za-z0-9_-])|(?<=\n-)|(?<=\A-)|{_ESCAPED})"
"""As LEFT, for alphabets with `_` and `-` and no upper bound."""
END = r"(?![A-Za-z0-9])"
UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"

MIXED = "aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2fG4hJ6kL8nP0rS2tU4wX6zA8cD1eF3gH5jK7mN9pQ1sT3vW5yZ7"
HEX = "3f9a1c7e5b2d8046af13c9e7b5d20846f1a3c5e79b0d2f48a6c1e3b5d7f90824ac"
BASE32 = "A3B7C5D2E6F4G7H5J3K6L2M4N7P5Q3R6S2T4U7V5W3X6Y2Z4"
A_UUID = "3f9a1c7e-5b2d-4046-af13-c9e7b5d20846"
"""Of these the examples are cut."""

_MARKS = "!@#$%^&+~?"
"""Signs that a password may have instead of digits; `?` is also how the gate reads what is beyond ASCII."""


def drawn(excluded: str, rest: bool = True) -> str:
    """Return the head of a value without these characters that has a digit or a sign, or is as long as a key.

    Each character leads to one state only, so that a gate may hold several such. No value goes on into the next text,
    which the gate reads behind a separator.
    """
    marks = "".join(sign for sign in _MARKS if sign not in excluded).replace("^", "\\^")
    excluded += r"\x00"
    plain = f"[^{excluded}0-9{marks}]"
    return f"(?:{plain}{{0,19}}[0-9{marks}]|{plain}{{20}})" + (f"[^{excluded}]{{0,127}}" if rest else "")


GroupName = Literal["token", "name", "provider", "run", "place", "loose"]
"""Which automaton of the gate knows the head: heads that begin with a literal, with a telling name, with a run of
characters, or at a place such as `://`. A head is loose that begins with what all texts hold, as `user `, `${` and
digits are: it goes on to what makes the value one, for each text in which a head stands is read in full. Apart they
have some hundred states each; together, more than memory holds. A head of a token never begins with a run of any
letters: behind each letter of a text its automaton would have to know how many of them it has seen, beside all else
that may begin there (one row that began so made this automaton a third as quick over the texts of sessions)."""


class Rule(NamedTuple):
    name: str
    """As it stands in the placeholder."""
    finds: str
    pattern: str
    example: str
    near_miss: str
    docs: str
    """Where the form is documented."""
    keywords: str = ""
    """Literals, separated by spaces, one of which begins every match, in the case in which they are written."""
    head: str = ""
    """Instead of keywords: a bounded ASCII expression that begins every match (after `reach`)."""
    rule_group: GroupName = "token"
    group: int = 0
    """What is replaced; -1 for the last group that took part."""
    reach: str | None = None
    """Characters, besides letters and digits, that may stand before the head and belong to the match (at most 64);
    None where the match begins at the head."""
    rest: str = ""
    """A class: once accepted, a value that may have been cut by its bound goes on through it, however long."""
    check: Callable[[Match], bool] = validators.is_random
    decode: Callable[[str], str | None] | None = None
    """Makes of the match a text that holds a secret of another rule; without one the match is none."""
    general: bool = False
    """Yields to a rule that knows the whole value by its own form."""


def token(
    name: str,
    finds: str,
    begins: str,
    body: str,
    example: str,
    near_miss: str,
    docs: str,
    check: Callable[[Match], bool] = validators.is_known,
) -> Rule:
    """Return the rule of a token known by its beginning: keywords, or after `=` a head."""
    is_head = begins.startswith("=")
    return Rule(
        name=name, finds=finds, keywords="" if is_head else begins, head=begins[1:] if is_head else "",
        pattern=LEFT + body, example=example, near_miss=near_miss, docs=docs, check=check,
    )  # fmt: skip


SAMPLES = {
    "[A-Za-z0-9]": MIXED,
    r"[\w-]": MIXED,
    "[a-zA-Z0-9+/=_-]": MIXED,
    "[a-f0-9]": HEX,
    "[a-fA-F0-9]": HEX,
    "[a-z0-9]": "b4f6h8j1l3n5p7r9" * 8,
    "[A-Z0-9]": BASE32,
    "[A-Z2-7]": BASE32,
}
"""For each alphabet that `prefixed` knows, what its examples are cut from."""


def prefixed(name: str, finds: str, prefixes: str, alphabet: str, least: int, most: int, docs: str) -> Rule:
    """Return the rule of a token that is one of some prefixes and then `least` to `most` characters of an alphabet."""
    words = prefixes.split()
    is_distinct = min(map(len, words)) > 4
    many = f"{{{least}}}" if least == most else f"{{{least},{most}}}"
    begins = "|".join(re.escape(word) for word in words)
    body = SAMPLES[alphabet] * 8
    return token(
        name, finds, prefixes if is_distinct else f"=(?:{begins}){alphabet}{{8}}",
        f"(?:{begins}){alphabet}{many}(?![A-Za-z0-9_-])",
        words[0] + body[:least], words[0] + body[: min(least // 3, 9)], docs,
        validators.is_known if is_distinct else validators.has_digit,
    )  # fmt: skip
