"""Unicode's normal forms cost what the text is long, whatever it holds."""

from __future__ import annotations

import sys
import unicodedata
from typing import Literal

import pytest

from siftd.normal_forms import MARKS_MAX, normalized

Form = Literal["NFC", "NFD", "NFKC"]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "text", ["", "plain", "é e\u0301 ﬁ", "한국어", "नमस्ते", "─" * 99, "e" + "\u0301\u0327" * (MARKS_MAX // 2), "ｶﾞ" * 99]
)
def test_what_people_write_is_what_unicode_says(form: Form, text: str) -> None:
    assert normalized(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("marks", ["\u0301\u0327", "\u0f73", "\u0323\uff9e", "\u0301\u0344"])
def test_a_letter_keeps_as_many_marks_as_anybody_can_read(form: Form, marks: str) -> None:
    told = f"before e{marks * 50_000} after"
    kept = normalized(form, told)
    assert kept.startswith("before ")
    assert kept.endswith(" after")
    assert len(kept) < 3 * MARKS_MAX + len("before e after")
    assert normalized(form, kept) == kept


def test_nothing_else_becomes_a_mark() -> None:
    marks = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if all(unicodedata.combining(each) for each in unicodedata.normalize("NFKD", chr(code)))
    ]
    assert {each for each in marks if unicodedata.category(each)[0] != "M"} == {"\uff9e", "\uff9f"}


def test_no_mark_is_passed_over_for_a_sign_that_is_none() -> None:
    marks = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.combining(chr(code))]
    assert [each for each in marks if len(normalized("NFC", "a" + each * 99)) > MARKS_MAX + 1] == []


def test_a_table_that_a_program_draws_is_not_gone_through_sign_by_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(unicodedata, "category", lambda each: asked.append(each) or "So")
    for row in ("─" * 99, "█" * 99, "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" * 9, "…" * 99, "🎉✅" * 50):
        assert normalized("NFC", row) == unicodedata.normalize("NFC", row)
    assert asked == []
