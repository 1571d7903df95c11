"""Standing rules and corrections that a person said in passing: to be offered to them, never pinned by themselves.

A sentence is offered that a person typed (a prompt, or the reason with which a call was refused), that says how things
are to be from now on, and that is no question, no paste and no report of what happens. The cues were chosen by reading
the prompts of recorded sessions; what they find and miss is told in docs/evaluation.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from siftd.store import facts, typed
from siftd.store.access import Database
from siftd.store.payload import find_object

PROMPT_CHARS_MAX = 3_000
"""A longer prompt is a paste, or a plan that somebody else wrote."""
SENTENCE_CHARS_MAX = 400
WORDS_MIN = 4
WORDS_MAX = 45
PROMPTS_MAX = 2_000
"""The newest ones that are looked through, where nobody waits for it."""
REFUSED = "the user said:"

"""What the client writes before the reason with which a person refused a call."""

_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_RULE = re.compile(
    r"(?:^|[,;:(-]\s{0,3}|\b(?:and|but|so|also|please|you|we|i|to|must|should|can|let'?s|pls)\s)(?:never|always)\s\w"
    r"|\b(?:from now on|going forward|in (?:the )?future|next time|keep in mind|as a rule)\b"
    r"|\bremember (?:that|to|we|you)\b"
    r"|\b(?:do not|don'?t|dont|stop|avoid)\b.{1,120}\b(?:ever|any ?more|unless|until i|without (?:asking|my|me))\b"
    r"|^(?:please )?(?:stop|avoid) \w{1,30}ing\b"
    r"|\bi (?:do not|don'?t|dont|really don'?t) (?:want|like)\b|\bi(?:'d| would)? (?:always |much )?prefer\b"
    r"|\bwe\b.{0,60}\b(?:deliberately|intentionally)\b|\bon purpose\b"
    r"|\buse\b.{1,40}(?:, not|\binstead of|\brather than)\s\w"
    r"|\b(?:must|should) (?:never|always|not|only)\b"
    r"|\bwe (?:only|don'?t|do not|no longer) (?:use|want|write|store|log)\b"
    r"|\b(?:niemals|ab jetzt|künftig|grundsätzlich)\b|\b(?:bitte|wir|du|sollst|immer nur) (?:nie|immer)\b"
    r"|以后|永远|不要再|总是|务必|一律",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"\b(?:it|that|this|which|they|he|she|there|tests?|ci|build) (?:never|always|doesn'?t|didn'?t|should(?: not|n'?t))"
    r"|\b(?:always|never) (?:been|was|were|had|works|worked|fails|failed|happens|happened|seems|gets|comes|mind)\b"
    r"|\bi (?:don'?t|dont|do not) (?:want|like)(?: you)? to (?:waste|be|seem)\b"
    r"|\b(?:for now|this time|right now|yet|still)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_LIST = re.compile(r"\s*(?:[>|#]|```|[-*] \[[ x]\]|\d{1,3}[.)]\s|\*\*)")


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence that sounds like a rule, the event in which it was said last, and how often it was."""

    event_id: int
    ts: int
    session_id: str
    text: str
    times: int


def list_said(
    connection: Database,
    now_ms: int,
    *,
    since_event: int = 0,
    limit: int = PROMPTS_MAX,
    said_by: str = "person",
) -> list[Said]:
    """Return what a person said after an event that sounds like a standing rule, and that no memory says.

    What was said often comes first, then the newest.
    """
    known = {_key(text) for text in facts.list_live_texts(connection, now_ms)}
    found: dict[str, Said] = {}
    for row in typed.list_typed(connection, since_event, said_by, REFUSED, limit):  # oldest first
        for text in sentences(_typed(row.kind, row.payload_json)):
            key = _key(text)
            if key in known:
                continue
            times = found[key].times + 1 if key in found else 1
            found[key] = Said(row.event_id, row.ts, row.session_id, text, times)
    return sorted(found.values(), key=lambda said: (-said.times, -said.ts))


def _key(text: str) -> str:
    """Return what two sayings of the same have in common."""
    return " ".join(_WORD.findall(text.casefold()))


def _typed(kind: str, payload_json: str) -> str:
    """Return what a person typed: the prompt, or the reason behind a refusal."""
    payload = find_object(payload_json) or {}
    if kind == "prompt":
        return str(payload.get("prompt", ""))
    return str(payload.get("error", "")).partition(REFUSED)[2]


def sentences(text: str) -> Iterator[str]:
    if len(text) > PROMPT_CHARS_MAX or text.lstrip().startswith(("/", "<")):
        return
    for line in text.split("\n"):
        if _LIST.match(line):
            continue
        for part in _END.split(line):
            sentence = " ".join(part[:SENTENCE_CHARS_MAX].split()).strip(" -*")
            words = len(sentence) // 2 if not sentence.isascii() and " " not in sentence else len(sentence.split())
            is_short = WORDS_MIN <= words <= WORDS_MAX
            is_said = is_short and not sentence.endswith(("?", "？", ":"))
            if is_said and _RULE.search(sentence) and not _REPORT.search(sentence):
                yield sentence
