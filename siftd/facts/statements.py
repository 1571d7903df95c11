"""What a short statement tells, in a form in which two can be compared: its words in order, and whether it denies.

Words that carry nothing are left out and endings are cut. "Must never", "don't" and "kein" become a denial, "no longer"
an end; "on" and "off", "allowed" and "forbidden" are one word with and without a denial. A reason ("because …") is no
part of the claim. English and German; Chinese is compared sign by sign.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from siftd.normal_forms import normalized

TEXT_CHARS_MAX = 400
"""Longer texts are no single statement and are not compared."""

_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff]"  # Chinese and Japanese, sign by sign
    r"|[0-9]++(?:[.:][0-9]++)*+(?![\w-])"  # numbers, versions, times
    r"|[0-9]++(?=[A-Za-z]{1,3}\b)"  # "20MB"
    r"|\w++(?:['’]\w++)?+(?:[./:@#=+\\-]++\w++)*+"  # words, paths, identifiers, hyphenations
    r"|--?\w++(?:-\w++)*+"  # options
)
_REASON = re.compile(
    r"[,;]?+ (?:because|since|so that|as it|as they|in order to|weil|da es|damit|denn)\b|,? ?因为", re.IGNORECASE
)
_CONTRAST = re.compile(
    r"(?:(?:,| and| but| und),? (?:not|nicht) |,? (?:statt|instead of|rather than) |,?不用)"
    r"(?P<other>(?!to |be |have |only )[^.;,。]{1,60}+)[.。]?$",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"^(?:(?:the )?(?:person|user) )?"
    r"(?:wants|prefers|i(?:'d)? prefer|we (?:have )?(?:decided|agreed) to|prefer) (?:to )?"
    r"|\b(?:in|for) this (?:project|repo|repository)\b|\bwherever possible\b|\bkeep in mind that\b",
    re.IGNORECASE,
)
_MODAL = re.compile(r"\b(?:ha(?:s|ve) to|needs? to)\b", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9][0-9.:]*+")

_LIGHT = frozenset(
    "a an the this that these those our my its we i it please also just really very so then here now currently"
    " always all every each any ever do does did be is are been being am to of and must should shall will would"
    " explicitly simply generally"
    " ein eine einen einem einer der die das den dem des wir ich bitte hier jetzt immer alle jeder jede jedes auch"
    " ist sind wird werden muss müssen soll sollen und zu unsere unser unseren".split()
)
"""Left out where two statements are asked whether they are the same claim; what they differ in may still be a value."""
_DENIALS = frozenset(
    "not no never cannot without none neither nor nicht nie niemals kein keine keinen keiner keinem ohne don't dont"
    " 不 没 别 勿".split()
)
_ENDED = re.compile(
    r"\bno longer\b|(?:\bnot|n't|\bnever)\b[^.;\n]{0,80}?\b(?:any ?more|any longer)\b"
    r"|\bnicht mehr\b|\bkeine?[nmr]? mehr\b|不再",
    re.IGNORECASE,
)
_END_WORDS = re.compile(r"\b(?:no longer|any ?more|any longer|nicht mehr|mehr)\b|不再", re.IGNORECASE)
_OPPOSITES = {
    "disabled": "enabled",
    "disable": "enable",
    "off": "on",
    "forbidden": "allowed",
    "prohibited": "allowed",
    "exclude": "include",
    "excluded": "included",
    "optional": "required",
    "hidden": "shown",
    "aus": "an",
    "verboten": "erlaubt",
}
_ALIKE = {
    "seconds": "s",
    "second": "s",
    "secs": "s",
    "sec": "s",
    "minutes": "min",
    "minute": "min",
    "mins": "min",
    "hours": "h",
    "milliseconds": "ms",
    "from": "from",
    "niemals": "nie",
    "log": "log",
    "logged": "log",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "ten": "10",
}
_NEVER_STEMMED = frozenset(["windows", "https", "redis", "kubernetes", "postgres", "news", "always"])


class Statement(msgspec.Struct, frozen=True):
    """One claim, made comparable."""

    words: tuple[str, ...]
    """Everything that is said but denials and the reason, in order, in lower case with endings cut."""
    denies: bool
    ended: bool
    """It says that something is over."""
    contrast: tuple[str, ...] = ()
    """The content of what it names as the other way: "…, not npm"."""

    @property
    def content(self) -> tuple[str, ...]:
        """The words that carry the claim."""
        return tuple(word for word in self.words if word not in _LIGHT)


@lru_cache(maxsize=512)
def statement_of(text: str) -> Statement:
    """Return what a text says. A candidate is compared with several known facts in a row."""
    text = normalized("NFC", text)[:TEXT_CHARS_MAX].replace("’", "'")
    reason = _REASON.search(text, 12)
    claim = _MODAL.sub("must", _ASKED.sub("", (text[: reason.start()] if reason else text).strip()))
    ended = bool(_ENDED.search(claim))
    contrast = None if ended else _CONTRAST.search(claim, 6)
    if contrast:
        words, denials = _words(claim[: contrast.start()])
        other = tuple(word for word in _words(contrast["other"])[0] if not is_light(word))
        return Statement(tuple(words), denials % 2 == 1, ended, other)
    words, denials = _words(_END_WORDS.sub(" ", claim) if ended else claim)
    return Statement(tuple(words), denials % 2 == 1 and not ended, ended)


def _words(claim: str) -> tuple[list[str], int]:
    """Return the words in their compared form, and how many denials stood between them."""
    words: list[str] = []
    denials = 0
    for number, word in enumerate(_TOKEN.findall(claim)):
        lower = word.lower()
        if lower in _DENIALS or lower.replace("'", "") in _CONTRACTIONS:
            denials += 1
        elif lower in _OPPOSITES:
            denials += 1
            words.append(stem(_OPPOSITES[lower]))
        elif number and len(word) == 1 and word.isupper() and word != "I":
            words.append(word)  # a name: plan A
        else:
            words.append(stem(lower))
    return words, denials


_CONTRACTIONS = frozenset(
    "dont doesnt didnt isnt arent wasnt werent cant couldnt wont wouldnt shouldnt mustnt hasnt havent".split()
)


def stem(word: str) -> str:
    """Cut a plural's or a verb's -s and a participle's -ed, of plain words alone."""
    if word in _ALIKE:
        return _ALIKE[word]
    if word in _NEVER_STEMMED or word in _LIGHT or not word.isalpha() or len(word) < 4:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def is_number(word: str) -> bool:
    """Whether a word is a number, a version or a time."""
    return bool(_NUMBER.fullmatch(word))


def is_light(word: str) -> bool:
    """Whether a word carries no claim of its own."""
    return word in _LIGHT
