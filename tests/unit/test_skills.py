"""The plugin's skills: short, made of the lines that agents are told elsewhere, and naming only what there is."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from siftd import instructions
from siftd.cli.command_table import choose, load, parse, parser_of
from siftd.mcp.serve import DEFAULT
from siftd.mcp.tools import Kind, Remembered, Tools, Type

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = REPOSITORY / "hooks" / "skills"
NAMES = ("hygiene", "index-codebase", "init", "save", "usage")
PAGE_LINES, PAGE_BYTES, DESCRIPTION_CHARS = 60, 3_000, 280
IDS = re.compile(r"#?[megs]\d+|path:line|validate_token|\.memory")
"""What stands for an id, a place or a symbol."""


def text(name: str) -> str:
    return (FOLDER / name / "SKILL.md").read_text(encoding="utf-8")


def head_and_body(name: str) -> tuple[dict[str, str], str]:
    _, head, body = text(name).split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    return fields, body


def folded(words: str) -> str:
    return " ".join(words.split())


def quoted(name: str) -> Iterator[str]:
    """Yield what a skill names as code, wherever its lines break."""
    yield from (folded(each) for each in re.findall(r"`([^`]+)`", text(name)))


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "scripts"))


def test_there_are_these_skills() -> None:
    assert sorted(path.parent.name for path in FOLDER.glob("*/SKILL.md")) == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_is_what_the_lines_make_of_it(name: str) -> None:
    """Else: `.venv/bin/python scripts/skills.py`."""
    from skills import text_of  # type: ignore[import-not-found]

    assert text(name) == text_of(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_is_at_most_a_page(name: str) -> None:
    fields, body = head_and_body(name)
    assert fields["name"] == name
    assert len(json.loads(fields["description"])) <= DESCRIPTION_CHARS, "each session pays for it"
    assert len(text(name).splitlines()) <= PAGE_LINES
    assert len(body.encode()) <= PAGE_BYTES
    assert max(map(len, body.splitlines())) <= 120


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_that_keeps_something_teaches_the_style(name: str) -> None:
    said = folded(text(name))
    for line in (instructions.STYLE, instructions.NEVER):
        assert line in said
    if name != "hygiene":
        assert instructions.LASTS in said


def test_what_replaces_and_what_searches_is_said_as_elsewhere() -> None:
    assert instructions.REPLACE in folded(text("save"))
    for line in (instructions.WHEN, instructions.HOW, instructions.NOTHING, instructions.CITE, instructions.REPLACE):
        assert line in folded(text("usage"))


@pytest.mark.parametrize("name", NAMES)
def test_every_command_that_a_skill_names_can_be_typed(name: str) -> None:
    found = [each for each in quoted(name) if each.startswith("mem ")]
    assert found
    for each in found:
        verb, arguments = choose(each.split()[1:])
        if verb in ("forget", "search"):
            arguments = [*arguments, "m3"]
        parse(verb, load(verb), arguments)


@pytest.mark.parametrize("name", NAMES)
def test_every_option_that_a_skill_names_is_one_of_a_command_in_it(name: str) -> None:
    found = list(quoted(name))
    verbs = {each.split()[1] for each in found if each.startswith("mem ")}
    options = {
        option for verb in verbs for option in re.findall(r"--[a-z-]+", parser_of(verb, load(verb)).format_help())
    }
    for each in found:
        if each.startswith("--"):
            assert each.split()[0] in options, each


@pytest.mark.parametrize("name", NAMES)
def test_whatever_else_a_skill_names_is_a_tool_or_an_argument_of_one(name: str) -> None:
    tools = {each for each, _ in DEFAULT}
    arguments = {argument for tool in tools for argument in inspect.signature(getattr(Tools, tool)).parameters}
    known = tools | arguments | set(get_type_hints(Remembered)) | {"said_by", "mem", *NAMES}
    for each in quoted(name):
        if not each.startswith(("mem ", "--")) and not IDS.fullmatch(each):
            assert each in known, each


def test_the_kinds_and_types_that_save_names_are_the_tools() -> None:
    said = folded(text("save"))
    assert "memory" in get_args(Kind)
    (types,) = re.findall(r"with its `type` \(([^)]*)\)", said)
    assert set(types.split(", ")) <= set(get_args(Type))


def test_hygiene_changes_nothing_unasked_and_leaves_what_is_new() -> None:
    said = folded(text("hygiene"))
    assert "Change nothing before the person has agreed to that very change. No answer is no." in said
    assert "younger than 24 hours" in said
    reads, changes = said.split("4. **Change**")
    for command in ("mem verify", "mem update", "mem remember", "mem correct", "mem forget", "`remember`"):
        assert command not in reads.partition("1. **Read.**")[2], "before the person has agreed"
    assert "mem forget" in changes.partition("5. **Leave to the person**")[2]


def test_save_proposes_at_a_sessions_end_and_keeps_at_once_what_was_asked() -> None:
    said = folded(text("save"))
    assert "Unasked, at the end of a piece of work: propose" in said
    assert "No answer is no." in said
    assert "Replace rather than add" in said
    assert "at the end of a piece of work to propose" in head_and_body("save")[0]["description"]
