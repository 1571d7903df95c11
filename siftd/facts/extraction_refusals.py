"""What looks like a statement and is none to be kept: questions, suppositions, others' words, orders for this moment.

Each refusal has a name, so that a reader finds why something was not taken. They are asked before any rule; a sentence
that one of them matches gives nothing.
"""

from __future__ import annotations

import re

_QUESTION = re.compile(
    r"[?？]\W{0,4}$|吗|为什么|怎么|^(?:ok(?:ay)?|and|but|so|also|hm+|ah|oh|yeah|yes|well|q|question)?[,:.]{0,2} ?"
    r"(?:can|could|should|would|do|does|did|is|are|was|were|will|have|has|why|what|how|where|which|who|any"
    r"|when (?=do|does|did|is|are|will|should))"
    r"(?: not|n't)? (?:you|we|i|it|the|this|that|there|they|these|he|she|do|does|is|are|if|happens|about|would|also"
    r"|a|an|to|one|\w{1,20} (?:is|are|was))\b"
    r"|^(?:warum|wieso|weshalb|was|wie|wo|sollen|sollten|können|könnten|könntest|würden|würde|wer|welche[rs]?)\b"
    r"|\b(?:i wonder|not sure|don'?t know|let me know|tell me|i am guessing|i'm guessing|which one)\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"^(?:\W{0,3}(?:and|but|so|or|ok|hm+),? )?(?:if|suppose|supposing|imagine|pretend|assuming|assume|what if"
    r"|let'?s say"
    r"|say we|perhaps|maybe|falls|angenommen|vielleicht|im Fall)\b"
    r"|\b(?:maybe|perhaps|might|possibly|could|i guess|i suppose|one option|another option|option \w|alternatively"
    r"|hypothetically|in theory|wäre|könnte|vielleicht|would be|what if|if we|thinking aloud|just playing with)\b"
    r"|^如果|也许|可能",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:says|said|wrote|writes|claims?|claimed|proposed|proposes|suggested|suggests|commented|according to"
    r"|told me"
    r"|sagt|sagte|schrieb|behauptet|laut)\b"
    r"|\b(?:example|translate|paste(?:d)?|quote|quoted|e-?mail from|mail from|message from|old (?:doc|page|readme|note)"
    r"|commit message that|write (?:a|down|that)|generate a|z\. ?B\.|beispiel)\b",
    re.IGNORECASE,
)
_REJECTED = re.compile(
    r"\b(?:won'?t use|will not use|rather not|forget (?:the|that|about)|considered|dropped the idea|rejected|after all"
    r"|not what i want|undo|decline|never mind|not worth|scrap that|i thought about|concede)\b",
    re.IGNORECASE,
)
_MOMENT = re.compile(
    r"\b(?:this time|just (?:this|for|do|now|fix|skip)|right now|at the moment|at present|today|tonight|tomorrow"
    r"|yet|once again|try again"
    r"|in this (?:step|answer|report|session|run|test|turn|reply|message|case|phase)|for (?:this|today)"
    r"|for now|before (?:you|we) (?:go|continue|start)|when you(?:'re| are) done|once you"
    r"|while we wait|this afternoon|diesmal|gerade|im moment|momentan|heute|noch schnell|erstmal|现在|暂时|这次)\b"
    r"|现在",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"\b(?:seems?|appears?|looks?) (?:to|like|ok|fine|good)\b|\b(?:our|the|my) current\b"
    r"|\b[0-9a-f]{7,40}-?[0-9a-f]{4}\b"
    r"|\b(?:is|are|was|were|seems?|looks?|it'?s|keeps?|ist|sind) (?:\w{1,12} )?(?:down|red|green|broken|failing|slow"
    r"|stuck|done"
    r"|fixed|ready|merged|closed|unreachable|erreichbar|rot|grün|conflicting|empty|missing|gone|lost)\b"
    r"|\b(?:fails|failed|failing|passes|passed|broke|crashes|crashed|hangs)\b"
    r"|\b(?:always|never) (?:worked|works|been|happened|happens|seems?|gets|comes|ends? up|forgets?|said|mind|meant"
    r"|mentioned"
    r"|knew|heard|thought|saw)\b",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"\b(?:you|ye) must be\b|\bdon'?t worry\b|^(?:thanks|thank you|great|perfect|nice|cool|danke|super)\b"
    r"|\bmust be\b.{0,20}$"
    r"|\bremember to\b|\bi(?:'m| am) (?:going|not|just|still|getting|seeing|having|trying|working|tired|confused)\b"
    r"|\bdon'?t forget to\b|\bmake sure to (?:commit|push|run|update|add)\b",
    re.IGNORECASE,
)

_DANGLING = re.compile(
    r"^(?:since |because |and |but )?(?:that|this(?! is a known)|those|these|they|he|she)(?:'s|'re)? (?:is|are|was"
    r"|has|have|will|should|must|does)\b"
    r"|^(?:\S{1,20} ){1,4}(?:them|those|these)\b|\b(?:prefer|want|like|respect|support|need|use|do|avoid) (?:that"
    r"|this|it|them)(?:\W{0,3}$| [-–—])|^(?:must|should|has to|needs to) "
    r"|\bsomething like\b|^(?:it|that) (?:has|needs|should)\b|^the (?:current|existing|new|old|latter|former)\b",
    re.IGNORECASE,
)
_FINDING = re.compile(
    r"^(?:no|found|missing|now|let me|let's see|looking|confirmed|checked|fixed|added|removed|updated"
    r"|changed) (?!longer)"
    r"(?:\w{1,20} ){0,4}(?:found|shown|matched|verify|check|conflicts)\b|\bwe (?:do|did) (?:have|track|need|use|see)\b"
    r"|\b(?:conflicts? with|merge conflicts?)\b|\b(?:lines?|line) \d{1,6}\b",
    re.IGNORECASE,
)

_REFUSALS = {
    "a question": _QUESTION,
    "a supposition": _SUPPOSED,
    "others' words": _OTHERS,
    "rejected": _REJECTED,
    "for this moment": _MOMENT,
    "a passing state": _STATE,
    "talk": _TALK,
    "about something said before": _DANGLING,
    "a finding": _FINDING,
}


def refused_as(sentence: str) -> str | None:
    """Return why a sentence gives no fact, whatever else it says; None where nothing speaks against it."""
    for name, pattern in _REFUSALS.items():
        if pattern.search(sentence):
            return name
    return None
