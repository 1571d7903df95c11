"""Whether a value looks like a secret: generated rather than written, and no word, path or stand-in for one."""

from __future__ import annotations

import math
import re
import string

from siftd.redact.secret_names import Kind

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
    r"(?i)\$(?:\w+(?:[-.:/@>,;)\]\"'\\].*)?$|[({\[]|::)|\[[^\[\]]*\]?$|<[^<>]*>?$|%\w*%?$|%[({]|\{[^{}]*\}?$|\{\{|\.\.\.|"
    r"(?:your|insert|enter|replace|change|add|put|use|paste)[-_ ]|(?:my|the|some|an?)[-_ ][a-z_ -]*$|"
    r"(?:x{3,}|\*+|•+|-+|_+|\.+|0+|1234567890)$|(?:file|env|fd):[\w./-]*$"
)
_SAYS_STAND_IN = (
    *("[redacted", "${", "$(", "{{", "#{", "…", "process.env", "os.environ", "getenv", "placeholder", "redacted"),
    *("required|", "|required", "nullable|", "|min:", "|string"),
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


SHORTEST_PIN = 6
"""As `SHORTEST_NUMBER`, in quotes and under a password's name."""


def is_plausible_value(kind: Kind, value: str, *, bare: bool = False) -> bool:
    """Decide whether `value` under a name of `kind` is a secret rather than a word, a path or a stand-in."""
    value = value.strip()
    if is_stand_in(value):
        return False
    if value.isdigit() and len(value) < SHORTEST_NUMBER:
        return kind == "password" and not bare and len(value) >= SHORTEST_PIN
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
        return (
            (len(value) >= 12 and looks_generated(value))
            or is_parted(value)
            or (not bare and _is_plain_password(value))
        )
    return digits > 0 or not bare or not re.fullmatch(r"[\w.:-]+", value)


def _is_plain_password(word: str) -> bool:
    """Accept small letters that some people take for a password, unless they say what a field is for."""
    return len(word) >= 8 and word.isascii() and word.isalpha() and word.islower() and not _FIELD.search(word)


_FIELD = re.compile(
    r"pass|pwd|secret|token|cred|hash|salt|auth|login|prompt|field|input|param|script|text|plain|string|"
    r"required|optional|valid|confirm|crypt|encode|undefined|abled|hidden"
)


def is_grown_together(word: str) -> bool:
    """Accept small letters that are no word of everyday: two words grown together, as in `saddleraven`.

    Weaker than quotes: a bare word is often prose, so what ends as words about things do is refused too.
    """
    return _is_plain_password(word) and len(word) >= 9 and not _ABOUT_THINGS.search(word)


_ABOUT_THINGS = re.compile(
    r"(?:ing|ed|ions?|ments?|ness|able|ible|ly|ity|ences?|ances?|ful|less|ive|ical|ous|isms?|ists?|ates?|ify|ary|ory|ures?|"
    r"ship|wards?|ers|ors|ents?|ants?|names?|words?|codes?|keys?|files?|types?|lines?|hosts?|users?|admin|sets?)$|"
    r"^(?:un|in|non|pre|auto|inter|multi|super|data|time|file|code|host|user|local|post|sub|over|under|some|any|every|which|what|where)|"
    r"char|number|integer|boolean|object|array|default|example|keyring|keychain|email|varying|unknown|change"
)


def is_parted(word: str) -> bool:
    """Accept words with signs between them that are no chain of attributes: `tidal.Wave9`, `maple-otter-lantern`.

    Of two words the last has a capital and a number; three and more are small, with hyphens.
    """
    return (
        (_TWO_WORDS.fullmatch(word) is not None or _HYPHENATED.fullmatch(word) is not None)
        and not _FIELD.search(word.lower())
        and not _OBJECT.match(word)
    )


_TWO_WORDS = re.compile(r"[A-Za-z]{3,12}[._-][A-Z][a-z]{2,12}[0-9]{1,4}|[A-Z][a-z]{2,12}[.-][a-z]{3,12}[0-9]{1,4}")
_HYPHENATED = re.compile(r"[a-z]{3,10}(?:-[a-z]{3,10}){2,5}[0-9]{0,4}")
_OBJECT = re.compile(
    r"(?i)(?:this|self|cls|config|cfg|conf|settings?|env|process|props|req|request|data|args?|opts?|options|params|user|body|"
    r"event|form|state|ctx|context|obj|app|db|os|sys|module|exports|window|document|row|item|result|response|res|new|old|current|"
    r"must|should|not|use|see|set|get|the|for|from|your|case|case-sensitive|one|two|end|non|type|name|test|step|phase|system|java|net|com|org)"
    r"(?:[._-]|$)"
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
    if _PREFIXED.fullmatch(value) and entropy_bits(value) >= 3.3:
        return True
    if entropy_bits(value) < 2.8 or (bare and _IDENTIFIER.fullmatch(value)):
        return False
    if _WORDS.fullmatch(value) or not digits or (digits == 1 and _PARTED.search(value)):
        return looks_generated(value) or is_spread(value)
    return is_mixed(value)


_PREFIXED = re.compile(r"(?:[A-Za-z0-9]{2,8}[-_]){1,2}(?:[a-z0-9]{24,}|[A-Z0-9]{24,})")
"""A short word and a run longer than any word: so tokens are made, of letters alone too."""


SHORTEST_LEARNT = 8


def is_worth_learning(value: str) -> bool:
    """Whether a secret may be looked for everywhere: long enough, and no word, name or number of everyday."""
    return (
        SHORTEST_LEARNT <= len(value) <= LONGEST_MEASURED
        and not is_stand_in(value)
        and not value.isdigit()
        and not _PATH.search(value)
        and (digits_in(value) > 0 or looks_generated(value) or not _EVERYDAY.fullmatch(value))
    )


_EVERYDAY = re.compile(r"[\w.,:;/ -]*")
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
