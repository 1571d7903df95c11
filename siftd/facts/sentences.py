"""Sentences that somebody said: pastes, logs, code, quotations and lists of others' words left out.

Each sentence keeps its exact words, to be shown as evidence. Every step goes once through a line; long lines are cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PROMPT_CHARS_MAX = 3_000
"""A longer prompt is a paste, or a plan that somebody else wrote."""
LINE_CHARS_MAX = 2_000
SENTENCE_CHARS_MAX = 300
LINES_MAX = 400

_FENCE = re.compile(r"\s{0,8}(?:```|~~~)")
_NOT_SAID = re.compile(
    r"\s{0,12}(?:"
    r"[>|<]|[$%#]\s|[│╭╰├└❯✓✗×•🐳]|(?:---|\+\+\+|@@|diff --git|index [0-9a-f]{7})"
    r"|\+ |- (?:name|run|uses|id|if|with|env):|\w{1,30}:\s{0,3}(?:\w{1,30}\(|$)"
    r"|\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\[(?:warn|info|error|debug)"
    r"|(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|FAIL|PASS|Traceback|Caused by|npm|error|warning|remote|fatal|hint)\b[:\s]"
    r"|(?:Error|Warning|Exception|\w{2,40}Error)\b[:\s]|File \"|at \w{1,60}[.(]"
    r")"
)
_PASTED = re.compile(
    r"(?:implement the following plan|this session is being continued|base directory for this skill"
    r"|caveat: the messages"
    r"|you are (?:a|an|reviewing)\b|\[request interrupted|operation stopped by hook|summarize this"
    r"|(?:low|medium|high|critical) severity\b|code review for\b|<)",
    re.IGNORECASE,
)
_END = re.compile(r"(?<=[.!?…])[)\"”'’*_]{0,3}\s+|(?<=[。！？;])\s*")
_LEADING = re.compile(r"[\s\-*•–]{0,6}(?:\d{1,2}[.)]\s|[A-D]\)\s|\[[ x]\]\s)?[\s*_]{0,4}")
_CODE_SIGNS = re.compile(r"[{}=<>|\\]|\(\)|=>|::|\);|&&")
_QUOTED = re.compile(r"\"[^\"\n]{6,300}\"|“[^”\n]{6,300}”|„[^“”\n]{6,300}[“”]|«[^»\n]{6,300}»")


def own_sentences(text: str, *, is_prompt: bool) -> Iterator[str]:
    """Yield the sentences that are somebody's own words, as they stand in the text."""
    if is_prompt and (len(text) > PROMPT_CHARS_MAX or _PASTED.match(text.lstrip())):
        return
    fenced = False
    logged = 0
    for line in text.split("\n")[:LINES_MAX]:
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or not line.strip():
            continue
        if _NOT_SAID.match(line) or line.startswith(("    ", "\t")):
            logged += 1
            if logged > _LOGGED_MAX:
                return  # what follows a log is mostly the rest of it
            continue
        yield from _split(line[:LINE_CHARS_MAX])


_LOGGED_MAX = 3


def _split(line: str) -> Iterator[str]:
    for part in _END.split(line):
        sentence = part[_leading(part) :].strip()
        chars_min = 6 if sentence.isascii() else 4
        if chars_min <= len(sentence) <= SENTENCE_CHARS_MAX and len(_CODE_SIGNS.findall(sentence)) <= _CODE_SIGNS_MAX:
            yield sentence


_CODE_SIGNS_MAX = 2


def _leading(part: str) -> int:
    found = _LEADING.match(part)
    return found.end() if found else 0


def without_quotations(sentence: str) -> str:
    """Return a sentence with what it quotes blanked: somebody else's words, or an example. Emphasis goes."""
    return _QUOTED.sub(" … ", sentence).replace("**", "")
