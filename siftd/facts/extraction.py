"""Statements that hold beyond the moment, out of what was said in one turn. By form alone, without a model.

A person's prompts are believed most, one that was read from a session's file a little less and as the agent's word, for
anybody can write a file; an agent's own words in few forms. What tools, files and pages say is
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
_RECORDED_DISCOUNT = 0.1
"""A prompt that was read from a session's file is a person's by its form alone: whoever writes files writes those."""


def extract(turn: Turn) -> list[Candidate]:
    """Return what a turn states that holds beyond it, in order, each once."""
    found: dict[str, Candidate] = {}
    for said in turn.events:
        for candidate in _of_event(said):
            found.setdefault(candidate.text.casefold().rstrip(".!"), candidate)
    return list(found.values())[:FACTS_A_TURN_MAX]


def _of_event(said: Said) -> Iterator[Candidate]:
    if said.said_by not in ("person", "agent"):
        return
    is_prompt = said.kind == "prompt"
    if not is_prompt and (said.said_by == "person" or said.kind not in ("turn_end", "assistant_text")):
        return
    rules = PERSONS if is_prompt else AGENTS
    for sentence in own_sentences(said.text, is_prompt=is_prompt):
        if _rule_of(without_quotations(sentence), rules) is None:  # nearly all end here
            continue
        clause = own_clause(sentence)
        bare = without_quotations(clause)
        rule = _rule_of(bare, rules)
        if rule is None or refused_as(bare) is not None:
            continue
        text = as_statement(clause, is_prompt=is_prompt)
        if TEXT_CHARS_MIN <= len(text) <= TEXT_CHARS_MAX or (4 <= len(text) <= TEXT_CHARS_MAX and not text.isascii()):
            yield _candidate(said, rule, clause, text)


def _rule_of(sentence: str, rules: tuple[Rule, ...]) -> Rule | None:
    return next((rule for rule in rules if rule.pattern.search(sentence)), None)


def _candidate(said: Said, rule: Rule, clause: str, text: str) -> Candidate:
    confidence = rule.confidence + (0.05 if _BECAUSE.search(clause) else 0.0)
    if said.kind == "prompt" and said.said_by != "person":
        confidence -= _RECORDED_DISCOUNT
    return Candidate(
        text=text,
        category=_category(rule.category, text),
        confidence=round(min(0.95, confidence), 2),
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
