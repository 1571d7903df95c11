"""What a pattern cannot say: whether a text that has the form of a secret is one.

Every check takes the match of a rule and is linear in its length. A check errs towards redaction where the
form alone is strong (a known prefix) and towards leaving text alone where it is weak (an assignment).
"""

from __future__ import annotations

import binascii
import re
from itertools import pairwise

from siftd.redact.names import kind_of_name, names_provider
from siftd.redact.plausible import (
    HASH,
    LONGEST_MEASURED,
    digits_in,
    entropy_bits,
    is_mixed,
    is_plausible_value,
    is_stand_in,
    looks_generated,
)

Match = re.Match[str]

TOKEN_ENTROPY_BITS = 2.8
"""Bits a character below which a token is a drawing of one (`xoxb-xxxx`). Real ones of 20 characters reach 3.4."""


def always(match: Match) -> bool:
    return match is not None


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


def is_mixed_case(match: Match) -> bool:
    """As `is_random`, for tokens of letters only: a name is written in one case, or in words."""
    text = match[0]
    return (
        is_random(match)
        and not text.islower()
        and sum(a.isupper() != b.isupper() for a, b in pairwise(text)) >= len(text) // 5
    )


def is_command_password(match: Match) -> bool:
    """Accept the password of `name:password` on a command line, unless it is the word for one."""
    value = match[match.lastindex or 0]
    return not is_stand_in(value) and value.lower() not in _NO_PASSWORDS | {"pass", "pwd", "token", "key", "yyy"}


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
    return _BASE64_RUN.search(match[0], match.end(1)) is not None


_BASE64_RUN = re.compile(r"[A-Za-z0-9+/=]{16}")


def is_end_of_key(match: Match) -> bool:
    """Accept the last line of a key that has something of it before it, or nothing at all."""
    tail = match["tail"]
    if tail:
        return len(tail) >= 8 and looks_generated(tail)
    return _NOTHING_SAID.fullmatch(match.string[max(0, match.start(1) - 32) : match.start(1)]) is not None


_NOTHING_SAID = re.compile(r"[\W_]*")


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
    return _is_signed(text) and digits_in(text) >= 2 and entropy_bits(text) >= 4.2 and looks_generated(text)


def _is_signed(text: str) -> bool:
    return "+" in text or 0 < text.count("/") < 6


_WORD_BEFORE = re.compile(r"[A-Za-z_]")
_LINE_END = re.compile(r"(?:[\s\"'`,;+]|\\{1,4}[nrt]?)*")


def is_said_secret(match: Match) -> bool:
    """Accept what follows a telling word in prose, the more readily the more is said.

    A hash or a UUID is a secret where a service is named, the words shout (`SECRET 5f…`) or are two (`access token`).
    """
    value, said = match[1], match.string[match.start() : match.start(1)]
    if not digits_in(value) and not value.isalnum():
        return False
    if not is_plausible_value("secret", value, bare=True):
        return len(value) >= 16 and value.isalnum() and said[:3].isupper() and _is_of_provider(match, said)
    is_of_provider = _is_of_provider(match, said)
    if not is_of_provider and len(value) < 16:
        return False
    is_loud = said[:3].isupper() or len(_WORDS_SAID.findall(said)) > 1 or " is" in said
    if HASH.fullmatch(value):
        return is_of_provider or is_loud
    if is_of_provider:
        return digits_in(value) >= 1 and (is_mixed(value) or len(value) >= 20)
    if is_loud:
        return digits_in(value) >= 3 and is_mixed(value) and "." not in value[:-8]
    return said[:3].lower() != "key" and looks_generated(value)


def is_providers_value(match: Match) -> bool:
    """Accept what stands at the name of a service that keys are said of: generated, or a hash that is assigned."""
    if not names_provider(match["said"]):
        return False
    value, is_assigned = match["value"], not match["between"].isspace() and match["between"] != "-"
    if is_stand_in(value) or digits_in(value) < 2 or value.isdigit():
        return False
    if HASH.fullmatch(value):
        return is_assigned
    is_long = value.isalnum() and len(value) >= 20
    return looks_generated(value) or (is_assigned and is_long and is_plausible_value("secret", value))


def is_key_of_bytes(match: Match) -> bool:
    """Accept bytes in disorder: a table that counts up or repeats itself is none."""
    values = _BYTE.findall(match[1])
    return len(set(values)) > len(values) // 2 and values != sorted(values)


_BYTE = re.compile(r"[0-9A-Fa-fx]+")


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


_WORDS_SAID = re.compile(r"(?i)secret|token|private|access|key|code|api")


def _is_of_provider(match: Match, said: str) -> bool:
    return names_provider(match.string[max(0, match.start() - 24) : match.start()] + said)


def is_url_password(match: Match) -> bool:
    """Refuse variables and placeholders in the password of a URL."""
    return not is_stand_in(match[1])


def is_assigned_secret(match: Match) -> bool:
    """Accept a value assigned to a name that means a secret, when it looks like one."""
    kind = kind_of_name(match["name"])
    if kind is None or _is_listed(match):
        return False
    if match["name"].lower() == "pass" and match["bare"]:
        return False  # the word of a test that went well
    quoted = next((match[group] for group in ("double", "single", "back", "escaped") if match[group]), None)
    if quoted is not None:
        return is_plausible_value(kind, quoted)
    bare = match["bare"]
    if kind == "password" and _is_configured(match, bare):
        return len(bare) >= 4 and not is_stand_in(bare) and bare.lower() not in _NO_PASSWORDS
    return (not _CODE.search(bare) or (digits_in(bare) >= 4 and looks_generated(bare))) and is_plausible_value(
        kind, bare, bare=True
    )


def _is_listed(match: Match) -> bool:
    """Whether the name is itself a value that a comma parts from the next key: `"kind": "api-key", "3f…": …`."""
    after = match.string[match.end("name") : match.end("name") + 3]
    return "," in after and match.string[max(0, match.start() - 4) : match.start()].rstrip(" \"'\\").endswith(":")


def _is_configured(match: Match, bare: str) -> bool:
    """Whether a word without quotes is a value and not code: `DB_PASSWORD=blue`, `Uid=a;Pwd=blue;`."""
    if not bare.isalnum() or match.string[match.start("bare") - 1] != "=":
        return False
    before = match.string[max(0, match.start() - 1) : match.start()]
    return (match["name"].isupper() and "_" in match["name"]) or before == ";" or match.string[match.end() :][:1] == ";"


_NO_PASSWORDS = frozenset(
    ["password", "passwd", "secret", "true", "false", "null", "none", "string", "undefined", "required"]
)


_CODE = re.compile(r"[(){}\[\]]|^[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)+[;,]?$|^[@*&!]|::|->|^\d{1,15}[a-z]{0,2}$")
"""Calls, attribute chains, pointers, plain numbers: what an unquoted value in code is."""


def is_suffixed_hash(match: Match) -> bool:
    """Tell a key made of a hash and a random end from a file name made of a hash."""
    end = match[0].rpartition(".")[2]
    return any(c.isupper() for c in end) and any(c.isdigit() for c in end)


def is_encoded_key(match: Match) -> bool:
    """Tell a private key in base64 from a certificate."""
    text = re.sub(r"\\[nr]|[^A-Za-z0-9+/]", "", match[0])[:120]
    return b"PRIVATE KEY" in binascii.a2b_base64(text[: len(text) // 4 * 4])


def is_header_value(match: Match) -> bool:
    """Accept what a header carries, unless it is a word or a variable."""
    return is_plausible_value("secret", match[1], bare=True) and not match[1].startswith(("http", "function"))


def is_cookie(match: Match) -> bool:
    """Accept cookies of which one is generated; a theme and a language are none of our business."""
    values = [part.partition("=")[2].strip().partition(" ")[0] for part in match[1][:LONGEST_MEASURED].split(";")]
    return any(len(value) >= 16 and is_plausible_value("secret", value, bare=True) for value in values)


def is_element_value(match: Match) -> bool:
    """As `is_assigned_secret`, for `<add key="…" value="…"/>`, where a password may be a plain word."""
    kind = kind_of_name(match["name"].rpartition(":")[2])
    value = match[2]
    if kind == "password":
        return len(value) >= 5 and not is_stand_in(value) and value.lower() not in _NO_PASSWORDS
    return kind is not None and is_plausible_value(kind, value)


def is_kubernetes_secret(match: Match) -> bool:
    """Whether the block belongs to a document of kind Secret, which may be said before or after it."""
    before = match.string[max(0, match.start() - 2048) : match.start()].rpartition("\n---")[2]
    after = match.string[match.end() : match.end() + 1024].partition("\n---")[0]
    return _KIND_SECRET.search(before + " " + after) is not None and "[REDACTED:" not in match[1]


_KIND_SECRET = re.compile(r"(?i)(?:\b|\\n)kind[\"']?:[ ]?[\"']?secret\b")
