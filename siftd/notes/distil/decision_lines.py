"""Lines of `decisions.md`: facts of the project, what was chosen when an agent asked, and the reasons of commits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from siftd.notes.distil import commits
from siftd.notes.distil.forms import date_of, plain, quoted, sentence
from siftd.notes.distil.lines import BUILT, CONSTRAINTS, CONVENTIONS, DECISIONS, Wanted, on_branch, who
from siftd.notes.distil.material import Answer, Commit, Fact, Material

_REASONS_MAX = 12
_SECTION_OF = {
    "decision": DECISIONS,
    "convention": CONVENTIONS,
    "preference": CONVENTIONS,
    "instruction": CONVENTIONS,
    "constraint": CONSTRAINTS,
    "metric": CONSTRAINTS,
    "architecture": BUILT,
    "domain": BUILT,
    "workflow": BUILT,
}
"""By a fact's category. Others are no decisions; what somebody had an agent remember as a plain fact may be anything,
and was not said for others."""
_PERSONAL = frozenset(("preference", "instruction"))
_OF_ALL = re.compile(r"\b(?:we|our|us|this (?:project|repo\w{0,10}|code ?base)|here)\b", re.IGNORECASE)
"""What a preference or an instruction says that is of the project; any other is its person's own."""
_WHY = re.compile(
    r"\b(?:because|instead of|rather than|so that|no longer|by design|intentional(?:ly)?|deliberate(?:ly)?|on purpose"
    r"|in favou?r of|to avoid|otherwise|which means|so we|would (?:have|be|break|lose|require))\b",
    re.IGNORECASE,
)
_HANGING = re.compile(r",?\s{1,4}(?:either|too|as well)\W{0,3}$", re.IGNORECASE)
"""Words that speak of what was said before."""
_ROUTINE_ASKED = re.compile(
    r"\b(?:push|commit|amend|merge|rebase|pr|pull request|proceed|continue|next|ready|start|execute|run|review|plan"
    r"|branch|worktree|session|which (?:issue|task|file)|see|look|would you like|do you want|want me to|discuss"
    r"|(?:more|any) questions|are we done|todos?|reproduce|mock-?ups?|areas|can you|feedback)\b",
    re.IGNORECASE,
)
"""What is asked of the work at hand, not of the project."""
_NO_CHOICE = re.compile(
    r"(?:you (?:decide|choose|pick)|up to you|your (?:call|choice)|both|hybrid|all|none|neither|other|either|skip"
    r"|not sure|later|done)\b[^a-z]{0,5}$|h{1,3}m{1,9}\b|.{0,400}\?$|i(?:'m| am)? (?:don't|not|do not)\b|depends\b",
    re.IGNORECASE,
)
"""Answers that say nothing without what was offered, and those that ask back."""
_ANSWER_CHARS_MAX = 110
"""A longer answer is a consideration."""
_ANSWERS_MAX = 12


def decision_lines(material: Material) -> Iterator[Wanted]:
    """Yield the lines, the most important facts first, then the latest."""
    for fact in material.facts:
        if section := _section_of(fact):
            text = sentence(_HANGING.sub("", fact.text))
            yield Wanted(f"fact:{fact.id}", section, f"- {text} ({who(fact)})")
    reasons = answers = 0
    for session in material.sessions:
        for answer in session.answers:
            if answers < _ANSWERS_MAX and _is_choice(answer):
                answers += 1
                text = f"{plain(answer.question, 160)} {quoted(answer.answer, 120)}"
                key = f"answer:e{answer.event_id}:{plain(answer.question, 60)}"
                cited = f"chosen, {date_of(answer.ts)}{on_branch(session.branch)}, e{answer.event_id}"
                yield Wanted(key, DECISIONS, f"- {text} ({cited})")
        for commit in reversed(session.commits):
            if reasons < _REASONS_MAX and (why := _reason(commit)):
                reasons += 1
                text = f"{plain(commits.title_of(commit.subject), 110)}: {sentence(why, 240)}"
                cited = f"agent, {date_of(commit.ts)}, e{commit.event_id}"
                yield Wanted(f"commit:e{commit.event_id}", DECISIONS, f"- {text} ({cited})")


def _is_choice(answer: Answer) -> bool:
    """Whether a question is about the project, and its answer says what was chosen."""
    is_short = len(answer.answer) <= _ANSWER_CHARS_MAX
    is_routine = _ROUTINE_ASKED.search(f"{answer.question} {answer.answer}") is not None
    return is_short and not is_routine and not _NO_CHOICE.match(answer.answer.strip())


def _section_of(fact: Fact) -> str:
    """Return where a fact stands; empty for one that is none of the notes'."""
    if fact.said_by not in ("person", "agent") or fact.origin == "learnt":
        return ""
    if fact.category == "preference" and fact.said_by == "person":
        return ""  # it is theirs in every project, and stands in a pod that is private
    if fact.category in _PERSONAL and not _OF_ALL.search(fact.text):
        return ""
    return _SECTION_OF.get(fact.category, "")


def _reason(commit: Commit) -> str:
    """Return why something was done as it was; empty for what mends, for its reason is the fault."""
    is_no_change = commits.todos_in(commit) or not commits.matters(commit.subject)
    if is_no_change or commits.claims_to_mend(commit.subject):
        return ""
    return next((each for each in commit.body if _WHY.search(each)), "")
