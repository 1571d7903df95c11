"""The table of rules, walked row by row."""

# ruff: noqa: E501  (a lock file's line is kept whole)

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from re import _constants as constants  # type: ignore[attr-defined]
from re._parser import parse  # type: ignore[import-not-found]
from typing import Any

import pytest

from siftd.redact import Redactor, validators
from siftd.redact.rules import RULES, Rule

DOCS = re.compile(r"https://(?:[a-z0-9-]+\.)+[a-z]{2,}(?:/[\w./%~+:#?=&-]*)?")
"""An address as documentation has it: a host with a domain, no blank and no placeholder in its path."""

ENGINES = [Redactor(b"key"), Redactor(b"key", pure=True)]
FAMILIES = [RULES[first : first + 60] for first in range(0, len(RULES), 60)]
"""Some sixty rows in each test: a test for each row costs more in pytest than the row does."""

every_row = pytest.mark.parametrize("rules", FAMILIES, ids=[f"from-{rules[0].name}" for rules in FAMILIES])


@every_row
def test_every_rule_says_what_it_finds_catches_its_example_and_leaves_its_near_miss(rules: Sequence[Rule]) -> None:
    for rule in rules:
        assert rule.finds, rule.name
        assert DOCS.fullmatch(rule.docs), rule.name
        assert rule.example, rule.name
        assert rule.near_miss, rule.name
        for redactor in ENGINES:
            redacted = redactor.text(rule.example)
            names = [""] if rule.decode else [f"{rule.name}:", *(["secret:"] if rule.name == "password" else [])]
            assert any(f"[REDACTED:{name}" in redacted for name in names), rule.name
            assert redactor.text(rule.near_miss) == rule.near_miss, rule.name


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in RULES if rule.rule_group == "token"])
def test_no_head_of_a_token_begins_with_a_run_of_any_letters(rule: Rule) -> None:
    """One that did made the gate read a whole session at a third of the pace."""
    assert not re.match(r"\[[^\]]*a-z", rule.head)


@pytest.mark.slow
@every_row
def test_both_engines_give_the_same_and_redacting_twice_changes_nothing(rules: Sequence[Rule]) -> None:
    for rule in rules:
        for text in (rule.example, f"x = '{rule.example}'\n", f'curl -H "X: {rule.example}" | tee', rule.near_miss):
            once = ENGINES[0].text(text)
            assert ENGINES[1].text(text) == once, rule.name
            assert ENGINES[0].text(once) == once, rule.name


@pytest.mark.parametrize(
    "text",
    [
        "1763688700 1763688700123 +1763688700 2026-11-21T01:31:40.123Z",
        "192.168.100.200 10.0.0.1:8080 fe80::1ff:fe23:4567:890a 127.0.0.1",
        "3f9a1c7e-5b2d-4046-af13-c9e7b5d20846",
        "v2.31.0 1.22.333.4444 numpy==2.3.5 foo@1.2.3 @types/node@20.11.5",
        "commit 3f9a1c7e5b2d8046af13c9e7b5d20846f1a3c5e7",
        "git@github.com:org/repo.git ssh://git@gitlab.com/org/repo",
        "/home/dev/src/token/secret_key/password.py ~/.ssh/id_ed25519.pub",
        "password = get_password()\ntoken: str = self.token\napi_key=os.environ['API_KEY']",
        "max_tokens: 4096, total_tokens=123456",
        "constructor(private googleOAuthService: GoogleOAuthService, setAccessToken, setLastAuthMethod)",
        "let signing_key = ed25519_dalek::SigningKey::generate(&mut rand::rngs::OsRng);",
        "const privateKey = secp256k1.utils.randomPrivateKey(); // Returns (ed25519_private_key, ed25519_public_key)",
        'const CheckpointTrailerKey = "Entire-Source-Ref"',
        '{"password": "passphrase", "forgot_password": "Passwort vergessen?"}',
        "PASS: tests/test_login2.py 12 passed",
        'RUN openssl x509 -req -days 365 -passin "file:dkajco1" -sha256 -in server.csr -CA ca.pem',
        '"integrity": "sha512-n3s8EwkdFIJCG3BPKBYvskgXGoy88ARzvegkitk60NxRdwltLOTaH7CUiMRXvwYorl0Q712iEjcWB+fK/MrWVw=="',
    ],
)
def test_what_only_resembles_a_secret_is_left_alone(text: str) -> None:
    for redactor in ENGINES:
        assert redactor.text(text) == text


GREEDY = {constants.MAX_REPEAT, constants.MIN_REPEAT}
REPEATS = GREEDY | {constants.POSSESSIVE_REPEAT}


def risky_repeats(pattern: Any, *, is_atomic: bool = False, is_repeated: bool = False) -> Iterator[str]:
    """Yield what could cost more than linear time: a repetition that gives back without bound, or inside another."""
    for kind, argument in pattern:
        if kind in REPEATS:
            least, most, body = argument
            varies = kind in GREEDY and least != most and most > 1
            if varies and most == constants.MAXREPEAT and not is_atomic:
                yield f"unbounded: {body}"
            if varies and is_repeated:
                yield f"nested: {body}"
            yield from risky_repeats(body, is_atomic=is_atomic or kind not in GREEDY, is_repeated=is_repeated or varies)
        elif kind is constants.SUBPATTERN:
            yield from risky_repeats(argument[3], is_atomic=is_atomic, is_repeated=is_repeated)
        elif kind is constants.ATOMIC_GROUP:
            yield from risky_repeats(argument, is_atomic=True)
        elif kind is constants.BRANCH:
            for branch in argument[1]:
                yield from risky_repeats(branch, is_atomic=is_atomic, is_repeated=is_repeated)
        elif kind in {constants.ASSERT, constants.ASSERT_NOT}:
            yield from risky_repeats(argument[1], is_atomic=True)


@every_row
def test_no_pattern_gives_back_without_bound(rules: Sequence[Rule]) -> None:
    """Its time on hostile text is linear then; `scripts/eval-redaction --growth` measures it."""
    for rule in rules:
        for expression in (rule.pattern, rule.head, rule.rest):
            assert not list(risky_repeats(parse(expression))), rule.name


def test_the_inspection_knows_a_risky_pattern() -> None:
    for expression in (r"(?:a+)+b", r"a*b", r"(?:a{1,9}b?){1,9}c", r"(?:x|a+)b"):
        assert list(risky_repeats(parse(expression)))
    for expression in (r"a++b", r"(?>a*)b", r"a{1,64}b", r"(?:a{2}b?){1,9}c"):
        assert not list(risky_repeats(parse(expression)))


@pytest.mark.slow
@every_row
def test_a_row_of_one_form_without_anything_between_is_redacted_to_a_fixed_point(rules: Sequence[Rule]) -> None:
    """Each placeholder must not uncover the next form beside it: a thousand of them would need a thousand passes."""
    for rule in rules:
        for unit in (*rule.keywords.split()[:1], rule.example, rule.example + "-"):
            once = ENGINES[0].text(unit * max(12, 600 // len(unit)))
            assert ENGINES[0].text(once) == once, rule.name


@pytest.mark.parametrize("prefix", ["xyz_", "NF-", "acme_live_"])
@pytest.mark.parametrize(
    "body", ["aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2fG", "b4f6h8j1l3n5p7r9b4f6h8j1l3n5p7r9", "kdjfhgqpwoeirutyalskdjfhgmznxbcv"]
)
@pytest.mark.parametrize("said", ['token = "{}"', "my todoist api key: {}", '{{"credential": "{}"}}'])
def test_a_token_of_an_unknown_prefix_is_redacted_under_a_telling_name(prefix: str, body: str, said: str) -> None:
    for redactor in ENGINES:
        assert body not in redactor.text(said.format(prefix + body))


@pytest.mark.parametrize("value", ["3f9a1c7e5b2d8046af13c9e7b5d20846", "3f9a1c7e-5b2d-4046-af13-c9e7b5d20846"])
@pytest.mark.parametrize("said", ["new CalendarificClient('{}')", 'todoist("{}")', 'calendarificApi("{}")'])
def test_what_the_client_of_a_service_is_made_with_is_its_key(value: str, said: str) -> None:
    for redactor in ENGINES:
        assert value not in redactor.text(said.format(value))


def regular(rule: Rule) -> str:
    """Return the rule's example with one letter for all those that its form leaves free."""
    text = re.sub(r"(?<=.{12})[A-Za-z](?=.)", "a", rule.example)
    return text if re.match(rule.pattern, text) else rule.example


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.check is validators.is_known and rule.rule_group == "token"]
)
def test_a_known_prefix_with_the_right_length_is_redacted_however_regular_its_body_looks(rule: Rule) -> None:
    """Nobody promises that a token is drawn well: `abababab` of the right length opens the same door."""
    assert ENGINES[0].text(regular(rule)) != regular(rule)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("sk" "_live_abcdefghijklmnopqrstuvwx", True),
        ("gh" "p_abababababababababababababababababab", True),
        ("gl" "pat-testtesttesttesttest", True),
        ("gh" "p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", False),
        ("AKIA" "IOSFODNN7EXAMPLE", False),
        ("np" "m_config_registry_for_everything_there_is", False),
    ],
)  # fmt: skip
def test_only_one_character_repeated_words_or_an_example_draw_a_token(text: str, is_one: bool) -> None:
    for redactor in ENGINES:
        assert (redactor.text(f"use {text} here") != f"use {text} here") == is_one


@pytest.mark.slow
@every_row
def test_a_rule_finds_its_example_among_the_other_texts_of_a_payload(rules: Sequence[Rule]) -> None:
    """The prefilter reads all texts at once: a head neither needs its text's end nor goes on into the next one."""
    for rule in rules:
        for redactor in ENGINES:
            alone = redactor.value({"a": rule.example, "b": "x"})["a"]
            assert alone != rule.example, rule.name
            for after in ("Task", "/src/demo", "1 2", "5e551011-0000-4000-8000-000000000001"):
                payload = redactor.value({"b": after, "a": rule.example, "c": [after], "d": {"e": after}})
                assert payload["a"] == alone, rule.name
