"""What holds for every text and payload."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.redact import Redactor
from siftd.redact.rules import RULES, Rule

FAST, PURE = Redactor(b"key"), Redactor(b"key", pure=True)
_PIECES = [rule.example for rule in RULES] + [
    "password=",
    "token: ",
    "'",
    '"',
    "\\n",
    "\n",
    "<private>",
    "</private>",
    "[REDACTED:",
    "[REDACTED:jwt:0a1b]",
    "]",
    "@",
    "é",
    "\ud800",
    "\0",
    " ",
]
PIECES = st.integers(0, len(_PIECES) - 1).map(lambda number: _PIECES[number])
"""By number: hypothesis prints a strategy with all that it draws from."""
TEXTS = st.lists(PIECES | st.text(max_size=12), max_size=6).map("".join)
PAYLOADS = st.recursive(
    TEXTS | st.none() | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8) | st.sampled_from(["password", "api_key"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(max_examples=150)
@given(TEXTS)
def test_redaction_is_idempotent_and_both_engines_agree(text: str) -> None:
    once = FAST.text(text)
    assert FAST.text(once) == once
    assert PURE.text(text) == once


@settings(max_examples=100)
@given(PAYLOADS)
def test_redacting_a_payload_twice_changes_nothing(payload: object) -> None:
    once = FAST.value(payload)
    assert FAST.value(once) == once


SPECIFIC = [rule for rule in RULES if not rule.general and rule.name not in {"email", "phone"}]
FORMS = {
    "alone": "{}",
    "in prose": "it says {} here",
    "assigned": "VALUE={}\n",
    "in JSON": '{{"a": "{}"}}',
    "escaped": "first\\n{}\\nlast",
    "on a numbered line": "    12\t{}\n    13\tend",
    "added": "+{}\n+end",
    "removed": "-{}\n-end",
    "coloured": "\x1b[32m{}\x1b[0m",
}
"""How tools show a secret. A form that changes the secret's own lines is the redactor's own test."""


@pytest.mark.parametrize("form", FORMS)
def test_every_rule_takes_its_example_in_every_form(form: str) -> None:
    left = [rule.name for rule in SPECIFIC if rule.example in FAST.text(FORMS[form].format(rule.example))]
    assert left == []


@settings(max_examples=100)
@given(
    st.sampled_from(SPECIFIC),
    st.sampled_from(sorted(FORMS)),
    st.recursive(st.just(0), lambda inner: st.tuples(st.sampled_from(["a", "key", 1]), inner), max_leaves=6),
)
def test_a_planted_secret_is_gone_at_any_depth_and_in_any_form(rule: Rule, form: str, shape: object) -> None:
    planted = FORMS[form].format(rule.example)
    payload: object = {"text": planted}
    while isinstance(shape, tuple):
        payload = {"a": payload} if shape[0] == "a" else {planted: payload} if shape[0] == "key" else [1, payload]
        shape = shape[1]
    assert rule.example not in "\n".join(strings_of(FAST.value(payload)))


def strings_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings_of(key)
            yield from strings_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)


@settings(max_examples=100)
@given(
    st.uuids(),
    st.integers(10**9, 2 * 10**9) | st.integers(10**12, 2 * 10**12),
    st.ip_addresses(),
    st.binary(min_size=20, max_size=20),
)
def test_no_generated_identifier_is_touched(uuid: object, time: int, address: object, commit: bytes) -> None:
    text = f"{uuid} at {time} from {address}\n+{time}\n{commit.hex()} {uuid}"
    assert FAST.text(text) == text
    payload = {"id": str(uuid), "ts": time, "ip": str(address), "commit": commit.hex()}
    assert FAST.value(payload) is payload


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "password=",
        "-----BEGIN ",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "<private>",
        "@",
        "7",
        "sk-",
        "eyJ",
        "token: ",
        "://a:",
        "A1b/",
        "+1 555 ",
    ],
)
def test_hostile_text_is_redacted_to_a_fixed_point(unit: str) -> None:
    text = unit * (40_000 // len(unit))
    once = FAST.text(text)
    assert FAST.text(once) == once


CUT_OFF = "first line of a private key of which the rest was cut off"
WHOLE = [rule for rule in RULES if rule.finds != CUT_OFF]
"""All but the one form that means something at the end of a text alone."""


@settings(max_examples=600)
@given(st.sampled_from(WHOLE), st.sampled_from(WHOLE))
def test_what_is_caught_in_each_of_two_texts_is_caught_in_both_together(first: Rule, second: Rule) -> None:
    """No form swallows the beginning of the next line and so hides from the other rules what follows."""
    secrets = [text[begin:end] for text in (first.example, second.example) for begin, end, _ in FAST.find(text)]
    cleaned = FAST.text(first.example + "\n" + second.example)
    assert [secret for secret in secrets if secret in cleaned] == []


NAMED = st.sampled_from(["name", "key", "value", "columns", "rows", "tool_input", "tool_response", "stdout", "command"])
TOLD = st.sampled_from(
    ["DB_PASSWORD", "--password", "mysql", "kubectl get secret db -o jsonpath={}", "Winter2024xQ", 77]
)
CALLS = st.recursive(
    TEXTS | TOLD,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMED | st.text(max_size=4), inner, max_size=5),
    max_leaves=10,
)


@settings(max_examples=200)
@given(st.lists(st.lists(PAYLOADS | CALLS, max_size=3), max_size=6), st.booleans())
def test_what_would_change_is_never_taken_for_clean_whatever_is_read_beside_it(
    groups: list[list[object]], jsx: bool
) -> None:
    """A scrub reads hundreds of payloads in one go, and redacts none that this says is clean."""
    for group, may_change in zip(groups, FAST.may_change(groups), strict=True):
        assert may_change or all(FAST.value(value, jsx=jsx) is value for value in group)
        assert may_change or all(FAST.text(value) == value for value in group if isinstance(value, str))
