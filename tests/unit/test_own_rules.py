"""Rules of one's own: what is accepted, what is refused and why, and what they do to texts."""

from __future__ import annotations

import pytest

from siftd import config, custom_rules
from siftd.errors import ConfigInvalid
from siftd.redact import Redactor
from siftd.redact.own import OwnRules

CUSTOMER = {"name": "customer-number", "pattern": r"KD-[0-9]{8}", "example": "KD-20417733"}


def rule(pattern: str, example: str, name: str = "mine") -> dict[str, str]:
    return {"name": name, "pattern": pattern, "example": example}


def redactor(*rules: dict[str, str]) -> Redactor:
    return Redactor(b"k" * 32, searchers=[OwnRules(custom_rules.parse(list(rules)))])


@pytest.mark.parametrize(
    ("pattern", "example"),
    [
        (r"acme_[a-z0-9]{20,64}", "acme_" + "a1b2c3d4e5" * 2),
        (r"\b[a-z]{1,16}\.corp\.example\b", "build.corp.example"),
        (r"(?i)kd[- ]?\d{6,8}", "Kd 204177"),
        (r"(?<![0-9])\d{4}(?:-\d{4}){3}(?![0-9])", "1234-5678-9012-3456"),
        (r"[a-z]{1,60}@[a-z]{1,60}\.[a-z]{1,60}\.corp", "ann@mail.example.corp"),
        (r"employee (?P<n>E[0-9]{6}|X[0-9]{4})", "employee E123456"),
    ],
)
def test_bounded_patterns_are_accepted_and_replace_their_example(pattern: str, example: str) -> None:
    assert "[REDACTED:mine:" in redactor(rule(pattern, example)).text(f"see {example} there")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"acme_[a-z0-9]+", "upper bound"),
        (r"acme_[a-z0-9]*", "upper bound"),
        (r"acme_(?:a{1,9})+b", "upper bound"),
        (r"acme_(?:[a-z]{1,9}){1,9}b", "more than 512 ways"),
        (r"acme_[a-z]{0,40}[a-z]{0,40}b", "more than 512 ways"),
        (r"(?:ab|cd|ef){1,12}xyz", "more than 512 ways"),
        (r"(acme)_\1", "refers back"),
        (r"acm", "fewer than 4"),
        (r"(?:acme)?", "fewer than 4"),
        (r"acme[a-z]{2000}", "upper bound"),
        (r"(acme)_(key)", "more than one group"),
        (r"acme_[", "no regular expression"),
        ("a" * 501, "more than 500 characters"),
    ],
)
def test_what_may_take_more_than_linear_time_or_cannot_be_meant_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(ConfigInvalid, match=why):
        custom_rules.parse([rule(pattern, "acme_acme_ababxyz")])


def test_a_rule_whose_example_does_not_match_is_refused_by_name() -> None:
    with pytest.raises(ConfigInvalid, match=r"customer-number .*example does not match"):
        custom_rules.parse([CUSTOMER | {"example": "KD-2041773"}])


@pytest.mark.parametrize("name", ["private", "env-value", "Customer", "a b", "", "x" * 41])
def test_a_name_that_cannot_stand_in_a_placeholder_is_refused(name: str) -> None:
    with pytest.raises(ConfigInvalid, match="placeholder"):
        custom_rules.parse([CUSTOMER | {"name": name}])


@pytest.mark.parametrize("rules", [[{"name": "a"}], ["KD"], [CUSTOMER | {"group": 1}], [CUSTOMER, CUSTOMER]])
def test_what_is_no_list_of_rules_is_refused(rules: list[object]) -> None:
    with pytest.raises(ConfigInvalid, match=r"redact\.rules"):
        config.check("redact.rules", rules)


def test_only_the_group_is_replaced_and_the_rest_stays() -> None:
    text = redactor(rule(r"badge ([0-9]{6})", "badge 123456")).text("badge 654321, please")
    assert text.startswith("badge [REDACTED:mine:")
    assert text.endswith("], please")


def test_placeholders_are_a_fixed_point_of_a_rule_that_would_match_inside_them() -> None:
    greedy = redactor(rule(r"[A-Z]{8}", "ABCDEFGH"), CUSTOMER)
    once = greedy.text("KD-20417733 and ABCDEFGH")
    assert once.count("[REDACTED:") == 2
    assert greedy.text(once) == once


def test_a_rule_of_ones_own_and_one_of_the_table_that_overlap_leave_nothing_uncovered() -> None:
    text = redactor(rule(r"postgres://[a-z]{1,20}:[^@]{1,40}@[a-z]{2}", "postgres://a:b1234@db")).text(
        "postgres://app:s3cr3t-pass@db"
    )
    assert "s3cr3t" not in text
    assert "app" not in text


def test_keys_and_values_at_any_depth_are_seen() -> None:
    value = redactor(CUSTOMER).value({"a": [{"KD-20417733": ["x", "KD-20417734"]}, 7]})
    assert "KD-2041" not in str(value)
