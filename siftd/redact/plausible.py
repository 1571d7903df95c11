"""Whether a value looks like a secret: generated rather than written, and no word, path or stand-in for one."""

from __future__ import annotations

import math
import re
import string

from siftd.redact.names import Kind

LONGEST_MEASURED = 4096
"""Entropy of a longer text is that of its beginning."""


def entropy_bits(text: str) -> float:
    """Return the Shannon entropy of `text` in bits a character."""
    text = text[:LONGEST_MEASURED]
    if not text:
        return 0.0
    size = len(text)
    return (_WEIGHTS[size] - sum([_WEIGHTS[text.count(character)] for character in set(text)])) / size


_WEIGHTS = [0.0, *(count * math.log2(count) for count in range(1, LONGEST_MEASURED + 1))]

_BEGINS_AS_STAND_IN = re.compile(
    r"(?i)\$(?!aact_)|\[|<|%\w*%?$|%[({]|\{|\.\.\.|"
    r"(?:your|my|the|some|an?|insert|enter|replace|change|add|put|use|paste)[-_ ]|"
    r"(?:x{3,}|\*+|•+|-+|_+|\.+|0+|1234567890)$"
)
_SAYS_STAND_IN = (
    *("[redacted", "${", "$(", "{{", "#{", "…", "process.env", "os.environ", "getenv", "placeholder", "redacted"),
    *("xxxxxx", "***", "example_", "_example", "dummy", "changeme"),
)
_HERE = re.compile(r"[-_ ]here\b|\.\.$")


def is_stand_in(value: str) -> bool:
    """Tell what stands for a secret: a variable, a template's hole, a word that says to put one here."""
    value = value[:LONGEST_MEASURED]
    if _BEGINS_AS_STAND_IN.match(value):
        return True
    value = value.lower()
    for said in _SAYS_STAND_IN:
        if said in value:
            return True
    return ("here" in value or value.endswith("..")) and _HERE.search(value) is not None


_WORDS = re.compile(r"[A-Za-z]+(?:[-_. /:][A-Za-z]+)*[0-9]?[.:!?]?")
_PATH = re.compile(
    r"^(?:\.{0,2}|~)/|^[A-Za-z]:\\|^\w+://|(?:^|[^/])/[a-z_-]+/[a-z_.-]+(?:/|$)|"
    r"\.(?:json|ya?ml|py|ts|js|go|rs|md|txt|pem|key|crt|sh)$"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


SHORTEST_NUMBER = 15
"""Digits from which on a number under a secret's name is one: no count, no port, no time in milliseconds."""


def is_plausible_value(kind: Kind, value: str, *, bare: bool = False) -> bool:
    """Decide whether `value` under a name of `kind` is a secret rather than a word, a path or a stand-in."""
    value = value.strip()
    if is_stand_in(value) or (value.isdigit() and len(value) < SHORTEST_NUMBER):
        return False
    if not value.isalnum() and (_PATH.search(value[:LONGEST_MEASURED]) or _DATE.match(value)):
        return False
    if kind == "password":
        return len(value) >= 5 and _may_be_password(value, bare)
    if " " in value:
        return False
    if kind == "key":
        return len(value) >= 14 and _may_be_key(value)
    if len(value) < 12:
        return len(value) >= 10 and value.isalnum() and _is_long_alphabet(value) and looks_generated(value)
    return _may_be_secret(value, bare)


def _may_be_password(value: str, bare: bool) -> bool:
    digits = digits_in(value)
    if " " in value:
        return digits > 0 and value.count(" ") < 3 and not bare
    if _WORDS.fullmatch(value):
        return (len(value) >= 12 and looks_generated(value)) or (not bare and _is_plain_password(value))
    return digits > 0 or not bare or not re.fullmatch(r"[\w.:-]+", value)


def _is_plain_password(word: str) -> bool:
    """Accept small letters that some people take for a password, unless they say what a field is for."""
    return len(word) >= 8 and word.isascii() and word.isalpha() and word.islower() and not _FIELD.search(word)


_FIELD = re.compile(
    r"pass|pwd|secret|token|cred|hash|salt|auth|login|prompt|field|input|param|script|text|plain|string|"
    r"required|optional|valid|confirm|crypt|encode|undefined|abled|hidden"
)


def _may_be_key(value: str) -> bool:
    if HASH.fullmatch(value):
        return False
    return (
        looks_generated(value)
        or is_spread(value)
        or (len(value) >= 32 and value.rstrip("=").isalnum() and _is_long_alphabet(value))
    )


def is_spread(value: str) -> bool:
    """Tell characters of which few come twice from words, which live on a dozen letters."""
    size = len(value[:LONGEST_MEASURED])
    is_of_many = len(set(value)) >= size * 0.85 and not _PARTED.search(value)
    return size >= 24 and (is_of_many or entropy_bits(value) >= 4.8)


def _is_long_alphabet(value: str) -> bool:
    return digits_in(value) >= 2 and not value.isupper() and not value.islower()


def _may_be_secret(value: str, bare: bool) -> bool:
    digits = digits_in(value)
    if digits == len(value):
        return digits >= SHORTEST_NUMBER
    if entropy_bits(value) < 2.8 or (bare and _IDENTIFIER.fullmatch(value)):
        return False
    if _WORDS.fullmatch(value) or not digits or (digits == 1 and _PARTED.search(value)):
        return looks_generated(value) or is_spread(value)
    return is_mixed(value)


_IDENTIFIER = re.compile(r"[a-z]+[0-9]*(?:_[a-z]+[0-9]*)+,?")
_PARTED = re.compile(r"[A-Za-z0-9][_.-][A-Za-z0-9]")


HASH = re.compile(r"(?i)[0-9a-f]{32,128}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")


def looks_generated(value: str) -> bool:
    """Tell letters and digits in disorder from words: the kind of character changes often.

    Words grown together (`setLastAuthMethod`) are of one kind: a capital before two small letters begins a word.
    """
    kinds = value[:LONGEST_MEASURED].encode("ascii", "replace").translate(_KINDS, _SIGNS).replace(b"Aaa", b"aaa")
    changes = sum([kinds.count(change) for change in _CHANGES])
    return changes >= max(3, len(kinds) // 5) and entropy_bits(value) >= 3.0


_DIGITS, _CAPITALS, _SMALL = (
    part.encode("ascii") for part in (string.digits, string.ascii_uppercase, string.ascii_lowercase)
)
_KINDS = bytes.maketrans(_DIGITS + _CAPITALS + _SMALL, b"0" * 10 + b"A" * 26 + b"a" * 26)
_SIGNS = (string.punctuation + string.whitespace).encode("ascii")
_CHANGES = (b"0A", b"0a", b"A0", b"a0", b"aA", b"Aa")


def is_mixed(text: str) -> bool:
    return _LETTER.search(text) is not None


_LETTER = re.compile(r"[^\W\d_]")


def digits_in(text: str) -> int:
    data = text.encode("ascii", "replace")
    return len(data) - len(data.translate(None, _DIGITS))
