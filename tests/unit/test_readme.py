"""The README and the pages of docs/ say what the code says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from siftd.cli.verbs import VERBS
from siftd.config import KEYS, Key

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
PAGES = sorted((REPOSITORY / "docs").glob("*.md"))


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_every_configuration_key_is_in_its_table(key: Key) -> None:
    assert f"| `{key.name}` | `{json.dumps(key.default)}` | {key.meaning} |" in README


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_is_in_its_table(verb: str) -> None:
    assert re.search(rf"^\| `mem {verb}\b.*\|$", README, re.MULTILINE)


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
        assert query in README
