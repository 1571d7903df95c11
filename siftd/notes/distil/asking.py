"""What a session was asked, in one line, and what somebody said is for later: read from prompts, never from a paste."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from siftd.summarise.extractive.text import one_line, sentences
from siftd.summarise.extractive.words import asked as words_of

ASKED_CHARS_MAX = 120
_CHARS_MIN = 24
_WORDS_MIN = 5
_LOOKED_AT = 4_000
_SENTENCE_WORDS_MIN = 3
_ENOUGH_CHARS = 40
"""A first sentence that is no longer says too little to stand alone."""
_VAGUE_MAX = 1
_LATER_COSTS = 1.0
"""Of vagueness, for each prompt before: sessions begin with what they are about. Chosen by reading."""
_REPORT_CHARS_MAX = 260
_PLAN = re.compile(r"implement (?:the following|this|the) plan:?\s{1,20}#{1,3} (?P<title>[^\n]{4,200})", re.IGNORECASE)
_LEADS = re.compile(
    r"(?:(?:ok(?:ay)?|so|hm{2,8}|umm?|well|yes|yeah|yep|no|now|right|great|nice|cool|thanks?|hi|hey|hello|please|ah|oh|ugh|help"
    r"|alright|and|but|also|because)"
    r"[\s,.!:;-]{1,8}){1,8}",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:\(?(?:\d{1,2}|[a-z])[.)]|q:|question:)\s{1,4}", re.IGNORECASE)
_TO_THE_AGENT = re.compile(r"\b(?:you|your|yourself)\b", re.IGNORECASE)
_REQUESTS = re.compile(
    r"(?:(?:can|could|would|will|should) (?:you|we) |i(?:'d| would) like (?:us |you )?to |let'?s "
    r"|i want (?:us |you )?to |we need to |need to )(?:please )?",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\?$|^(?:what|why|how|is|are|was|were|does|do|did|which|when|where|who|should|shouldn't|isn't|any|q:)\b",
    re.IGNORECASE,
)
_ROUTINE = re.compile(
    r"(?:(?:file|create|open|log) an? (?:issue|ticket|pr)\b|commit\b|push\b|pull\b|run\b|merge\b|address the|switch to"
    r"|before making changes|go ahead|go on\b|continue\b"
    r"|.{0,120}\b(?:comments? (?:from|on)|coderabbit|bugbot|(?:copilot|review(?:er)?|pr) (?:comments?|feedback))\b)",
    re.IGNORECASE,
)
_ANSWERS = re.compile(r"^\d{1,2}(?:\s{0,2}[,;-]|\s(?:seems|is|looks|sounds)\b)", re.IGNORECASE)
"""A choice among what the agent offered."""
_GOES_ON = re.compile(r"\b(?:also|then|show|explain|look|instead|again|weird\w{0,4})\b", re.IGNORECASE)
"""What goes on with something before it, or only looks."""
_UNFINISHED = re.compile(r"\b(?:is|are|to|the|and|with|of|for|that)$", re.IGNORECASE)
_HEAD_WORDS = 6
_SHORT_CHARS = 40
_ROLE = re.compile(r"you are (?:an?|the)\b", re.IGNORECASE)
_PASTE = re.compile(r"[│┃❯✓✗⏺⎿]| > \* |^\s{4}|[{}();=]{3}|^\S{0,40}[$>] |https?://\S{0,400}$")
HURTS = re.compile(
    r"\b(?:fail(?:s|ed|ing|ures?)?|errors?|invalid|wrong(?:ly)?|hang(?:s|ing)?|hung|crash(?:es|ed|ing)?|los(?:e|es|t|ing)"
    r"|missing|broken?|breaks?|duplicates?|incorrect(?:ly)?|leak(?:s|ed|ing)?|stale|not found|empty|corrupt(?:s|ed)?"
    r"|unexpected(?:ly)?|interfer(?:es|ed|ing)|overwr(?:ites?|ote|itten|iting)|stuck|bugs?|ignor(?:es|ed))\b",
    re.IGNORECASE,
)
"""What is said of something that does not work."""
_REPORTS = re.compile(
    r"\b(?:(?:does|did|is|are|was|were|do)(?:n't| not)|somehow|weird(?:ness)?|no longer|still|reset)\b", re.IGNORECASE
)
_WHY = re.compile(
    r"why\b|how come\b|(?:is|are) (?:this|that|there|it)\b|should\b|fix\b|review\b|add\b|write\b", re.IGNORECASE
)
_LATER = re.compile(
    r"\b(?:(?:leave|keep|save|do|handle|address|fix|tackle|revisit) (?:that|this|it|those|these) (?:for )?"
    r"(?:later|another (?:day|pr|time))"
    r"|for later|at some (?:future )?point|in (?:the|a) (?:near )?(?:future|later (?:pr|step|version))"
    r"|future enhancement|follow[- ]?up (?:pr|task|issue)|as a follow[- ]?up|todo:|still (?:to do|needs? to be))\b",
    re.IGNORECASE,
)
_IS_ASKED_NOW = re.compile(
    r"\b(?:create|file|log|add|open|update|write)\b.{0,40}\b(?:issue|ticket|linear|comment|test|tests)\b|\?$",
    re.IGNORECASE,
)
_POINTS = re.compile(r"\b(?:this|that|it|these|those|both|them)\b", re.IGNORECASE)
_POINTS_AHEAD = re.compile(r"\b(?:this|that|it|these|those|them)\b", re.IGNORECASE)
"""At the beginning of a request, what names somewhere else does not help."""
_NAMES = re.compile(r"[`_/]|\w\.\w|\b[A-Z]{2}|[a-z][A-Z]")


def goal_of(prompts: Sequence[str]) -> str:
    """Return the first thing that says by itself what was wanted; empty where nothing says it at all."""
    goals = [goal for prompt in prompts if (goal := _goal(prompt))]
    planned = [goal for prompt in prompts if (goal := _plan(prompt))]
    if planned:
        return planned[0]
    ranked = ((_vagueness(goal) + _LATER_COSTS * place, place) for place, goal in enumerate(goals))
    goal = goals[min(ranked)[1]] if goals else ""
    return goal if goal and _vagueness(goal) <= _VAGUE_MAX else ""


def _vagueness(goal: str) -> int:
    """Return 0 for what says by itself what is wanted; the first of the least vague is taken."""
    head = " ".join(goal.split()[:_HEAD_WORDS])
    is_vague = _POINTS.search(goal) is not None and not _NAMES.search(goal)
    is_vague |= any(each.search(goal) is not None for each in (_ANSWERS, _UNFINISHED)) or points_back(goal)
    is_about_agent = _TO_THE_AGENT.search(goal) is not None
    is_vague = is_vague or _UNFINISHED.search(goal) is not None
    goes_on = (_GOES_ON.search(head) is not None) + (len(goal) < _SHORT_CHARS and not _NAMES.search(goal))
    return 4 * bool(_ROUTINE.match(goal)) + 2 * (is_vague + is_about_agent) + bool(_QUESTION.search(goal)) + goes_on


def points_back(text: str) -> bool:
    """Whether a sentence begins with what only the one before it names."""
    return _POINTS_AHEAD.search(" ".join(text.split()[:_HEAD_WORDS])) is not None


def stands_alone(goal: str) -> bool:
    """Whether a request says by itself what was wanted, with nothing of what came of it beside it."""
    return _vagueness(goal) == 0


def _plan(prompt: str) -> str:
    """Return the title of a plan that is to be carried out."""
    plan = _PLAN.match(prompt[:_LOOKED_AT].strip())
    return one_line(plan["title"]).removeprefix("Plan: ") if plan else ""


def _goal(prompt: str) -> str:
    text = prompt[:_LOOKED_AT].strip()
    if text.startswith("/") or not words_of(text, ASKED_CHARS_MAX):
        return ""
    for line in text.split("\n")[:6]:
        said = without_leads(one_line(line))
        if (
            len(said) >= _CHARS_MIN
            and len(said.split()) >= _WORDS_MIN
            and not (_PASTE.search(line) or _ROLE.match(said))
        ):
            return _cut(said)
    return ""


def without_leads(text: str) -> str:
    """Return a request without the words that only lead to it."""
    text = text[_first_letter(text) :]
    for leading in (_LABEL, _LEADS, _LABEL):
        lead = leading.match(text)
        text = text[lead.end() :] if lead else text
    request = _REQUESTS.match(text)
    text = text[request.end() :] if request else text
    return text[:1].upper() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def _first_letter(text: str) -> int:
    """Return where the first word, name or quotation begins: behind a smiley."""
    return next((at for at, char in enumerate(text[:20]) if char.isalnum() or char in "`\"'/_@#“("), 0)


def _cut(text: str) -> str:
    """Return the first sentences that fit; a single longer one as it is, for it is clipped where it is shown."""
    found = ""
    for each in sentences(text):
        if found and len(each.split()) < _SENTENCE_WORDS_MIN:
            break
        if len(found) > _ENOUGH_CHARS and len(found) + len(each) + 1 > ASKED_CHARS_MAX:
            break
        found = f"{found} {each}".strip()
    return found.rstrip(" :") or text


def deferred_in(prompt: str) -> Iterator[str]:
    """Yield what a prompt leaves for later, as far as it says what that is."""
    if len(prompt) > _LOOKED_AT:
        return
    for line in prompt.split("\n"):
        for each in sentences(one_line(line)):
            if not _LATER.search(each) or _IS_ASKED_NOW.search(each):
                continue
            rest = _LATER.sub(" ", each)
            words = [word for word in rest.split() if not _POINTS.fullmatch(word)]
            if len(words) >= 8 and _NAMES.search(rest) and len(each) <= 260:
                yield without_leads(each)


def report_in(prompt: str) -> str:
    """Return what a prompt says that is wrong; empty where it says nothing of the kind."""
    if len(prompt) > _LOOKED_AT or not words_of(prompt, ASKED_CHARS_MAX):
        return ""
    for line in prompt.split("\n")[:12]:
        if _PASTE.search(line):
            continue
        for each in sentences(one_line(line)):
            said = without_leads(each)
            is_report = (HURTS.search(said) or _REPORTS.search(said)) and not _WHY.match(said)
            if is_report and _CHARS_MIN <= len(said) <= _REPORT_CHARS_MAX and len(said.split()) >= _WORDS_MIN:
                return said
    return ""
