"""Which near-duplicates say the same thing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from siftd.consolidate.equivalence import says_the_same
from siftd.embed.blend384 import embed

REPEATS = [
    ("Edited src/auth.py", "Edited src/auth.py"),
    ("Edited  src/auth.py\n", " Edited src/auth.py"),
    ("edited src/auth.py", "Edited src/auth.py"),
    ("RAN THE TESTS", "Ran the tests"),
    ("Edited src/auth.py.", "Edited src/auth.py"),
    ("`pytest -q`: 3 passed in 0.42s", "`pytest -q`: 3 passed in 0.40s"),
    ("2 failed, 3 passed, 1 warning in 12.1s", "2 failed, 3 passed, 1 warning in 9.8s"),
    ("`npm test` passed (812 ms)", "`npm test` passed (0.9 s)"),
    ("Build finished in 31 seconds", "Build finished in 28 seconds"),
    ("Build ok, took 12.3s", "Build ok, took 11.9s"),
    ("[12:03:04] server ready on port 8080", "[12:07:59] server ready on port 8080"),
    ("2026-11-20T23:36:37.331Z server ready", "2026-11-21T08:00:01Z server ready"),
    (
        "Edited src/auth.py: validate_token() now rejects expired tokens",
        "Edited src/auth.py: validate_token() rejects expired tokens",
    ),
    (
        "Edited src/auth.py: validate_token() rejects expired tokens",
        "Edited src/auth.py so that validate_token() rejects an expired token",
    ),
    ("Updated the parser of invoices", "Changed the parser of invoices"),
    ("Executed `make lint`: ok", "Ran `make lint`: ok"),
    ("Added a retry to fetch_all()", "Adds a retry to fetch_all()"),
    ("The deploy failed: disk full", "Deploy failed, disk full"),
    ("Replaced redis with postgres", "replaces redis with postgres"),
    ("验证令牌 失败", "验证令牌  失败"),
    ("Read config.py (120 lines)", "read config.py: 120 lines"),
    ("Do not retry on 429", "do not retry on 429."),
    ("Caches are never cleared", "caches are never cleared…"),
]

NEAR_MISSES = [
    ("Replaced redis with postgres", "Replaced postgres with redis"),
    ("Server listens on port 5432", "Server listens on port 5433"),
    ("`pytest -q` passed", "`pytest -q` failed"),
    ("`pytest -q`: 4 passed in 0.42s", "`pytest -q`: 3 passed in 0.42s"),
    ("`pytest -q`: 3 passed in 0.42s", "`pytest -q`: 3 failed in 0.42s"),
    ("`pytest -q`: 3 passed in 42s", "`pytest -q`: 3 passed in 0.42s"),
    ("Request took 9.5s", "Request took 0.4s"),
    ("`make` failed (exit 1)", "`make` failed (exit 2)"),
    ("Upgraded numpy to 2.0.1", "Upgraded numpy to 2.1.0"),
    ("Edited src/auth.py", "Edited src/oauth.py"),
    ("Edited src/auth.py", "Edited tests/auth.py"),
    ("Edited src/auth.py", "Edited src/Auth.py"),
    ("Renamed userId to user", "Renamed userid to user"),
    ("Tokens are validated", "Tokens are not validated"),
    ("Retries on time-outs", "Never retries on time-outs"),
    ("The cache can be cleared", "The cache can't be cleared"),
    ("Deployed with migrations", "Deployed without migrations"),
    ("Moved the lock from client to daemon", "Moved the lock to client from daemon"),
    ("Copied a.txt to b.txt", "Copied b.txt to a.txt"),
    ("Set mode to 'fast'", "Set mode to 'safe'"),
    ('Set the label to "Foo"', 'Set the label to "foo"'),
    ("Checked out 9fceb02", "Checked out 9fceb03"),
    ("Fails when x < 3", "Fails when x > 3"),
    ("Offset is -1", "Offset is 1"),
    ("Serves http only", "Serves https only"),
    ("The server started", "The server is starting"),
    ("Enabled the flag", "Disabled the flag"),
    ("Token expires in 5 minutes", "Token expires in 10 minutes"),
    ("Nightly job runs at 02:00:00", "Nightly job runs at 03:00:00"),
    ("Deadline is 2026-03-01", "Deadline is 2026-03-15"),
    ("Fixed the login bug", "Fixed the login bug in Safari"),
    ("Chose plan A", "Chose the plan"),
    ("Runs before the migration", "Runs after the migration"),
    ("Needs all checks", "Needs any checks"),
    ("Type is str", "Type is string"),
    ("Does it work?", "Does it work"),
    ("验证令牌成功", "验证令牌失败"),
    ("", " "),
]


@pytest.mark.parametrize(("newer", "older"), REPEATS)
def test_a_repeat_says_the_same(newer: str, older: str) -> None:
    assert says_the_same(newer, older)


@pytest.mark.parametrize(("newer", "older"), NEAR_MISSES)
def test_a_near_miss_does_not_say_the_same(newer: str, older: str) -> None:
    assert not says_the_same(newer, older)


@pytest.mark.parametrize(("one", "other"), REPEATS + NEAR_MISSES)
def test_which_of_two_is_newer_does_not_matter(one: str, other: str) -> None:
    assert says_the_same(one, other) == says_the_same(other, one)


def test_long_texts_are_the_same_only_word_for_word() -> None:
    long = "Edited src/auth.py. " * 1000
    assert says_the_same(long, long + "\n")
    assert not says_the_same(long, long.replace("Edited", "edited", 1))


def test_hostile_text_costs_little() -> None:
    for piece in ("\n", "`", "'", "a.", "00:00:00 ", "took 1", "a'a", "passed in "):
        text = piece * (4096 // len(piece))
        assert not says_the_same(text + "x", text[1:] + "y")


def test_of_the_labelled_pairs_those_that_say_the_same_are_hidden_and_no_other() -> None:
    """tests/data/superseding/pairs.jsonl: written by hand after what sessions repeat, half of them near misses."""
    lines = (Path(__file__).parent.parent / "data" / "superseding" / "pairs.jsonl").read_text(encoding="utf-8")
    pairs = [json.loads(line) for line in lines.splitlines()]
    assert len(pairs) >= 200
    assert 0.45 < sum(pair["same"] for pair in pairs) / len(pairs) < 0.55
    cosines = (embed([pair["newer"] for pair in pairs]) * embed([pair["older"] for pair in pairs])).sum(axis=1)
    hidden = [
        pair
        for pair, cosine in zip(pairs, cosines, strict=True)
        if cosine >= 0.95 and says_the_same(pair["newer"], pair["older"])
    ]
    right = sum(pair["same"] for pair in hidden)
    assert right / len(hidden) >= 0.98
    assert right / sum(pair["same"] for pair in pairs) >= 0.80
