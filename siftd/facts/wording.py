"""A clause as a statement that stands by itself: what leads in and what follows is cut, "I" becomes the person.

Nothing is put in that was not said: a clause that would need its neighbour to be understood is not made into one.
"""

from __future__ import annotations

import re

_TAIL = re.compile(
    r",? (?:so (?:please|can you|could you|let'?s|delete|split|fix|no need|we need)|can you|could you|would you"
    r"|why (?:do|does|is|are"
    r"|would|did)|what (?:do|does|is|are)|is (?:that|this)|does (?:that|this)|and (?:then )?(?:rename|fix|now|please)\b"
    r"|this one|that one|fix it|please fix|warum|wieso)\b.*$"
    r"|,? - (?:so|this|that|can|please)\b.*$| — (?:this|that|can|please)\b.*$",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|yep|yeah|yup|hm+|ah|oh|well|so|and|but|also|then|now|actually|sorry|right|ja|also|gut"
    r"|confirmed|thinking again|it sounds like|(?:the (?:first|second|last) (?:part|one|point)|that) is"
    r" (?:not correct|wrong|not right))\b[,.!:]{0,3} ?"
    r"|[^\w\s`\"'“„(]+ ?){1,5}",
    re.IGNORECASE,
)
_CORRECTION = re.compile(r"^(?:no|nope|nah|nein|wrong|falsch|not quite)[,:.!]{1,2} ?(?=\w)", re.IGNORECASE)
_PRELUDE = re.compile(
    r"^(?:please |pls |bitte (?=keine|nie|immer))?(?:(?:remember|note|keep in mind|bear in mind) that "
    r"|(?:for the record|note|fyi|nb)[:,] "
    r"|(?:just )?(?:make sure|ensure) (?:to |that |you |we )?(?=always|never)|i (?:think|feel"
    r"|guess) (?:that )?(?=we|it|the)"
    r"|as i said,? |(?:from now on|going forward),? (?:please )?|please |pls )",
    re.IGNORECASE,
)
_OF_THE_PERSON = (
    (re.compile(r"^i(?:'d| would) prefer\b", re.I), "The person would prefer"),
    (re.compile(r"^i(?: really| generally| always| actually)? prefer\b", re.I), "The person prefers"),
    (re.compile(r"^i'?d rather\b", re.I), "The person would rather"),
    (re.compile(r"^i (?:do not|don'?t|dont)\b", re.I), "The person does not"),
    (re.compile(r"^i (like|want|hate|love|dislike)\b", re.I), r"The person \1s"),
    (re.compile(r"^i always want\b", re.I), "The person always wants"),
    (re.compile(r"^ich bevorzuge\b", re.I), "Die Person bevorzugt"),
    (re.compile(r"^ich möchte\b", re.I), "Die Person möchte"),
    (re.compile(r"^ich mag\b", re.I), "Die Person mag"),
    (re.compile(r"^let'?s not\b", re.I), "We decided not to"),
    (re.compile(r"^let'?s\b", re.I), "We decided to"),
    (re.compile(r"^my\b", re.I), "The person's"),
)
_UNWRITTEN = re.compile(r"\b(do|does|ca|wo|is|are|must|should)nt\b", re.IGNORECASE)
_ITS = re.compile(r"\bits (?=better\b|best\b)", re.IGNORECASE)
_OPINION = re.compile(r", i (?:think|feel|guess) (?:that )?(?=we\b|it|the\b)", re.IGNORECASE)
_MY = re.compile(r"\bmy\b", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?<![\w`/])[_*](\w{1,30})[_*](?![\w`/])")
_BLANKS = re.compile(r"\s+")


def own_clause(sentence: str) -> str:
    """Return the part of a sentence before a request or a question that follows it: exact words, in order."""
    tail = _TAIL.search(sentence, 8)
    return sentence[: tail.start()].rstrip(" ,;:-") if tail else sentence


def as_statement(clause: str, *, is_prompt: bool) -> str:
    """Return a clause as a statement in the third person, ending with a full stop."""
    text = _EMPHASIS.sub(r"\1", _BLANKS.sub(" ", clause.replace("**", ""))).strip(" *_-–•")
    for _ in range(3):
        shorter = _PRELUDE.sub("", _CORRECTION.sub("", _LEAD.sub("", text)))
        if shorter == text:
            break
        text = shorter
    if is_prompt:
        for pattern, instead in _OF_THE_PERSON:
            changed = pattern.sub(instead, text)
            if changed != text:
                text = changed if instead.endswith("'s") else _MY.sub("their", changed)
                break
    if text.startswith("(") and text.rstrip(".! ").endswith(")"):
        text = text.strip("(). ")
    text = _ITS.sub("it's ", _OPINION.sub(", ", text))
    text = _UNWRITTEN.sub(lambda found: f"{found[1]}n't", text)
    text = text.rstrip(" .!:;,…。)") if text.count("(") < text.count(")") else text.rstrip(" .!:;,…。")
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if not text.isascii() and text[-1] > "\u2e7f" else ".")
