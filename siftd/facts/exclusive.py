"""Where a sentence's part can have one value only: "the timeout is 30 s", but not "pull requests need a review".

A sentence with one part exchanged is a changed value if that part follows, at once, a verb that allows one value at a
time. A rule ("never …", "always …"), an ability, a need and an event allow many; so two of them are two facts, and so
are two that hold somewhere else, at another time or for another purpose.
"""

from __future__ import annotations

from collections.abc import Sequence

from siftd.facts.statements import is_light, is_number

_ONE = frozenset(
    "is are ist sind lautet heißt called named version default listen run start begin lie live expire last stop end"
    " load deploy build install typecheck lint publish point go läuft laufen steht liegt"
    " stored sent built done published kept sorted prefixed written delivered tracked based checked hosted made".split()
)
"""What a value may follow."""
_USES = frozenset("use using verwende verwenden nutzen nehmen".split())
"""One at a time if it is said what for: without that, a package manager and a database are both used."""
_MANY = frozenset(
    "can may could might prefer like see own read accept skip support call add drop dropped against never always"
    " include exclude contain replaced reject decline considered kann darf mag".split()
)
_AMOUNTS = frozenset("need require have has allow must take keep hold show return wait retry after under than".split())
_AMOUNT_REACH = 3
"""Words between the verb and the number: "keeps entries for 10 minutes"."""
_COUNTED_NAMES = frozenset(
    "phase step rule ticket issue day week chapter level release row line test case milestone task part sprint"
    " pr".split()
)
"""A number after one of these is a name."""
_OWNED = frozenset("in on at when before after during under over auf bei im am unter für for".split())
_PLACED = frozenset("stored run live lie kept checked hosted sent written listen go load läuft steht liegt".split())
_JOINING = frozenset("by with from to as make in on at into mit von auf in um".split())
_SUBJECT_NUMBERS = frozenset("required minimum needed nötig".split())


def names_one_value(lead: Sequence[str], value: Sequence[str], before: Sequence[str], rest: Sequence[str]) -> bool:
    """Whether the words between `lead` and `rest` are a value of which there is one at a time.

    `value` and `before` are the two that stand there. `lead` and `rest` are the same in both sentences.
    """
    if any(word in _MANY for word in lead):
        return False
    if any(map(is_number, value)):
        return _words_alone(value) == _words_alone(before) and _is_amount(lead, rest)
    if not lead or any(word in _OWNED for word in (*value, *before)):
        return False
    if lead[-1] in _OWNED and not (len(lead) > 1 and lead[-2] in _PLACED):
        return False  # where, when or what for it holds: another one is another fact
    for word in reversed(lead):
        if word in _ONE:
            return True
        if word in _USES:
            return any(not is_light(after) for after in rest)
        if word not in _JOINING and not is_light(word):
            return False
    return False


def _is_amount(lead: Sequence[str], rest: Sequence[str]) -> bool:
    """Whether a number that alone differs is an amount, and not a part of a name: "Node 18 is required"."""
    if lead and lead[-1] in _COUNTED_NAMES:
        return False
    near = [word for word in lead if not is_light(word) or word in _ONE or word in _AMOUNTS][-_AMOUNT_REACH:]
    if any(word in _ONE or word in _AMOUNTS or word in _USES for word in near):
        return True
    return any(word in _SUBJECT_NUMBERS for word in rest)


def _words_alone(part: Sequence[str]) -> list[str]:
    return [word for word in part if not is_number(word)]
