"""Passwords in what a person types to an agent: `unlock the nas with X`, `grafana admin X`, `X = sudo`.

People leave out the word that tells. In a prompt, and only there, a word that cannot be much else than a password is
one if its line speaks of getting in somewhere. Code, logs and tables that are pasted have rules of their own.
"""

# ruff: noqa: E501  (the tables of words are read by their rows)

from __future__ import annotations

import re
from collections.abc import Iterator

from siftd.redact.secret_likelihood import digits_in
from siftd.redact.shape import Shape, shape_of
from siftd.redact.spans import Found

LONGEST_LINE = 400
"""Characters; what is longer was pasted."""
MOST_LINES = 200

_WORD = re.compile(r"[^\s\"'`<>(){}\[\],;|]{8,72}")
_USER = re.compile(r"[\w.+-]{1,40}(?:@[\w.-]{1,40})?[:/](?=[^/:]{8})")
_TRAILING = ".,:!?"
_NEVER = frozenset("/\\=:+")
"""Signs of paths, assignments, addresses and versions."""
_FIRM_WORDS = """
    (?:un)?lock(?:ed|s)? decrypt sudo log(?:s|ged)?[-\\x20]?(?:in|on) sign[-\\x20]?(?:in|on) admin root sa account auth asks? prompts?
    ssh s?ftp rdp vpn vnc nas smb psql mysql redis mongo imap smtp router wi-?fi hotspot bios keystore keychain vault
    memorable answer passcode pass\\w{0,12} pw pwd mdp clave contrase\\w{1,8} senha has[l\u0142]o heslo kennwort zugang\\w{0,10}
    creds? credentials? wachtwoord l\u00f6senord\\w{0,4} salasana parola \u015fifre jelsz\u00f3 lozinka
    anmelden einloggen connexion iniciar entrar accedi zaloguj
"""
_FIRM_BEGINNINGS = (
    "\u0432\u0445\u043e\u0434 \u0432\u043e\u0439\u0442\u0438 \u043f\u0430\u0440\u043e\u043b \u767b\u5f55 \u5bc6\u7801 "
    "\u30ed\u30b0\u30a4\u30f3 \u30d1\u30b9\u30ef\u30fc\u30c9 \ub85c\uadf8\uc778 \ube44\ubc00\ubc88\ud638"
)
_SOFT_WORDS = """
    secret key code access user elastic system postgres oracle licen[cs]e word pin archive zip pdf backup connect server login
"""
_FIRM = re.compile(
    r"(?i)\b(?:" + "|".join(_FIRM_WORDS.split()) + r")\b|"
    r"@[\w-]+\.\w|\[REDACTED:email|" + "|".join(_FIRM_BEGINNINGS.split())
)
_SOFT = re.compile(r"(?i)\b(?:" + "|".join(_SOFT_WORDS.split()) + r")\b")
_MAY_BE_ONE = re.compile(
    r"[A-Za-z0-9][!#$%^&*?~][A-Za-z0-9]|[A-Za-z0-9][!#$%^~]|[A-Za-z][0-9]{1,8}[A-Za-z]{1,16}[0-9]{1,8}[A-Za-z]"
)
_INNER = re.compile(r"[A-Za-z][0-9]+(?=[A-Za-z])")
_SIGN = re.compile(r"(?<=[A-Za-z0-9])[!#$%^&*?~](?=[A-Za-z0-9])|[A-Za-z0-9]{6}[!#$%^~]$")


def secrets_typed(text: str) -> list[Found]:
    """Return the passwords of a prompt, in order and apart."""
    found: list[Found] = []
    if _MAY_BE_ONE.search(text) is None:  # so most prompts are done
        return found
    begin, before = 0, False
    for line in text.splitlines(keepends=True)[:MOST_LINES]:
        if 8 <= len(line) <= LONGEST_LINE and _MAY_BE_ONE.search(line):
            is_firm = _FIRM.search(line) is not None
            is_alone = before and len(line.split()) == 1
            if is_firm or is_alone or _SOFT.search(line):
                found += _of_line(text, begin, begin + len(line), is_firm or is_alone)
        before = _FIRM.search(line[:LONGEST_LINE]) is not None
        begin += len(line)
    return found


def _of_line(text: str, begin: int, end: int, is_firm: bool) -> Iterator[Found]:
    for match in _WORD.finditer(text, begin, end):
        first, last = match.span()
        last -= len(match[0]) - len(match[0].rstrip(_TRAILING))
        user = _USER.match(text, first, last)
        first = user.end() if user else first
        if _is_password(text[first:last], is_firm):
            yield first, last, "password"


def _is_password(word: str, is_firm: bool) -> bool:
    """Whether a word can hardly be anything else: a sign inside and a number, or numbers in several places of it."""
    if not 8 <= len(word) <= 64 or not _NEVER.isdisjoint(word) or word[0] in "#@-&$%" or not digits_in(word):
        return False
    if shape_of(word) < Shape.TWISTED:
        return False
    return _SIGN.search(word) is not None or (is_firm and len(_INNER.findall(word)) > 1)
