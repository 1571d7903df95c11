"""The README and the pages of docs/ say what the code says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cogapp import Cog

from siftd.cli.command_table import ALSO, HIDDEN, VERBS
from siftd.config import KEYS

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
PAGES = [*sorted((REPOSITORY / "docs").glob("*.md")), REPOSITORY / "README.md"]


def test_the_readme_is_short() -> None:
    assert len(README.encode()) <= 9_216


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_line_is_read_without_scrolling(page: Path) -> None:
    """But for what a program prints, a test's name that is longer, and the generated table with a column a promise."""
    pieces = page.read_text(encoding="utf-8").split("```")
    prose = "\n".join(pieces[::2]).splitlines()
    long = [line for line in prose if len(line) > 120 and not re.fullmatch(r"\s*(?:Tests: )?`tests/\S+,?", line)]
    assert [line for line in long if page.name != "clients.md" or not line.startswith("|")] == []


@pytest.mark.parametrize("page", ["cli.md", "clients.md", "configuration.md", "scale.md"])
def test_what_is_generated_is_what_the_code_says(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else: `.venv/bin/cog -r docs/cli.md docs/clients.md docs/configuration.md docs/scale.md`."""
    monkeypatch.chdir(REPOSITORY)
    assert Cog().main(["cog", "--check", f"docs/{page}"]) == 0


PRIVATE = re.compile(r"(?i)\b(?:anew|retold|how-manieth|shelf|shelves|lanes?|desks?|telling|told|stock)\b")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_uses_none_of_our_private_words(page: Path) -> None:
    """Names of tests and commands, and what a program prints, are as they are."""
    prose = "".join(page.read_text(encoding="utf-8").split("```")[::2])
    found = [match[0] for match in PRIVATE.finditer(re.sub(r"`[^`]*`|\]\([^)]*\)", "", prose))]
    assert found == []


def test_every_command_and_setting_is_documented() -> None:
    commands, settings = ((REPOSITORY / "docs" / page).read_text() for page in ("cli.md", "configuration.md"))
    assert [verb for verb in VERBS if verb not in HIDDEN and f"**`mem {verb}" not in commands] == []
    assert [key.name for key in KEYS if f"| `{key.name}` |" not in settings] == []


def test_a_command_that_is_named_exists() -> None:
    """In pages, and in messages: a remedy that cannot be typed is none."""
    sources = [*sorted((REPOSITORY / "siftd").rglob("*.py")), *PAGES]
    for source in sources:
        for named in re.findall(r"`mem ([a-z]+)\b", source.read_text(encoding="utf-8")):
            assert named in {**VERBS, **ALSO, "help": ""}, f"{source.name}: mem {named}"


@pytest.mark.slow
def test_the_readme_shows_the_screen_of_the_quickstart() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    script = REPOSITORY / "scripts" / "quickstart.py"
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    shown = [_steady(line) for line in done.stdout.splitlines()]
    told = README.partition("$ ./scripts/quickstart\n")[2].partition("\n$ ./scripts/test")[0].splitlines()
    for line in told:
        if line.strip() not in ("", "…"):
            assert any(each.startswith(_steady(line)) for each in shown), line


def _steady(line: str) -> str:
    """Return a line without what differs from run to run: a session's start may be kept before or after a prompt."""
    return re.sub(r"\d+ ms|:[0-9a-f]{4}\]|\b[es]\d+ *|no\. \d+", "…", line).rstrip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_test_that_is_named_exists(page: Path) -> None:
    for file, test in re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page.read_text(encoding="utf-8")):
        source = (REPOSITORY / file).read_text(encoding="utf-8")
        assert not test or re.search(rf"def {test}\b", source), f"{file} has no {test}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_that_is_linked_exists(page: Path) -> None:
    for target in re.findall(r"\]\(([\w./-]+\.md)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).is_file(), target


def test_the_promises_of_each_page_are_named_with_tests() -> None:
    assert {page.name for page in PAGES if "`tests/" in page.read_text(encoding="utf-8")} >= {
        "guarantees.md",
        "privacy.md",
    }


def test_the_seeds_queries_are_shown() -> None:
    for query in (
        "SELECT count(*) FROM events WHERE status = 'raw';",
        "SELECT * FROM summary_supersedes WHERE older_id = 7;",
    ):
        assert query in (REPOSITORY / "docs" / "storage.md").read_text(encoding="utf-8")
