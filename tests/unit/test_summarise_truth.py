"""A summary may name only what its event contains."""

from __future__ import annotations

import pytest
from known_kinds import item_of

from siftd.summarise.grounding import Source, unsupported_claims

ITEM = item_of(
    event_id=1,
    tool="Bash",
    payload={
        "tool_input": {"command": "cd api && pytest -q tests/test_auth.py --maxfail=1"},
        "tool_response": {
            "stdout": "FAILED tests/test_auth.py::test_login - KeyError\n2 failed, 14 passed in 1.62s\n"
            "see https://example.com/run/88 at 9f3a01bc in v2.4.1 by validateToken\n"
        },
    },
    request="Fix the login of session_store",
    cwd="/home/dev/demo",
)


@pytest.mark.parametrize(
    "text",
    [
        "`pytest -q tests/test_auth.py` failed: test_login raised KeyError.",
        "2 failed and 14 passed in 1.62s at 9f3a01bc (v2.4.1).",
        "test_auth.py fails in validateToken(); see https://example.com/run/88.",
        "The login of session_store is broken.",
        "Ran with --maxfail=1 in /home/dev/demo.",
        "The output has 3 lines.",
        "tests/test_au… fails",
        "Nothing exact is said here, e.g. no name at all.",
    ],
)
def test_what_the_event_says_is_supported(text: str) -> None:
    assert unsupported_claims(text, Source.of(ITEM)) == []


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Fixed in commit 1a2b3c4d.", "1a2b3c4d"),
        ("Edited src/session.py.", "src/session.py"),
        ("5 failed.", "5"),
        ("Took 1.6s of 162.", "162"),
        ("Upgraded to v2.4.2.", "v2.4.2"),
        ("Changed refresh_token.", "refresh_token"),
        ("Changed validateTokens.", "validateTokens"),
        ("Called logout().", "logout()"),
        ("See https://example.com/run/89.", "https://example.com/run/89"),
        ("Ran with --lf.", "--lf"),
        ("`pytest --lf` failed.", "--lf"),
        ("test_auth is fine", "test_auth"),
    ],
)
def test_what_the_event_does_not_say_is_named(text: str, claim: str) -> None:
    if claim == "test_auth":
        # "test_auth" is a whole name in "test_auth.py": what follows it is no letter.
        assert unsupported_claims(text, Source.of(ITEM)) == []
    else:
        assert claim in unsupported_claims(text, Source.of(ITEM))


def test_a_part_of_a_name_or_number_is_not_that_name_or_number() -> None:
    source = Source("validate_token took 1234 ms")
    assert unsupported_claims("validate_tok took 123 ms", source) == ["validate_tok", "123"]
    assert unsupported_claims("validate_tok… took 1234 ms", source) == []
