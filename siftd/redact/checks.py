"""What a pattern cannot say: whether a text that has the form of a secret is one.

Every check takes the match of a rule and is linear in its length. A check errs towards redaction where the
form alone is strong (a known prefix) and towards leaving text alone where it is weak (an assignment).
"""

from __future__ import annotations

import binascii
import math
import re
import string
from collections import Counter
from itertools import pairwise

from siftd.redact.names import Kind, kind_of_name, names_provider

Match = re.Match[str]

TOKEN_ENTROPY_BITS = 2.8
"""Bits a character below which a token is a drawing of one (`xoxb-xxxx`). Real ones of 20 characters reach 3.4."""

LONGEST_MEASURED = 4096
"""Entropy of a longer text is that of its beginning."""


def entropy_bits(text: str) -> float:
    """Return the Shannon entropy of `text` in bits a character."""
    text = text[:LONGEST_MEASURED]
    if not text:
        return 0.0
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values())


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
    return _digits_in(match[0]) > 0 and _mixed(match[0]) and is_random(match)


def _mixed(text: str) -> bool:
    return _LETTER.search(text) is not None


_LETTER = re.compile(r"[^\W\d_]")


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
    return not _is_stand_in(value) and value.lower() not in _NO_PASSWORDS | {"pass", "pwd", "token", "key", "yyy"}


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


def is_key_line(match: Match) -> bool:
    """Tell a full line of base64, as key files have them, from a hash in hexadecimal and from a long name."""
    text = match[1]
    return not text.islower() and not text.isupper() and entropy_bits(text) >= 4.6 and _looks_generated(text)


def is_said_secret(match: Match) -> bool:
    """Accept what follows a telling word in prose, the more readily the more is said.

    A hash or a UUID is a secret where a service is named, the words shout (`SECRET 5f…`) or are two (`access token`).
    """
    value, said = match[1], match.string[match.start() : match.start(1)]
    if not _digits_in(value) and not value.isalnum():
        return False
    if not is_plausible_value("secret", value, bare=True):
        return len(value) >= 16 and value.isalnum() and said[:3].isupper() and _is_of_provider(match, said)
    is_of_provider = _is_of_provider(match, said)
    if not is_of_provider and len(value) < 16:
        return False
    is_loud = said[:3].isupper() or len(_WORDS_SAID.findall(said)) > 1
    if _HASH.fullmatch(value):
        return is_of_provider or is_loud
    if is_of_provider:
        return _digits_in(value) >= 1 and (_mixed(value) or len(value) >= 20)
    if is_loud:
        return _digits_in(value) >= 3 and _mixed(value) and "." not in value[:-8]
    return said[:3].lower() != "key" and _looks_generated(value)


_WORDS_SAID = re.compile(r"(?i)secret|token|private|access|key|code|api")


def _is_of_provider(match: Match, said: str) -> bool:
    return names_provider(match.string[max(0, match.start() - 24) : match.start()] + said)


_HASH = re.compile(r"(?i)[0-9a-f]{32,128}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")


def _looks_generated(value: str) -> bool:
    """Tell letters and digits in disorder from words: the kind of character changes often."""
    letters = value[:LONGEST_MEASURED].translate(_NO_SIGNS)
    changes = len(_KINDS.findall(letters)) - 1
    return changes >= max(3, len(letters) // 5) and entropy_bits(value) >= 3.0


_KINDS = re.compile(r"[0-9]+|[A-Z]+|[^0-9A-Z]+")
_NO_SIGNS = dict.fromkeys(map(ord, string.punctuation + string.whitespace))
_NO_DIGITS = dict.fromkeys(map(ord, string.digits))


def is_url_password(match: Match) -> bool:
    """Refuse variables and placeholders in the password of a URL."""
    return not _is_stand_in(match[1])


def is_assigned_secret(match: Match) -> bool:
    """Accept a value assigned to a name that means a secret, when it looks like one."""
    kind = kind_of_name(match["name"])
    if kind is None or _is_listed(match):
        return False
    quoted = next((match[group] for group in ("double", "single", "back", "escaped") if match[group]), None)
    if quoted is not None:
        return is_plausible_value(kind, quoted)
    bare = match["bare"]
    if kind == "password" and _is_configured(match, bare):
        return len(bare) >= 4 and not _is_stand_in(bare) and bare.lower() not in _NO_PASSWORDS
    return (not _CODE.search(bare) or _digits_in(bare) >= 4) and is_plausible_value(kind, bare, bare=True)


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


def _digits_in(text: str) -> int:
    return len(text) - len(text.translate(_NO_DIGITS))


_CODE = re.compile(r"[(){}\[\]]|^[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)+[;,]?$|^[@*&!]|::|->|^\d{1,15}[a-z]{0,2}$")
"""Calls, attribute chains, pointers, plain numbers: what an unquoted value in code is."""

_STAND_IN = re.compile(
    r"(?i)\[REDACTED|^\$(?!aact_)|^\[|\$\{|\$\(|\{\{|^<|^%\w*%?$|^%[({]|#\{|^\{|^\.\.\.|…|process\.env|os\.environ|getenv|"
    r"^(?:your|my|the|some|an?|insert|enter|replace|change|add|put|use|paste)[-_ ]|"
    r"[-_ ](?:here|placeholder)\b|placeholder|redacted|"
    r"^(?:x{3,}|\*+|•+|-+|_+|\.+|0+|1234567890)$|x{6}|\*{3}|example_|_example|dummy|changeme|\.\.$"
)


def _is_stand_in(value: str) -> bool:
    return _STAND_IN.search(value[:LONGEST_MEASURED]) is not None


_WORDS = re.compile(r"[A-Za-z]+(?:[-_. /:][A-Za-z]+)*[0-9]?[.:!?]?")
_PATH = re.compile(
    r"^(?:\.{0,2}|~)/|^[A-Za-z]:\\|^\w+://|(?:^|[^/])/[a-z_-]+/[a-z_.-]+(?:/|$)|"
    r"\.(?:json|ya?ml|py|ts|js|go|rs|md|txt|pem|key|crt|sh)$"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def is_plausible_value(kind: Kind, value: str, *, bare: bool = False) -> bool:
    """Decide whether `value` under a name of `kind` is a secret rather than a word, a path or a stand-in."""
    value = value.strip()
    if len(value) < (5 if kind == "password" else 12) or _is_stand_in(value):
        return False
    if (value.isdigit() and len(value) < 20) or _PATH.search(value[:LONGEST_MEASURED]) or _DATE.match(value):
        return False
    digits = _digits_in(value)
    if kind == "key":
        return len(value) >= 16 and " " not in value and _looks_generated(value) and not _HASH.fullmatch(value)
    if kind == "password":
        if " " in value:
            return digits > 0 and value.count(" ") < 3 and not bare
        if _WORDS.fullmatch(value):
            return len(value) >= 12 and _looks_generated(value)
        return digits > 0 or not bare or not re.fullmatch(r"[\w.:-]+", value)
    if " " in value or entropy_bits(value) < 2.8:
        return False
    if digits == len(value):
        return digits >= 20
    if _WORDS.fullmatch(value) or not digits or (digits == 1 and _PARTED.search(value)):
        return _looks_generated(value)
    return _mixed(value)


_PARTED = re.compile(r"[A-Za-z0-9][_.-][A-Za-z0-9]")


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
        return len(value) >= 5 and not _is_stand_in(value) and value.lower() not in _NO_PASSWORDS
    return kind is not None and is_plausible_value(kind, value)


def is_kubernetes_secret(match: Match) -> bool:
    """Whether the block belongs to a document of kind Secret, which may be said before or after it."""
    before = match.string[max(0, match.start() - 2048) : match.start()].rpartition("\n---")[2]
    after = match.string[match.end() : match.end() + 1024].partition("\n---")[0]
    return _KIND_SECRET.search(before + " " + after) is not None and "[REDACTED:" not in match[1]


_KIND_SECRET = re.compile(r"(?i)(?:\b|\\n)kind[\"']?:[ ]?[\"']?secret\b")
