"""When two names are of the same: what spellings have in common, which types may be one, and what a vector may join.

A name that nobody has seen yet is resolved in this order, by whoever stores it (`siftd.store.graph_names`):

1. the same name, or the alias of a known one, by its key (`name_key`);
2. the known name whose vector is nearest, from `COSINE_MIN` on, if the source text bears it out (`is_borne_out`);
3. a new entity.
"""

from __future__ import annotations

import hashlib
import re

from siftd.graph.model import PROSE_TYPES, EntityType, Named
from siftd.normal_forms import normalized

COSINE_MIN = 0.85
"""From here on, a vector may say that two names are of the same."""

KEY_CHARS_MAX = 200
COMMIT_DIGITS = 7
"""By so many digits git names a commit where people read it; the rest of a longer name is left out of the key."""

_THINGS: tuple[EntityType, ...] = ("service", "tool", "project")
_GAPS = re.compile(r"[\s_\-]+")
_PACKAGE_GAPS = re.compile(r"[_.]+")
_ARTICLE = re.compile(r"(?:the|our|their|a|an|this|that) (?=.)")
_WORD = re.compile(r"[^\W_]+")
_KIND = {
    "service": (" microservice", " service"),
    "team": (" team", " squad"),
    "project": (" project",),
    "tool": (" tool",),
}
"""What a name may end with that its type says already."""
_FILLERS = frozenset("the a an of and our for to service team project tool app server system".split())


def name_key(named: Named) -> str:
    """Return what all spellings of a name have in common, within its type."""
    kind, name = named
    name = normalized("NFC", name)[:KEY_CHARS_MAX].strip()
    if kind == "commit":
        return name.lower()[:COMMIT_DIGITS]
    if kind == "package":
        lowered = name.lower()
        return lowered.replace("_", "-") if "/" in lowered else _PACKAGE_GAPS.sub("-", lowered)
    if kind == "file":
        return name.removeprefix("./")
    if kind not in PROSE_TYPES:
        return name
    key = _GAPS.sub(" ", normalized("NFKC", name).casefold()).strip()
    key = _ARTICLE.sub("", key, count=1) if _ARTICLE.match(key) else key
    for ending in _KIND.get(kind, ()):
        if key.endswith(ending):
            return key.removesuffix(ending)
    return key or name


def may_be_one(one: EntityType, other: EntityType) -> bool:
    """Whether a name of one type and the same name of another are of the same: what nobody knows the type of is
    anything that words name, and a service, a tool and a project are told apart by nobody who writes about them."""
    if one == other:
        return True
    if "concept" in (one, other):
        return one in PROSE_TYPES and other in PROSE_TYPES
    return one in _THINGS and other in _THINGS


def is_better_type(new: EntityType, known: EntityType) -> bool:
    """Whether an entity of a known type is rather of the new one."""
    return known == "concept" and new != "concept"


def is_borne_out(name: str, known: str, text: str) -> bool:
    """Whether a text in which a name stands may speak of the known one: its every word stands there too, or begins as
    one that does; no number tells them apart; and the text does not name both, side by side."""
    lowered = text.casefold()
    if name.casefold() not in lowered or known.casefold() in lowered:
        return False
    mine, theirs = _words(name), _words(known)
    if [each for each in mine if _has_digit(each)] != [each for each in theirs if _has_digit(each)]:
        return False
    spoken = frozenset(_stem(each) for each in _words(text))
    return bool(theirs) and all(_stem(each) in spoken for each in theirs)


class Marks:
    """Keyed hashes of names: what a log may hold of a name that has to be forgotten with its last item."""

    def __init__(self, secret: bytes) -> None:
        self._keyed = hashlib.blake2b(key=secret, digest_size=16, person=b"entities")

    def of(self, kind: str, key: str) -> str:
        """Return the mark of a type and a key; what words name has one, of whichever type it turns out to be."""
        kind = "words" if kind in PROSE_TYPES else kind
        keyed = self._keyed.copy()
        keyed.update(f"{kind}\n{key}".encode("utf-8", "surrogatepass"))
        return keyed.hexdigest()


def _words(text: str) -> list[str]:
    return [each for each in _WORD.findall(text.casefold()) if each not in _FILLERS]


def _has_digit(word: str) -> bool:
    return any(each.isdigit() for each in word)


def _stem(word: str) -> str:
    """Return a word without the ends that a plural or a form of a verb gives it; rough on purpose."""
    for ending in ("ing", "ies", "es", "s", "e", "y"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word.removesuffix(ending)
    return word
