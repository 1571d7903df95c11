"""What is typed behind /mem becomes arguments, never options or commands that were not meant."""

from __future__ import annotations

import pytest

from siftd.errors import RequestInvalid
from siftd.install.slash import parse_slash


@pytest.mark.parametrize(
    ("typed", "arguments"),
    [
        ("", ["info"]),
        ("  info \n", ["info"]),
        ("drain", ["drain"]),
        ("drain 20", ["drain", "20"]),
        ("backfill", ["backfill"]),
        ('backfill --any-workspace "a b.jsonl" -x', ["backfill", "--any-workspace", "--", "a b.jsonl", "-x"]),
        ("search it's broken", ["search", "--", "it's broken"]),
        ("search don't and can't", ["search", "--", "don't and can't"]),
        ('search it\'s "x" $(rm) `ls`', ["search", "--", 'it\'s "x" $(rm) `ls`']),
        ("search\ntwo\nlines", ["search", "--", "two lines"]),
        ("search what does --json do -h", ["search", "--", "what does --json do -h"]),
        ('search login --file "a b.py" -k 3', ["search", "--file", "a b.py", "-k", "3", "--", "login"]),
        ("search --superseded login", ["search", "--superseded", "--", "login"]),
        ("search why --tool", ["search", "--", "why --tool"]),
        ("brief", ["brief"]),
        ("remember --pin it's $(so)", ["remember", "--pin", "--", "it's $(so)"]),
        ("forget m3 s1", ["forget", "--dry-run", "m3", "s1"]),
        ("forget m3 --yes", ["forget", "--yes", "m3"]),
        ("forget d4", ["forget", "--dry-run", "d4"]),
        ("forget --file .env", ["forget", "--file", ".env", "--dry-run"]),
    ],
)
def test_only_these_verbs_and_their_own_options_mean_something(typed: str, arguments: list[str]) -> None:
    assert parse_slash(typed) == arguments


@pytest.mark.parametrize(
    "typed",
    [
        "forget",
        "forget all",
        "forget s1 --dry",
        "remember",
        "brief x",
        "uninstall --purge",
        "info --x",
        "drain all",
        "drain ٣",
        "search",
        "-h",
    ],
)
def test_anything_else_is_refused_with_the_usage(typed: str) -> None:
    with pytest.raises(RequestInvalid) as refused:
        parse_slash(typed)

    assert "/mem drain" in refused.value.hint
