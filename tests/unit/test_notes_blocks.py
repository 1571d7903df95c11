"""Bodies of notes in parts that stay whole, and what leaves them when they are too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siftd.notes import document
from siftd.notes.blocks import join, split
from siftd.notes.budgets import trim
from siftd.notes.layout import NoteName

LINES = st.sampled_from(
    ["# State", "## Now", "### 2026-11-25 — Title", "- item", "  - below it", "* [x] done", "1. first", "words", "",
     "```", "~~~~", "# in a fence", "    code", "> quoted", "---", "\ttab"]
)  # fmt: skip
BODIES = st.lists(LINES, max_size=40).map("\n".join)


@given(BODIES)
def test_the_parts_of_a_body_joined_again_are_the_body(body: str) -> None:
    assert join(split(body)) == body


@given(BODIES, st.sampled_from(["state", "decisions", "mistakes", "todo"]), st.integers(1, 200))
def test_a_trimmed_body_has_its_room_and_nothing_is_lost(body: str, name: NoteName, room: int) -> None:
    trimmed = trim(name, body, {name: room})
    headings = sum(len(block.text) for block in split(body) if block.form == "heading")
    assert len(trimmed.body) <= max(room, headings)
    left = [block.text for block in split(trimmed.body)]
    everything = sorted(block.text for block in split(body) if block.form != "heading")
    assert sorted([*trimmed.moved, *(text for text in left if split(text)[0].form != "heading")]) == everything


@given(st.lists(st.tuples(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.text(max_size=20)), max_size=5), BODIES)
def test_frontmatter_and_body_are_taken_apart_and_put_together(pairs: list[tuple[str, str]], body: str) -> None:
    head = tuple((key, f"{key}: {value.split()[0] if value.split() else 'x'}") for key, value in pairs)
    text = document.render(document.Document(head, body), kind="state", project="demo", updated="2026-11-25")
    read = document.parse(text)
    assert read.body.strip("\n") == body.strip("\n")
    assert {key for key, _ in head} <= {key for key, _ in read.head}
    assert document.render(read, kind="state", project="demo", updated="2026-11-25") == text


@pytest.mark.parametrize("text", ["---\nno end\n", "--\na: b\n---\n", "- item\n", "---\nnot a key\n---\nbody"])
def test_what_is_no_frontmatter_is_body(text: str) -> None:
    assert document.parse(text).body == text


def test_the_oldest_decisions_go_first_and_their_empty_headings_with_them() -> None:
    body = "# Decisions\n\n## Old\n\n- one\n\n## New\n\n- two\n  goes on\n"
    trimmed = trim("decisions", body, {"decisions": 46})
    assert trimmed.moved == ["- one\n\n"]
    assert trimmed.body == "# Decisions\n\n## New\n\n- two\n  goes on\n"


def test_of_state_the_last_goes_first() -> None:
    assert trim("state", "# State\n\n- now\n- once\n", {"state": 20}).moved == ["- once\n"]


def test_an_entry_goes_whole() -> None:
    body = "# Mistakes\n\n### 2026-01-01 — Old\n- Symptom: slow\n\n### 2026-02-01 — New\n- Symptom: slower\n"
    trimmed = trim("mistakes", body, {"mistakes": 70})
    assert trimmed.moved == ["### 2026-01-01 — Old\n- Symptom: slow\n\n"]
