"""What of a file of notes is found, cited and forgotten as one."""

from __future__ import annotations

import pytest

from siftd.notes.citations import cited_in
from siftd.notes.entries import Entry, said, split, without
from siftd.notes.erasing import statement_of

STATE = """\
---
type: state
project: okapi
last_updated: 2026-11-25
status: active
owner: marta
---

# State

The barn is red:
- first thing
  goes on (m12)
  - nested in it

    and its second paragraph
  - nested too
- second thing
```
# no heading
- no item
```

| animal | barn |
|---|---|
| okapi | red |

## Next
### Plans
a plan
### 2026-11-25 — The barn fell
- Symptom: dust
#### Details
- more

the end
"""


def entries(text: str) -> list[tuple[int, str, str]]:
    found = split(text)
    return [(each.line, each.heading, each.text) for each in found if each.kind == "entry"]


def test_items_dated_headings_rows_fences_and_paragraphs_are_entries_below_their_headings() -> None:
    assert entries(STATE) == [
        (11, "State", "The barn is red:"),
        (12, "State", "- first thing\n  goes on (m12)"),
        (14, "State", "  - nested in it\n\n    and its second paragraph"),
        (17, "State", "  - nested too"),
        (18, "State", "- second thing"),
        (19, "State", "```\n# no heading\n- no item\n```"),
        (24, "State", "| animal | barn |"),
        (25, "State", "|---|---|"),
        (26, "State", "| okapi | red |"),
        (30, "State > Next > Plans", "a plan"),
        (31, "State > Next", "### 2026-11-25 — The barn fell\n- Symptom: dust\n#### Details\n- more\n\nthe end"),
    ]


def test_what_is_nested_goes_with_its_item_and_every_other_byte_stays() -> None:
    left = without(STATE, lambda each: "first thing" in each.text)
    assert left == STATE.replace(STATE[STATE.index("- first") : STATE.index("- second")], "")


def test_a_nested_item_goes_alone() -> None:
    left = without(STATE, lambda each: each.text == "  - nested too")
    assert left == STATE.replace("  - nested too\n", "")


def test_a_batch_of_the_archive_stands_below_no_heading_of_the_one_before_it() -> None:
    batch = "<!-- archived 2026-11-25 (manual) -->\n## from state.md\n\n## Barn\n- red\n"
    assert entries(batch + batch) == [(5, "Barn", "- red"), (10, "Barn", "- red")]
    assert entries(batch + "## from todo.md\n- paint it\n")[-1] == (7, "", "- paint it")


def test_lines_that_siftd_writes_are_of_no_entry_whatever_is_to_go() -> None:
    text = "<!-- archived 2026-11-25 (budget) -->\n## from state\n\n- x\n"
    assert without(text, lambda _: True) == text.replace("- x\n", "")
    kept = without(STATE, lambda _: True)
    assert [line for line in kept.splitlines() if line] == [*STATE.splitlines()[:4], "---"]


def test_the_lines_of_another_system_are_read_and_stay() -> None:
    text = "# A\r\n\r\n- one\r\n  more\r\n- two\r\n"
    assert entries(text) == [(3, "A", "- one\n  more"), (5, "A", "- two")]
    assert without(text, lambda each: "one" in each.text) == "# A\r\n\r\n- two\r\n"


def test_a_fence_that_nothing_closes_fences_nothing() -> None:
    assert [text for *_, text in entries("```\n- a\n- b\n")] == ["```", "- a", "- b"]


@pytest.mark.parametrize("text", ["", "\n", "---", "---\nno key\n---\n", "\ufeff# A", "- ", "```", "|", "###"])
def test_odd_texts_are_split_and_stay_as_they_are(text: str) -> None:
    split(text)
    assert without(text, lambda _: False) == text


def test_an_entry_is_known_again_ticked_moved_and_ended_otherwise() -> None:
    one, other = (
        split(each)[0] for each in ("- [ ] Feed the okapi\n  at seven", "    * [x] Feed the okapi\r\n at seven")
    )
    assert said(one) == said(other) == "Feed the okapi\nat seven"


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("We use pnpm (person, 2026-11-25, m12)", {"m12"}),
        ("It fell [e3; s7], and (s9, e12) again", {"e3", "s7", "s9", "e12"}),
        ("See #m4 and `show s8`", {"m4", "s8"}),
        ("Uploads go to s3, on an m1 (the m1 is fast)", set()),
        ("(e12 was wrong) and e13", set()),
    ],
)
def test_ids_are_cited_as_siftd_writes_them(text: str, cited: set[str]) -> None:
    assert cited_in(text) == cited


def test_a_statement_is_the_same_with_and_without_what_it_cites() -> None:
    assert statement_of("We use  PNPM (person, 2026-11-25, m12).") == statement_of("We use pnpm")
    assert statement_of("We use pnpm (not npm)") == "we use pnpm (not npm)"


def test_entries_name_their_lines() -> None:
    found: list[Entry] = split("a\n\nb\n")
    assert [(each.begin, each.end, each.line) for each in found] == [(0, 1, 1), (2, 3, 3)]
