"""Every pattern of Python's own engine: bounded by its form, or listed here with the reason why its time is.

`re` goes back and tries again. A pattern without an unbounded repetition tries so many times a place and no more; one
that has one can take minutes on a page of its near misses. So each of those is named with what bounds it, and what is
not named fails. What it then really costs is measured in `test_linear.py`; the rules of redaction are inspected row by
row in `tests/unit/test_redact_rules.py`.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from re import _constants as constants  # type: ignore[attr-defined]
from re._parser import parse  # type: ignore[import-not-found]
from typing import Any

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "siftd"
CALLS = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
REPEATS = {constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT}

ONE_RUN = "a run of one class, which nothing has to follow: each character is looked at once"
ONE_TOKEN = "of one value that another pattern has found, some hundred characters at most"
LINE = "of one line, from its beginning"
NAME = "of a name or a tool's, at most 256 characters"
ENDS = "reads the head and tail of a text alone, a few thousand characters (`text.bounded`, `text.ends`)"
SUMMARY = "of a summary: 400 characters"
OURS = "of what a person typed or configured, or of a file of ours"

HEAD = "of the first, or the last, some hundred characters"
PATH = "of a path, at most 4,096 characters"
WELL_FORMED = "of a text that a parser has read to its end: every string and comment in it is closed"

BOUNDED = {
    "siftd.clients.antigravity.places._MIRROR": PATH,
    "siftd.clients.antigravity.steps._ID": ONE_RUN,
    "siftd.clients.antigravity.steps._RUN": ONE_RUN,
    "siftd.clients.cline.facts._NUMBERED": LINE,
    "siftd.clients.cline.facts._TYPED": "a tag's head, then everything to the last closing tag: one way back",
    "siftd.clients.codex.facts._HEAD": HEAD,
    "siftd.clients.droid.facts._EXIT": HEAD,
    "siftd.clients.injected._opening": "a tag's name, then to the next < or >, where the next opening begins",
    "siftd.clients.kimi_code.facts._FAILED": HEAD,
    "siftd.clients.pi.facts._EXIT": HEAD,
    "siftd.clients.own._COMMAND": "possessive throughout, and matched from the beginning alone",
    "siftd.consolidate.equivalence._PLAIN_WORD": ONE_TOKEN,
    "siftd.consolidate.equivalence._STAMP": SUMMARY,
    "siftd.consolidate.equivalence._TOKEN": SUMMARY,
    "siftd.daemon.logs._SESSION": OURS,
    "siftd.daemon.logs._TOOL": OURS,
    "siftd.daemon.fact_checks.says_something": "one character",
    "siftd.embed.words._ASCII_RUN": ONE_RUN,
    "siftd.embed.words._PART": ONE_RUN,
    "siftd.embed.words._PART_BEYOND_ASCII": ONE_RUN,
    "siftd.embed.words._run": ONE_RUN,
    "siftd.embed.words._unspaced_start": "one character",
    "siftd.notes.blocks._FENCE": ONE_RUN,
    "siftd.notes.citations._PARTS": ONE_RUN,
    "siftd.notes.document._KEY": LINE,
    "siftd.notes.entries": LINE,
    "siftd.notes.glance._OPEN": LINE,
    "siftd.notes.timers.cron": OURS,
    "siftd.notes.timers.nix": OURS,
    "siftd.other_memories.markdown": LINE,
    "siftd.other_memories.note_files._DATED": LINE,
    "siftd.redact.env_lines._ASSIGNMENT": LINE,
    "siftd.redact.env_lines._COMMENT": ONE_TOKEN,
    "siftd.redact.env_lines._COMMON": ONE_TOKEN,
    "siftd.redact.env_lines._HOLE": ONE_TOKEN,
    "siftd.redact.env_lines._PATH": ONE_TOKEN,
    "siftd.redact.env_lines._WORDS": ONE_TOKEN,
    "siftd.redact.env_names._IS_READ": NAME,
    "siftd.redact.env_names._IS_SHOWN": NAME,
    "siftd.install.json_spans._PLAIN": OURS,
    "siftd.install.json_spans._SPACE": OURS,
    "siftd.install.json_spans._SPACE_OR_COMMENT": "from one place on, and what is not closed there ends the reading",
    "siftd.install.json_edit._COMMENT_OR_COMMA": WELL_FORMED,
    "siftd.install.launcher._ENTRY": "of a command of at most 8,192 characters",
    "siftd.install.launcher._NAME": OURS,
    "siftd.install.toml_spans._PIECE": WELL_FORMED,
    "siftd.install.toml_spans._TRIVIA": LINE,
    "siftd.install.json_spans._STRING": OURS,
    "siftd.install.json_edit._LAST_LINE_BREAK": OURS,
    "siftd.facts.pods._WORD": ONE_RUN,
    "siftd.install.slash._WORD": OURS,
    "siftd.install.slash.parse_slash": OURS,
    "siftd.timestamps._AGO": OURS,
    "siftd.timestamps.parse_moment": OURS,
    "siftd.custom_rules._compile": "a rule of one's own, whose ways `own_rules` counts before it takes it",
    "siftd.workspace.paths.Home": OURS,
    "siftd.redact.assigned._CODE": ONE_TOKEN,
    "siftd.redact.validators._APART": ONE_RUN,
    "siftd.redact.validators._BYTE": ONE_TOKEN,
    "siftd.redact.validators._LINE_END": "disjoint classes, matched from one place of a few hundred characters",
    "siftd.redact.validators._NOTHING_SAID": ONE_TOKEN,
    "siftd.redact.validators.is_encoded_key": ONE_TOKEN,
    "siftd.redact.context._ID": ONE_TOKEN,
    "siftd.redact.context._NUMBERED": LINE,
    "siftd.redact.context._SEARCHES": "of a command's first characters (`context.LONGEST_COMMAND`)",
    "siftd.redact.finder._RUN": "possessive, and a run that nothing has to follow",
    "siftd.redact.finder._TEST": "64 characters before a fixed word, then a run that nothing has to follow",
    "siftd.redact.flags._PIPED": "of one command line as `flags` cuts it",
    "siftd.redact.flags._WORD": "of one command line as `flags` cuts it",
    "siftd.redact.flags._parsed": "of the table's own rows",
    "siftd.redact.prefilter._PIECE": "of the table's own rows",
    "siftd.redact.prefilter._PLAIN": "of the table's own rows",
    "siftd.redact.prefilter.open_prefilter": "words without repetition; the stand-in for re2 where that is missing",
    "siftd.redact.rule_group._Armed": "the rows of the table, each inspected by itself",
    "siftd.redact.secret_names._LETTERS": ONE_RUN,
    "siftd.redact.secret_names._WORD": ONE_RUN,
    "siftd.redact.nearness": "of a line around a telling word, cut to some hundred characters, and 240 behind it",
    "siftd.redact.contact_details._NOBODY": ONE_TOKEN,
    "siftd.redact.contact_details.is_phone": ONE_TOKEN,
    "siftd.redact.secret_likelihood": ONE_TOKEN,
    "siftd.redact.private._ANY_CASE": "a tag's name, then to the next < or >, where the next opening begins",
    "siftd.redact.private._LOWER_CASE": "a tag's name, then to the next < or >, where the next opening begins",
    "siftd.redact.shape": ONE_TOKEN,
    "siftd.redact.table._BLANKS": ONE_RUN,
    "siftd.redact.table._RULE": LINE,
    "siftd.redact.secret_words._TAKERS": ONE_TOKEN,
    "siftd.redact.secret_words._WORD": ONE_RUN,
    "siftd.redact.typed._FIRM": "of a line of at most 400 characters: words, some with a few letters behind them",
    "siftd.redact.typed._INNER": ONE_TOKEN,
    "siftd.redact.unescaped._ESCAPE": "a run of backslashes, then a few letters: the next search begins behind it",
    "siftd.redact.values._HEX": ONE_RUN,
    "siftd.search.own_words._HARMLESS_WORD": ONE_TOKEN,
    "siftd.search.own_words._NAME": ONE_TOKEN,
    "siftd.search.own_words._TOKEN": "alternatives that begin with different characters: one way through a text",
    "siftd.search.standing": "of a line that a person typed, a sentence of it cut to 400 characters",
    "siftd.store.commands._QUOTED": "to the next quote or the end, and from there on",
    "siftd.store.commands.command_key": "separators of fixed length; then one word of a command",
    "siftd.store.payload._CLIENT": HEAD,
    "siftd.store.injection_ledger.first_named": "the escaped name of a file, so no repetition but of its letters",
    "siftd.summarise.answer._THINKING": "of 40,000 characters of an answer; what is unclosed goes to the end, once",
    "siftd.summarise.extractive": ENDS,
    "siftd.summarise.salience._LISTING": "of a command's first characters",
    "siftd.summarise.grounding": SUMMARY + "; of the event only its numbers, runs that nothing has to follow",
    "siftd.facts.extraction_refusals": "of a sentence of at most 300 characters",
    "siftd.facts.extraction_rules": "of a sentence of at most 300 characters",
    "siftd.facts.wording": "of a sentence of at most 300 characters",
    "siftd.facts.sentences._END": ONE_RUN,
    "siftd.facts.statements": "of a statement cut to 400 characters",
    "siftd.facts.verdicts": "of a statement of at most 400 characters",
    "siftd.documents.code_sections": LINE,
    "siftd.documents.html_text._CHARREF_DIGITS": ONE_RUN,
    "siftd.documents.html_text._SPACE": ONE_RUN,
    "siftd.documents.html_text._TAG": "to the next < or >, and gives nothing back",
    "siftd.documents.notebook._TICKS": ONE_RUN,
    "siftd.documents.private_files._any_of": "matched against a file's name alone",
    "siftd.documents.reading._FRONT_TITLE": "blanks give nothing back, and then 200 characters",
    "siftd.documents.sections": LINE,
    "siftd.documents.windows._BLANK_LINES": "gives nothing back",
    "siftd.documents.windows._PARAGRAPH": "blanks give nothing back",
    "siftd.embed.words._PLAIN": ONE_RUN,
    "siftd.graph.model._NOT_A_CODE": ONE_RUN,
    "siftd.graph.names._GAPS": ONE_RUN,
    "siftd.graph.names._PACKAGE_GAPS": ONE_RUN,
    "siftd.graph.names._WORD": ONE_RUN,
    "siftd.graph.phrases._IDENTIFIER": ONE_TOKEN,
    "siftd.graph.phrases._TOKEN": "possessive, in a sentence of at most 600 characters",
    "siftd.graph.phrases._VERSION": ONE_TOKEN,
    "siftd.symbols.definitions._compiled": "possessive, anchored at the beginning of a line",
    "siftd.symbols.stamp._TRANSPARENT": LINE,
    "siftd.team.sources.plain": "gives nothing back, or is of one class that the sign it ends with is not of",
    "siftd.web.openapi._NAMED": OURS,
}
"""A pattern by its module and name, or a module all of whose input is bounded; and why."""


def unbounded(pattern: Any) -> Iterator[str]:
    """Yield the repetitions without a bound."""
    for kind, argument in pattern:
        if kind in REPEATS:
            if argument[1] == constants.MAXREPEAT:
                yield str(argument[2])
            yield from unbounded(argument[2])
        elif kind is constants.SUBPATTERN:
            yield from unbounded(argument[3])
        elif kind is constants.ATOMIC_GROUP:
            yield from unbounded(argument)
        elif kind is constants.BRANCH:
            for branch in argument[1]:
                yield from unbounded(branch)
        elif kind in {constants.ASSERT, constants.ASSERT_NOT}:
            yield from unbounded(argument[1])


def used_patterns() -> Iterator[tuple[str, re.Pattern[Any] | None]]:
    """Yield each use of `re` by its module and the name it stands under, and its pattern where that is a constant."""
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for top in ast.parse(path.read_text(encoding="utf-8")).body:
            uses = [
                node
                for node in ast.walk(top)
                if isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "re"
                and node.attr in CALLS
            ]
            if not uses:
                continue
            if isinstance(top, ast.Assign) and isinstance(top.targets[0], ast.Name):
                name = top.targets[0].id
                made = getattr(importlib.import_module(module), name, None)
                yield f"{module}.{name}", made if isinstance(made, re.Pattern) else None
            else:
                yield f"{module}.{getattr(top, 'name', '?')}", None


USED = dict(used_patterns())


def is_bounded_by_form(pattern: re.Pattern[Any] | None) -> bool:
    return pattern is not None and not list(unbounded(parse(pattern.pattern, pattern.flags)))


def reason_of(name: str) -> str | None:
    return BOUNDED.get(name) or next((why for room, why in BOUNDED.items() if name.startswith(f"{room}.")), None)


@pytest.mark.parametrize("name", USED)
def test_a_pattern_is_bounded_by_its_form_or_named_with_what_bounds_it(name: str) -> None:
    assert is_bounded_by_form(USED[name]) or reason_of(name), "read it with re2, or in one pass, or say what bounds it"


def test_nothing_is_named_that_is_not_used() -> None:
    needed = {name for name, pattern in USED.items() if not is_bounded_by_form(pattern)}
    assert [
        each for each in BOUNDED if each not in needed and not any(name.startswith(f"{each}.") for name in needed)
    ] == []


def test_the_inspection_knows_a_repetition_without_a_bound() -> None:
    for expression in ("a*", "a+?b", "(?:a++)", "(?=a*)b", "x|(y{3,})"):
        assert list(unbounded(parse(expression)))
    for expression in ("a{0,9}", "(?:ab?){1,4}", "[a-z]"):
        assert not list(unbounded(parse(expression)))
