"""Whatever notes hold: only what is concerned leaves them, and all other bytes stay."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from siftd.notes.entries import split, without
from siftd.notes.erasing import Wanted

WORD = "zanzibar"
WANTED = Wanted(cited=frozenset({"m12", "s7"}), text=WORD)
MARKS = ["", f" {WORD}", f" {WORD.upper()}!", " (person, 2026-11-25, m12)", " [e3; s7]"]
PLAIN = st.text(st.sampled_from("ab c-_*é漢.,!|>&(")).map(lambda text: f"word {text}".rstrip())


@dataclass(frozen=True)
class Block:
    """Lines that are one entry, or a heading."""

    text: str
    is_concerned: bool


def _block(form: str, plain: str, mark: str) -> Block:
    return Block(form.replace("TEXT", plain + mark), bool(mark))


BLOCKS = st.builds(
    _block,
    st.sampled_from(
        [
            "- TEXT",
            "* [ ] TEXT\n  goes on",
            "1. first\n   TEXT",
            "- first\n  - TEXT\n\n    more of it",
            "TEXT\nand its second line",
            "## TEXT",
            "### 2026-11-25 — title\n- Symptom: TEXT\n\n- Cause: none\n#### more\nend",
            "```\n# TEXT\n\n- none\n```",
            "> TEXT",
        ]
    ),
    PLAIN,
    st.sampled_from(MARKS),
)
PIECES = st.sampled_from(
    [
        *("- ", "  ", "# ", "### ", "### 2026-11-25 ", "```\n", "~~~", "| ", "\n", "\n\n", "\r\n", "---\n", "status: "),
        *("word", WORD, "(s7)", "<!-- archived x -->\n", "## from state\n", "\ufeff", "\udc80", "1. "),
    ]
)


@given(st.lists(st.tuples(BLOCKS, st.integers(2, 4))), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_concerned_entries_leave_and_every_other_byte_stays(
    parts: list[tuple[Block, int]], has_head: bool, ending: str
) -> None:
    head = "---\ntype: state\nstatus: active\n---\n\n" if has_head else "\n"
    # What is nested goes by itself, and a dated heading takes what stands below it: so these end with a heading.
    text, left = head, head
    for block, blanks in parts:
        gap = "\n" * blanks + "## End\n\n"
        text += block.text + gap
        left += (_left_of(block) if block.is_concerned else block.text + "\n") + gap[1:]
    found = without(text.replace("\n", ending), WANTED.concerns)
    assert found == left.replace("\n", ending)


def _left_of(block: Block) -> str:
    return "- first\n" if block.text.startswith("- first\n  - ") else ""


@given(st.lists(PIECES).map("".join))
def test_of_any_text_no_line_that_holds_it_is_left_and_all_others_are_as_they_were(text: str) -> None:
    left = without(text, WANTED.concerns)
    assert WORD not in left.replace(f"archived {WORD}", "")
    lines = iter(text.split("\n"))
    assert all(line in lines for line in left.split("\n") if line)
    gone = {line for each in split(text) for line in range(each.begin, each.goes_to)}
    assert gone <= set(range(len(text.split("\n"))))


@given(st.lists(PIECES).map("".join))
def test_entries_follow_each_other_and_none_is_empty(text: str) -> None:
    end = 0
    for each in split(text):
        assert each.begin >= end
        assert each.begin < each.end <= each.goes_to
        end = each.end
