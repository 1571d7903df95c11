"""How much a word looks like a password: what people type and machines draw, against what code, logs and prose hold."""

from __future__ import annotations

import re
from enum import IntEnum

from siftd.redact.secret_likelihood import (
    HASH,
    digits_in,
    entropy_bits,
    is_grown_together,
    is_parted,
    is_stand_in,
    looks_generated,
)
from siftd.redact.secret_names import Kind

SHORTEST = 5
LONGEST = 512


class Shape(IntEnum):
    """The more it looks like a password, the less need be said beside it."""

    NONE = 0
    """A plain word, a number, a path, a version, a hash, a call."""
    WORD = 1
    """Letters and digits as a name has them too: `maple-falcon-15`, `hunter2`."""
    TWISTED = 2
    """Digits inside letters, or three kinds of characters: `correct9horse337`, `Winter2024`."""
    DRAWN = 3
    """With signs inside, or drawn at random: `T0p$ecret84`, `4DPcT850bhhhpwdmnu4LEqCI`."""


_KNOWN = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=[a-z])(?=[A-Z]))(?i:sha-?[0-9]{1,3}|utf-?(?:8|16|32)|base-?(?:16|32|58|62|64|85)|b64(?![a-z0-9])|md[45]|[ahr]s[0-9]{3}|es[0-9]{3}|ed-?(?:25519|448)|x25519|"
    r"(?:secp|sect|prime|nist)?[kp]-?(?:[0-9]{3})[krv]?1?|rsa[0-9]{0,4}|ecdsa|x509v?3?|pkcs[#]?[0-9]{1,2}|pbkdf2|argon2(?:id?|d)?|"
    r"blake[23][bs]?|crc(?:16|32)c?|(?:u?int|uint|float|bool|vec|mat)(?:8|16|32|64|128|256|512)|[iuf](?:8|16|32|64|128)\b|"
    r"o?auth-?[0-9](?:\.[0-9])?|openid|oidc|http[s23]?|ipv[46]|h264|h265|mp[34](?![a-z0-9])|s3(?![a-z0-9])|ec2(?![a-z0-9])|k8s(?![a-z0-9])|k3s(?![a-z0-9])|i18n|l10n|a11y|e2e(?![a-z0-9])|b2[bc]|p2p(?![a-z0-9])|g[0-9]{1,2}n|"
    r"web[23]|es(?:5|6|20[0-9]{2})|x86(?:_64)?|x64(?![a-z0-9])|amd64|arm64(?:v8)?|aarch64|win(?:32|64)|linux(?:32|64)|python[23]?(?:\.?[0-9]{1,2})?|py[23][0-9]{0,2}|node[0-9]{1,2}|"
    r"java[0-9]{1,2}|vue[23]|neo4j|log4j|slf4j|1password|auth0|d3(?![a-z0-9])|three|pm2(?![a-z0-9])|nginx|mysql[58]?|postgres(?:ql)?[0-9]{0,2}|pg[0-9]{1,2}|sqlite3|redis[0-9]|boto3|"
    r"bcrypt[0-9]?|bip-?[0-9]{1,3}|rfc-?[0-9]{3,4}|iso-?[0-9]{3,5}(?:-[0-9])?|cve-?[0-9]{4}-?[0-9]{4,6}|tls-?1[._]?[0-9]|tls[0-9.]{1,3}|ssl[23]|v[0-9]{1,3}(?:alpha|beta|rc)?[0-9]{0,2}\b|"
    r"(?:gpt|claude|llama|gemini|qwen|o[134]|phi|mistral|sonnet|opus|haiku)-?[0-9](?:[.-][0-9]{1,2}){0,3}[a-z]?|20[0-9]{6}|"
    r"(?:test|user|page|step|phase|part|item|case|line|col|level|version|ver|round|task|chapter|day|week|file|foo|bar|arg|key|token|tok|secret|password|pass|pw|pwd|issue|port|build|room|pr|bug|commit|sample|example|mock|node|host|server|worker|project|report|year)s?[-_]?[0-9]{1,4}(?![A-Za-z0-9]))"
)
"""Names of algorithms, formats and things with digits in them: they make no word a password."""

_NOT_AT_ALL = re.compile(
    r"[\d.,:/%+xX*_-]+[A-Za-z%]{0,3}|"  # numbers, times, versions, sizes
    r"v?\d+(?:\.\d+)+(?:[-+.][\w.+-]*)?|"
    r"\d{4}-\d\d-\d\d[\w:.+-]*|"
    r"0[xX][0-9A-Fa-f]+|#[0-9A-Fa-f]{3,8}|"
    r"[\w.+-]+@\d+(?:\.\d+)*[\w.-]*|"  # package@version
    r"[\w.%+-]+@[\w-]+(?:\.[\w-]+)+|"  # address
    r"\w+://.*|.*://.*|"
    r"(?:\.{0,2}|~)/.*|[A-Za-z]:\\.*|"
    r"[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)*|"  # constant
    r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+|"  # snake_case
    r"(?:[A-Za-z]+[0-9]{0,2}[._/-])+[A-Za-z]*[0-9]{0,2}|"
    r"[\w./@-]*\.(?:json|jsonl|ya?ml|toml|pyi?|tsx?|jsx?|mjs|cjs|go|rs|md|txt|pem|key|crt|cert?|sh|java|rb|php|c|h|cc|cpp|hpp|cs|html?|css|scss|svg|png|jpe?g|gif|lock|log|cfg|conf|ini|env|sql|xml|gz|zip|tar|tgz|whl|map|vue|svelte|swift|kt|db|sqlite)(?::\d+)*(?:-\d+)?:?|"
    r"[A-Za-z_]+[0-9]{0,2}(?:\.[A-Za-z_]+[0-9]{0,2})+|"  # attribute chain
    r"[A-Za-z][\w.-]{2,}@[A-Za-z-]+[0-9]{0,2}|"  # a user at a host
    r"@[\w.-]+(?:/[\w./-]+)?|"  # package, handle
    r"[\w.-]+[=:]|"
    r"(?:\w+/)+[\w.-]*|"
    r"[0-9a-f]{6,}(?:[._-][0-9a-f]+)*|"  # ids in hexadecimal
    r"[0-9]+[A-Za-z]{1,5}|[A-Za-z]{1,2}[0-9]+"
)
_CODE = re.compile(
    r"::|->|=>|\(\)|\\[dwsbDWSB]|\.\*|\[\^?[A-Za-z0-9]-|\(\?|&&|\|\||[!=]==?|\+=|^[&*!@]+\w+$|\$\{|\{\{|<[\w/]|\w>|^--?[\w-]+$|%[sdifj]\b|%\("
)
_INNER_DIGIT = re.compile(r"[A-Za-z][0-9]+[A-Za-z]")
_SIGN = re.compile(
    r"[A-Za-z0-9][!@#$%^&*?~+=][A-Za-z0-9!@#$%^&*?~+=.-]|[A-Za-z0-9]{4}[!@#$%^&*?~]+$|^[!@#$%^&*?~]+[A-Za-z0-9]{4}"
)
_INNER_SIGN = re.compile(r"[A-Za-z0-9][!@#$%^&+~][A-Za-z0-9]|[A-Za-z0-9]{6}[!#%^~]$")
_WORDS_WITH_NUMBER = re.compile(r"[a-z]+(?:[-_.][a-z]+)*[-_.]?[0-9]{1,4}|[A-Z]?[a-z]+(?:[A-Z][a-z]+)*[0-9]{1,4}")
_WORD_AND_YEAR = re.compile(r"[A-Za-z]{4,}[0-9]{4}")
_HUMPS = re.compile(r"(?:[A-Z][a-z]{2,}){2,3}[0-9]{3}")
_CAMEL = re.compile(r"[a-z]+[A-Z]")
_PHRASE = re.compile(r"(?:[a-z]{4,}[-.]){2,}[0-9]{2,4}")
_ID = re.compile(r"[a-z]{2,12}[_-](?:[a-z]{2,8}[_-])?[A-Za-z0-9]{12,}")


def shape_of(word: str) -> Shape:
    """Return how much `word`, which has no blank, looks like a password."""
    size = len(word)
    if not SHORTEST <= size <= LONGEST or is_stand_in(word) or _CODE.search(word):
        return Shape.NONE
    digits = sum(map(str.isdigit, word))
    letters = sum(map(str.isalpha, word))
    if not letters or (not digits and not _INNER_SIGN.search(word)):
        return (
            Shape.DRAWN
            if letters
            and word.isascii()
            and size >= (20 if word.isalpha() else 12)
            and looks_generated(word)
            and not _NOT_AT_ALL.fullmatch(word)
            else Shape.NONE
        )
    if _PHRASE.fullmatch(word):
        return Shape.WORD
    if _NOT_AT_ALL.fullmatch(word) or HASH.fullmatch(word):
        return Shape.WORD if is_parted(word) else Shape.NONE
    bare = _KNOWN.sub("", word)
    if not any(map(str.isdigit, bare)) and not _SIGN.search(bare):
        return Shape.NONE
    if _WORDS_WITH_NUMBER.fullmatch(word):
        return (
            Shape.TWISTED
            if _is_season(word) or (_WORD_AND_YEAR.fullmatch(word) and not _CAMEL.match(word)) or _HUMPS.fullmatch(word)
            else Shape.WORD
        )
    if _SIGN.search(word):
        return Shape.DRAWN if digits else Shape.TWISTED
    if size >= 16 and looks_generated(bare) and not _ID.fullmatch(word):
        return Shape.DRAWN
    kinds = any(map(str.islower, word)) + any(map(str.isupper, word)) + (digits > 0) + (not word.isalnum())
    return Shape.TWISTED if size >= 8 and (kinds >= 3 or _INNER_DIGIT.search(bare)) else Shape.WORD


_SEASON = re.compile(
    r"(?i)(?:spring|summer|autumn|fall|winter|fr[uü]hling|sommer|herbst|welcome|password|passwort|admin|letmein|qwerty|secret|hello|monday|januar|monat)[-_.]?[0-9]{1,4}"
)


def _is_season(word: str) -> bool:
    return _SEASON.fullmatch(word) is not None


def is_drawn(word: str) -> bool:
    """Whether a value under a name of keys and tokens is drawn at random: long, of letters and digits in disorder."""
    return (
        len(word) >= 16
        and sum(map(str.isdigit, word)) >= 2
        and looks_generated(word)
        and entropy_bits(word) >= 3.3
        and not HASH.fullmatch(word)
        and not is_stand_in(word)
        and not _CODE.search(word)
        and not _ID.fullmatch(word)
        and not _NOT_AT_ALL.fullmatch(word)
    )


_NO_VALUE = re.compile(
    r"(?i)true|false|null|nil|none|undefined|n/?a|yes|no|on|off|required|optional|string|str|text|bytes|int|any|unknown|"
    r"password|passwd|pass|secret|token|changeme|change_me|example|test|default|empty|unset|hidden|masked|\(?null\)?"
)
_PLAIN = re.compile(r"[\w.:/@ -]*")


def is_assigned(value: str, kind: Kind) -> bool:
    """Whether `value` is a secret where a telling name is given it and nothing else: an entry, a column, a pair.

    Only holes, words for nothing, paths and small numbers are refused.
    """
    size = len(value)
    if (
        not 4 <= size <= LONGEST
        or " " in value
        or "[REDACTED" in value
        or is_stand_in(value)
        or _NO_VALUE.fullmatch(value)
    ):
        return False
    if value.isdigit():
        return kind == "password" and size >= 6
    if _PATHLIKE.match(value) or (_CALL.search(value) and not is_parted(value)):
        return False
    if kind != "password":
        is_long_word = size >= 20 and value.isalpha() and value.islower()
        return (
            is_long_word
            or (size >= 8 and shape_of(value) >= Shape.TWISTED)
            or (size >= 16 and digits_in(value) >= 2 and (not _NOT_AT_ALL.fullmatch(value) or value.isalnum()))
        )
    if size < 5 and value.isalpha():
        return False
    return (
        digits_in(value) > 0
        or not _PLAIN.fullmatch(value)
        or (size >= 20 and value.isalpha() and value.islower())
        or is_parted(value)
        or is_grown_together(value)
    )


_PATHLIKE = re.compile(
    r"(?:\.{0,2}|~)/[\w.@-]+(?:/|\.|$)|\w+://|[A-Za-z]:\\|\d{4}-\d\d-\d\d|v?\d+(?:\.\d+)+$|\d+(?:\.\d+)?[a-zA-Z%]{0,3}$|"
    r"[\w./-]+/[\w.-]+\.[a-z]{1,5}$|[\w.+-]+@[\w-]+(?:\.[\w-]+)+$|0[xX][0-9A-Fa-f]+$|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$"
)
_CALL = re.compile(
    r"\w\(|\)[;,]?$|^[A-Za-z_]+[0-9]?(?:\??\.[A-Za-z_]+[0-9]?)+[;,]?$|^[A-Za-z_][\w.]*\[|::|->|=>|^[&*]\w+[;,]?$|\{\{|\$\{|^<|^\$[A-Za-z_]\w*[;,]?$"
)
