"""Statements that hold beyond the moment, out of what was said in one turn. By form alone, without a model.

A person's words are believed most, an agent's own words in few forms and less; what tools, files and pages say is
nobody's preference or decision and gives nothing. Precision goes before recall: a missed statement is found by search
all the same, a wrong one is told with authority.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from siftd.facts.extraction_refusals import refused_as
from siftd.facts.extraction_rules import AGENTS, PERSONS, Rule
from siftd.facts.model import TEXT_CHARS_MAX, TEXT_CHARS_MIN, Candidate, Category, Said, Turn
from siftd.facts.sentences import own_sentences, without_quotations
from siftd.facts.wording import as_statement, own_clause

FACTS_A_TURN_MAX = 6
"""A turn that states more is a document, of which the first statements are taken."""

_BECAUSE = re.compile(r"\b(?:because|since|so that|weil|damit|as it)\b|因为", re.IGNORECASE)
_MEASURED = re.compile(r"\d ?(?:ms|s|sec|seconds?|minutes?|%|percent|[KMG]i?B|requests)\b", re.IGNORECASE)
_DEED = re.compile(
    r"\b(?:deploy|release|commit|branch|pull request|push|merge|lint|review|changelog|nightly|ci|migrations?)\b",
    re.IGNORECASE,
)
_PLAIN_SPEAKERS = {"person": PERSONS, "agent": AGENTS}
_SPOKEN = frozenset(["prompt", "turn_end", "assistant_text"])


def extract(turn: Turn) -> list[Candidate]:
    """Return what a turn states that holds beyond it, in order, each once."""
    found: dict[str, Candidate] = {}
    for said in turn.events:
        for candidate in _of_event(said):
            found.setdefault(candidate.text.casefold().rstrip(".!"), candidate)
    return list(found.values())[:FACTS_A_TURN_MAX]


def _of_event(said: Said) -> Iterator[Candidate]:
    rules = _PLAIN_SPEAKERS.get(said.said_by)
    if rules is None or said.kind not in _SPOKEN or (said.kind == "prompt") != (said.said_by == "person"):
        return
    for sentence in own_sentences(said.text, said.said_by):
        if _rule_of(without_quotations(sentence), rules) is None:  # nearly all end here
            continue
        clause = own_clause(sentence)
        bare = without_quotations(clause)
        rule = _rule_of(bare, rules)
        if rule is None or refused_as(bare) is not None:
            continue
        text = as_statement(clause, said.said_by)
        if TEXT_CHARS_MIN <= len(text) <= TEXT_CHARS_MAX or (4 <= len(text) <= TEXT_CHARS_MAX and not text.isascii()):
            yield _candidate(said, rule, clause, text)


def _rule_of(sentence: str, rules: tuple[Rule, ...]) -> Rule | None:
    return next((rule for rule in rules if rule.pattern.search(sentence)), None)


def _candidate(said: Said, rule: Rule, clause: str, text: str) -> Candidate:
    has_reason = bool(_BECAUSE.search(clause))
    return Candidate(
        text=text,
        category=_category(rule.category, text),
        confidence=min(0.95, rule.confidence + (0.05 if has_reason else 0.0)),
        importance=rule.importance,
        quote=clause,
        sources=(said.event_id,),
        said_by=said.said_by,
        valid_from=said.ts,
    )


def _category(category: Category, text: str) -> Category:
    """Narrow what a rule says by what the statement is about."""
    if _MEASURED.search(text) and category in ("constraint", "architecture", "convention"):
        return "metric"
    if category == "architecture" and _DEED.search(text):
        return "workflow"
    return category
