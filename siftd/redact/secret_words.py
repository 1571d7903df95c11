"""Words that tell of a secret, as people and programs of many languages write them, and the names that hold them.

A name tells by any of its parts (`DBPASS`, `userPw`, `spring.datasource.password`), unless its last word says that it
is something about a secret and none itself (`password_min_length`, `token_type`), or the part is a word of its own
(`compass`, `passenger`). The gate finds the parts in one pass over a text; where letters beyond ASCII stand, the words
of other scripts are looked for besides.
"""

# ruff: noqa: E501  (tables and expressions are read by their rows)

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from siftd.redact.secret_names import LONGEST_NAME, Kind, kind_of_name

_PASSWORD_PARTS = (
    *("passw", "passphrase", "passcode", "passkey", "pswd", "psswd", "pwrd", "pasword", "paswd", "pssword", "pword"),
    *(
        "kennwort",
        "losenord",
        "wachtwoord",
        "salasana",
        "adgangskode",
        "kodeord",
        "passord",
        "contrasena",
        "contrasenya",
    ),
    *(
        "motdepasse",
        "clavedeacceso",
        "parolachiave",
        "jelszo",
        "requirepass",
        "masterauth",
        "userpwd",
        "bindpw",
        "katasandi",
        "matkhau",
    ),
)
"""Any name with one of these in it means a password."""

_PASSWORD_WORDS = frozenset(
    """
    pass pw pwd psk pin passwd mdp pswd senha haslo heslo parola sifre clave geslo lozinka parool slaptazodis passe
    passwort password passphrase passcode psw pswrd pwrd pas pword rootpw passwrd credential credentials creds cred cvv cvc authtok
    """.split()
)
"""Words that mean a password where they are the last of a name."""

_SECRET_WORDS = frozenset("secret token crumb salt apikey bearer otp totp authtoken".split())
_PIN_WORDS = frozenset("pin otp totp cvv cvc passcode mfa".split())
"""Of these a few digits are the whole."""
_SECRET_ENDS = (
    "secret",
    "token",
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "authkey",
    "signingkey",
    "licensekey",
)

_OTHER_WORDS = (
    *(
        "bypass",
        "compass",
        "encompass",
        "trespass",
        "surpass",
        "overpass",
        "underpass",
        "multipass",
        "onepass",
        "lastpass",
    ),
    *("keepass", "1pass", "renderpass", "singlepass", "firstpass", "secondpass", "allpass", "lowpass", "highpass"),
    *(
        "htpasswd",
        "mkpasswd",
        "chpasswd",
        "smbpasswd",
        "kpasswd",
        "ldappasswd",
        "sshpass",
        "getpass",
        "gopass",
        "bandpass",
    ),
    *("subpass", "prepass", "sass", "secondpass", "twopass", "postpass"),
)
"""What ends as a telling word does and is another."""

_ABOUT = frozenset(
    """
    length len min max size count policy policies regex pattern rule rules validator validators validation validate
    hasher hashers encryption encryptor algorithm algo type types kind field fields label labels placeholder title hint
    prompt message messages msg error errors err file files path paths dir directory folder location url uri endpoint
    host port limit limits expiry expires expiration expire exp ttl age lifetime timeout issuer audience header headers
    name names manager store stores provider providers process helper helpers service services factory builder strategy
    handler handlers reset resets change changed changes changing confirm updated created at in on by from to for id ids
    arn ref refs reference version versions rotation strength score meter visible visibility show hide toggle icon
    input inputs form dialog modal page view screen component button link text required enabled disabled valid invalid
    protected protection less authentication authenticator auth based only option options setting settings config
    generator gen checker method methods mode source list tests test spec specs class model schema interface
    usage used use cost price per budget cache index map table column row request requests response event exists
    state status flag flags function func fn util utils tool tools verifier verification mismatch
    """.split()
)
"""Last words of a name that make it one about secrets. `text`, `value` and the like stand before none of these."""

_TRAILERS = frozenset(
    "value raw string str text plain plaintext cleartext prod dev staging default old new s b v confirmation again".split()
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@lru_cache(maxsize=8192)
def meaning(name: str) -> Kind | None:
    """Return what a value beside this name is: `password`, `secret`, or None where the name tells nothing."""
    if len(name) > 2 * LONGEST_NAME:
        return None
    words = [word.lower() for word in _WORD.findall(name)]
    while words and (words[-1].isdigit() or (len(words) > 1 and words[-1] in _TRAILERS)):
        words.pop()
    if not words or words[-1] in _ABOUT:
        return None
    last, whole = words[-1], "".join(words)
    if last.endswith(_OTHER_WORDS) or whole.endswith(_OTHER_WORDS):
        return None
    if last in _PASSWORD_WORDS or (last.endswith(("pass", "pw", "pwd", "psk")) and len(last) > 3):
        return "password"
    if any(part in whole for part in _PASSWORD_PARTS):
        return "password"
    if last in _SECRET_WORDS or last.endswith(_SECRET_ENDS) or whole.endswith(_SECRET_ENDS):
        return None if kind_of_name(name) is None and last not in _SECRET_WORDS else "secret"
    return "secret" if kind_of_name(name) == "secret" else None


HEAD = (
    r"(?i:passw|passphrase|passcode|passkey|pass\b|pass[0-9_]|p(?:as)?sword|pswd|psswd|paswd|pwrd|pword|psw\b|pwd|[a-z_]pw\b|\bpw[0-9]{0,2}\b|psk\b|"
    r"\bmdp\b|kennwort|l[o?]senord|wachtwoord|salasana|adgangskode|kodeord|passord|contrase[n?]|mot[ _-]?de[ _-]?passe|"
    r"senha\b|has[l?]o\b|heslo\b|parola\b|\bsifre\b|\bclave\b|\bgeslo\b|lozinka|parool|jelsz|kata[ _-]?sandi|requirepass|masterauth|"
    r"bindpw|secret|token|cred(?:ential)?s?\b|api[_ -]?key|access[_ -]?key|private[_ -]?key|auth[_ -]?key|[a-z_-]key\b|(?:licen[sc]e|recovery|product|activation|security|network|master|encryption)[ ]key\b|"
    r"\bsalt\b|_salt\b|recovery[ _-]codes?|backup[ _-]codes?|unseal|mnemonic|seed[ _-]phrase|\botp\b|(?:\blog[io]n|auth)(?:[ ]?=?[ ]?|\\{0,4}[\"'][ ]?(?:[:,]|=>)[ ]?)[(\[{]|(?:users|accounts)[ ]?[=:][ ]?[{\[(]|(?:[cC]onnect(?:ion)?|authenticate|sign[_-]?in|pdo|begin|user|credentials?|bind(?:_s)?|ftp(?:_login)?|newInstance|basic|mysqli|Redis)\(|\bpin\b|_pin\b|\bcvv\b|\bauthtok|_authtok|\btotp\b|--otp\b)"
)
"""Where a telling word may stand, in the bytes that the gate reads."""

OTHER_SCRIPTS = re.compile(
    "\u043f\u0430\u0440\u043e\u043b\u044c|\u043f\u0430\u0440\u043e\u043b\u044f|\u043f\u0430\u0440\u043e\u043b\u044e|"
    "\u043f\u0430\u0440\u043e\u043b\u0435|\u043f\u0430\u0440\u043e\u043b\u0438|\u043f\u0430\u0440\u043e\u043b\u0430|"
    "\u043b\u043e\u0437\u0438\u043d\u043a\u0430|\u041f\u0430\u0440\u043e\u043b\u044c|"
    "\u041f\u0410\u0420\u041e\u041b\u042c|\u5bc6\u7801|\u5bc6\u78bc|\u53e3\u4ee4|\u30d1\u30b9\u30ef\u30fc\u30c9|"
    "\u6697\u8a3c\u756a\u53f7|\ube44\ubc00\ubc88\ud638|\uc554\ud638|"
    "\u0643\u0644\u0645\u0629 \u0627\u0644\u0645\u0631\u0648\u0631|\u0643\u0644\u0645\u0629 \u0627\u0644\u0633\u0631|"
    "\u05e1\u05d9\u05e1\u05de\u05d4|\u05e1\u05d9\u05e1\u05de\u05d0|\u092a\u093e\u0938\u0935\u0930\u094d\u0921|"
    "\u0e23\u0e2b\u0e31\u0e2a\u0e1c\u0e48\u0e32\u0e19|m\u1eadt kh\u1ea9u|M\u1eadt kh\u1ea9u|\u015fifre|\u015eifre|"
    "\u015e\u0130FRE|parolan\u0131z|contrase\u00f1a|Contrase\u00f1a|CONTRASE\u00d1A|has\u0142o|Has\u0142o|HAS\u0141O|"
    "l\u00f6senord|L\u00f6senord|L\u00d6SENORD|jelsz\u00f3|Jelsz\u00f3|\u03ba\u03c9\u03b4\u03b9\u03ba\u03cc\u03c2|"
    "\u039a\u03c9\u03b4\u03b9\u03ba\u03cc\u03c2|\u03c3\u03c5\u03bd\u03b8\u03b7\u03bc\u03b1\u03c4\u03b9\u03ba\u03cc"
)
"""Passwords as other scripts write them: Russian, Bulgarian, Chinese, Japanese, Korean, Arabic, Hebrew, Hindi, Thai,
Vietnamese, Turkish, Greek, and of Spanish, Polish, Swedish and Hungarian what is no ASCII. Plain texts only, so that
the engine looks for their first letters alone."""


def speaks_otherwise(text: str) -> bool:
    """Whether a telling word of another script stands in the text."""
    return not text.isascii() and OTHER_SCRIPTS.search(text) is not None


class Name(NamedTuple):
    """A telling name and what it means."""

    begin: int
    end: int
    kind: Kind
    is_vague: bool = False
    """A word of everyday, which tells only of what is attached to it by a sign: `pass: X`, `login("bob", "X")`."""
    is_pin: bool = False
    """Whether a few digits are the whole of it."""
    is_call: bool = False
    """Whether it takes a user and then a password: `login("bob", "X")`."""


_NAME = re.compile(
    r"(?<![A-Za-z0-9])(?i:mot de passe|clave de acceso|api key|access key|access token|access code|private key|secret key|auth key|signing key|(?:licen[sc]e|recovery|product|activation|security|network|master|encryption) key|kata sandi|recovery codes?|backup codes?)(?![A-Za-z0-9])|"
    r"[A-Za-z0-9_$][A-Za-z0-9_-]{1,80}"
)
_VAGUE = frozenset("pass pin pas passe clave key salt auth login signin token secret pws pw".split())
_TAKERS = re.compile(
    r"(?i)(?:.*(?:auth|login|log_in|signin|sign_in|signup|authenticate|basicauth|credentials?|logon|connect|users|accounts|create_?(?:super)?user|userpassword|getconnection|pdo|begin|networkcredential|sqlcredential|ftp_login|ftp|newinstance|(?:http)?basic|mysqli(?:_connect)?|mysql_real_connect|redis|passwordauthentication|usernamepassword[a-z]*|bind|bind_s|open))"
)
_BASE64_SIGNS = frozenset("+/")
_CALLED = re.compile(r"[ ]?=?[ ]?[(\[{]|[\"'][ ]?(?:[:,]|=>)[ ]?[(\[{]")
_NAME_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-$"
_NAME_REST = re.compile(r"[A-Za-z0-9_-]{0,80}")


def names_in(line: str, begin: int, end: int, is_known: Callable[[int, int], bool] | None = None) -> Iterator[Name]:
    """Yield the telling names of line[begin:end], in order; none that lies within a secret that is known."""
    for match in _NAME.finditer(line, begin, end):
        first, last = match.span()
        if is_known is not None and is_known(first, last):
            continue
        if _CALLED.match(line, last, end) and _TAKERS.fullmatch(match[0]):
            yield Name(first, last, "password", True, False, True)
            continue
        kind = _meaning_of(match[0])
        if kind is not None and not (
            line[last : last + 1] in _BASE64_SIGNS and line[first - 1 : first] in _BASE64_SIGNS
        ):
            said = match[0].lower()
            yield Name(first, last, kind, said in _VAGUE or said[0] == "$", said.rpartition("_")[2] in _PIN_WORDS)
    if not line.isascii():
        for match in OTHER_SCRIPTS.finditer(line, begin, end):
            yield Name(match.start(), match.end(), "password")


def is_secret_name_at(text: str, start: int, end: int) -> bool:
    """Whether what the gate found at text[start:end] is part of a telling name."""
    if text[end - 1] in " ({[(":
        return True
    before = text[max(0, start - 64) : start]
    if " " in text[start:end]:
        return True
    begin = start - len(before) + len(before.rstrip(_NAME_SIGNS))
    rest = _NAME_REST.match(text, end)
    name = text[begin : rest.end() if rest else end]
    return _meaning_of(name) is not None or _TAKERS.fullmatch(name) is not None or not name.isascii()


@lru_cache(maxsize=8192)
def _meaning_of(name: str) -> Kind | None:
    if name.lower().endswith((" key", " code", " codes")):
        return "secret"
    return meaning(name.replace(" ", "_"))
