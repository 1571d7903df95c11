"""What a pattern cannot say: whether a text that has the form of a secret is one.

Every check takes the match of a rule and is linear in its length. A check errs towards redaction where the
form alone is strong (a known prefix) and towards leaving text alone where it is weak (an assignment).
"""

from __future__ import annotations

import binascii
import re
from itertools import pairwise

from siftd.redact.secret_likelihood import (
    HASH,
    digits_in,
    entropy_bits,
    is_mixed,
    is_stand_in,
    looks_generated,
)

Match = re.Match[str]


TOKEN_ENTROPY_BITS = 2.8
"""Bits a character below which a token is a drawing of one (`xoxb-xxxx`). Real ones of 20 characters reach 3.4."""


def always(match: Match) -> bool:
    return match is not None


def is_known(match: Match) -> bool:
    """Accept a token of known beginning and length however regular it is, unless it is drawn or spelled out in words.

    Drawn is one character over and over, and what says EXAMPLE.
    """
    text = match[0]
    if _REPEATED.search(text):
        return True
    parts = _APART.split(text[len(text) // 2 :].lower())
    is_drawn = all(len(set(part)) <= 1 for part in parts)
    return "EXAMPLE" not in text and not is_drawn and (digits_in(text) > 0 or not _SPELLED.search(text))


_APART = re.compile(r"[^A-Za-z0-9]+")
_SPELLED = re.compile(r"[-_][a-z]{2,12}[-_][a-z]{2,12}\Z")
"""Two words at the end, with signs before them: the name of a thing."""


def is_random(match: Match) -> bool:
    """Refuse what is drawn (`ghp_xxxx…`) or spelled out (`npm_install_…`) rather than generated."""
    text = match[0]
    return (entropy_bits(text) >= TOKEN_ENTROPY_BITS and "EXAMPLE" not in text) or _REPEATED.search(text) is not None


_REPEATED = re.compile(r"([A-WYZ])\1{9}")
"""One capital over and over, as tests have it; `x` and `0` stand for any letter and draw a token."""


def has_digit(match: Match) -> bool:
    """As `is_random`, for alphabets in which a name could be written too."""
    text = match[0]
    is_generated = (digits_in(text) > 0 and is_mixed(text)) or looks_generated(text)
    return (is_generated or _REPEATED.search(text) is not None) and is_random(match)


def is_mixed_token(match: Match) -> bool:
    """As `is_random`, for short prefixes: letters and digits in disorder, whatever stands before them."""
    body = match[0].partition("_")[2] or match[0][3:]
    return looks_generated(body) and digits_in(body) >= 2 and is_random(match)


def is_strong_form(match: Match) -> bool:
    """Accept a token whose form says enough, drawn or not; a name in capitals, or in words, is none."""
    text = match[0]
    return not text.isupper() and (digits_in(text[3:]) > 0 or _DRAWN.search(text) is not None)


_DRAWN = re.compile(r"(.)\1{7}")


def is_line_of_npmrc(match: Match) -> bool:
    """Accept any value that an .npmrc gives a registry, drawn or not, and elsewhere a generated one."""
    return has_digit(match) or match.string[max(0, match.start() - 2) : match.start()] == "/:"


def is_numbered_token(match: Match) -> bool:
    """Accept base64 of twelve digits, a colon and random bytes."""
    head = binascii.a2b_base64(match[0][:20])
    return head[:12].isdigit() and head[12:13] == b":"


def is_base32_secret(match: Match) -> bool:
    """Accept 10 or 20 random bytes in base32, alone: two digits at least, no word, no hash."""
    text = match[1]
    return (
        2 <= digits_in(text) <= len(text) // 2
        and entropy_bits(text) >= 3.2
        and looks_generated(text)
        and not HASH.match(text)
    )


def is_mixed_case(match: Match) -> bool:
    """As `is_random`, for tokens of letters only: a name is written in one case, or in words."""
    text = match[0]
    return (
        is_random(match)
        and not text.islower()
        and sum(a.isupper() != b.isupper() for a, b in pairwise(text)) >= len(text) // 5
    )


def is_basic_auth(match: Match) -> bool:
    """Accept base64 of `name:password`, the only thing that follows `Basic` in a header."""
    text = match[1]
    try:
        decoded = binascii.a2b_base64(text + "=" * (-len(text) % 4))
    except binascii.Error:
        return False
    return b":" in decoded and all(32 <= byte < 127 or byte > 159 for byte in decoded)


def holds_key_material(match: Match) -> bool:
    """Tell a private key from a mention of its first line in prose or code."""
    return _BASE64_RUN.search(match[0], match.end(1) - match.start()) is not None


_BASE64_RUN = re.compile(r"[A-Za-z0-9+/=]{16}")


def is_end_of_key(match: Match) -> bool:
    """Accept the last line of a key that has something of it before it, or nothing at all."""
    tail, begin = match["tail"] or "", match.start(1)
    if len(tail) >= 8 and looks_generated(tail):
        return True
    return _NOTHING_SAID.fullmatch(match.string[max(0, begin - 32) : begin] + tail) is not None


_NOTHING_SAID = re.compile(r"[\W_0-9]*")
"""Nothing but the line's own number or time."""


def is_key_line(match: Match) -> bool:
    """Tell a full line of base64, as key files have them, from a hash in hexadecimal and from a long name.

    Of another length than those of key files it must stand alone on its line.
    """
    text = match[1]
    if text.islower() or text.isupper() or entropy_bits(text) < 4.2 or not looks_generated(text):
        return False
    return len(text) in {64, 70, 76} or (_is_signed(text) and not text.startswith("MII") and _stands_alone(match))


def _stands_alone(match: Match) -> bool:
    string, begin, end = match.string, *match.span(1)
    before = string[max(0, begin - 40) : begin].rpartition("\n")[2]
    after = string[end : end + 40].partition("\n")[0]
    return not _WORD_BEFORE.search(before) and _LINE_END.fullmatch(after) is not None


def is_aws_secret(match: Match) -> bool:
    """Tell 40 characters of base64 in disorder from a path: they hold letters of both cases, digits and a sign."""
    text = match[1]
    return _is_signed(text) and digits_in(text) >= 1 and entropy_bits(text) >= 4.2 and looks_generated(text)


def _is_signed(text: str) -> bool:
    return "+" in text or 0 < text.count("/") < 6


_WORD_BEFORE = re.compile(r"[A-Za-z_]")


_LINE_END = re.compile(r"(?:[\s\"'`,;+]|\\{1,4}[nrt]?)*")


def is_key_of_bytes(match: Match) -> bool:
    """Accept bytes in disorder: a table that counts up or repeats itself is none."""
    values = _BYTE.findall(match[1])
    return len(set(values)) > len(values) // 2 and values != sorted(values)


_BYTE = re.compile(r"[0-9A-Fa-fx]+")


def is_key_member(match: Match) -> bool:
    """Accept what a member of a JSON web key holds, unless it is a word."""
    return looks_generated(match[1]) and entropy_bits(match[1]) >= 3.3


def is_generated(match: Match) -> bool:
    """Accept what is generated and no hash."""
    value = match[1]
    return (
        looks_generated(value)
        and entropy_bits(value) >= 3.3
        and (digits_in(value) >= 2 or len(value) >= 24)
        and not HASH.fullmatch(value)
        and not is_stand_in(value)
    )


def is_suffixed_hash(match: Match) -> bool:
    """Tell a key made of a hash and a random end from a file name made of a hash."""
    end = match[0].rpartition(".")[2]
    return any(c.isupper() for c in end) and any(c.isdigit() for c in end)


def is_encoded_key(match: Match) -> bool:
    """Tell a private key in base64 from a certificate."""
    text = re.sub(r"\\[nr]|[^A-Za-z0-9+/]", "", match[0])[:120]
    return b"PRIVATE KEY" in binascii.a2b_base64(text[: len(text) // 4 * 4])
